"""Scores of an explanation towards one class of each text."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import round_digits
from glasshead.audits.context import AuditContext
from glasshead.audits.removal_curves import PredictionSide, score_ranks
from glasshead.results import Verdict


def scores_for_class(
    context: AuditContext, classes: NDArray[Any]
) -> tuple[AnyFloats, NDArray[np.bool_], Verdict | None]:
    """The scores towards a class of each text [N, n], for which texts there are such [N], and why they say
    nothing, if so.

    Of two classes what speaks against one speaks for the other, but for methods that do not mirror classes:
    these are asked about the classes. Of more, signed scores are about the class
    that is predicted, so there are some where it is the one that is asked for. Ratings have one direction.
    """
    same = np.asarray(context.explanation.target.numpy() == classes)
    every = np.ones_like(same)
    if context.binary and not context.explainer.mirrors_classes:
        return context.scores_towards(context.method, np.asarray(classes)), every, None
    if not has_sides(context):
        gauged = context.explainer.sign_is_gauge
        no_evidence = context.sign_no_evidence_reason(size=True) if gauged else None
        return np.abs(context.scores), every, no_evidence
    if context.binary:
        return np.where(same[:, None], 1, -1) * context.scores, every, None
    return context.scores, same, None


def has_sides(context: AuditContext) -> bool:
    """Whether the signs of the scores say for which class a token speaks."""
    if context.explainer.sign_is_gauge and (context.one_sided or context.sign_no_evidence_reason()):
        return False
    return context.scores_signed


class TokenOrder(NamedTuple):
    """The scores of an explanation towards what the model predicts [N, n], the rank of every token by them,
    and why they say nothing, if so."""

    scores: AnyFloats
    ranks: NDArray[np.int64]
    no_evidence: Verdict | None


def choose_prediction_side(context: AuditContext) -> PredictionSide:
    """The class that is predicted for each text; of a rating its side of the mean label of the texts."""
    target = context.explanation.target.numpy()
    if not context.is_regression:
        return PredictionSide(context.predicted, np.ones_like(target))
    centre = float(context.labels.mean())
    return PredictionSide(target, np.where(context.predicted < centre, -1, 1), centre)


def token_order(context: AuditContext) -> TokenOrder:
    """The order in which the audited explanation puts the tokens of each text."""
    side = choose_prediction_side(context)
    scores, _, no_evidence = scores_for_class(context, side.target)
    if context.is_regression and has_sides(context):
        scores = scores * side.sign[:, None]
    words = context.words
    scores = round_digits(scores, words)
    ids = context.explanation.encoded.ids.numpy()
    return TokenOrder(scores, score_ranks(scores, words, ids), no_evidence)
