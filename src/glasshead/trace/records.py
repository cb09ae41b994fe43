"""What was recorded: a trace has passes, a pass has layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.attention import AttentionInputs, upcast_half
from glasshead.drawable import Drawable
from glasshead.errors import InputError
from glasshead.results import RecordedAttention, RecordedLayer

if TYPE_CHECKING:
    import pandas as pd


class Recorded(Drawable):
    """What shows itself by the attention weights of its layers."""

    def enumerate_records(self) -> list[tuple[int, LayerRecord]]:
        """The number of its pass, and each layer."""
        raise NotImplementedError

    def plain_value(self) -> RecordedAttention:
        """The weights as arrays, worked out when they are needed."""
        records = self.enumerate_records()
        layers = [record.summary(number) for number, record in records]
        return RecordedAttention(layers, lambda rank: records[rank][1].visible_weights())

    def to_pandas(self) -> pd.DataFrame:
        """One row for each weight between a query and a key that it may look at."""
        return self.plain_value().to_pandas()

    def to_json(self) -> str:
        """A list of layers with their weights, null where a query may not look."""
        return self.plain_value().to_json()


@dataclass(eq=False)
class LayerRecord(Recorded):
    """The parts of one attention call; h are the recorded heads, r the recorded query rows.

    Scores and weights are computed by the formula when they are first asked for, from copies of q, k, v, mask
    and parameters, so that a record costs memory linear in length until then. They are float32 where the
    model is in half precision. Grouped key heads are repeated: every tensor has one entry per recorded head.
    """

    layer: int
    """Its number in the pass."""
    name: str
    """The attention module's name in the model; one module may be called several times."""
    call: AttentionInputs = field(repr=False)
    """The call itself, with the recorded rows, and possibly more heads than the recorded ones."""
    output: Float[Tensor, "b h r d_v"] = field(repr=False)
    """What the heads gave to the model, dropout included."""
    heads: tuple[int, ...]
    rows: tuple[int, ...] = field(repr=False)
    head_index: Int[Tensor, " h"] | None = field(default=None, repr=False)
    """Where the recorded heads are among those of ``call``; None: there are no others."""
    scores_and_weights: tuple[Tensor, Tensor] | None = field(default=None, repr=False)
    """Scores and weights of all heads of ``call`` where the output was computed from them."""
    projection: Float[Tensor, "h d_v d_e"] | None = field(default=None, repr=False)
    """D: the part of the output projection that reads each head; None where no single linear map does."""

    def enumerate_records(self) -> list[tuple[int, LayerRecord]]:
        return [(0, self)]

    def summary(self, forward_pass: int) -> RecordedLayer:
        """The sizes of what was recorded; nothing is computed."""
        texts, keys = self.call.q.shape[0], self.call.k.shape[2]
        return RecordedLayer(
            forward_pass, self.layer, self.name, self.mechanism, self.call.mechanism.signed, texts,
            tuple(self.heads), tuple(self.rows), keys,
        )  # fmt: skip

    def visible_weights(self) -> NDArray[np.floating[Any]]:
        """The weights as an array, NaN where a query may not look."""
        weights = self.weights.detach().float().masked_fill(~self.allowed, torch.nan)
        return np.asarray(weights.cpu().numpy())

    def pick(self, tensor: Tensor) -> Tensor:
        """The recorded heads of ``[B, H, …]``."""
        return tensor if self.head_index is None else tensor[:, self.head_index]

    @property
    def mechanism(self) -> str:
        """How scores became weights."""
        return self.call.mechanism.name

    @property
    def q(self) -> Float[Tensor, "b h r d"]:
        """Queries."""
        return self.pick(self.call.q)

    @property
    def k(self) -> Float[Tensor, "b h k d"]:
        """Keys."""
        return self.pick(self.call.expand_heads()[0])

    @property
    def v(self) -> Float[Tensor, "b h k d_v"]:
        """Values.

        Raises:
            InputError: where only the weights of the model can be seen.
        """
        if self.call.v.shape[-1] == 0:
            raise InputError(
                "a part of the model computes its attention itself, or changes its scores (caps, sinks): "
                f"only the weights of layer {self.layer} ({self.name}) can be read, not queries, keys "
                "and values, so there are no intervals and no effective attention"
            )
        return self.pick(self.call.expand_heads()[1])

    @property
    def allowed(self) -> Bool[Tensor, "b h r k"]:
        """Which queries may attend to which keys."""
        shape = (*self.call.q.shape[:3], self.call.k.shape[2])
        return self.pick(self.call.mask.allowed(self.call.q.device).expand(shape))

    @cached_property
    def scores(self) -> Float[Tensor, "b h r k"]:
        """s before the activation, also for forbidden pairs."""
        return self.pick(
            self.call.mechanism.scores(self.call)
            if self.scores_and_weights is None
            else self.scores_and_weights[0]
        )

    @cached_property
    def weights(self) -> Float[Tensor, "b h r k"]:
        """a after the activation (and any edit), before dropout."""
        if self.scores_and_weights is not None:
            return self.pick(self.scores_and_weights[1])
        scores = self.scores if self.head_index is None else self.call.mechanism.scores(self.call)
        return self.pick(self.call.mechanism.weights(self.call, scores))

    @property
    def projected_values(self) -> Float[Tensor, "b h k d_e"]:
        """T_h = V_h D_h: what a token would add to the layer's output at weight 1.

        Σ_h A_h T_h plus the bias of the projection is the layer's output, unless the position adds to the
        values (Shaw et al. 2018).

        Raises:
            InputError: where there is no projection.

        Source: Bhardwaj et al. (2021), section 2.2.
        """
        if self.projection is None:
            raise InputError(
                f"no single linear map reads the heads of layer {self.layer} ({self.name}): use v instead of "
                "projected_values, and say so"
            )
        values = upcast_half(self.v)
        return values @ self.projection.to(values.dtype)


class ForwardPass(Recorded):
    """The recorded layers of one forward pass, by number; iteration goes through them in order."""

    def __init__(self) -> None:
        self.records: dict[int, LayerRecord] = {}

    def enumerate_records(self) -> list[tuple[int, LayerRecord]]:
        return [(0, record) for record in self]

    def __getitem__(self, layer: int) -> LayerRecord:
        if layer not in self.records:
            raise InputError(f"layer {layer!r} was not recorded, only {', '.join(map(str, self.records))}")
        return self.records[layer]

    def __iter__(self) -> Iterator[LayerRecord]:
        return iter(self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        if not self.records:
            return "Pass()"
        one = next(iter(self)).summary(0)
        sizes = f"{one.texts} texts, {len(one.heads)} heads, {len(one.rows)} × {one.keys} weights"
        return f"Pass({len(self)} layers: {', '.join(map(str, self.records))}; {sizes})"


class Trace(Recorded):
    """All recorded passes; if there is only one, you can use the trace like that pass."""

    def __init__(self) -> None:
        self.passes: list[ForwardPass] = []

    def enumerate_records(self) -> list[tuple[int, LayerRecord]]:
        return [(number, record) for number, one in enumerate(self.passes) for record in one]

    @property
    def only(self) -> ForwardPass:
        """The only pass.

        Raises:
            InputError: if there was none, or more than one.
        """
        if not self.passes:
            raise InputError("nothing has been recorded yet: call the model inside the block first")
        if len(self.passes) > 1:
            raise InputError(
                f"the model ran {len(self.passes)} times in the block: choose one, as in trace.passes[0][3]"
            )
        return self.passes[0]

    def __getitem__(self, layer: int) -> LayerRecord:
        return self.only[layer]

    def __iter__(self) -> Iterator[LayerRecord]:
        return iter(self.only)

    def __len__(self) -> int:
        return len(self.only)

    def __repr__(self) -> str:
        return f"Trace({', '.join(map(repr, self.passes)) or 'nothing yet'})"
