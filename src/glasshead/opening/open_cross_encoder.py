"""A `CrossEncoder` of sentence-transformers: its model, and the settings by which it predicts, followed or
refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import own_model
from glasshead.models import REGRESSION, is_regression
from glasshead.opening.check_copy import are_close, tolerance_for
from glasshead.opening.open_pipeline import FUNCTIONS, LONGEST_SAMPLE
from glasshead.tasks import CLASSIFICATION, LABELS
from glasshead.trace import Subject, eval_mode, logits_of

ACTIVATIONS = {"Identity": "none", "NoneType": "none", "Sigmoid": "sigmoid", "Softmax": "softmax"}
"""What their classes are called, and how pipelines call the functions."""
SAMPLES = (("a text", "a longer text than the first"), ("A Text with Capitals, 2 numbers!", "and another"))


def is_of_sentence_transformers(source: object, name: str) -> bool:
    """Whether it is of a class of sentence-transformers, which is not imported for that."""
    names = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(source).__mro__}
    return ("sentence_transformers", name) in names


def is_cross_encoder(source: object) -> bool:
    """Whether it is a `sentence_transformers.CrossEncoder`."""
    return is_of_sentence_transformers(source, "CrossEncoder")


def activation_of(encoder: Any) -> str:
    """What a cross-encoder makes of logits.

    Raises:
        InputError: if that cannot be followed.
    """
    name = type(encoder.activation_fn).__name__
    if name not in ACTIVATIONS or (name == "Softmax" and encoder.num_labels == 1):
        raise InputError(
            f"the CrossEncoder has activation_fn={name}, which Glasshead does not follow: set it to "
            "torch.nn.Identity() or torch.nn.Sigmoid()"
        )
    return name


def parts_of_encoder(encoder: Any) -> tuple[Any, Any, str]:
    """The model of a cross-encoder, its tokenizer, and what it is asked: one output gives a rating, several a
    class, or labels that are each a yes or no.

    Raises:
        InputError: if its prediction is not that of one model, or has a setting that cannot be followed.
    """
    if others := [type(module).__name__ for module in list(encoder)[1:]]:
        raise InputError(
            f"the CrossEncoder computes its score after the model ({', '.join(others)}), which Glasshead "
            "does not follow: give one around a …ForSequenceClassification"
        )
    several = LABELS if activation_of(encoder) == "Sigmoid" else CLASSIFICATION
    return encoder.model, encoder.tokenizer, REGRESSION if encoder.num_labels == 1 else several


def follow_cross_encoder(encoder: Any, subject: Subject) -> Subject:
    """The subject, with a note of what it says differently from the cross-encoder.

    Raises:
        InputError: if it predicts otherwise, by some setting or code of its own.
    """
    name, model = activation_of(encoder), own_model(subject.model)
    pairs, limit = list(SAMPLES), subject.tokenizer.model_max_length
    if limit <= LONGEST_SAMPLE:
        pairs.append(("a the " * limit, "the a " * limit))
    for pair in pairs:
        encoded = encode(subject.tokenizer, [pair[0]], [pair[1]])
        with torch.no_grad():
            logits = logits_of(model, encoded.inputs(device=model.device))[0]
        values = FUNCTIONS[ACTIVATIONS[name]](logits).float().cpu()
        with eval_mode(encoder):
            printed = encoder.predict([pair], show_progress_bar=False, convert_to_tensor=True).float().cpu()
        if not are_close(printed.flatten(), values, tolerance_for(encoder.model.dtype)):
            raise InputError(
                "the CrossEncoder predicts something else than its model does when Glasshead calls it, "
                "because of a prompt, a setting or its own code: build a plain one, or pass its model and "
                "tokenizer"
            )
    if name == "Sigmoid" and is_regression(subject.model.config):
        note = "the CrossEncoder prints a sigmoid; its logit is explained, as a rating"
    elif name in ("Identity", "NoneType") and encoder.num_labels > 1:
        note = "the CrossEncoder prints logits; their softmax is explained, a probability"
    else:
        return subject
    return replace(subject, notes=(*subject.notes, note))
