"""Further passes of a model over the same texts that begin where something changes.

Whoever edits the attention of layer ℓ asks the same question of all layers before it again and again. Here
they answer once: the blocks before ℓ are run for some texts, and in every further pass they pass on what they
said. What stands around the blocks (embeddings, masks, positions, the classifier) runs as it always does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.attention import ACTIVE_HOOKS, AttentionInputs, TracedCall
from glasshead.data import Encoded, Inputs
from glasshead.errors import InputError
from glasshead.trace.attention_site import logits_of
from glasshead.trace.hooks import AttentionHook, attach_hook, substitute_forward, thread_hook
from glasshead.trace.intervene import Edit, intervene
from glasshead.trace.last_block import CallReader, LastBlock, ReadRow, has_row, select_texts

SAME, SAME_IN_FLOAT32 = 1e-9, 1e-5
"""Logits that differ by less than this part of the largest are the same."""
ROW_ENDS: tuple[ReadRow, ...] = ("first", "last")


@dataclass(frozen=True)
class Block:
    """An element of a list of layers, with how many attention calls it makes in one forward pass."""

    module: nn.Module
    chain: str
    calls: int


@dataclass(frozen=True)
class Shortcut:
    """What a pass with edited attention of a ``layer`` can skip: whole ``blocks`` before it, and in the
    ``last`` block all rows except one. It is empty if a model allows neither."""

    layer: int
    blocks: tuple[Block, ...] = ()
    last: LastBlock | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.blocks and self.last is None

    def __str__(self) -> str:
        """The shortcut in words."""
        if self.last is not None:
            return f"layer {self.layer}, in the row that the prediction reads"
        return f"layer {self.layer} on" if self.blocks else "the whole model"


Known = Callable[[PreTrainedModel, Inputs, int], AbstractContextManager[Tensor | None]]
"""(model, inputs, layer) → a pass in which blocks before the layer answer with what is known of these texts,
and the logits of the whole model; None where all of it runs."""


def not_known(model: PreTrainedModel, inputs: Inputs, layer: int) -> AbstractContextManager[None]:
    """Nothing is known, so the whole model runs."""
    return nullcontext()


class ResumedPasses:
    """Passes over a batch of texts whose attention is edited in one layer, by a shortcut."""

    def __init__(
        self, model: PreTrainedModel, inputs: Inputs, shortcut: Shortcut, known: Known = not_known
    ) -> None:
        self.model, self.inputs, self.shortcut, self.known = model, inputs, shortcut, known
        self.outputs: dict[str, Any] = {}
        self.call: AttentionInputs | None = None
        if not shortcut.is_whole:
            self._read()

    @torch.no_grad()
    def _read(self) -> None:
        """What the last of the skipped blocks of each chain says, and the inputs of the edited call; a
        shortcut that does not say of every text what the whole model says is not taken."""
        reader = CallReader(self.model, self.shortcut.layer)
        with ExitStack() as stack:
            for block in self.shortcut.blocks:

                def keep(module: nn.Module, args: Any, output: Any, chain: str = block.chain) -> None:
                    self.outputs[chain] = output

                stack.callback(block.module.register_forward_hook(thread_hook(keep)).remove)
            if self.shortcut.last is not None:
                stack.enter_context(attach_hook(reader))
            expected = stack.enter_context(self.known(self.model, self.inputs, self.shortcut.layer))
            logits = self.model(**self.inputs).logits
        expected = logits if expected is None else expected
        self.call = reader.call
        for shortcut in dict.fromkeys((self.shortcut, replace(self.shortcut, last=None))):
            self.shortcut = shortcut
            if same_logits(self.logits(lambda layer, weights, call: weights), expected):
                return
        self.shortcut = Shortcut(self.shortcut.layer)

    def logits(
        self, edit: Edit, texts: Int[Tensor, " variants"] | None = None, *, gradients: bool = False
    ) -> Float[Tensor, "variants classes"]:
        """Logits of variants of the texts in the batch (None: each text once), one edit for all of them;
        with ``gradients`` they can be differentiated with respect to the edit."""
        inputs = self.inputs if texts is None else self.some(texts)
        with (
            torch.set_grad_enabled(gradients),
            self._shorten(inputs, texts),
            intervene(self.model, edit, [self.shortcut.layer]),
        ):
            return logits_of(self.model, inputs)

    def some(self, texts: Int[Tensor, " variants"]) -> Inputs:
        """The model's inputs for some of the texts in the batch."""
        return {name: tensor[texts] for name, tensor in self.inputs.items()}

    @contextmanager
    def _shorten(self, inputs: Inputs, texts: Tensor | None) -> Iterator[None]:
        """Every skipped block passes on what the last one of its chain said of these texts."""
        size, last = len(self.inputs["attention_mask"]), self.shortcut.last
        outputs, call = self.outputs, self.call
        if texts is not None:
            outputs = {chain: take_texts(output, texts, size) for chain, output in outputs.items()}
            call = None if call is None else select_texts(call, texts)
        with ExitStack() as stack:
            for block in self.shortcut.blocks:
                stack.enter_context(answer_with_output(block, outputs[block.chain]))
            if last is not None:
                assert call is not None
                stack.enter_context(last.of_row(call, last.rows(inputs)))
            yield


@contextmanager
def answer_with_output(block: Block, output: Any) -> Iterator[None]:
    """In the block, a block of the model returns ``output`` without running; its attention calls are
    counted."""

    def forward(own: Any, *args: Any, **options: Any) -> Any:
        for hook in ACTIVE_HOOKS.get():
            if isinstance(hook, AttentionHook):
                hook.skip(block.module, block.calls)
        return output

    with substitute_forward(block.module, forward):
        yield


def take_texts(output: Any, texts: Tensor, size: int) -> Any:
    """The output of a block for some of the ``size`` texts of a batch."""
    if isinstance(output, Tensor):
        return output[texts.to(output.device)] if output.ndim and len(output) == size else output
    if isinstance(output, tuple | list):
        return type(output)(take_texts(part, texts, size) for part in output)
    return output


def find_shortcut_for(model: PreTrainedModel, encoded: Encoded, layer: int) -> Shortcut:
    """`find_shortcut`, tested on the longest and the shortest of some texts."""
    lengths = encoded.mask.sum(dim=1)
    (filled,) = lengths.nonzero(as_tuple=True)
    if not len(filled):
        return Shortcut(layer)
    few = filled[torch.stack([lengths[filled].argmax(), lengths[filled].argmin()])]
    return find_shortcut(model, encoded.some(few.numpy()).inputs(device=model.device), layer)


def find_shortcut(model: PreTrainedModel, inputs: Inputs, layer: int) -> Shortcut:
    """The shortest computation of the logits under edited attention of a layer that agrees with the whole
    model.

    Nothing is skipped if the model is not a stack of blocks that each run once (ALBERT, documents that are
    read sentence by sentence). It is tested on a few texts; `ResumedPasses` tests it again on each batch,
    without the edit.
    """
    blocks, last = find_blocks(model, inputs, layer)
    known = [Shortcut(layer, blocks, replace(last, row=row)) for row in ROW_ENDS] if last is not None else []
    for shortcut in (*known, *([Shortcut(layer, blocks)] if blocks else [])):
        if gives_same_logits(model, inputs, shortcut):
            return shortcut
    return Shortcut(layer)


@torch.no_grad()
def find_blocks(
    model: PreTrainedModel, inputs: Inputs, layer: int
) -> tuple[tuple[Block, ...], LastBlock | None]:
    """The elements of module lists that are done before the attention call of that number; and the element
    that makes it, if it is the last and the only call there."""
    names = {module: name for name, module in model.named_modules()}
    lists = [name for name, module in model.named_modules() if isinstance(module, nn.ModuleList)]
    calls = CallOrder(model)
    runs: dict[nn.Module, int] = {}

    def count(module: nn.Module, args: Any) -> None:
        runs[module] = runs.get(module, 0) + 1

    with ExitStack() as stack:
        for name in lists:
            for element in model.get_submodule(name).children():
                stack.callback(element.register_forward_pre_hook(thread_hook(count)).remove)
        stack.enter_context(attach_hook(calls))
        model(**inputs)
    owners = [outermost_element(names[module], lists) for module in calls.modules]
    blocks = []
    for owner in dict.fromkeys(owners[:layer]):
        if owner is None or owner in owners[layer:]:
            continue
        module = model.get_submodule(owner[1])
        if runs.get(module) == 1:
            blocks.append(Block(module, owner[0], owners.count(owner)))
    # A block that runs behind one that cannot be skipped reads something new.
    if len(blocks) < len(set(owners[:layer]) - {owners[layer]}):
        return (), None
    owner = owners[layer]
    if owner is None or layer != len(owners) - 1 or owners.count(owner) > 1 or not calls.rows[layer]:
        return tuple(blocks), None
    return tuple(blocks), LastBlock(model.get_submodule(owner[1]), calls.modules[layer], "first")


def outermost_element(name: str, lists: list[str]) -> tuple[str, str] | None:
    """The module list around a module, and its element there; None if there is none."""
    for around in lists:
        if name.startswith(f"{around}."):
            index = name.removeprefix(f"{around}.").partition(".")[0]
            return around, f"{around}.{index}"
    return None


class CallOrder(AttentionHook):
    """Which module makes which attention call of a pass, and whether a row of it can be worked out alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, None)
        self.modules: list[nn.Module] = []
        self.rows: list[bool] = []

    def before(self, traced_call: TracedCall) -> None:
        if self.number(traced_call) is not None:
            self.modules.append(traced_call.module)
            self.rows.append(has_row(traced_call.call))


def gives_same_logits(model: PreTrainedModel, inputs: Inputs, shortcut: Shortcut) -> bool:
    """Whether logits under an edit are those of a whole pass, for texts in another order and twice."""
    size = len(inputs["attention_mask"])
    texts = torch.arange(size).flip(0).repeat(2)

    def halve(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return weights / 2

    expected = ResumedPasses(model, inputs, Shortcut(shortcut.layer)).logits(halve, texts)
    try:
        passes = ResumedPasses(model, inputs, shortcut)
    except (RuntimeError, LookupError, ValueError, TypeError, AttributeError, InputError):
        return False  # a block that cannot run for one row alone
    if any(states_of(output) is None or len(states_of(output)) != size for output in passes.outputs.values()):
        return False
    return passes.shortcut == shortcut and same_logits(passes.logits(halve, texts), expected)


def same_logits(actual: Tensor, expected: Tensor) -> bool:
    """Whether logits are equal up to rounding."""
    tolerance = SAME if expected.dtype == torch.float64 else SAME_IN_FLOAT32
    return bool((actual - expected).abs().max() <= tolerance * expected.abs().max())


def states_of(output: Any) -> Any:
    """The hidden states that a block returns; None if there are none."""
    first = output[0] if isinstance(output, tuple | list) and output else output
    return first if isinstance(first, Tensor) else None
