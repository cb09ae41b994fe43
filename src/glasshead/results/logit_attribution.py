"""What each part of a model adds to one logit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = 1e-3
"""A residual below this part of the spread of the logits is rounding."""
SHOWN = 5
"""Parts of a ``repr``: the largest."""


class LogitPart(NamedTuple):
    """What one part adds: ``layer`` and ``head``, if it has them."""

    name: str
    kind: str
    layer: int | None
    head: int | None
    effect: float


@dataclass(frozen=True)
class HeadEffects:
    """What the heads of one attention call add, by source token: ``effects`` [heads, tokens].

    For an encoder–decoder, ``tokens`` are those that this attention looks at.
    """

    layer: int
    tokens: tuple[str, ...]
    effects: AnyFloats


@dataclass(frozen=True, repr=False)
class LogitAttribution(Drawable):
    """What the embeddings, each head and each MLP add to the logit of a target, or to its difference from
    another; everything adds up to ``logit``.

    ``embeddings`` are those of tokens, ``positions`` those of places and types, ``mlps`` what each layer
    adds besides its heads, and ``biases`` those of the output maps of each layer and, last, of what follows
    the layers. ``norms`` are the biases of norms, and ``residual`` is the missing rest. Norms are linear at
    their measured scale. ``spread`` is the largest logit minus the smallest.
    """

    text: str
    tokens: tuple[str, ...]
    model: str
    target: str
    against: str | None
    predicted: str
    logit: float
    embeddings: float
    positions: float
    heads: tuple[HeadEffects, ...]
    mlps: AnyFloats
    biases: AnyFloats
    norms: float
    spread: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        largest = sorted(self.parts(), key=lambda part: -abs(part.effect))[:SHOWN]
        parts = ", ".join(f"{part.name} {part.effect:+.3g}" for part in largest)
        return one_line(f"{self.question} = {self.logit:.4g}: {parts}, …")

    @property
    def question(self) -> str:
        """The number that is taken apart, in words."""
        return f"logit of {self.target}" + ("" if self.against is None else f" minus that of {self.against}")

    @property
    def residual(self) -> float:
        """The logit minus the sum of all parts."""
        return self.logit - sum(part.effect for part in self._measured())

    @property
    def is_complete(self) -> bool:
        """Whether the parts add up to the logit."""
        return abs(self.residual) <= COMPLETE * self.spread

    @property
    def caveat(self) -> str | None:
        """A caution if the parts do not add up."""
        if self.is_complete:
            return None
        return (
            f"The parts miss {self.residual:+.3g} of the logit: the model has a step between its layers "
            "and its logits that is not split into parts here. Do not interpret parts smaller than that."
        )

    def parts(self) -> list[LogitPart]:
        """All parts: the embeddings, the heads and the MLP of each layer, biases, norms and the residual."""
        return [*self._measured(), LogitPart("residual", "residual", None, None, self.residual)]

    def _measured(self) -> Iterator[LogitPart]:
        yield LogitPart("token embeddings", "embedding", None, None, self.embeddings)
        yield LogitPart("positions and types", "embedding", None, None, self.positions)
        for layer, mlp in enumerate(self.mlps):
            for calls, one in enumerate(own for own in self.heads if own.layer == layer):
                for head, effect in enumerate(one.effects.sum(axis=1)):
                    cross = f" (attention {calls + 1})" if calls else ""
                    yield LogitPart(f"head {layer}-{head}{cross}", "head", layer, head, float(effect))
            yield LogitPart(f"MLP {layer}", "mlp", layer, None, float(mlp))
        yield LogitPart("biases", "bias", None, None, float(np.sum(self.biases)))
        yield LogitPart("norms", "norm", None, None, self.norms)

    def to_pandas(self) -> pd.DataFrame:
        """One row for each part."""
        import pandas as pd

        return pd.DataFrame(self.parts())

    def tokens_to_pandas(self) -> pd.DataFrame:
        """One row for each head and token: what the head adds from there."""
        import pandas as pd

        return pd.DataFrame(
            {
                "layer": one.layer,
                "head": head,
                "position": place,
                "token": one.tokens[place],
                "effect": effect,
            }
            for one in self.heads
            for (head, place), effect in np.ndenumerate(one.effects)
        )

    def to_json(self) -> str:
        """An object with all fields, the residual and the list of parts."""
        return json_text(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """All fields, the residual and the list of parts."""
        own = dict(vars(self))
        own["heads"] = [vars(one) for one in self.heads]
        return own | {"residual": self.residual, "parts": [part._asdict() for part in self.parts()]}
