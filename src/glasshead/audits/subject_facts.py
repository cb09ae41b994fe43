"""What a card says of its model and of how it was asked: facts, notes, and what it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from glasshead.attention import to_name
from glasshead.audits.agreement import ALPHA
from glasshead.audits.judging.settings import Settings
from glasshead.audits.judging.slices import Slicing, slice_notes
from glasshead.audits.judging.table import Table
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.noise_floor import FLOOR_INPUTS, FLOOR_PREDICTIONS
from glasshead.audits.measuring.reference import FLOOR_TEXTS
from glasshead.audits.measuring.view import ModelView
from glasshead.audits.performance import guess_facts
from glasshead.data import reader_of
from glasshead.explainers import EXPLAINERS, ForwardObservation
from glasshead.huggingface import arithmetic_of, class_name, spec_of
from glasshead.models import MODELS, PooledClassifier, TransformerClassifier
from glasshead.nouns import INPUTS
from glasshead.opening import dtype_name
from glasshead.results import (
    GIVEN_ANSWER,
    LARGE_CHANGE,
    PRODUCTS,
    REGRESSION,
    SMALL_CHANGE,
    TOKEN,
    AttentionUse,
)
from glasshead.tasks import LabelClassifier
from glasshead.trace import Subject, attention_use
from glasshead.training import attention_run_name, class_metrics, rating_metrics, versions

IN_FLOAT64 = (
    "Scores, weights, gradients and erasure are computed in float64, the draws of the perturbation tests "
    "and faithfulness in float32; only real {tokens} count, padding never does."
)
IN_FLOAT32 = (
    "Everything is computed in float32, so that differences beyond the seventh digit are rounding; only real "
    "{tokens} count, padding never does."
)
IN_HALVES = (
    "Matrix products are computed in {}, all else in float32. {} were also measured in float32, and the "
    "predictions of {}. Each number gets a noise floor from them, and its interval is wider by that at both "
    "ends."
)
OF_CHANGES = (
    " Deleting one {{token}} of {} changes ŷ by up to {:.2g} more or less than in float32, so "
    "changes of ŷ by deletion are rounded to multiples of that."
)
OF_SLICES = " Slices use the floors of all {texts}, and are not tested against each other."
OF_TWO_CLASSES = "Every signed number is about the probability of {}, class 1 of the model."
OF_LABELS = "Every signed number is about the probability that {a_text} has the label in question."
CLASS_NOTE = "Every signed number is about the probability of the class that is predicted for the {text}."
OF_TOKENS = (
    "Every signed number is about the target token, and ŷ of erasure and faithfulness "
    "is its log-probability; changes that are called small or large are those of its probability."
)
OF_RATINGS = (
    "Every number is about the predicted rating; a change of it counts as large or small relative to the "
    "range of the labels."
)
OF_ANSWERS = (
    "Every number is about ŷ, the log-probability of the given answer in nats; a change of it counts as "
    f"small below {SMALL_CHANGE:g}, which is {SMALL_CHANGE:.0%} more or less likely, and as large from "
    f"{LARGE_CHANGE:g} on."
)
EXACT = (
    "Zero-weight erasure changes z by exactly the contribution a·o: their agreement on a binary task is an "
    "identity, not evidence. Judge the contribution by renormalised erasure and by the gradient."
)
FIRST_ORDER = (
    "The attention shown is not the last step of the model, so contributions are of first order: "
    "Σ a ∂z/∂a over the heads and rows that are shown. Erasure and perturbation change the weights of these "
    "heads in all rows of the layer and run the model again."
)
SHORTCUT = (
    "Under other weights the model was run from {place}: what comes before does not change. This was "
    "checked on the longest and the shortest {text}: the whole model gives the same."
)
WHOLE_MODEL = (
    "Under other weights the whole model was run for every edit, which is slow: some layers do not run "
    "exactly once, so a pass cannot start in the middle."
)
ERASED_AT = "Where {tokens} are erased from attention, they are erased at {reading}."
AFTER_NORM = (
    "This model normalises its embeddings, so gradients are taken along what the first layer reads: the "
    "derivative along {a_word}'s own embedding would be minus that along its place."
)


def subject_facts(
    subject: Subject,
    sample: Sample,
    view: ModelView,
    inputs: Table,
    slicings: Sequence[Slicing],
    left_out: Sequence[str],
    settings: Settings,
) -> dict[str, Any]:
    """What was audited, by which protocol: of the model by what it does before the first inputs; ``left_out``
    says which audits were not asked, ``settings`` at which level all was judged."""
    record = subject.record
    matched = [] if view.label_note is None else [view.label_note]
    remarks = [*(f"{note}." for note in (*matched, *subject.notes)), *left_out]
    made = {"preset": record["recipe"].get("preset"), "seed": record["seed"]} if record else {"seed": None}
    return {
        "run": str(subject.folder or subject.name),
        "method": view.method,
        **model_facts(subject.model, view),
        **use_facts(subject, view),
        **made,
        "audit_seed": sample.seed,
        "examples": len(sample.texts),
        **performance_facts(inputs, settings),
        **guess_facts(inputs, settings),
        "signed": view.scores_signed,
        **({} if view.half is None else {PRODUCTS: dtype_name(view.half)}),
        "gauge": gauge_facts(subject.gauge, view) if view.explainer.sign_is_gauge else None,
        INPUTS: view.nouns.texts,
        **reading_facts(subject, sample, inputs),
        "alpha": ALPHA,
        **({"recipe": record["recipe"], "train_data": record["data"]} if record else {}),
        "versions": versions(),
        "remarks": remarks,
        "notes": [
            precision_note(view, len(sample.texts)),
            target_note(view),
            *([EXACT if view.exact else FIRST_ORDER] if view.reads_attention else []),
            *layer_note(view),
            *note_other_weights(view),
            *shortcut_note(view),
            *norm_note(view),
            *remarks,
            *slice_notes(slicings, sample.by, view.nouns, settings.level),
            *empty_note(sample, view),
            *sample.coverage.lines("audited"),
            *record.get("notes", []),
        ],
    }


def precision_note(view: ModelView, inputs: int) -> str:
    """The precision in which the numbers of so many inputs were computed, and what halves did to them."""
    if view.half is not None:
        nouns, half = view.nouns, dtype_name(view.half)
        few, many = min(inputs, FLOOR_INPUTS), min(inputs, FLOOR_PREDICTIONS)
        many = few if view.rates_answers else many
        words = IN_HALVES.format(half, nouns.count(few), f"{many:,}")
        if view.known.floor:
            words += OF_CHANGES.format(nouns.count(min(inputs, FLOOR_TEXTS)), view.known.floor)
        return nouns.fill(words + OF_SLICES)
    exact = arithmetic_of(view.explanation.model) == torch.float64
    return view.nouns.fill(IN_FLOAT64 if exact else IN_FLOAT32)


def card_title(subject: Subject, view: ModelView, data: str) -> str:
    """What the card is called: data, attention and seed of a run, data and name of any other model; and which
    explanation was audited, if not attention."""
    parts = [Path(data).name, subject.name]
    if subject.record:
        parts[1:] = [attention_name(subject, view), f"seed {subject.record['seed']}"]
    return " · ".join(parts if view.explainer.reads_weights else [*parts, view.method])


def attention_name(subject: Subject, view: ModelView) -> str:
    """The mechanism of a run, or the run that its attention goes by, as it is typed, and an adversary's λ."""
    recipe = subject.record.get("recipe", {})
    if "attention_run" in recipe:
        weight = recipe.get("adversary_weight")
        return attention_run_name(recipe["attention_run"]) + ("" if weight is None else f" (λ {weight:g})")
    return mechanism_name(view)


def target_note(view: ModelView) -> str:
    """What signed numbers are about."""
    if view.rates_answers:
        return OF_ANSWERS
    if view.is_regression:
        return OF_RATINGS
    if view.predicts_tokens:
        return OF_TOKENS
    if isinstance(view.explanation.model, LabelClassifier):
        return view.nouns.fill(OF_LABELS)
    if view.binary:
        return OF_TWO_CLASSES.format(view.label_names[1])
    return view.nouns.fill(CLASS_NOTE)


def reading_facts(subject: Subject, sample: Sample, inputs: Table) -> dict[str, Any]:
    """How much of the texts the model read and knew; of other inputs it reads all."""
    if reader_of(subject.tokenizer).reads_all:
        return {}
    return {
        "empty_texts": count_empty(sample),
        "unknown_texts": int(inputs["unknown"].sum()),
        "truncated_to": subject.tokenizer.model_max_length,
        "coverage": asdict(sample.coverage),
    }


def count_empty(sample: Sample) -> int:
    """How many texts have nothing in them but blanks."""
    return sum(not text.strip() for text in sample.texts)


def empty_note(sample: Sample, view: ModelView) -> list[str]:
    """That some texts are empty, if some are."""
    empty = 0 if reader_of(sample.subject.tokenizer).reads_all else count_empty(sample)
    if not empty:
        return []
    verb = "is" if empty == 1 else "are"
    return [
        (f"{view.nouns.count(empty)} {verb} empty: the prediction for an empty text counts like the others")
    ]


def shortcut_note(view: ModelView) -> list[str]:
    """Where the model was run again from, under other weights, if it was."""
    observation = vars(view.explanation).get("observation")
    if not isinstance(observation, ForwardObservation):
        return []
    if observation.shortcut.is_whole:
        return [WHOLE_MODEL] if observation.site.layer else []
    return [view.nouns.fill(SHORTCUT, place=observation.shortcut)]


def norm_note(view: ModelView) -> list[str]:
    """What gradients are taken along, where embeddings are normalised."""
    normalises = EXPLAINERS["gradient"].caveat(view.explanation) is not None
    return [view.nouns.fill(AFTER_NORM)] if normalises else []


def mechanism_name(view: ModelView) -> str:
    """The word for the attention of the model."""
    config = view.explanation.model.config
    named = getattr(config, "attention", None) or spec_of(config)
    return "attention" if named is None else to_name(named)


def model_facts(model: PreTrainedModel, view: ModelView) -> dict[str, Any]:
    """Family and parts of the model, and which attention was read."""
    config = model.config
    if isinstance(model, PooledClassifier):
        facts = {
            "activation": config.activation, "score_function": config.score, "encoder": config.encoder,
        }  # fmt: skip
        if model.attention_source is not None:
            facts["attention"] = model.attention_source
        return facts
    family = next((name for name, kind in MODELS.items() if type(model) is kind), class_name(model))
    facts = {"model": family, "attention": mechanism_name(view)}
    if isinstance(model, TransformerClassifier):
        facts |= {
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "combine": config.head_combination,
            "positions": config.positions,
            "pooling": config.pooling,
        }
    if view.explanation.unreadable_reason is not None:
        return facts
    site = view.explanation.site
    assert site is not None
    reading = view.explainer.reading(view.explanation)
    level = view.explanation.attention_selector.level
    own = {"layer": site.layer, "layers": site.num_layers, "head": site.head}
    return facts | {
        **({"attention_layer": own} if site.above is None else {}),  # words' weights times their sentence's
        **({} if reading is None else {"reading": reading}),
        "level": view.nouns.word if level == "word" else level,
    }


def layer_note(view: ModelView) -> list[str]:
    """Why the selected attention is not the last."""
    explanation = view.explanation
    note = None if explanation.unreadable_reason is not None else explanation.layer_note
    return [] if note is None else [f"{note[0].upper()}{note[1:]}."]


def note_other_weights(view: ModelView) -> list[str]:
    """Which weights erasure takes out, where the explanation reads others, or none."""
    explanation = view.explanation
    site = None if explanation.unreadable_reason is not None else explanation.site
    if site is None or view.explainer.reading(explanation) == explanation.reading:
        return []
    return [view.nouns.fill(ERASED_AT, reading=explanation.reading)]


def use_facts(subject: Subject, view: ModelView) -> dict[str, Any]:
    """How the model uses its attention before these texts, and before its training as far as its run says."""
    if view.explanation.unreadable_reason is not None:
        return {}
    trained = subject.record.get("attention_use") or {}
    use = AttentionUse(
        before=trained.get("before"),
        after=attention_use(view.model_in(torch.float32), view.explanation.encoded),
    )
    return {"attention_use": use}


def performance_facts(inputs: Table, settings: Settings) -> dict[str, Any]:
    """How good the predictions are."""
    labels, predicted = inputs["label"], inputs["predicted"]
    if settings.rates_answers:
        return {"task": GIVEN_ANSWER, "log_probability": float(np.mean(predicted))}
    if settings.is_regression:
        return {"task": REGRESSION} | rating_metrics(labels, predicted)
    if settings.predicts_tokens:
        perplexity = float(np.exp(inputs["surprisal"].mean()))
        accuracy = float((predicted == labels).mean())
        return {"task": TOKEN, "accuracy": accuracy, "perplexity": perplexity}
    return {"labels": list(settings.label_names)} | class_metrics(labels, predicted)


def gauge_facts(gauge: Mapping[str, Any] | None, view: ModelView) -> dict[str, Any] | None:
    """The gauge of a pooled model; of others that of the selected heads, together and each."""
    site = view.explanation.site
    if gauge is None:
        return None
    together = {"kind": view.gauge_kind, "margin": view.gauge_margin}
    if site is None:
        return dict(gauge) | together
    heads = slice(None) if site.head is None else slice(site.head, site.head + 1)
    by_head = {
        name: gauge[name][site.layer][heads] for name in ("signs", "kinds", "classes") if name in gauge
    }
    return by_head | together
