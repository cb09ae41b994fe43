"""Look inside a model: what each layer would predict, what each head and MLP adds to a logit, and which of
them carry the difference between two texts."""

from glasshead.inside.direct import logit_attribution
from glasshead.inside.direct_path import HeadWeights, direct_path
from glasshead.inside.head_effects import head_effects, predicts_next_tokens
from glasshead.inside.logit_lens import lens
from glasshead.inside.patch import patch, run_patching
from glasshead.inside.view import look_inside

__all__ = [
    "HeadWeights",
    "direct_path",
    "head_effects",
    "lens",
    "logit_attribution",
    "look_inside",
    "patch",
    "predicts_next_tokens",
    "run_patching",
]
