"""Path patching: what a head changes only by what another head, of a later layer, reads of it.

A first pass has the exchanged activation of the sender, and all other heads before the receiver as they were;
what the receiver's queries, keys or values are then is put into a second pass, in which nothing else is
exchanged. MLPs between them run as they do.

Source: Wang et al. (2023), appendix B; Goldowsky-Dill et al. (2023).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import nn

from glasshead.attention import AttentionInputs, TracedCall
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import class_name
from glasshead.inside.sites import Layer
from glasshead.spelling import spell
from glasshead.trace import AttentionHook

READS = {"q": "queries", "k": "keys", "v": "values", "qkv": "queries, keys and values"}


@dataclass(frozen=True)
class Receiver:
    """A head, and what it reads: its queries, keys or values, or all of them."""

    layer: int
    head: int
    reads: str

    @classmethod
    def parse(cls, text: str) -> Receiver:
        """1-2:k are the keys of head 2 of layer 1; 1-2 all that it reads.

        Raises:
            InputError: if a text is neither.
        """
        found = re.fullmatch(r"(\d+)-(\d+)(?::([qkv]))?", text.strip())
        if found is None:
            raise ParameterError("into", f"is {text!r}: write layer-head and q, k or v, such as 1-2:k")
        return cls(int(found[1]), int(found[2]), found[3] or "qkv")

    def check(self, layers: list[Layer]) -> None:
        """Raise InputError unless there is such a head, and heads before it."""
        if self.layer >= len(layers) or self.head >= layers[self.layer].heads:
            raise ParameterError(
                "into", f"names head {self.layer}-{self.head}, which this model does not have"
            )
        before = [layer for layer in layers[: self.layer] if layer.attention is not None]
        if not before or any(layer.projection is None for layer in before):
            raise ParameterError(
                "into",
                f"names head {self.layer}-{self.head}, before which there are no heads to exchange",
            )

    def __str__(self) -> str:
        return f"the {READS[self.reads]} of layer {self.layer} head {self.head}"

    def put(self, call: AttentionInputs, other: AttentionInputs) -> AttentionInputs:
        """A call whose head has queries, keys or values of another call. Heads that share keys get their own
        first."""
        own, new = ({"q": one.q, **dict(zip("kv", one.expand_heads(), strict=True))} for one in (call, other))
        for name in self.reads:
            own[name] = own[name].clone()
            own[name][:, self.head] = new[name][:, self.head]
        return replace(call, q=own["q"], k=own["k"], v=own["v"])


class CallEditor(AttentionHook):
    """Sees the call of a module before it attends, and may change it."""

    def __init__(
        self, model: nn.Module, module: nn.Module, edit: Callable[[AttentionInputs], AttentionInputs]
    ) -> None:
        super().__init__(model, None)
        self.module, self.edit = module, edit

    def before(self, traced_call: TracedCall) -> None:
        self.number(traced_call)
        if traced_call.module is not self.module:
            return
        if not traced_call.call.v.shape[-1]:
            raise InputError(
                f"{class_name(self.model)} computes its attention itself, so the inputs of its heads cannot "
                f"be exchanged: leave {spell('into')} out"
            )
        traced_call.call = self.edit(traced_call.call)
