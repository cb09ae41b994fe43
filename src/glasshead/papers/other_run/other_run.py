"""Trainings that build on another run: its attention imposed, or a model that departs from it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import SCORE_FIELDS, PooledClassifier
from glasshead.opening import load_run, read_record
from glasshead.random_numbers import seeded

OTHER_RUN_SETTINGS = {"frozen": "frozen_attention", "adversarial": "adversary_of"}
"""``attention="WORD:RUN"`` → the setting that names the run."""
ABOUT_SCORES = ("score", "head_dim", "temperature")


def split_attention_word(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with an ``attention`` of the form ``frozen:RUN`` or ``adversarial:RUN`` as one that names
    the run.

    Raises:
        InputError: if no run is named, or something is chosen that the run decides.
    """
    for name in ("attention", "activation"):
        word = settings.get(name)
        kind, colon, folder = word.partition(":") if isinstance(word, str) else ("", "", "")
        if not colon or kind not in OTHER_RUN_SETTINGS:
            continue
        if not folder:
            raise InputError(f"`attention={word!r}` names no run: take {kind}:RUN, with the folder of a run")
        rest = {key: value for key, value in settings.items() if key != name}
        rest[OTHER_RUN_SETTINGS[kind]] = folder
        chosen = [key for key in ABOUT_SCORES if key in rest]
        if kind == "frozen" and chosen:
            raise InputError(f"the scores are those of {folder}, as they are: leave `{chosen[0]}` out")
        return rest
    return dict(settings)


def load_other_run(folder: str, tokenizer: PreTrainedTokenizerFast) -> PooledClassifier:
    """The model of a run that reads texts as this tokenizer does, on its own: no random number is drawn.

    Raises:
        InputError: if it is no run of a pooled classifier, or reads texts in another way.
    """
    with seeded(None):
        run = load_run(Path(folder))
    if not isinstance(run.model, PooledClassifier):
        raise InputError(
            f"{folder} is a {type(run.model).__name__}, and only a pooled classifier has one weight for each "
            "token to go by: name a run of `model='pooled'`"
        )
    lengths = run.tokenizer.model_max_length, tokenizer.model_max_length
    if lengths[0] != lengths[1]:
        raise InputError(
            f"{folder} reads {lengths[0]} tokens of a text, this training {lengths[1]}: "
            f"take `max_length={lengths[0]}`"
        )
    if run.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise InputError(
            f"{folder} knows {len(run.tokenizer)} tokens, and not those of this training "
            f"({len(tokenizer)}): train on the same data, with the same `vocab_size` and `min_freq`"
        )
    return run.model


def fingerprint_of(folder: str) -> str:
    """What the weights of a run are known by: a training is resumed only with the same.

    Raises:
        InputError: if the folder is no run.
    """
    read_record(Path(folder))
    path = Path(folder) / "model.safetensors"
    if not path.is_file():
        raise InputError(f"{folder} is a damaged run (there is no {path.name}): train again")
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def imposed_settings(other: PooledClassifier) -> dict[str, Any]:
    """The fields of the configuration of a model with the scores of another one, whoever made those."""
    config = other.config
    form = config.imposed or {name: getattr(config, name) for name in SCORE_FIELDS}
    shared = ("score", "head_dim", "temperature")
    return {name: form[name] for name in shared} | {"activation": config.activation, "imposed": form}


def impose_scores(model: PooledClassifier, other: PooledClassifier) -> None:
    """Give the model, built with `imposed_settings`, the parameters of the other one's scores."""
    assert model.imposed is not None
    if other.imposed is not None:
        model.imposed.load_state_dict(other.imposed.state_dict())
        return
    model.imposed.embedding.load_state_dict(other.embedding.state_dict())
    model.imposed.encoder.load_state_dict(other.encoder.state_dict())
    assert other.pooling.score is not None
    model.imposed.score.load_state_dict(other.pooling.score.state_dict())


def check_adversary(model: PooledClassifier, other: PooledClassifier, folder: str) -> None:
    """Raise InputError unless the two have weights and probabilities that can be held against each other."""
    for one, what in ((other, folder), (model, "the model to be trained")):
        if one.activation.signed or not one.activation.rows_sum_to_one:
            raise InputError(
                f"the weights of {what} ({one.config.activation}) are no distribution over tokens, so there "
                "is no divergence from them: take `attention='softmax'`"
            )
    if class_names(other) != class_names(model):
        raise InputError(f"{folder} predicts other classes than these data have: train both on the same data")
    if other.config.problem_type == "regression":
        raise InputError(f"{folder} predicts ratings: an adversary is held to the probabilities of classes")
