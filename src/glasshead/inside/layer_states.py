"""The states between the layers of a model before one text, and what follows the last layer."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.inside.blocks import find_blocks, watch_blocks, with_states
from glasshead.inside.head_effects import predicts_next_tokens
from glasshead.trace import same_logits, states_of, substitute_forward


@dataclass
class LayerStates:
    """The states [1, n, d] that the first of a list of layers reads and that each passes on, and what follows
    the last."""

    model: PreTrainedModel
    inputs: Inputs
    blocks: list[nn.Module]
    all: list[Tensor] = field(default_factory=list)
    outputs: dict[nn.Module, Any] = field(default_factory=dict)
    logits: Float[Tensor, " answers"] = field(default_factory=lambda: torch.empty(0))
    """Those of the model at the place that it is asked about: of a language model the last."""

    def predict(self, states: Float[Tensor, "l n d"]) -> Float[Tensor, "l places answers"]:
        """The logits if the last layer handed on each of these states."""
        inputs = {name: value.repeat_interleave(len(states), 0) for name, value in self.inputs.items()}
        with ExitStack() as stack:
            for block in self.blocks:

                def forward(own: Any, *args: Any, block: nn.Module = block, **options: Any) -> Any:
                    return with_states(self.outputs[block], states)

                stack.enter_context(substitute_forward(block, forward))
            return logits_everywhere(self.model, inputs)

    def check(self, predicted: Float[Tensor, "places answers"]) -> None:
        """Raise InputError unless what follows from the last state is what the model predicts."""
        if not same_logits(predicted[-1], self.logits):
            raise InputError(
                f"the logits of {class_name(self.model)} depend on more than the state after its last "
                "layer, so the lens would not show what its layers predict"
            )


def read_states(model: PreTrainedModel, inputs: Inputs) -> LayerStates:
    """The states of a pass.

    Raises:
        InputError: if layers have states of another form.
    """
    blocks = find_blocks(model)
    found: dict[str, LayerStates] = {}
    last = ""

    def begin(module: nn.Module, read: Any) -> None:
        of_list = found.setdefault(blocks[module], LayerStates(model, inputs, []))
        if not of_list.all:
            of_list.all.append(read)

    def end(module: nn.Module, output: Any) -> None:
        nonlocal last
        last = blocks[module]
        found[last].all.append(states_of(output))
        found[last].outputs[module] = output

    with watch_blocks(blocks, begin, end):
        logits = model(**inputs).logits
    states = found[last]
    states.blocks, states.logits = list(states.outputs), logits[0]
    size = (1, *states.all[-1].shape[1:])
    if any(not isinstance(one, Tensor) or one.ndim != 3 or one.shape != size for one in states.all):
        raise InputError(f"the layers of {class_name(model)} do not all pass on one vector per token")
    return states


def logits_everywhere(model: PreTrainedModel, inputs: Inputs) -> Float[Tensor, "b places answers"]:
    """The logits of a language model at every token, those of any other model at its one place."""
    if not predicts_next_tokens(model):
        logits: Tensor = model(**inputs).logits
        return logits[:, None]
    everywhere: Tensor = model.model(**inputs, use_cache=False).logits
    return everywhere
