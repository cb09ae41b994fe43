"""Run audits on a run and a split, and gather what they found into one card."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedModel

from glasshead.attention import to_name
from glasshead.audits.agreement import ALPHA
from glasshead.audits.base import AUDITS
from glasshead.audits.context import AuditContext, build_context
from glasshead.audits.example_selection import highlights
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.performance import against_guessing
from glasshead.audits.perturbation import Perturbation
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import spec_of
from glasshead.models import MODELS, EncodedClassifier, PooledClassifier
from glasshead.results import AuditCard, Finding
from glasshead.trace import AttentionSelector
from glasshead.training import Run, class_metrics, rating_metrics, versions

MOST_DRAWS = 1000
NOTES = (
    "Scores, weights, gradients and erasure are computed in float64, the draws of the perturbation tests in "
    "float32; only real tokens count, padding never does.",
)
OF_CLASSES = (
    "For a binary task every signed number is about the probability of class 1; for more classes, about that "
    "of the predicted class."
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
OLD_GAUGE = (
    "An earlier version trained this run and did not ask whether its weights have one sign, so where the "
    "sign lives is undecided: train again to know."
)


def audit(
    run: Run,
    split: Dataset,
    *,
    audits: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    reading: AttentionSelector | None = None,
    draws: int | None = None,
    identifiability: Identifiability | None = None,
    facts: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditCard:
    """Ask the audits named in ``audits`` (None: all that have a meaning) about a run on a split.

    ``reading`` says which attention is read, ``draws`` how many draws a perturbation test has,
    ``identifiability`` which heads and rows that audit reads and how (None: a part of the texts, where
    attention is read). ``progress`` is called with the name of each stage as it begins.

    Raises:
        InputError: on an unknown audit, an empty split, labels or texts that are not the run's, a reading
            that the model does not have, and an audit that was named and has no meaning.
    """
    chosen = {name: AUDITS[name] for name in (AUDITS if audits is None else audits)}
    perturbation = Perturbation() if draws is None else Perturbation(draws, draws)
    if draws is not None and draws > MOST_DRAWS:
        raise ParameterError("draws", f"is at most {MOST_DRAWS:,}, not {draws:,}")
    if "perturbation" in chosen:
        chosen["perturbation"] = perturbation
    if "identifiability" in chosen and identifiability is not None:
        chosen["identifiability"] = identifiability
    started = time.perf_counter()
    progress("reading the texts")
    subject = build_context(run, split, limit=limit, seed=seed, reading=reading)
    for name, one in list(chosen.items()):
        reason = one.unsupported_reason(subject)
        if reason is not None and audits is not None:
            raise InputError(f"the audit {name!r} has no meaning here: {reason}")
        if reason is not None:
            del chosen[name]
    findings: list[Finding] = []
    examples: dict[str, Any] = example_columns(subject)
    tokens: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for name, one in chosen.items():
        progress(name)
        outcome = one(subject, seed=seed)
        findings += outcome.findings
        examples |= outcome.examples
        tokens |= outcome.tokens
        found |= outcome.facts
    progress("choosing examples")
    # Contributions colour a map, unless somebody asked how sure the weights are.
    maps = chosen.get("identifiability") if audits is not None else None
    tolerance = maps.query.tolerance if isinstance(maps, Identifiability) else None
    chosen_texts = highlights(subject, examples, seed=seed, tolerance=tolerance)
    about = {"data": run.record["data"].get("source", "data")} | dict(facts or {})
    title = f"{Path(str(about['data'])).name} · {mechanism_name(subject)} · seed {run.record['seed']}"
    return AuditCard(
        facts={"name": title}
        | describe(run, subject, seed)
        | {"draws": perturbation.num_draws(subject)}
        | found
        | about
        | {"seconds": round(time.perf_counter() - started, 2)},
        findings=findings,
        highlights=chosen_texts,
        examples={name: jsonable(column) for name, column in examples.items()},
        tokens={name: jsonable(column) for name, column in tokens.items()},
    )


def jsonable(column: Any) -> Any:
    """A column in which a number that does not exist is None."""
    column = np.asarray(column)
    if column.dtype.kind != "f":
        return column.tolist()
    return [None if np.isnan(value) else value for value in column.tolist()]


def example_columns(subject: AuditContext) -> dict[str, Any]:
    """What every example has, whatever was asked."""
    columns: dict[str, Any] = {"index": subject.indices, "text": list(subject.texts)}
    if subject.rates:
        columns |= {"label": subject.labels, "predicted": subject.predicted}
    else:
        names = np.array(subject.label_names)
        columns |= {
            "label": names[subject.labels],
            "predicted": names[subject.predicted],
            "target": names[subject.view.target.numpy()],
            "probability": subject.prediction,
        }
    return columns | {
        "tokens": subject.real.sum(axis=1),
        "max_weight": np.abs(subject.canonical).max(axis=1, initial=0.0),
    }


def describe(run: Run, subject: AuditContext, seed: int) -> dict[str, Any]:
    """Who was audited, on what, by which protocol."""
    record = run.record
    unknown = (subject.view.encoded.ids == run.tokenizer.unk_token_id).numpy() | ~subject.real
    tokens = subject.real.sum(axis=1)
    return {
        "run": str(run.folder),
        **describe_model(run.model, subject),
        "preset": record["recipe"].get("preset"),
        "seed": record["seed"],
        "audit_seed": seed,
        "examples": len(subject.texts),
        **measured_on(subject),
        "against_guessing": against_guessing(subject, seed),
        "signed": subject.signed,
        "gauge": shown_gauge(record["gauge"], subject),
        "empty_texts": int((tokens == 0).sum()),
        "unknown_texts": int((unknown.all(axis=1) & (tokens > 0)).sum()),
        "truncated_to": run.tokenizer.model_max_length,
        "coverage": asdict(subject.coverage),
        "alpha": ALPHA,
        "recipe": record["recipe"],
        "train_data": record["data"],
        "versions": versions(),
        "notes": [
            *NOTES,
            OF_RATINGS if subject.rates else OF_CLASSES,
            EXACT if subject.exact else FIRST_ORDER,
            *([OLD_GAUGE] if old_gauge(record["gauge"]) and subject.signed else []),
            *subject.coverage.lines("audited"),
            *record.get("notes", []),
        ],
    }


def mechanism_name(subject: AuditContext) -> str:
    """The word for the attention of the model."""
    config = subject.view.model.config
    named = getattr(config, "attention", None) or spec_of(config)
    return "attention" if named is None else to_name(named)


def describe_model(model: PreTrainedModel, subject: AuditContext) -> dict[str, Any]:
    """Family and parts of the model, and which attention was read."""
    config = model.config
    if isinstance(model, PooledClassifier):
        return {
            "activation": config.activation, "score_function": config.score, "encoder": config.encoder,
        }  # fmt: skip
    family = next((name for name, kind in MODELS.items() if type(model) is kind), type(model).__name__)
    facts = {"model": family, "attention": mechanism_name(subject)}
    if isinstance(model, EncodedClassifier):
        facts |= {
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "combine": config.head_combination,
            "positions": config.positions,
            "pooling": config.pooling,
        }
    assert subject.view.place is not None
    return facts | {"reading": subject.view.place.describe, "level": subject.view.reading.level}


def measured_on(subject: AuditContext) -> dict[str, Any]:
    """How good the predictions are."""
    if subject.rates:
        return {"task": "regression"} | rating_metrics(subject.labels, subject.predicted)
    return {"labels": list(subject.label_names)} | class_metrics(subject.labels, subject.predicted)


def old_gauge(gauge: dict[str, Any] | None) -> bool:
    """Whether an earlier version fixed it."""
    return gauge is not None and not {"kind", "kinds"} & gauge.keys()


def shown_gauge(gauge: dict[str, Any] | None, subject: AuditContext) -> dict[str, Any] | None:
    """The gauge of a pooled model; of others that of the heads that are read, together and each."""
    place = subject.view.place
    if gauge is None:
        return None
    together = {"kind": subject.kind, "margin": subject.margin}
    if place is None:
        return gauge | together
    heads = slice(None) if place.head is None else slice(place.head, place.head + 1)
    each = {name: gauge[name][place.layer][heads] for name in ("signs", "kinds", "classes") if name in gauge}
    return each | together
