"""What a position is: how the positions of two tokens enter their score, their weight or the output."""

from collections.abc import Callable
from copy import copy
from typing import ClassVar, NamedTuple, cast

from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.mask import TokenPositions
from glasshead.errors import InputError
from glasshead.registry import Registry

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
"""(score, batch, head, query, key) → score, elementwise, as flex attention takes it."""


class HeadSizes(NamedTuple):
    """The sizes that learned positions are built for."""

    num_heads: int
    head_dim: int
    value_dim: int


class Position(nn.Module):
    """How positions enter attention; the default is that they do not.

    q is ``[B, H, Q, d]``, k ``[B, H, K, d]``, v ``[B, H, K, d_v]``, scores and weights ``[B, H, Q, K]``.
    Everything works on any block of query rows, with the `TokenPositions` of that block. Hyper-parameters
    are keyword arguments of the constructor after ``heads``, with defaults.
    """

    paper: ClassVar[str] = ""
    learned: ClassVar[bool] = False
    """It may own parameters, so it has to be built for given `HeadSizes`."""
    per_head: ClassVar[bool] = False
    """It promises that every parameter begins with an axis of heads, so that these can be cut apart."""
    is_dot_product: ClassVar[bool] = False
    """Scores are q′·k′ of the `features`: whatever serves plain dot products serves this position."""
    needs_positions: ClassVar[bool] = True
    """It needs to know where the tokens stand; not so for ``none``."""
    nonnegative_scores: bool = False
    """No score is below zero, so that signed activations give no negative weight either."""
    reach: int | None = None
    """How many real tokens in one sequence it is built for; None: any number."""
    may_flip_sign: bool = False
    """`weights` may be negative where the activation gave none (late adjustments by signed coefficients)."""

    def __init__(self, heads: HeadSizes | None = None) -> None:
        super().__init__()
        if self.learned and heads is None:
            raise InputError(f"{type(self).__name__} has parameters per head: say how many and their size")
        self.heads = heads

    @property
    def sizes(self) -> HeadSizes:
        """The sizes that a learned position was built for."""
        if self.heads is None:
            raise TypeError(f"{type(self).__name__} was built without sizes")
        return self.heads

    def reset_parameters(self) -> None:
        """Give the parameters their initial values, where there are any."""

    def of_heads(self, heads: slice) -> "Position":
        """A position of some of its heads, with slices of its parameters."""
        if not self.learned:
            return self
        if not self.per_head:
            raise TypeError(f"{type(self).__name__} is not per_head")
        part = copy(self)
        part.heads = self.sizes._replace(num_heads=len(range(self.sizes.num_heads)[heads]))
        part._parameters = {
            name: None if parameter is None else cast(nn.Parameter, parameter[heads])
            for name, parameter in self._parameters.items()
        }
        return part

    @property
    def changes_weights(self) -> bool:
        """Whether `weights` does anything (the late adjustments)."""
        return False

    @property
    def changes_output(self) -> bool:
        """Whether `output` is more than weights times values (Shaw)."""
        return False

    def feature_size(self, size: int) -> int:
        """The maximum length of the `features` for a key size."""
        return 2 * size if self.needs_positions else size

    def features(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> tuple[Float[Tensor, "b h q f"], Float[Tensor, "b h k f"]]:
        """q′ and k′ with scores = q′ k′ᵀ exactly, scale included; only for `bilinear` positions.

        Sines and cosines are in single precision at least: in bfloat16 the angles would lose their meaning.
        """
        raise TypeError(f"the scores of {type(self).__name__} are not dot products")

    def scores(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q k"]:
        """Scores of every pair; here the dot products of the `features`."""
        queries, keys = self.features(q, k, scale, positions)
        return queries @ keys.transpose(-1, -2)

    def score_mod(
        self, q: Float[Tensor, "b h q d"], scale: float, positions: TokenPositions | None
    ) -> ScoreMod | None:
        """Scores as a change of each raw q·k (unscaled), for flex; None where that cannot be."""
        return None

    def weights(
        self, weights: Float[Tensor, "b h q k"], positions: TokenPositions | None
    ) -> Float[Tensor, "b h q k"]:
        """Weights after the activation; here unchanged. The caller masks them again."""
        return weights

    def output(
        self,
        weights: Float[Tensor, "b h q k"],
        v: Float[Tensor, "b h k d_v"],
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q d_v"]:
        """Weights times values."""
        return weights @ v

    def check(self, longest: int) -> None:
        """Raise InputError if the number of real tokens is beyond its ``reach``."""


def whole_number(name: str, value: object) -> int:
    """An option that counts something.

    Raises:
        InputError: unless it is a whole number above 0.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be a whole number above 0, not {value!r}")
    return value


POSITIONS: Registry[type[Position]] = Registry("position", "positions")
