"""How scores become weights."""

from glasshead.attention import activations, kernels, positions  # importing a folder registers all it holds
from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.attend import AUTOMATIC, attend, choose
from glasshead.attention.call import Attended, Call
from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.mask import Mask, Places
from glasshead.attention.mechanism import PRESETS, Mechanism, mechanism
from glasshead.attention.multihead import MultiHeadAttention
from glasshead.attention.pooling import AttentionPooling, Pooled
from glasshead.attention.position import POSITIONS, Heads, Position
from glasshead.attention.ratio import Ratio
from glasshead.attention.scores import SCORES
from glasshead.attention.tap import TAPS, Flow, Tap, tapped, tapped_weights

__all__ = [
    "ACTIVATIONS",
    "AUTOMATIC",
    "KERNELS",
    "POSITIONS",
    "PRESETS",
    "SCORES",
    "TAPS",
    "Activation",
    "Attended",
    "AttentionPooling",
    "Call",
    "Flow",
    "Heads",
    "Kernel",
    "Mask",
    "Mechanism",
    "MultiHeadAttention",
    "Places",
    "Pooled",
    "Position",
    "Ratio",
    "Tap",
    "activations",
    "attend",
    "choose",
    "kernels",
    "mechanism",
    "positions",
    "tapped",
    "tapped_weights",
]
