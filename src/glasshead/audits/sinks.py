"""Attention sinks: audits are asked again about all tokens but the first."""

from dataclasses import replace

import numpy as np

from glasshead.audits.base import Audit, AuditResult
from glasshead.audits.context import AuditContext
from glasshead.results import OF_REST, SINK_SHARE


def share_of_first(context: AuditContext) -> float | None:
    """The mean share of Σ|a| that is on the first token where a model reads from left to right; None
    elsewhere, and where no text has two tokens."""
    explanation = context.explanation
    if not context.explainer.reads_weights or explanation.unreadable_reason is not None:
        return None
    if explanation.site is None or not explanation.site.causal or context.sentence_of_token is not None:
        return None
    sizes = np.abs(context.canonical)[context.token_mask.sum(axis=1) > 1]
    total = sizes.sum(axis=1)
    return float((sizes[total > 0, 0] / total[total > 0]).mean()) if (total > 0).any() else None


def rest_of(context: AuditContext) -> AuditContext | None:
    """The same texts without their first token among what is asked about, if more than half of the weights
    is on it."""
    share = share_of_first(context)
    return None if share is None or share <= SINK_SHARE else replace(context, spares_first=True)


def sink_facts(context: AuditContext) -> dict[str, float]:
    """How much of the weights is on the first token, if that is a sink."""
    return {} if rest_of(context) is None else {"sink_share": share_of_first(context) or 0.0}


def ask_with_rest(audit: Audit, context: AuditContext, rest: AuditContext | None, seed: int) -> AuditResult:
    """What an audit finds and, of tokens, what it finds without the first of each text."""
    result = audit(context, seed=seed)
    if rest is None or not audit.of_tokens:
        return result
    if "importance" in vars(context):  # erasure of every token, which nobody needs twice
        vars(rest)["importance"] = {name: rest.sum_by_unit(v) for name, v in context.importance.items()}
    without = audit(rest, seed=seed)
    columns = {OF_REST + name: column for name, column in without.examples.items()}
    return replace(
        result, findings=[*result.findings, *without.findings], examples={**result.examples, **columns}
    )
