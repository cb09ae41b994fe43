"""A module of somebody's own that classifies texts, read as a classifier of Transformers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.dispatch import clear_spec
from glasshead.errors import InputError, one_line

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MOST_REASON = 120
"""Letters of what a module says where it fails."""


class ModuleClassifier(PreTrainedModel):
    """The logits of a ``module`` that is called with ids and a mask.

    The module becomes part of this one: give a copy. The configuration is one of its own, with what the
    Transformers model in it says of sizes, if there is one.
    """

    base_model_prefix = "module"
    _supports_sdpa = _supports_flash_attn = _supports_flex_attn = _supports_attention_backend = True

    def __init__(self, module: nn.Module, config: PreTrainedConfig) -> None:
        super().__init__(config)
        self.module = module
        self.takes = arguments_of(module)

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K], whatever the module gives them in."""
        given = {name: value for name, value in inputs.items() if name in self.takes}
        return SequenceClassifierOutput(logits=logits_of(self.module(**given), type(self.module).__name__))

    @property
    def names_types(self) -> bool:
        """Whether the module itself says that it is told which text of a pair a token belongs to."""
        return "token_type_ids" in inspect.signature(self.module.forward).parameters

    def rebuild(self, config: PreTrainedConfig) -> ModuleClassifier:
        """The same with new weights, in all modules that know how theirs begin."""
        module = copy.deepcopy(self.module)
        renew(module)
        return ModuleClassifier(module, config)

    def get_input_embeddings(self) -> nn.Module:
        """The table of word vectors: that of the Transformers model, else the largest one."""
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


def read_module(module: nn.Module) -> ModuleClassifier:
    """A ``module`` as a classifier, which it becomes part of: give a copy in evaluation mode.

    Raises:
        InputError: if it does not take the ids of a text, or gives no number for each class.
    """
    kind = type(module).__name__
    if "input_ids" not in arguments_of(module):
        raise InputError(
            f"forward of {kind} takes no input_ids: let it take input_ids and attention_mask, and return the "
            "logits of each class"
        )
    inner = inner_model(module)
    config = PreTrainedConfig() if inner is None else copy.deepcopy(inner.config)
    config.name_or_path, config.architectures, config.problem_type = "", [kind], None
    classifier = ModuleClassifier(module, config)
    if (classes := count_classes(classifier)) != config.num_labels:
        config.num_labels = classes
    return classifier.eval()


def renew(module: nn.Module) -> None:
    """Give a module the weights that its parts begin with: Transformers models those of their class, all
    others what their ``reset_parameters`` says."""
    for name, part in module.named_children():
        if isinstance(part, PreTrainedModel):
            config = copy.deepcopy(part.config)
            clear_spec(config)
            config._attn_implementation = None
            setattr(module, name, type(part)(config))
        else:
            renew(part)
    reset = getattr(module, "reset_parameters", None)
    if callable(reset):
        reset()


@torch.no_grad()
def count_classes(classifier: ModuleClassifier) -> int:
    """How many classes a module has logits of, by those of a short text."""
    device = next((tensor.device for tensor in classifier.parameters()), torch.device("cpu"))
    ids = torch.ones(1, 4, dtype=torch.long, device=device)
    try:
        output = classifier(input_ids=ids, attention_mask=ids, token_type_ids=ids * 0)
    except InputError:
        raise
    except Exception as error:  # a module of one's own breaks in every way there is
        raise InputError(
            f"{type(classifier.module).__name__} fails on four tokens "
            f"({one_line(error)[:MOST_REASON]}): check that it runs without Glasshead"
        ) from error
    return int(output.logits.shape[-1])


def inner_model(module: nn.Module) -> PreTrainedModel | None:
    """The outermost Transformers model in a module."""
    return next((part for part in module.modules() if isinstance(part, PreTrainedModel)), None)


def arguments_of(module: nn.Module) -> tuple[str, ...]:
    """Which inputs of a text a module takes by name."""
    parameters = inspect.signature(module.forward).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return INPUTS
    return tuple(name for name in INPUTS if name in parameters)


def logits_of(output: Any, kind: str) -> Tensor:
    """Logits [b, K] in what a module gives: itself, a field or an entry of that name, or the first of a
    tuple.

    Raises:
        InputError: if there are none.
    """
    if isinstance(output, Mapping):
        output = output.get("logits")
    elif isinstance(output, (tuple, list)):
        output = output[0] if output else None
    output = getattr(output, "logits", output)
    if isinstance(output, Tensor) and output.is_floating_point():
        if output.ndim == 1:  # one number for each text
            return output[:, None]
        if output.ndim == 2:
            return output
    raise InputError(f"forward of {kind} gives no logits for each class of a text: let it return them")
