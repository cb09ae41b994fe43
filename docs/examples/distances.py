"""Distances count real tokens: padding never shifts them, wherever it stands."""

import torch

import glasshead

torch.manual_seed(0)
mechanism = glasshead.mechanism("distance-aware", num_heads=2, head_dim=8)
text = torch.randn(3, 1, 2, 5, 8)  # q, k and v of five tokens
expected = glasshead.attend(mechanism, *text).output

for real in ([0, 1, 2, 3, 4], [3, 4, 5, 6, 7], [0, 1, 4, 5, 7]):  # padding right, left, and in between
    padded = torch.randn(3, 1, 2, 8, 8)
    padded[:, :, :, real] = text
    mask = torch.zeros(1, 8, dtype=torch.bool)
    mask[:, real] = True
    found = glasshead.attend(mechanism, *padded, mask=mask).output[:, :, real]
    print("".join("x" if each else "." for each in mask[0]), torch.allclose(found, expected, atol=1e-6))
