"""The blocks of a model around its attention calls, to be run again by themselves."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import Cache, PreTrainedModel

from glasshead.attention import ACTIVE_HOOKS, AttentionInputs
from glasshead.data import Inputs
from glasshead.trace.attention_site import forward
from glasshead.trace.hooks import AttentionHook, attach_hook
from glasshead.trace.intervene import intervene
from glasshead.trace.resume import outermost_element, states_of, take_texts

BLOCK_TOLERANCE = 1e-5
"""By how much a block may differ that runs again by another kernel, of its largest number; in half precision
by 16 roundings."""


@dataclass
class BlockRun:
    """One run of a block with one attention call: its inputs, and its output states [b, n, d]."""

    module: nn.Module
    args: tuple[Any, ...]
    options: dict[str, Any]
    output: Float[Tensor, "b n d"] | None = None
    calls: int = 0

    def without_values(
        self, texts: Int[Tensor, " variants"], gone: Bool[Tensor, "variants k"]
    ) -> Float[Tensor, "variants n d"]:
        """The states of some of the texts, with the values of some keys of each set to zero in all heads."""

        def edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
            return weights.masked_fill(gone.to(weights.device)[:, None, None], 0.0)

        def some(value: Any) -> Any:
            return select_variants(value, texts, len(self.whole))

        options = {name: some(one) for name, one in self.options.items()}
        with intervene(self.module, edit):
            states: Tensor = states_of(self.module(*map(some, self.args), **options))
        return states

    @property
    def whole(self) -> Float[Tensor, "b n d"]:
        """The states of all texts as they are."""
        assert self.output is not None
        return self.output

    def can_run_again(self) -> bool:
        """Whether it gives the same states again, text by text, also for more texts at once."""
        texts = torch.arange(len(self.whole)).flip(0).repeat(2)
        try:
            states = self.without_values(texts, torch.zeros(len(texts), 1, dtype=torch.bool))
        except (RuntimeError, LookupError, ValueError, TypeError, AttributeError):
            return False
        full = self.whole[texts]
        if states.shape != full.shape:
            return False
        tolerance = max(BLOCK_TOLERANCE, 16 * torch.finfo(full.dtype).eps)
        return bool((states - full).abs().max() <= tolerance * full.abs().max())


def select_variants(value: Any, texts: Int[Tensor, " variants"], size: int) -> Any:
    """What a block is given for some of the ``size`` texts: tensors have one row for each text, or one for
    each head of each; a cache is left out, since the block would add to it."""
    if isinstance(value, Cache):
        return None
    if isinstance(value, tuple | list):
        return type(value)(select_variants(part, texts, size) for part in value)
    if isinstance(value, Tensor) and value.ndim > 2 and len(value) > size and len(value) % size == 0:
        return value.unflatten(0, (size, -1))[texts.to(value.device)].flatten(0, 1)
    return take_texts(value, texts, size)


class BlockWatcher(AttentionHook):
    """Keeps each run of the blocks of a model, by the number of the attention call in it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, None)
        self.runs: dict[int, BlockRun] = {}
        self.open: dict[nn.Module, BlockRun] = {}
        self.blocks: dict[nn.Module, nn.Module] = {}
        names = {module: name for name, module in model.named_modules()}
        lists = [name for name, module in model.named_modules() if isinstance(module, nn.ModuleList)]
        for module, name in names.items():
            element = outermost_element(name, lists)
            if element is not None:
                self.blocks[module] = model.get_submodule(element[1])

    def before(self, traced_call: Any) -> None:
        layer = self.number(traced_call)
        run = self.open.get(self.blocks.get(traced_call.module, traced_call.module))
        if layer is not None and run is not None:
            run.calls += 1
            self.runs[layer] = run

    def enter(self, module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """A block begins."""
        if self in ACTIVE_HOOKS.get():  # another thread may run the same model
            self.open[module] = BlockRun(module, args, options)

    def leave(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """A block ends."""
        if self in ACTIVE_HOOKS.get():
            self.open.pop(module).output = states_of(output)


@torch.no_grad()
def run_blocks(model: PreTrainedModel, inputs: Inputs) -> dict[int, BlockRun]:
    """The run of the block around each attention call, by the number of the call.

    Calls that have no block, share one, or have a block that does not give the same result again, are left
    out.
    """
    watcher = BlockWatcher(model)
    with ExitStack() as stack:
        for block in dict.fromkeys(watcher.blocks.values()):
            stack.callback(block.register_forward_pre_hook(watcher.enter, with_kwargs=True).remove)
            stack.callback(block.register_forward_hook(watcher.leave).remove)
        stack.enter_context(attach_hook(watcher))
        if (
            len(inputs["attention_mask"]) == 1
        ):  # what is of all texts is told from what is of each by its size
            inputs = {name: torch.cat([value, value]) for name, value in inputs.items()}
        forward(model, inputs, rows="mean")
    return {
        layer: run
        for layer, run in watcher.runs.items()
        if run.calls == 1 and run.output is not None and run.can_run_again()
    }
