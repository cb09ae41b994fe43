"""A run folder: a trained model with all that is needed to read, repeat and audit it.

config.json, model.safetensors   the model, as Hugging Face saves it
tokenizer.json, …                its tokenizer
vocabulary.parquet               how often each token occurs in each class of the train split
metrics.json                     accuracy and macro-F1 (or RMSE and MAE) on dev and test, dev per epoch
predictions.parquet              what the model says to every dev and test example
run.json                         recipe, data and its fingerprint, versions, seed, gauge, wall time, floor
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
)

from glasshead.errors import InputError
from glasshead.files import check_readable, partial_path
from glasshead.huggingface import class_names, load, load_weights, reads_images, silence_transformers, spec_of
from glasshead.opening.open_images import find_patches
from glasshead.opening.readers import read_processor
from glasshead.opening.run_record import ClassifierRecord, validate_record
from glasshead.reasons import because
from glasshead.spelling import spell

RECORD = "run.json"
VOCABULARY = "vocabulary.parquet"
REPEATS = "repeats.json"
MEASURED = "metrics.json"
NO_COUNTS = np.empty((0, 0), dtype=np.int64)
NOTHING_MISSING: dict[str, list[str]] = {"missing_keys": [], "unexpected_keys": []}
"""What `load` gives it has checked itself."""


@dataclass(frozen=True)
class Run:
    """A trained model, its tokenizer or image reader, the record of its training, and its train counts
    [classes, vocabulary]; image models have no counts."""

    folder: Path
    model: PreTrainedModel
    tokenizer: Any
    record: dict[str, Any]
    counts: np.ndarray

    @property
    def labels(self) -> list[str]:
        """Class names in class order."""
        return class_names(self.model)


def open_record(folder: Path, maker: str) -> dict[str, Any]:
    """The content of run.json for the kind of run that ``maker`` makes.

    Raises:
        InputError: if the folder is not a run.
    """
    check_readable(folder)
    path = folder / RECORD
    if not path.is_file():
        if not folder.exists() and partial_path(folder).exists():
            raise InputError(f"{folder} is not finished: continue the training with {spell('resume', True)}")
        repeated = sorted(path.name for path in folder.glob("seed-*"))
        if (folder / REPEATS).is_file() and repeated:
            raise InputError(f"{folder} holds {len(repeated)} runs: name one of them, {folder / repeated[0]}")
        what = "has no run.json" if folder.exists() else "does not exist"
        raise InputError(f"{folder} is not a run ({what}): make one with {spell(maker)}")
    return read_object(path)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a run.

    Raises:
        InputError: if there is none.
    """
    if not path.is_file():
        raise InputError(f"{path} is missing: train again")
    check_readable(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged{because(error)}: train again") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged (it is not a JSON object): train again")
    return content


def run_folders(folder: Path) -> list[Path]:
    """The runs of a folder of repeats, or the folder itself.

    Raises:
        InputError: if the list of repeats is damaged.
    """
    path = folder / REPEATS
    if not path.is_file():
        return [folder]
    seeds = read_object(path).get("seeds")
    if not isinstance(seeds, list) or not seeds or not all(isinstance(seed, int) for seed in seeds):
        raise InputError(f"{path} is damaged (no list of seeds): train again")
    return [folder / f"seed-{seed}" for seed in seeds]


def read_record(folder: Path) -> dict[str, Any]:
    """The content of a classifier's run.json.

    Raises:
        InputError: if the folder is not a run of a classifier, or its record is damaged.
    """
    record = open_record(folder, "glasshead.training.train")
    if "what" in record:
        raise InputError(f"{folder} is a {record['what']}, not a classifier: give a run of a classifier")
    return validate_record(folder / RECORD, record, ClassifierRecord)


def check_config(config: PreTrainedConfig, record: dict[str, Any]) -> None:
    """Raise InputError on values that no model has, and on signs of heads that are not those of the
    record."""
    if hasattr(config, "check"):
        config.check()
    gauge = record.get("gauge") or {}
    signs = gauge.get("signs", gauge.get("sign"))
    own = getattr(config, "gauge", signs)
    if own != signs and (signs is not None or isinstance(own, list)):
        raise InputError(f"the gauge in config.json is not that of {RECORD}")


def load_run(folder: Path) -> Run:
    """Read a run folder.

    Raises:
        InputError: if it is not a run, or a file of it is missing or damaged.
    """
    record = read_record(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if reads_images(config):
            model = load(folder, local_files_only=True).eval()
            return Run(folder, model, find_patches(model, read_processor(folder)), record, NO_COUNTS)
        if spec_of(config) is not None:
            model, loading = load(folder, local_files_only=True), NOTHING_MISSING
        else:
            model, loading = load_weights(
                AutoModelForSequenceClassification, folder, config=config, local_files_only=True
            )
        with silence_transformers():
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        check_config(model.config, record)
        if tokenizer.pad_token_id is None:
            raise InputError("tokenizer_config.json names no padding token")
        counts = np.array(pq.ParquetFile(folder / VOCABULARY).read()["counts"].to_pylist()).T
        fits = counts.shape == (len(class_names(model)), len(tokenizer))
    except Exception as error:  # safetensors, tokenizers and configurations break in every way there is
        raise InputError(f"{folder} is a damaged run{because(error)}: train again") from error
    if loading["missing_keys"] or loading["unexpected_keys"]:
        raise InputError(f"{folder}: the weights do not fit the configuration: train again")
    if not fits:
        raise InputError(f"{folder}: {VOCABULARY} does not fit the model: train again")
    return Run(folder, model.eval(), tokenizer, record, counts)


def load_run_model(folder: Path) -> PreTrainedModel:
    """The trained model of a run: a classifier, or any other that Transformers knows by its configuration.

    Raises:
        InputError: if the folder is not a run, or a file of it is damaged.
    """
    open_record(folder, "glasshead.training.train")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # safetensors and configurations break in every way there is
        raise InputError(f"{folder} is a damaged run (config.json names no model): train again") from error
    if type(config) in AutoModelForSequenceClassification._model_mapping or reads_images(config):
        return load_run(folder).model
    try:
        return load_weights(AutoModel, folder, config=config, local_files_only=True)[0].eval()
    except Exception as error:  # so do weights
        raise InputError(f"{folder} is a damaged run (its weights do not load): train again") from error
