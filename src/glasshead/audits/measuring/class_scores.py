"""Scores of an explanation towards one class of each text."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import round_digits
from glasshead.audits.measuring.removal_curves import PredictionSide, score_ranks
from glasshead.audits.measuring.view import ModelView
from glasshead.results import Verdict


def scores_for_class(view: ModelView, classes: NDArray[Any]) -> tuple[AnyFloats, NDArray[np.bool_]]:
    """The scores towards a class of each text [N, n], and for which texts there are such [N].

    For two classes, evidence against one is evidence for the other, except with methods that do not
    mirror classes: these explain each class itself. For more classes, signed scores are about the
    predicted class, so a text has scores if that is the class. Ratings have one direction.
    """
    same = np.asarray(view.explanation.target.numpy() == classes)
    every = np.ones_like(same)
    if view.binary and not view.explainer.mirrors_classes:
        return view.scores_towards(view.method, np.asarray(classes)), every
    if not view.settings.has_sides:
        return np.abs(view.scores), every
    if view.binary:
        return np.where(same[:, None], 1, -1) * view.scores, every
    return view.scores, same


class TokenOrder(NamedTuple):
    """The scores of an explanation towards what the model predicts [N, n], the rank of every token by them,
    and why they say nothing, if so."""

    scores: AnyFloats
    ranks: NDArray[np.int64]
    no_evidence: Verdict | None


def choose_prediction_side(view: ModelView) -> PredictionSide:
    """The class that is predicted for each text; of a rating its side of the mean label, and of an
    answer that it is likely."""
    target = view.explanation.target.numpy()
    if not view.is_regression:
        return PredictionSide(view.predicted, np.ones_like(target))
    if view.rates_answers:
        return PredictionSide(target, np.ones_like(target))
    centre = view.known.centre
    return PredictionSide(target, np.where(view.predicted < centre, -1, 1), centre)


def token_order(view: ModelView) -> TokenOrder:
    """The order in which the audited explanation puts the tokens of each text."""
    side = choose_prediction_side(view)
    scores, _ = scores_for_class(view, side.target)
    if view.is_regression and view.settings.has_sides:
        scores = scores * side.sign[:, None]
    words = view.words
    scores = round_digits(scores, words)
    ids = view.explanation.encoded.ids.numpy()
    return TokenOrder(scores, score_ranks(scores, words, ids), view.settings.order_no_evidence_reason)
