"""Trainings that build on another run: ``attention="WORD:RUN"``. Extensions add the words."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.errors import InputError
from glasshead.models import TextClassifier
from glasshead.opening import read_record
from glasshead.registry import Registry, did_you_mean
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import DatasetDict

Objective = Callable[[nn.Module, Mapping[str, Tensor]], tuple[Float[Tensor, " b"], Float[Tensor, "b k"]]]
"""A model and its inputs, without labels → what is minimised, for every text, and the logits."""


class OtherRunTraining:
    """A training that builds on the run in ``folder``, created when its tokenizer is known; this base class
    changes nothing. ``config`` is a `TrainingConfig`.

    Raises:
        InputError: if the run cannot be used.
    """

    decided: ClassVar[tuple[str, ...]] = ()
    """Settings that the other run decides: nobody can choose them."""
    family: type[TextClassifier] | None = None
    """The model to build; None: that of the configuration."""
    model_settings: Mapping[str, Any] = MappingProxyType({})
    """Fields of its configuration."""
    objective: Objective | None = None
    """What is minimised in place of the loss of the labels; the epoch is kept whose value on dev is least."""

    def __init__(self, folder: str, tokenizer: PreTrainedTokenizerBase, config: Any) -> None:
        self.folder = folder

    @classmethod
    def settings(cls, config: Any) -> dict[str, Any]:
        """Settings that it needs and that you did not choose.

        Raises:
            InputError: if other settings conflict with it.
        """
        return {}

    def prepare(self, model: PreTrainedModel) -> None:
        """Make a new model ready for its training.

        Raises:
            InputError: if the two models do not match.
        """

    @classmethod
    def remarks(cls, run: Path, folder: str, data: "DatasetDict") -> list[str]:
        """Remarks on the run that was trained, in lines for the terminal."""
        return []


OTHER_RUNS: Registry[type[OtherRunTraining]] = Registry("word for the attention of a run", "recorders")


def split_attention_word(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with an ``attention`` of the form ``WORD:RUN`` under a name of its own.

    Raises:
        InputError: on an unknown word, if no run is named, or something is chosen that the run decides.
    """
    for name in ("attention", "activation"):
        value = settings.get(name)
        word, colon, folder = value.partition(":") if isinstance(value, str) else ("", "", "")
        if not colon or not word.isidentifier():
            continue
        if word not in OTHER_RUNS:
            hint = f"; {did_you_mean(word, OTHER_RUNS)}" if OTHER_RUNS else ""
            raise InputError(
                f"unknown attention mechanism {value!r}: no installed extension adds {word!r}{hint}"
            )
        if not folder:
            raise InputError(
                f"{spell('attention', value)} names no run: use {word}:RUN with the folder of a run"
            )
        rest = {key: chosen for key, chosen in settings.items() if key != name}
        decided = [key for key in OTHER_RUNS[word].decided if key in rest]
        if decided:
            raise InputError(f"the scores come unchanged from {folder}: leave {spell(decided[0])} out")
        return rest | {"attention_run": value}
    return dict(settings)


def attention_run_name(attention_run: str) -> str:
    """``WORD:RUN`` with only the name of the run."""
    word, _, folder = attention_run.partition(":")
    return f"{word}:{Path(folder).name}"


def fingerprint_of(folder: str) -> str:
    """A fingerprint of the weights of a run; a training is resumed only if it is the same.

    Raises:
        InputError: if the folder is not a run.
    """
    read_record(Path(folder))
    path = Path(folder) / "model.safetensors"
    if not path.is_file():
        raise InputError(f"{folder} is a damaged run (there is no {path.name}): train again")
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
