"""A module of somebody's own that classifies texts, read as a classifier of Transformers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.errors import InputError
from glasshead.huggingface.renew import renew

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class ModuleClassifier(PreTrainedModel):
    """The logits of a ``module`` that is called with ids and a mask.

    The module becomes part of this one: give a copy. The configuration is a new one, with the sizes of the
    Transformers model in it, if there is one. ``words`` is the path of the table of word vectors in the
    module, where that is known.
    """

    base_model_prefix = "module"
    _supports_sdpa = _supports_flash_attn = _supports_flex_attn = _supports_attention_backend = True

    def __init__(self, module: nn.Module, config: PreTrainedConfig, words: str | None = None) -> None:
        super().__init__(config)
        self.module = module
        self.words = words
        self.takes = arguments_of(module)

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K], from any container that the module returns."""
        given = {name: value for name, value in inputs.items() if name in self.takes}
        output, kind = self.module(**given), type(self.module).__name__
        return SequenceClassifierOutput(logits=logits_of(output, kind, len(inputs["input_ids"])))

    @property
    def names_types(self) -> bool:
        """Whether the forward of the module accepts token types."""
        return "token_type_ids" in inspect.signature(self.module.forward).parameters

    def rebuild(self, config: PreTrainedConfig) -> ModuleClassifier:
        """The same with new weights, in all modules that can initialise theirs."""
        module = copy.deepcopy(self.module)
        renew(module)
        return ModuleClassifier(module, config, self.words)

    def get_input_embeddings(self) -> nn.Module:
        """The table of word vectors; without a path, that of the Transformers model, or else the largest
        one."""
        if self.words is not None:
            return self.module.get_submodule(self.words)
        inner = inner_model(self.module)
        if inner is not None:
            embeddings: nn.Module = inner.get_input_embeddings()
            return embeddings
        tables = [module for module in self.module.modules() if isinstance(module, nn.Embedding)]
        if not tables:
            raise NotImplementedError
        return max(tables, key=lambda table: table.num_embeddings)

    def set_attn_implementation(self, *args: Any, **kwargs: Any) -> None:
        for part in self.module.modules():
            if isinstance(part, PreTrainedModel):
                part.set_attn_implementation(*args, **kwargs)


def inner_model(module: nn.Module) -> PreTrainedModel | None:
    """The outermost Transformers model in a module."""
    return next((part for part in module.modules() if isinstance(part, PreTrainedModel)), None)


def arguments_of(module: nn.Module) -> tuple[str, ...]:
    """Which inputs of a text a module takes by name."""
    parameters = inspect.signature(module.forward).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return INPUTS
    return tuple(name for name in INPUTS if name in parameters)


def logits_of(output: Any, kind: str, texts: int) -> Tensor:
    """Logits [b, K] in what a module gives for so many texts: itself, a field or an entry of that name, or
    the first of a tuple.

    Raises:
        InputError: if there are none, or not a row for each text.
    """
    if isinstance(output, Mapping):
        output = output.get("logits")
    elif isinstance(output, (tuple, list)):
        output = output[0] if output else None
    output = getattr(output, "logits", output)
    if not isinstance(output, Tensor) or not output.is_floating_point() or output.ndim > 2:
        raise InputError(f"forward of {kind} gives no logits for each class of a text: let it return them")
    if output.ndim == 0 or len(output) != texts:
        given = f"shape {tuple(output.shape)} for a batch of {texts}"
        raise InputError(
            f"forward of {kind} gives no row of logits for each text ({given}): let it return one row per "
            "text, also for a single text"
        )
    return output[:, None] if output.ndim == 1 else output  # or one number for each text
