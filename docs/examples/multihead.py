"""The layer: self- and cross-attention, heads of any size, concatenated or summed."""

import torch

from glasshead.attention import MultiHeadAttention

torch.manual_seed(0)
x, context = torch.randn(2, 7, 64), torch.randn(2, 11, 48)
real = torch.arange(7) < torch.tensor([[7], [4]])

joined = MultiHeadAttention(64, 8, "tanhmax", dropout=0.1)
causal = joined(x, mask=real, is_causal=True).output

# Few key numbers, values as wide as the layer, heads summed: weights that a head's output identifies.
added = MultiHeadAttention(64, 8, head_combination="sum", head_dim=4)
attended = added(x, mask=real, need_weights=True)

crossing = MultiHeadAttention(64, 8, kv_heads=2, context_size=48)
read = crossing(x, context).output

print(*(tuple(each.shape) for each in (causal, attended.output, attended.weights, read)))
sizes = joined.value_dim, added.value_dim
print("values per head:", *sizes, "projection of each:", added.output.in_features)
