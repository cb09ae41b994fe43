"""The methods that explain a written text, by name."""

from glasshead.generation.attention_rows import AttentionRows, RolloutRows
from glasshead.generation.erasure_rows import ErasureRows
from glasshead.generation.gradient_rows import GradientRows
from glasshead.generation.method import RowMethod
from glasshead.registry import Registry

METHODS: Registry[RowMethod] = Registry("method")

METHODS.register("attention")(AttentionRows())
METHODS.register("rollout")(RolloutRows())
METHODS.register("erasure")(ErasureRows("mean-embedding"))
METHODS.register("erasure-zero-weight")(ErasureRows("zero-weight"))
METHODS.register("erasure-unknown-token")(ErasureRows("unknown-token"))
METHODS.register("gradient")(GradientRows(None))
for reduction in ("l1", "l2"):
    METHODS.register(f"gradient-{reduction}")(GradientRows(reduction))
