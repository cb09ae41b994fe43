"""How scores become weights."""

from glasshead.attention import activations, kernels, positions  # importing a folder registers all it holds
from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.attend import AUTOMATIC, attend, choose, numbers, row_index, run
from glasshead.attention.compile_guard import STANCE
from glasshead.attention.elementwise import Ratio
from glasshead.attention.hooks import TAPS, Flow, Tap, tapped, tapped_weights
from glasshead.attention.inputs import Attended, Call, some_heads
from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.learned_query import AttentionSummary
from glasshead.attention.mask import Mask, Places
from glasshead.attention.mechanism import (
    PRESETS,
    Mechanism,
    Spec,
    accurate,
    mechanism,
    parse,
    position_of,
    shortest,
    spell,
)
from glasshead.attention.multihead import MultiHeadAttention
from glasshead.attention.pooling import AttentionPooling, Pooled, pooling_activation
from glasshead.attention.position import POSITIONS, Heads, Position
from glasshead.attention.positions.distance_aware import DistanceAware
from glasshead.attention.positions.distance_mappings import learnable_sigmoid
from glasshead.attention.positions.sinusoidal import sines
from glasshead.attention.score_functions import SCORES

__all__ = [
    "ACTIVATIONS",
    "AUTOMATIC",
    "KERNELS",
    "POSITIONS",
    "PRESETS",
    "SCORES",
    "STANCE",
    "TAPS",
    "Activation",
    "Attended",
    "AttentionPooling",
    "AttentionSummary",
    "Call",
    "DistanceAware",
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
    "Spec",
    "Tap",
    "accurate",
    "activations",
    "attend",
    "choose",
    "kernels",
    "learnable_sigmoid",
    "mechanism",
    "numbers",
    "parse",
    "pooling_activation",
    "position_of",
    "positions",
    "row_index",
    "run",
    "shortest",
    "sines",
    "some_heads",
    "spell",
    "tapped",
    "tapped_weights",
]
