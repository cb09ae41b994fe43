"""TanhMax is softmax over keys [K; −K] with values [V; −V], if a score is odd in its key."""

import torch
from torch.nn.functional import scaled_dot_product_attention

import glasshead

torch.manual_seed(0)
q, k, v = torch.randn(3, 2, 4, 64, 16, dtype=torch.float64)
doubled = scaled_dot_product_attention(q, torch.cat([k, -k], dim=2), torch.cat([v, -v], dim=2))

for spec in ("tanhmax", "tanhmax+distance-aware"):
    mechanism = glasshead.mechanism(spec, num_heads=4, head_dim=16).double()
    output = glasshead.attend(mechanism, q, k, v).output
    print(spec, "equals the doubled softmax:", torch.allclose(output, doubled))

# Negating k negates k·q and the weights; negating v as well leaves the output.
mirrored = glasshead.attend("tanhmax", q, -k, -v, need_weights=True)
plain = glasshead.attend("tanhmax", q, k, v, need_weights=True)
print("same output:", torch.allclose(mirrored.output, plain.output))
print("opposite weights:", torch.allclose(mirrored.weights, -plain.weights))
