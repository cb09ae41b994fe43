"""How a classifier is built and trained, as plain data."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

import torch
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from glasshead.attention import parse, parse_head_combination
from glasshead.data import AUGMENTATIONS, train_byte_pairs, train_tokenizer
from glasshead.errors import InputError, ParameterError
from glasshead.models import IMAGE_MODELS, MODELS
from glasshead.registry import Registry, did_you_mean
from glasshead.spelling import spell
from glasshead.training.field_types import validate_type
from glasshead.training.losses import LOSSES
from glasshead.training.other_run import OTHER_RUNS, OtherRunTraining, split_attention_word
from glasshead.training.penalties import validate_penalties

SET_BY_DATA = (
    "vocab_size", "pad_token_id", "max_length", "gauge", "sentence_ends", "sentence_closers", "asked_tokens",
)  # fmt: skip
"""Fields of a model's configuration that are not a matter of choice, or are in a `TrainingConfig` too."""

RARELY_CHOSEN = (
    "patience", "loss", "penalties", "attention_run", "adversary_weight", "tokenizer", "augment",
)  # fmt: skip
"""Left out of records where no one chose them."""


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides a trained model besides the data and the seed.

    ``model`` is a name in `MODELS` or `IMAGE_MODELS`, or a folder or Hub name of a pretrained Hugging Face
    classifier of texts. ``augment`` changes images anew in each epoch (`glasshead.data.AUGMENTATIONS`).
    ``architecture`` are fields of the model's configuration; of a pretrained model only ``attention``, the
    mechanism that is put into it. ``tokenizer`` is "word" (`glasshead.data.train_tokenizer`) or "bpe"
    (`glasshead.data.train_byte_pairs`). ``dev_fraction`` of train becomes dev if there is no dev split.
    Training ends when dev has not improved for ``patience`` epochs, or after ``epochs``. ``loss`` is a name
    in `LOSSES`; None: cross-entropy, of ratings the squared error. ``by_length`` makes batches of texts of
    similar length; ``compile`` runs torch.compile. ``penalties`` are weights c of terms c·P(θ) next to the
    loss of a pooled model (`glasshead.training.penalties`).

    ``attention_run``, ``WORD:RUN``, names another run and how the training builds on its attention, by a word
    of `OTHER_RUNS`; `with_settings` takes it as ``attention``. ``adversary_weight`` is the λ of the word
    ``adversarial``.

    Raises:
        InputError: if a value cannot be meant, before any work.
    """

    preset: str = "s0-paper"
    model: str = "pooled"
    # Text
    tokenizer: str = "word"
    max_length: int = 128
    vocab_size: int = 20_000
    min_freq: int = 1
    word_vectors: str | None = None
    dev_fraction: float = 0.1
    # Model
    architecture: Mapping[str, Any] = field(default_factory=dict)
    # Optimisation
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    batch_size: int = 32
    epochs: int = 8
    patience: int | None = None
    loss: str | None = None
    loss_scale: float = 1.0
    by_length: bool = False
    compile: bool = False
    penalties: Mapping[str, float] = field(default_factory=dict)
    augment: str | None = None
    # Another run
    attention_run: str | None = None
    adversary_weight: float | None = None

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.name not in ("architecture", "penalties"):
                object.__setattr__(
                    self, option.name, validate_type(option.name, getattr(self, option.name), option.type)
                )
        OPTIMIZERS[self.optimizer]  # a misspelt name raises here
        TOKENIZERS[self.tokenizer]
        if self.loss is not None:
            LOSSES[self.loss]
        for name in ("max_length", "batch_size", "epochs"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"must be at least 1, not {getattr(self, name)}")
        if self.patience is not None and self.patience < 1:
            raise ParameterError("patience", f"must be at least 1, not {self.patience}: leave it out")
        for name in ("learning_rate", "loss_scale"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(name, f"must be a positive number, not {getattr(self, name)}")
        if self.pretrained:
            self.check_pretrained()
        else:
            object.__setattr__(self, "architecture", self.validate_architecture())
            self.model_config().check()
        object.__setattr__(self, "penalties", self.validate_penalties())
        self.check_tokenizer()
        self.check_augmentation()
        self.check_other_run()

    @property
    def other_run(self) -> str | None:
        """The folder of the run that the training builds on."""
        return None if self.attention_run is None else self.attention_run.partition(":")[2]

    @property
    def other_run_training(self) -> type[OtherRunTraining] | None:
        """How it builds on that run."""
        return None if self.attention_run is None else OTHER_RUNS[self.attention_run.partition(":")[0]]

    def check_tokenizer(self) -> None:
        """Raise InputError if a model needs tokens of another kind."""
        if self.tokenizer == "word":
            return
        if self.pretrained:
            raise InputError(
                f"{self.model} has its own tokenizer: leave out {spell('tokenizer', self.tokenizer)}"
            )
        if self.word_vectors is not None:
            raise InputError(
                f"word vectors need words: use {spell('tokenizer', 'word')}, or leave "
                f"{spell('word_vectors')} out"
            )
        if self.of_images:
            raise InputError(f"the model {self.model!r} reads images and has no tokenizer: leave it out")
        if MODELS[self.model].sentence_marks is not None:
            raise InputError(
                f"the model {self.model!r} finds sentences by the words that end them: use "
                f"{spell('tokenizer', 'word')}"
            )

    def check_augmentation(self) -> None:
        """Raise InputError for an augmentation of texts, or an unknown name."""
        if self.augment is None:
            return
        if not self.of_images:
            raise InputError(
                f"augmentation is for images, and {self.model!r} reads texts: leave {spell('augment')} out"
            )
        AUGMENTATIONS[self.augment]

    def check_other_run(self) -> None:
        """Raise InputError if a training cannot build on another run in this way."""
        adversarial = (self.attention_run or "").startswith("adversarial:")
        if self.adversary_weight is not None and not adversarial:
            raise InputError(
                f"{spell('adversary_weight')} is for {spell('attention', 'adversarial:RUN')}: name the "
                "run, or leave it out"
            )
        if self.other_run_training is not None:
            for name, value in self.other_run_training.settings(self).items():
                object.__setattr__(self, name, value)

    @property
    def pretrained(self) -> bool:
        """Whether the model is pretrained and will be fine-tuned."""
        return self.model not in MODELS and not self.of_images

    @property
    def of_images(self) -> bool:
        """Whether the model reads images."""
        return self.model in IMAGE_MODELS

    @property
    def attention(self) -> Any:
        """The mechanism, as a word or a spec; None if a pretrained model keeps its own."""
        if self.pretrained:
            return self.architecture.get("attention")
        return self.model_config().attention

    def model_config(self, kind: type[PreTrainedConfig] | None = None, **overrides: Any) -> Any:
        """The configuration of a new model for these data; of that ``kind``, or else that of its family."""
        kind = kind or config_class(self.model)
        has_length = any(option.name == "max_length" for option in fields(kind))
        length = {"max_length": self.max_length} if has_length else {}
        return kind(**dict(self.architecture) | length | overrides)

    def check_pretrained(self) -> None:
        """Raise InputError if you choose something that a pretrained model already has."""
        for name in self.architecture:
            if name != "attention":
                raise InputError(f"{self.model} is pretrained: its {spell(name)} cannot be chosen")
        if self.word_vectors is not None:
            raise InputError(f"{self.model} has its own word vectors: leave {spell('word_vectors')} out")
        if self.attention is not None:
            parse(self.attention)

    def validate_architecture(self) -> dict[str, Any]:
        """The chosen settings, with the names and types of the model's configuration.

        Raises:
            InputError: on a name that is not a field of it, and on a value of another type.
        """
        family = config_class(self.model)
        kinds = {option.name: option.type for option in option_fields(family)}
        checked = {}
        for name, value in config_field_names(self.model, self.architecture).items():
            if name not in kinds:
                raise InputError(f"the model {self.model!r} has no option {field_hint(name, kinds)}")
            checked[name] = validate_type(name, value, kinds[name])
        return checked

    def validate_penalties(self) -> dict[str, float]:
        """The weights of penalties, for a model to which they apply.

        Raises:
            InputError: on any other model, and as `glasshead.training.penalties.validate_penalties`.
        """
        if not isinstance(self.penalties, Mapping):
            raise ParameterError("penalties", f"must be a mapping, not {self.penalties!r}")
        if not self.penalties:
            return {}
        if self.model != "pooled":
            raise InputError(
                f"penalties are for the model 'pooled', not {self.model!r}: leave {spell('penalties')} out"
            )
        return validate_penalties(self.penalties, self.model_config())

    def with_changes(self, **changes: Any) -> "TrainingConfig":
        """A copy with every change that is not None, as `with_settings`."""
        return self.with_settings({name: value for name, value in changes.items() if value is not None})

    def with_settings(self, settings: Mapping[str, Any]) -> "TrainingConfig":
        """A copy with these settings; names that are not fields of `TrainingConfig` are settings of its
        model.

        Word vectors set the size, unless you name one; summed heads have the size of their layer, not that
        of a preset's concatenated heads.
        """
        own = {option.name for option in fields(self)}
        settings = split_attention_word(settings)
        own_fields = {name: value for name, value in settings.items() if name in own}
        model = own_fields.get("model", self.model)
        architecture = config_field_names(model, own_fields.get("architecture", self.architecture))
        rest = {name: value for name, value in settings.items() if name not in own}
        if own_fields.get("word_vectors") is not None:
            architecture.pop(embedding_field(model), None)
        chosen = config_field_names(model, rest)
        if model in MODELS and isinstance(word := chosen.get("head_combination"), str):
            chosen["head_combination"] = parse_head_combination(word)
            if chosen["head_combination"] == "add":
                chosen.setdefault("value_dim", None)
        return replace(self, **own_fields | {"architecture": architecture | chosen})

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, without rare settings at their defaults."""
        settings = asdict(self) | {"architecture": dict(self.architecture)}
        unused = {name for name in RARELY_CHOSEN if settings[name] == getattr(TrainingConfig, name, {})}
        return {name: value for name, value in settings.items() if name not in unused}


def config_class(model: str) -> Any:
    """The configuration of a model of ours."""
    return IMAGE_MODELS[model] if model in IMAGE_MODELS else MODELS[model].config_class


SETTINGS = [
    option.name for option in fields(TrainingConfig) if option.name not in ("preset", "model", "architecture")
]
"""What is chosen by name, next to the fields of the model's configuration."""


def config_field_names(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The choices by the names that the configuration of a model of ours has for them.

    Raises:
        InputError: if two of them are the same.
    """
    known = model in MODELS or model in IMAGE_MODELS
    synonyms = config_class(model).attribute_map if known else {}
    names = {name: own for name, own in synonyms.items() if own not in SET_BY_DATA}
    for name, own in names.items():
        if name in settings and own in settings:
            raise InputError(f"{own!r} and {name!r} are one option: choose it once")
    return {names.get(name, name): value for name, value in settings.items()}


def embedding_field(model: str) -> str:
    """What the configuration of a model of ours calls the size of its embeddings."""
    own = hasattr(config_class(model), "embedding_size") if model in MODELS else True
    return "embedding_size" if own else "hidden_size"


def field_hint(name: str, known: Iterable[str]) -> str:
    """End of an error message: the option and the models that have it, or what may have been meant."""
    others = [
        model
        for model, family in MODELS.items()
        if set(config_field_names(model, {name: None}))
        & {option.name for option in option_fields(family.config_class)}
    ]
    if not others:
        return f"{name!r}: {did_you_mean(name, [*known, *SETTINGS])}"
    own = any(name in model.config_class.__dataclass_fields__ for model in MODELS.values())
    return f"{spell(name) if own else repr(name)}: it is one of {', '.join(others)}"


def option_fields(kind: type[PreTrainedConfig]) -> list[Field[Any]]:
    """The fields of a configuration that you can choose: its own, not those of Hugging Face."""
    common = {option.name for option in fields(PreTrainedConfig)}
    return [option for option in fields(kind) if option.name not in common and option.name not in SET_BY_DATA]


TOKENIZERS: Registry[Callable[..., PreTrainedTokenizerBase]] = Registry("tokenizer")
TOKENIZERS.register("word")(train_tokenizer)
TOKENIZERS.register("bpe")(train_byte_pairs)

OPTIMIZERS: Registry[type[torch.optim.Optimizer]] = Registry("optimizer")
OPTIMIZERS.register("adam")(torch.optim.Adam)
OPTIMIZERS.register("adamw")(torch.optim.AdamW)
OPTIMIZERS.register("adadelta")(torch.optim.Adadelta)
OPTIMIZERS.register("adagrad")(torch.optim.Adagrad)
OPTIMIZERS.register("sgd")(torch.optim.SGD)
