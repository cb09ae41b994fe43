"""A kernel that is named is obeyed, or refused with the reason."""

import torch

import glasshead
from glasshead.attention import AttentionInputs, select_kernel

torch.manual_seed(0)
q, k, v = torch.randn(3, 1, 8, 64, 16)
formula = glasshead.attend("tanhmax", q, k, v, kernel="reference").output
for name in ("blockwise", "sdpa"):
    output = glasshead.attend("tanhmax", q, k, v, kernel=name).output
    print(name, "equals the formula:", torch.allclose(output, formula, atol=1e-5))

print("chosen:", select_kernel(AttentionInputs.of(glasshead.mechanism("tanhmax"), q, k, v)))
try:
    glasshead.attend("tanhmax", q, k, v, dropout=0.1, kernel="sdpa")
except glasshead.InputError as error:
    print("error:", error)
