"""Attention by any mechanism, where F.scaled_dot_product_attention would stand."""

import torch

import glasshead

torch.manual_seed(0)
q, k, v = torch.randn(3, 2, 4, 128, 16)  # each [batch, heads, length, size]
real = torch.arange(128) < torch.tensor([[128], [90]])  # padding [batch, keys]: true = may attend

signed = glasshead.attend("tanhmax", q, k, v, mask=real).output
causal = glasshead.attend("softmax", q, k, v, is_causal=True).output

# What learns is built once, for its heads, and is a module with parameters.
learned = glasshead.mechanism("tanhmax+distance-aware", num_heads=4, head_dim=16)
nearby = glasshead.attend(learned, q, k, v, mask=real).output

# The weights of chosen rows, at the cost of these rows.
first = glasshead.attend("tanhmax", q, k, v, mask=real, rows=[0], need_weights=True)
weights = first.weights  # [batch, heads, 1, keys]

print("outputs:", *(tuple(each.shape) for each in (signed, causal, nearby)))
print("same as the whole:", torch.allclose(first.output, signed[:, :, :1], atol=1e-6))
print("weights:", tuple(weights.shape), "negative:", bool((weights < 0).any()))
print("of padding:", int(weights[1, :, :, 90:].count_nonzero()))
