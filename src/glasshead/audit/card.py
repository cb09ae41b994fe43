"""Run audits on a run and a split, and gather what they found into one card."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score

from glasshead.audit.agreement import ALPHA
from glasshead.audit.audit import AUDITS
from glasshead.audit.highlights import highlights
from glasshead.audit.perturbation import Perturbation
from glasshead.audit.subject import Subject, prepare
from glasshead.results import AuditCard, Finding
from glasshead.training import Run
from glasshead.training.run import versions

NOTES = (
    "Scores, weights, gradients and erasure are computed in float64, the draws of the perturbation tests in "
    "float32; only real tokens count, padding never does.",
    "For a binary task every signed number is about the probability of class 1; for more classes, about that "
    "of the predicted class.",
    "Zero-weight erasure changes z by exactly the contribution a·o: their agreement on a binary task is an "
    "identity, not evidence. Judge the contribution by renormalised erasure and by the gradient.",
)


def audit(
    run: Run,
    split: Dataset,
    *,
    tests: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditCard:
    """Ask the audits named in ``tests`` (None: all) about a run on a split.

    ``progress`` is called with the name of each stage as it begins.

    Raises:
        InputError: on an unknown audit, an empty split, or classes that are not the run's.
    """
    chosen = {name: AUDITS[name] for name in (AUDITS if tests is None else tests)}
    started = time.perf_counter()
    progress("reading the texts")
    subject = prepare(run, split, limit=limit, seed=seed)
    findings: list[Finding] = []
    examples: dict[str, Any] = example_columns(subject)
    tokens: dict[str, Any] = {}
    for name, one in chosen.items():
        progress(name)
        outcome = one(subject, seed=seed)
        findings += outcome.findings
        examples |= outcome.examples
        tokens |= outcome.tokens
    progress("choosing examples")
    chosen_texts = highlights(subject, examples, seed=seed)
    about = {"data": run.record["data"].get("source", "data")} | dict(facts or {})
    title = f"{Path(str(about['data'])).name} · {run.model.config.activation} · seed {run.record['seed']}"
    return AuditCard(
        facts={"name": title}
        | describe(run, subject, seed)
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


def example_columns(subject: Subject) -> dict[str, Any]:
    """What every example has, whatever was asked."""
    names = np.array(subject.label_names)
    return {
        "index": subject.indices,
        "text": list(subject.texts),
        "label": names[subject.labels],
        "predicted": names[subject.predicted],
        "target": names[subject.view.target.numpy()],
        "probability": subject.prediction,
        "tokens": subject.mask.sum(axis=1),
        "max_weight": np.abs(subject.weights).max(axis=1, initial=0.0),
    }


def describe(run: Run, subject: Subject, seed: int) -> dict[str, Any]:
    """Who was audited, on what, by which protocol."""
    record, config = run.record, run.model.config
    unknown = (subject.view.encoded.ids == run.tokenizer.unk_token_id).numpy() | ~subject.mask
    tokens = subject.mask.sum(axis=1)
    return {
        "run": str(run.folder),
        "activation": config.activation,
        "score_function": config.score,
        "encoder": config.encoder,
        "preset": record["recipe"]["preset"],
        "seed": record["seed"],
        "audit_seed": seed,
        "examples": len(subject.texts),
        "labels": list(subject.label_names),
        "accuracy": float((subject.predicted == subject.labels).mean()),
        "macro_f1": float(f1_score(subject.labels, subject.predicted, average="macro", zero_division=0)),
        "signed": subject.signed,
        "gauge": record["gauge"],
        "empty_texts": int((tokens == 0).sum()),
        "unknown_texts": int((unknown.all(axis=1) & (tokens > 0)).sum()),
        "truncated_to": run.tokenizer.model_max_length,
        "draws": Perturbation().draws,
        "alpha": ALPHA,
        "recipe": record["recipe"],
        "train_data": record["data"],
        "versions": versions(),
        "notes": [*NOTES, *record.get("notes", [])],
    }
