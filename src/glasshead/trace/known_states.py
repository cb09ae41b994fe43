"""What blocks before a layer say of texts, kept, so that later passes over the same texts begin behind them.

An audit reads the attention of one layer in many passes: its weights, which rows are read, gradients of the
weights, the weights edited. What stands before that layer says the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded, Inputs, length_of
from glasshead.trace.hooks import thread_hook
from glasshead.trace.resume import (
    Block,
    Shortcut,
    answer_with_output,
    find_shortcut_for,
    same_logits,
)

MOST_BYTES = 128 * 2**20
"""So much is kept, of the texts that came last."""
T = TypeVar("T")
Key = tuple[int, int, bytes]
"""A model, a layer, and the inputs of a text."""


class KnownStates:
    """The outputs of blocks, by text, independent of padding; for texts given as ids only.

    A pickled copy is empty.
    """

    def __init__(self) -> None:
        self.shortcuts: dict[tuple[int, int], Shortcut] = {}
        self.states: dict[Key, tuple[dict[str, Any], Tensor]] = {}
        self.bytes = 0
        self.facts: dict[tuple[int, str], Any] = {}
        self.models: dict[int, PreTrainedModel] = {}

    def __reduce__(self) -> tuple[type[KnownStates], tuple[()]]:
        return KnownStates, ()

    def shortcut(self, model: PreTrainedModel, encoded: Encoded, layer: int) -> Shortcut:
        """`find_shortcut_for`, computed once for each model."""
        self.models[id(model)] = model  # as long as its number is used
        key = (id(model), layer)
        if key not in self.shortcuts:
            self.shortcuts[key] = find_shortcut_for(model, encoded, layer)
        return self.shortcuts[key]

    def fact(self, model: PreTrainedModel, name: str, measure: Callable[[], T]) -> T:
        """A fact about a model that does not depend on the input, measured once."""
        key = (id(model), name)
        if key not in self.facts:
            self.models[id(model)] = model
            self.facts[key] = measure()
        result: T = self.facts[key]
        return result

    def read(
        self, model: PreTrainedModel, inputs: Inputs, layer: int, run: Callable[[], tuple[Tensor, T]]
    ) -> T:
        """The value of ``run`` in an unedited pass over a batch, up to a layer or a later one.

        ``run`` gives the logits too. If the logits differ from those of the whole model, it is run again as
        a whole, and that layer is not skipped any more.
        """
        with self.skip(model, inputs, layer) as expected:
            logits, result = run()
        if expected is None or same_logits(logits.detach(), expected):
            return result
        self.shortcuts[id(model), layer] = Shortcut(layer)
        return run()[1]

    @contextmanager
    def skip(self, model: PreTrainedModel, inputs: Inputs, layer: int) -> Iterator[Tensor | None]:
        """A pass in which the blocks before a layer return their stored outputs for these texts, and the
        logits [b, classes] of the whole model; None in the first pass over some of them, which stores
        everything."""
        shortcut = self.shortcuts.get((id(model), layer))
        if shortcut is None or not shortcut.blocks or not is_of_ids(inputs):
            yield None
            return
        keys = [(id(model), layer, key) for key in keys_of(inputs)]
        if all(key in self.states for key in keys):
            known = [self.states[key] for key in keys]
            with ExitStack() as stack:
                for block in shortcut.blocks:
                    parts = [outputs[block.chain] for outputs, _ in known]
                    stack.enter_context(answer_with_output(block, join_outputs(parts, length_of(inputs))))
                yield torch.stack([logits for _, logits in known])
            return
        with keep_outputs(model, shortcut.blocks) as kept:
            yield None
        self.keep(keys, inputs, kept)

    def keep(self, keys: list[Key], inputs: Inputs, kept: Mapping[str, Any]) -> None:
        """Keep the output of the last block of each chain for each text, and the logits."""
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        logits = kept.get(LOGITS)
        outputs = {chain: output for chain, output in kept.items() if chain != LOGITS}
        if logits is None or not all(is_by_token(output, inputs) for output in outputs.values()):
            return
        for row, (key, length) in enumerate(zip(keys, lengths, strict=True)):
            if key in self.states:
                continue
            own = {chain: take_text(output, row, length) for chain, output in outputs.items()}
            self.states[key] = own, logits[row].detach().clone()
            self.bytes += sum(map(bytes_of, own.values()))
        while self.bytes > MOST_BYTES and self.states:
            oldest, _ = self.states.pop(next(iter(self.states)))
            self.bytes -= sum(map(bytes_of, oldest.values()))


LOGITS = ""
"""Where the logits stand among the outputs of chains."""


@contextmanager
def keep_outputs(model: PreTrainedModel, blocks: tuple[Block, ...]) -> Iterator[dict[str, Any]]:
    """What the last block of each chain says in a pass, and the logits."""
    kept: dict[str, Any] = {}

    def keep_output(chain: str) -> Callable[..., None]:
        def keep(module: Any, args: Any, output: Any) -> None:
            kept[chain] = output

        return thread_hook(keep)

    def keep_logits(module: Any, args: Any, output: Any) -> None:
        kept[LOGITS] = getattr(output, "logits", None)

    with ExitStack() as stack:
        for block in blocks:
            stack.callback(block.module.register_forward_hook(keep_output(block.chain)).remove)
        stack.callback(model.register_forward_hook(thread_hook(keep_logits)).remove)
        yield kept


def is_of_ids(inputs: Inputs) -> bool:
    """Whether nothing but numbers of tokens is read, one row for each text, padded on the right."""
    mask = inputs.get("attention_mask")
    if mask is None or "input_ids" not in inputs:
        return False
    same = all(tensor.shape == mask.shape and not tensor.is_floating_point() for tensor in inputs.values())
    return same and bool((mask[:, 1:] <= mask[:, :-1]).all()) and bool(mask.any(dim=1).all())


def keys_of(inputs: Inputs) -> list[bytes]:
    """The inputs of each text without its padding."""
    stacked = torch.stack([inputs[name].long() for name in sorted(inputs)], dim=1).cpu().numpy()
    lengths = inputs["attention_mask"].sum(dim=1).tolist()
    return [own[:, :length].tobytes() for own, length in zip(stacked, lengths, strict=True)]


def is_by_token(output: Any, inputs: Inputs) -> bool:
    """Whether all that a block says is of one token of one text each."""
    if isinstance(output, Tensor):
        return output.shape[:2] == inputs["attention_mask"].shape
    if isinstance(output, tuple | list):
        return all(is_by_token(part, inputs) for part in output)
    return output is None


def take_text(output: Any, row: int, length: int) -> Any:
    """What a block said of one text."""
    if isinstance(output, Tensor):
        return output[row, :length].detach().clone()
    return None if output is None else type(output)(take_text(part, row, length) for part in output)


def join_outputs(outputs: list[Any], length: int) -> Any:
    """What a block said of several texts, as of one batch that is so long; zeros at padding."""
    first = outputs[0]
    if isinstance(first, Tensor):
        joined = first.new_zeros(len(outputs), length, *first.shape[1:])
        for row, own in enumerate(outputs):
            joined[row, : len(own)] = own
        return joined
    if first is None:
        return None
    return type(first)(join_outputs(list(parts), length) for parts in zip(*outputs, strict=True))


def bytes_of(output: Any) -> int:
    """How much is kept."""
    if isinstance(output, Tensor):
        return output.nbytes
    return sum(map(bytes_of, output)) if output is not None else 0
