"""How scores become weights."""

from glasshead.attention import activations, kernels, positions  # importing a folder registers all it holds
from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.attend import AUTOMATIC, attend, choose
from glasshead.attention.call import Attended, Call
from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.layers import AttentionPooling, Pooled
from glasshead.attention.mask import Mask, Places
from glasshead.attention.mechanism import PRESETS, Mechanism, mechanism
from glasshead.attention.position import POSITIONS, Heads, Position
from glasshead.attention.scores import SCORES
from glasshead.attention.tap import TAP, Tap, tapped

__all__ = [
    "ACTIVATIONS",
    "AUTOMATIC",
    "KERNELS",
    "POSITIONS",
    "PRESETS",
    "SCORES",
    "TAP",
    "Activation",
    "Attended",
    "AttentionPooling",
    "Call",
    "Heads",
    "Kernel",
    "Mask",
    "Mechanism",
    "Places",
    "Pooled",
    "Position",
    "Tap",
    "activations",
    "attend",
    "choose",
    "kernels",
    "mechanism",
    "positions",
    "tapped",
]
