"""Audit a run on a split: ask every audit, and gather the findings into one card."""

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
from glasshead.audits.performance import compare_with_guess
from glasshead.audits.perturbation import Perturbation
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import spec_of
from glasshead.models import MODELS, PooledClassifier, TransformerClassifier
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
    attention_selector: AttentionSelector | None = None,
    draws: int | None = None,
    identifiability: Identifiability | None = None,
    facts: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditCard:
    """Ask the audits named in ``audits`` (None: all that have a meaning) about a run on a split.

    ``attention_selector`` says which attention is read, ``draws`` how many draws a perturbation test has,
    ``identifiability`` which heads and rows that audit reads and how (None: a part of the texts, where
    attention is read). ``progress`` is called with the name of each stage as it begins.

    Raises:
        InputError: on an unknown audit, an empty split, labels or texts that are not the run's, a reading
            that the model does not have, and an audit that was named and has no meaning.
    """
    selected = {name: AUDITS[name] for name in (AUDITS if audits is None else audits)}
    perturbation = Perturbation() if draws is None else Perturbation(draws, draws)
    if draws is not None and draws > MOST_DRAWS:
        raise ParameterError("draws", f"is at most {MOST_DRAWS:,}, not {draws:,}")
    if "perturbation" in selected:
        selected["perturbation"] = perturbation
    if "identifiability" in selected and identifiability is not None:
        selected["identifiability"] = identifiability
    started = time.perf_counter()
    progress("reading the texts")
    context = build_context(run, split, limit=limit, seed=seed, attention_selector=attention_selector)
    for name, selected_audit in list(selected.items()):
        reason = selected_audit.unsupported_reason(context)
        if reason is not None and audits is not None:
            raise InputError(f"the audit {name!r} has no meaning here: {reason}")
        if reason is not None:
            del selected[name]
    findings: list[Finding] = []
    examples: dict[str, Any] = example_columns(context)
    tokens: dict[str, Any] = {}
    audit_facts: dict[str, Any] = {}
    for name, selected_audit in selected.items():
        progress(name)
        result = selected_audit(context, seed=seed)
        findings += result.findings
        examples |= result.examples
        tokens |= result.tokens
        audit_facts |= result.facts
    progress("choosing examples")
    # Contributions colour a map, unless somebody asked how sure the weights are.
    named = selected.get("identifiability") if audits is not None else None
    tolerance = named.interval_options.tolerance if isinstance(named, Identifiability) else None
    chosen_texts = highlights(context, examples, seed=seed, tolerance=tolerance)
    data_facts = {"data": run.record["data"].get("source", "data")} | dict(facts or {})
    title = f"{Path(str(data_facts['data'])).name} · {mechanism_name(context)} · seed {run.record['seed']}"
    return AuditCard(
        facts={"name": title}
        | run_facts(run, context, seed)
        | {"draws": perturbation.num_draws(context)}
        | audit_facts
        | data_facts
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


def example_columns(context: AuditContext) -> dict[str, Any]:
    """What every example has, whatever was asked."""
    columns: dict[str, Any] = {"index": context.indices, "text": list(context.texts)}
    if context.is_regression:
        columns |= {"label": context.labels, "predicted": context.predicted}
    else:
        names = np.array(context.label_names)
        columns |= {
            "label": names[context.labels],
            "predicted": names[context.predicted],
            "target": names[context.explanation.target.numpy()],
            "probability": context.prediction,
        }
    return columns | {
        "tokens": context.token_mask.sum(axis=1),
        "max_weight": np.abs(context.canonical).max(axis=1, initial=0.0),
    }


def run_facts(run: Run, context: AuditContext, seed: int) -> dict[str, Any]:
    """What was audited, on which data, by which protocol."""
    record = run.record
    unknown = (context.explanation.encoded.ids == run.tokenizer.unk_token_id).numpy() | ~context.token_mask
    tokens = context.token_mask.sum(axis=1)
    return {
        "run": str(run.folder),
        **model_facts(run.model, context),
        "preset": record["recipe"].get("preset"),
        "seed": record["seed"],
        "audit_seed": seed,
        "examples": len(context.texts),
        **performance_facts(context),
        "against_guessing": compare_with_guess(context, seed),
        "signed": context.signed,
        "gauge": gauge_facts(record["gauge"], context),
        "empty_texts": int((tokens == 0).sum()),
        "unknown_texts": int((unknown.all(axis=1) & (tokens > 0)).sum()),
        "truncated_to": run.tokenizer.model_max_length,
        "coverage": asdict(context.coverage),
        "alpha": ALPHA,
        "recipe": record["recipe"],
        "train_data": record["data"],
        "versions": versions(),
        "notes": [
            *NOTES,
            OF_RATINGS if context.is_regression else OF_CLASSES,
            EXACT if context.exact else FIRST_ORDER,
            *([OLD_GAUGE] if is_old_gauge(record["gauge"]) and context.signed else []),
            *context.coverage.lines("audited"),
            *record.get("notes", []),
        ],
    }


def mechanism_name(context: AuditContext) -> str:
    """The word for the attention of the model."""
    config = context.explanation.model.config
    named = getattr(config, "attention", None) or spec_of(config)
    return "attention" if named is None else to_name(named)


def model_facts(model: PreTrainedModel, context: AuditContext) -> dict[str, Any]:
    """Family and parts of the model, and which attention was read."""
    config = model.config
    if isinstance(model, PooledClassifier):
        return {
            "activation": config.activation, "score_function": config.score, "encoder": config.encoder,
        }  # fmt: skip
    family = next((name for name, kind in MODELS.items() if type(model) is kind), type(model).__name__)
    facts = {"model": family, "attention": mechanism_name(context)}
    if isinstance(model, TransformerClassifier):
        facts |= {
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "combine": config.head_combination,
            "positions": config.positions,
            "pooling": config.pooling,
        }
    assert context.explanation.site is not None
    return facts | {
        "reading": context.explanation.site.description,
        "level": context.explanation.attention_selector.level,
    }


def performance_facts(context: AuditContext) -> dict[str, Any]:
    """How good the predictions are."""
    if context.is_regression:
        return {"task": "regression"} | rating_metrics(context.labels, context.predicted)
    return {"labels": list(context.label_names)} | class_metrics(context.labels, context.predicted)


def is_old_gauge(gauge: dict[str, Any] | None) -> bool:
    """Whether an earlier version fixed it."""
    return gauge is not None and not {"kind", "kinds"} & gauge.keys()


def gauge_facts(gauge: dict[str, Any] | None, context: AuditContext) -> dict[str, Any] | None:
    """The gauge of a pooled model; of others that of the heads that are read, together and each."""
    site = context.explanation.site
    if gauge is None:
        return None
    together = {"kind": context.gauge_kind, "margin": context.gauge_margin}
    if site is None:
        return gauge | together
    heads = slice(None) if site.head is None else slice(site.head, site.head + 1)
    by_head = {
        name: gauge[name][site.layer][heads] for name in ("signs", "kinds", "classes") if name in gauge
    }
    return by_head | together
