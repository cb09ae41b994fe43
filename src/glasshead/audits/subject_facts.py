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
from glasshead.audits.context import AuditContext
from glasshead.audits.performance import guess_facts
from glasshead.audits.slices import slice_notes
from glasshead.data import reader_of
from glasshead.explainers import EXPLAINERS, ForwardObservation
from glasshead.huggingface import class_name, spec_of
from glasshead.models import MODELS, PooledClassifier, TransformerClassifier
from glasshead.nouns import INPUTS
from glasshead.results import NEXT_TOKEN, REGRESSION, AttentionUse
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
OF_TWO_CLASSES = "Every signed number is about the probability of {}, class 1 of the model."
CLASS_NOTE = "Every signed number is about the probability of the class that is predicted for the {text}."
OF_NEXT_TOKENS = (
    "Every signed number is about the token that the model expects next, and ŷ of erasure and faithfulness "
    "is its log-probability; changes that are called small or large are those of its probability."
)
OF_RATINGS = (
    "Every number is about the predicted rating; a change of it counts as large or small beside the range "
    "of the labels."
)
EXACT = (
    "Zero-weight erasure changes z by exactly the contribution a·o: their agreement on a binary task is an "
    "identity, not evidence. Judge the contribution by renormalised erasure and by the gradient."
)
FIRST_ORDER = (
    "The attention that is read is not the last step of the model, so contributions are of first order: "
    "Σ a ∂z/∂a over the heads and rows that are read. Erasure and perturbation change the weights of these "
    "heads in all rows of the layer and run the model again."
)
SHORTCUT = (
    "Under other weights the model was run from {place}: what comes before does not change. Checked on the "
    "longest and the shortest {text}, where the whole model says the same."
)
WHOLE_MODEL = (
    "Under other weights the whole model was run for every edit, which is slow: it is no stack of layers "
    "that each run once, so it cannot be entered in the middle."
)
ERASED_AT = "Where {tokens} are erased from attention, they are erased at {reading}."
AFTER_NORM = (
    "This model normalises its embeddings, so gradients are taken along what the first layer reads: the "
    "derivative along {a_word}'s own embedding would be minus that along its place."
)


def subject_facts(
    subject: Subject, context: AuditContext, seed: int, left_out: Sequence[str]
) -> dict[str, Any]:
    """What was audited, by which protocol; ``left_out`` says which audits were not asked."""
    record = subject.record
    matched = [] if context.label_note is None else [context.label_note]
    remarks = [*(f"{note}." for note in (*matched, *subject.notes)), *left_out]
    made = {"preset": record["recipe"].get("preset"), "seed": record["seed"]} if record else {"seed": None}
    return {
        "run": str(subject.folder or subject.name),
        "method": context.method,
        **model_facts(subject.model, context),
        **use_facts(subject, context),
        **made,
        "audit_seed": seed,
        "examples": len(context.texts),
        **performance_facts(context),
        **guess_facts(context, seed),
        "signed": context.scores_signed,
        "gauge": gauge_facts(subject.gauge, context) if context.explainer.sign_is_gauge else None,
        INPUTS: context.nouns.texts,
        **reading_facts(subject, context),
        "alpha": ALPHA,
        **({"recipe": record["recipe"], "train_data": record["data"]} if record else {}),
        "versions": versions(),
        "remarks": remarks,
        "notes": [
            precision_note(context),
            target_note(context),
            EXACT if context.exact else FIRST_ORDER,
            *layer_note(context),
            *note_other_weights(context),
            *shortcut_note(context),
            *norm_note(context),
            *remarks,
            *slice_notes(context.slicings, context.nouns),
            *context.coverage.lines("audited"),
            *record.get("notes", []),
        ],
    }


def precision_note(context: AuditContext) -> str:
    """The precision in which the numbers were computed."""
    exact = context.explanation.model.dtype == torch.float64
    return context.nouns.fill(IN_FLOAT64 if exact else IN_FLOAT32)


def card_title(subject: Subject, context: AuditContext, data: str) -> str:
    """What the card is called: data, attention and seed of a run, data and name of any other model; and which
    explanation was audited, if not attention."""
    parts = [Path(data).name, subject.name]
    if subject.record:
        parts[1:] = [attention_name(subject, context), f"seed {subject.record['seed']}"]
    return " · ".join(parts if context.explainer.reads_weights else [*parts, context.method])


def attention_name(subject: Subject, context: AuditContext) -> str:
    """The mechanism of a run, or the run that its attention goes by, as it is typed, and an adversary's λ."""
    recipe = subject.record.get("recipe", {})
    if "attention_run" in recipe:
        weight = recipe.get("adversary_weight")
        return attention_run_name(recipe["attention_run"]) + ("" if weight is None else f" (λ {weight:g})")
    return mechanism_name(context)


def target_note(context: AuditContext) -> str:
    """What signed numbers are about."""
    if context.is_regression:
        return OF_RATINGS
    if context.predicts_tokens:
        return OF_NEXT_TOKENS
    if context.binary:
        return OF_TWO_CLASSES.format(context.label_names[1])
    return context.nouns.fill(CLASS_NOTE)


def reading_facts(subject: Subject, context: AuditContext) -> dict[str, Any]:
    """How much of the texts the model read and knew; of other inputs it reads all."""
    tokenizer, encoded = subject.tokenizer, context.explanation.encoded
    if reader_of(tokenizer).reads_all:
        return {}
    unknown_id = -1 if tokenizer.unk_token_id is None else tokenizer.unk_token_id
    unknown = (encoded.ids == unknown_id).numpy() | ~context.token_mask
    tokens = context.token_mask.sum(axis=1)
    return {
        "empty_texts": int((tokens == 0).sum()),
        "unknown_texts": int((unknown.all(axis=1) & (tokens > 0)).sum()),
        "truncated_to": tokenizer.model_max_length,
        "coverage": asdict(context.coverage),
    }


def shortcut_note(context: AuditContext) -> list[str]:
    """Where the model was run again from, under other weights, if it was."""
    observation = vars(context.explanation).get("observation")
    if not isinstance(observation, ForwardObservation):
        return []
    if observation.shortcut.is_whole:
        return [WHOLE_MODEL] if observation.site.layer else []
    return [context.nouns.fill(SHORTCUT, place=observation.shortcut)]


def norm_note(context: AuditContext) -> list[str]:
    """What gradients are taken along, where embeddings are normalised."""
    normalises = EXPLAINERS["gradient"].caveat(context.explanation) is not None
    return [context.nouns.fill(AFTER_NORM)] if normalises else []


def mechanism_name(context: AuditContext) -> str:
    """The word for the attention of the model."""
    config = context.explanation.model.config
    named = getattr(config, "attention", None) or spec_of(config)
    return "attention" if named is None else to_name(named)


def model_facts(model: PreTrainedModel, context: AuditContext) -> dict[str, Any]:
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
    facts = {"model": family, "attention": mechanism_name(context)}
    if isinstance(model, TransformerClassifier):
        facts |= {
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "combine": config.head_combination,
            "positions": config.positions,
            "pooling": config.pooling,
        }
    if context.explanation.unreadable_reason is not None:
        return facts
    site = context.explanation.site
    assert site is not None
    reading = context.explainer.reading(context.explanation)
    level = context.explanation.attention_selector.level
    own = {"layer": site.layer, "layers": site.num_layers, "head": site.head}
    return facts | {
        **({"attention_layer": own} if site.above is None else {}),  # words' weights times their sentence's
        **({} if reading is None else {"reading": reading}),
        "level": context.nouns.word if level == "word" else level,
    }


def layer_note(context: AuditContext) -> list[str]:
    """Why the attention that is read is not the last."""
    explanation = context.explanation
    note = None if explanation.unreadable_reason is not None else explanation.layer_note
    return [] if note is None else [f"{note[0].upper()}{note[1:]}."]


def note_other_weights(context: AuditContext) -> list[str]:
    """Which weights erasure takes out, where the explanation reads others, or none."""
    explanation = context.explanation
    site = None if explanation.unreadable_reason is not None else explanation.site
    if site is None or context.explainer.reading(explanation) == explanation.reading:
        return []
    return [context.nouns.fill(ERASED_AT, reading=explanation.reading)]


def use_facts(subject: Subject, context: AuditContext) -> dict[str, Any]:
    """How the model uses its attention before these texts, and before its training as far as its run says."""
    if context.explanation.unreadable_reason is not None:
        return {}
    trained = subject.record.get("attention_use") or {}
    use = AttentionUse(
        before=trained.get("before"),
        after=attention_use(context.explanation.model, context.explanation.encoded),
    )
    return {"attention_use": use}


def performance_facts(context: AuditContext) -> dict[str, Any]:
    """How good the predictions are."""
    if context.is_regression:
        return {"task": REGRESSION} | rating_metrics(context.labels, context.predicted)
    if context.predicts_tokens:
        right = context.predicted == context.labels
        perplexity = float(np.exp(context.surprisal.mean()))
        return {"task": NEXT_TOKEN, "accuracy": float(right.mean()), "perplexity": perplexity}
    return {"labels": list(context.label_names)} | class_metrics(context.labels, context.predicted)


def gauge_facts(gauge: Mapping[str, Any] | None, context: AuditContext) -> dict[str, Any] | None:
    """The gauge of a pooled model; of others that of the heads that are read, together and each."""
    site = context.explanation.site
    if gauge is None:
        return None
    together = {"kind": context.gauge_kind, "margin": context.gauge_margin}
    if site is None:
        return dict(gauge) | together
    heads = slice(None) if site.head is None else slice(site.head, site.head + 1)
    by_head = {
        name: gauge[name][site.layer][heads] for name in ("signs", "kinds", "classes") if name in gauge
    }
    return by_head | together
