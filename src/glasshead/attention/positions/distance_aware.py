"""Distance-aware attention (DA-Transformer): real distances re-scale scores or weights."""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glasshead.attention.mask import TokenPositions
from glasshead.attention.position import POSITIONS, HeadSizes, Position, ScoreMod
from glasshead.attention.positions.distance_mappings import MAPPINGS
from glasshead.attention.positions.relative import by_distance, max_distance, offset_of, require_positions
from glasshead.errors import InputError
from glasshead.registry import did_you_mean

Adjust = Literal["early-multiply", "early-add", "late-multiply", "late-add", "signed-multiply"]
SPREAD = 0.05


@POSITIONS.register("distance-aware")
class DistanceAware(Position):
    """s_ij = ReLU(q_i · k_j / √d) · f(w_h |i − j|), f(R) = (1 + e^{v_h}) / (1 + e^{v_h − R}) (eq. 5, 6).

    ``mapping`` is f: clip, linear, exponent (which overflows for long sequences), sigmoid or
    learnable-sigmoid (section 4.3; `MAPPINGS` has their equations and facts). ``threshold`` is the fixed T of
    clip, 1 unless given: a score is never raised.

    ``adjust`` is how f acts (section 4.4). ``early-multiply`` is the formula above: no score is below 0 if f
    never is, so even a signed activation gives no negative weight. ``signed-multiply`` leaves out the ReLU
    and keeps the sign of the score. ``early-add``: q·k/√d + f. ``late-multiply`` and ``late-add`` act on the
    weights after the activation, whose rows then no longer sum to one.

    Learned per head: w_h, which starts at ``initial_w``: one number for all heads, or [least, most] in even
    steps (a single head starts between the two). The defaults are −0.05 and 0.05: half of the heads start
    local and half distant, as the paper finds after training, and |R| ≤ 1 up to 20 tokens, so that no
    sigmoid is saturated. The paper does not say how w_h starts. v_h starts at 0: twice the plain sigmoid;
    k_h and b_h of linear at 1.

    Raises:
        InputError: on an unknown mapping or adjustment, a threshold that is not a finite number or not for
            clip, and an ``initial_w`` that is not one or two finite numbers.

    Source: Wu, Wu and Huang (2021), sections 3.1–3.3, 4.3 and 4.4.
    """

    paper = "Wu, Wu and Huang 2021, eq. 5, 6"
    learned = True

    def __init__(
        self,
        heads: HeadSizes | None = None,
        *,
        mapping: str = "learnable-sigmoid",
        adjust: str = "early-multiply",
        threshold: float | None = None,
        initial_w: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(heads)
        self.mapping = MAPPINGS[mapping]
        if adjust not in get_args(Adjust):
            raise InputError(f"unknown adjustment {adjust!r}: {did_you_mean(str(adjust), get_args(Adjust))}")
        self.adjust = adjust
        self.fixed = dict(self.mapping.fixed)
        if threshold is not None:
            if "threshold" not in self.fixed:
                raise InputError(f"the mapping {mapping!r} has no threshold: leave it out, or choose 'clip'")
            if not isinstance(threshold, (int, float)) or not math.isfinite(threshold):
                raise InputError(f"threshold must be a finite number, not {threshold!r}")
            self.fixed["threshold"] = threshold
        self.initial_w = initial_range(initial_w)
        self.nonnegative_scores = adjust == "early-multiply" and self.mapping.nonnegative
        self.may_flip_sign = self.changes_weights and not self.mapping.nonnegative
        for name in ("w", *self.mapping.learned):
            self.register_parameter(name, nn.Parameter(torch.empty(self.sizes.num_heads)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial values."""
        heads = self.sizes.num_heads
        with torch.no_grad():
            low, high = self.initial_w
            steps = torch.linspace(low, high, heads) if heads > 1 else torch.tensor([(low + high) / 2])
            self.get_parameter("w").copy_(steps)
            for name, value in self.mapping.learned.items():
                self.get_parameter(name).fill_(value)

    @property
    def changes_weights(self) -> bool:
        return self.adjust.startswith("late")

    def coefficient(self, distances: Int[Tensor, " n"], dtype: torch.dtype) -> Float[Tensor, "h n"]:
        """f(w_h · distance) for every head; bfloat16 could not tell distances beyond 256 apart."""
        wide = torch.promote_types(dtype, torch.float32)
        learned = {name: self.get_parameter(name).to(wide)[:, None] for name in self.mapping.learned}
        w = self.get_parameter("w").to(wide)[:, None]
        return self.mapping.function(w * distances, **learned, **self.fixed).to(dtype)

    def coefficients(
        self, positions: TokenPositions, dtype: torch.dtype
    ) -> Float[Tensor, "b h queries keys"]:
        """f(w_h |i − j|) for every pair."""
        return by_distance(lambda distances: self.coefficient(distances, dtype), positions)

    def scores(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q k"]:
        scores = (q * scale) @ k.transpose(-1, -2)
        if self.changes_weights:
            return scores
        coefficients = self.coefficients(require_positions(positions), scores.dtype)
        if self.adjust == "early-add":
            return scores.add_(coefficients)
        if self.adjust == "early-multiply":
            scores = scores.relu_()  # in place: the gradient of a product does not need the product
        return product(scores, coefficients)

    def score_mod(
        self, q: Float[Tensor, "b h q d"], scale: float, positions: TokenPositions | None
    ) -> ScoreMod:
        if self.changes_weights:
            return lambda score, batch, head, query, key: score * scale
        positions = require_positions(positions)
        distances = torch.arange(max_distance(positions), device=q.device)
        table = self.coefficient(distances, torch.promote_types(q.dtype, torch.float32))
        offset = offset_of(positions)
        if self.adjust == "early-add":
            return lambda score, batch, head, query, key: (
                score * scale + table[head, offset(batch, query, key).abs()]
            )
        if self.adjust == "signed-multiply":
            return lambda score, batch, head, query, key: (
                score * (scale * table[head, offset(batch, query, key).abs()])
            )
        return lambda score, batch, head, query, key: (
            (score * scale).relu() * table[head, offset(batch, query, key).abs()]
        )

    def weights(
        self, weights: Float[Tensor, "b h q k"], positions: TokenPositions | None
    ) -> Float[Tensor, "b h q k"]:
        if not self.changes_weights:
            return weights
        coefficients = self.coefficients(require_positions(positions), weights.dtype)
        return weights * coefficients if self.adjust == "late-multiply" else weights + coefficients


def initial_range(value: float | Sequence[float] | None) -> tuple[float, float]:
    """The least and the most that w_h starts with.

    Raises:
        InputError: unless it is a finite number, or two.
    """
    if value is None:
        return -SPREAD, SPREAD
    ends = [value, value] if isinstance(value, (int, float)) else value
    numbers = isinstance(ends, Sequence) and all(
        isinstance(end, (int, float)) and not isinstance(end, bool) and math.isfinite(end) for end in ends
    )
    if not numbers or len(ends) != 2:
        raise InputError(f"initial_w must be a finite number, or [least, most], not {value!r}")
    return float(ends[0]), float(ends[1])


def product(scores: Tensor, coefficients: Tensor) -> Tensor:
    """Their product, in the memory of the scores unless a gradient will want them."""
    wanted = scores.requires_grad or coefficients.requires_grad
    return scores * coefficients if wanted else scores.mul_(coefficients)
