"""How a language model is built and trained, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from glasshead.attention import parse, to_spec
from glasshead.errors import InputError, ParameterError
from glasshead.language.model_types import model_fields, objective_of
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.training import validate_type


@dataclass(frozen=True)
class LanguageModelConfig:
    """Everything that decides a trained language model besides the corpus and the seed.

    ``model`` is a Transformers model type: ``gpt2``, ``llama``, ``bert``, …. ``objective`` is ``causal``
    (the next token) or ``masked`` (hidden tokens); None: that of the model type. ``tokenizer`` is ``bpe``
    (byte pairs of the corpus), ``word`` (its words), or a folder or Hub id. ``attention`` is the mechanism
    that is put into the model; None: its own. ``architecture`` are further fields of the model's
    configuration. ``masked_fraction`` of the tokens are hidden where the objective is masked.

    Raises:
        InputError: if a value cannot be meant, before any work.
    """

    model: str = "gpt2"
    objective: str | None = None
    tokenizer: str = "bpe"
    vocab_size: int = 8_000
    attention: Any = None
    # Model
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    hidden_size: int = 128
    block_size: int = 128
    dropout: float = 0.0
    architecture: Mapping[str, Any] = field(default_factory=dict)
    # Optimisation
    epochs: int = 5
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    masked_fraction: float = 0.15

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.name not in ("architecture", "attention"):
                value = validate_type(option.name, getattr(self, option.name), option.type)
                object.__setattr__(self, option.name, value)
        object.__setattr__(self, "objective", objective_of(self.model, self.objective))
        if self.attention is not None:
            object.__setattr__(self, "attention", to_spec(parse(self.attention)))
        for name in ("num_hidden_layers", "num_attention_heads", "hidden_size", "epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"must be at least 1, not {getattr(self, name)}")
        if self.block_size < 2:
            raise ParameterError("block_size", f"must be at least 2, not {self.block_size}")
        if self.hidden_size % self.num_attention_heads:
            raise InputError(
                f"{spell('hidden_size', self.hidden_size)} cannot be shared by {self.num_attention_heads} "
                f"heads: choose a multiple of {spell('num_attention_heads')}"
            )
        if not 0 < self.learning_rate < math.inf:
            raise ParameterError("learning_rate", f"must be a positive number, not {self.learning_rate}")
        if not 0 <= self.weight_decay < math.inf:
            raise ParameterError("weight_decay", f"must be 0 or more, not {self.weight_decay}")
        if not 0 <= self.dropout < 1:
            raise ParameterError("dropout", f"must lie between 0 and 1, not {self.dropout}")
        if not 0 < self.masked_fraction < 1:
            raise ParameterError("masked_fraction", f"must lie between 0 and 1, not {self.masked_fraction}")

    @property
    def masked(self) -> bool:
        """Whether hidden tokens are to be found, and not the next one."""
        return self.objective == "masked"

    def with_settings(self, settings: Mapping[str, Any]) -> "LanguageModelConfig":
        """The configuration with other values; names of no field here are fields of the model's
        configuration.

        Raises:
            InputError: if the model has no such field either.
        """
        known = {option.name for option in fields(self)}
        own = {name: value for name, value in settings.items() if name in known}
        others = {name: value for name, value in settings.items() if name not in known}
        available = model_fields(own.get("model", self.model))
        for name in others:
            if name not in available:
                raise InputError(
                    f"unknown setting {name!r}: {did_you_mean(name, [*sorted(known), *sorted(available)])}"
                )
        return replace(self, **own, architecture={**self.architecture, **others})

    def with_changes(self, **changes: Any) -> "LanguageModelConfig":
        """A copy with every change that is not None, as `with_settings`."""
        return self.with_settings({name: value for name, value in changes.items() if value is not None})

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a record."""
        return asdict(self)
