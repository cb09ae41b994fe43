"""How scores become weights."""

from glasshead.attention import activations, kernels, positions  # importing a folder registers all it holds
from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.attend import AUTOMATIC, attend, parse_rows, row_index, run_kernel, select_kernel
from glasshead.attention.compile_guard import COMPILE_GUARD
from glasshead.attention.distance_coefficient_table import distance_coefficients
from glasshead.attention.elementwise import ElementwiseRatio
from glasshead.attention.hooks import (
    ACTIVE_HOOKS,
    KNOWN_CALLS,
    KernelHook,
    TracedCall,
    attend_by_call,
    run_hooked,
    run_hooked_weights,
)
from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.kernels.native import lacks_native
from glasshead.attention.kernels.native_programs.build import build_libraries as build_native
from glasshead.attention.learned_query import LearnedQueryAttention
from glasshead.attention.mask import Mask, TokenPositions
from glasshead.attention.mechanism import AttentionInputs, AttentionOutput, Mechanism, mechanism, pick_heads
from glasshead.attention.mechanism_spec import MECHANISM_PRESETS, Spec, parse, position_of, to_name, to_spec
from glasshead.attention.multihead import MultiHeadAttention, parse_head_combination
from glasshead.attention.pooling import AttentionPooling, PoolingOutput, pooling_activation
from glasshead.attention.position import POSITIONS, HeadSizes, Position
from glasshead.attention.positions.distance_aware import DistanceAware
from glasshead.attention.positions.distance_mappings import learnable_sigmoid
from glasshead.attention.positions.sinusoidal import sines
from glasshead.attention.precision import upcast_half
from glasshead.attention.score_functions import SCORE_FUNCTIONS

__all__ = [
    "ACTIVATIONS",
    "ACTIVE_HOOKS",
    "AUTOMATIC",
    "COMPILE_GUARD",
    "KERNELS",
    "KNOWN_CALLS",
    "MECHANISM_PRESETS",
    "POSITIONS",
    "SCORE_FUNCTIONS",
    "Activation",
    "AttentionInputs",
    "AttentionOutput",
    "AttentionPooling",
    "DistanceAware",
    "ElementwiseRatio",
    "HeadSizes",
    "Kernel",
    "KernelHook",
    "LearnedQueryAttention",
    "Mask",
    "Mechanism",
    "MultiHeadAttention",
    "PoolingOutput",
    "Position",
    "Spec",
    "TokenPositions",
    "TracedCall",
    "activations",
    "attend",
    "attend_by_call",
    "build_native",
    "distance_coefficients",
    "kernels",
    "lacks_native",
    "learnable_sigmoid",
    "mechanism",
    "parse",
    "parse_head_combination",
    "parse_rows",
    "pick_heads",
    "pooling_activation",
    "position_of",
    "positions",
    "row_index",
    "run_hooked",
    "run_hooked_weights",
    "run_kernel",
    "select_kernel",
    "sines",
    "to_name",
    "to_spec",
    "upcast_half",
]
