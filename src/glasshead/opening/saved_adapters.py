"""A folder of adapters (PEFT): the model they were trained around, and that model with them."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from huggingface_hub import snapshot_download
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import ADAPTER_CONFIG_NAME as ADAPTER
from transformers.utils import ADAPTER_SAFE_WEIGHTS_NAME as WEIGHTS

from glasshead.errors import InputError, MissingExtra, one_line
from glasshead.huggingface import model_class, silence_transformers

DOWNLOADED = (ADAPTER, WEIGHTS, "*token*", "vocab*", "merges.txt", "*.model")
PREFIX = "base_model.model."
"""What PEFT puts before the names of weights."""
HEADS: Mapping[str, Any] = {
    "SEQ_CLS": AutoModelForSequenceClassification,
    "TOKEN_CLS": AutoModelForTokenClassification,
    "QUESTION_ANS": AutoModelForQuestionAnswering,
}
MANY = 7919
"""A number of classes that is no other size of a model."""


@dataclass(frozen=True)
class SavedAdapters:
    """Adapters in a ``folder``: the ``base`` that they belong to, the class that was adapted (None: that of
    the base) or its ``task`` in the words of PEFT, and the shapes of their weights, without `PREFIX`."""

    folder: Path
    base: str
    adapted: str | None
    task: str | None
    shapes: Mapping[str, tuple[int, ...]]

    @classmethod
    def read(cls, folder: Path) -> SavedAdapters:
        """What the files of a folder say.

        Raises:
            InputError: if they do not say it.
        """
        try:
            config = json.loads((folder / ADAPTER).read_text(encoding="utf-8"))
            base, task = config["base_model_name_or_path"], config.get("task_type")
            adapted = (config.get("auto_mapping") or {}).get("base_model_class")
            revision = config.get("revision") or "main"
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            base = None
        if not isinstance(base, str) or not base:
            raise InputError(
                f"{folder} holds adapters (PEFT), and its {ADAPTER} names no base model: write its folder or "
                "Hub id there as base_model_name_or_path"
            )
        if revision != "main" and not Path(base).exists():
            raise InputError(
                f"the adapters (PEFT) in {folder} belong to the revision {revision} of {base}: download "
                f"that, and write its folder into {ADAPTER} as base_model_name_or_path"
            )
        try:
            with safe_open(folder / WEIGHTS, "pt") as file:
                shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError):
            raise InputError(
                f"{folder} holds adapters (PEFT) without weights that load safely ({WEIGHTS}): save them "
                "again with save_pretrained"
            ) from None
        plain = {name.removeprefix(PREFIX): shape for name, shape in shapes.items()}
        return cls(folder, base, adapted if isinstance(adapted, str) else None, task, plain)

    def fit(self, config: PreTrainedConfig) -> PreTrainedConfig:
        """The configuration of the base as that of the model that was adapted, which PEFT does not save: its
        class and its number of classes."""
        config = copy.deepcopy(config)
        if self.adapted is not None:
            config.architectures = [self.adapted]
        elif head := HEADS.get(str(self.task)):
            config.architectures = [model_class(config, head).__name__]
        classes = self.count_classes(config)
        if classes is not None:
            config.num_labels = classes
        return config

    def count_classes(self, config: PreTrainedConfig) -> int | None:
        """The number of classes by the shape of a saved head; None if none is saved."""
        name = (config.architectures or [""])[0]
        cls: Any = getattr(transformers, name, None)
        known = isinstance(cls, type) and issubclass(cls, PreTrainedModel)
        if not known or not name.endswith("Classification"):
            return None
        wide = copy.deepcopy(config)
        wide.num_labels = MANY
        with torch.device("meta"):
            sized = {name for name, weight in cls(wide).named_parameters() if MANY in weight.shape[:1]}
        return next((shape[0] for name, shape in self.shapes.items() if name in sized), None)

    def wrap(self, model: PreTrainedModel) -> Any:
        """The base with the adapters around it.

        Raises:
            InputError: if one of the two has a weight that the other does not know.
        """
        from peft import PeftModel, get_peft_model_state_dict

        try:
            with silence_transformers(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrapped = PeftModel.from_pretrained(model, str(self.folder), low_cpu_mem_usage=True)
                expected = get_peft_model_state_dict(wrapped, save_embedding_layers=False)
        except Exception as error:  # adapters break in every way there is
            raise InputError(
                f"the adapters (PEFT) of {self.folder} do not fit their base model {self.base} "
                f"({one_line(error)[:100]}): save both again"
            ) from error
        needed = {name.removeprefix(PREFIX) for name in expected}
        known = needed | {name.removeprefix(PREFIX) for name in wrapped.state_dict()}
        if strange := min((needed - set(self.shapes)) | (set(self.shapes) - known), default=None):
            raise InputError(
                f"the adapters (PEFT) of {self.folder} do not fit their base model {self.base}: only one of "
                f"them has {strange}"
            )
        return wrapped


def check_installed(folder: Path) -> None:
    """Raise InputError if the package is missing that reads adapters."""
    if find_spec("peft") is None:
        raise MissingExtra(f"{folder} holds adapters: reading them", "peft")


def download_adapters(name: str, *, cached: bool) -> Path | None:
    """The folder of what is on the Hub under a name, or ``cached`` of it, if these are adapters."""
    try:
        with silence_transformers():
            folder = Path(snapshot_download(name, allow_patterns=list(DOWNLOADED), local_files_only=cached))
    except Exception:  # of several libraries
        return None
    return folder if (folder / ADAPTER).is_file() else None
