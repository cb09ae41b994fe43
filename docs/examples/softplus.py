"""An activation of one's own: g and h of φ_i(s) = g(s_i) / Σ_k h(s_k)."""

import torch
from torch.nn.functional import softplus

import glasshead
from glasshead.attention import ACTIVATIONS, ElementwiseRatio


@ACTIVATIONS.register("softplus")
class Softplus(ElementwiseRatio):
    """[φ(s)]_i = log(1 + e^{s_i}) / Σ_k log(1 + e^{s_k})."""

    paper = "an example of the documentation"
    g = h = staticmethod(softplus)


torch.manual_seed(0)
q, k, v = torch.randn(3, 1, 4, 10, 16)
for word in ("softplus", "softplus+distance-aware"):
    mechanism = glasshead.mechanism(word, num_heads=4, head_dim=16)
    weights = glasshead.attend(mechanism, q, k, v, need_weights=True).weights.detach()
    print(word, "rows sum to one:", torch.allclose(weights.sum(dim=-1), torch.ones(1)))
print("measured:", {fact: getattr(Softplus, fact) for fact in ("signed", "monotone", "log_nonlinear")})
