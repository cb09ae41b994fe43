"""Scores of an explanation towards one class of each text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.context import AuditContext, Floats
from glasshead.results import Verdict


def scores_for_class(
    context: AuditContext, classes: NDArray[Any]
) -> tuple[Floats, NDArray[np.bool_], Verdict | None]:
    """The scores towards a class of each text [N, n], for which texts there are such [N], and why they say
    nothing, if so.

    Of two classes what speaks against one speaks for the other. Of more, signed scores are about the class
    that is predicted, so there are some where it is the one that is asked for. Ratings have one direction.
    """
    same = np.asarray(context.explanation.target.numpy() == classes)
    every = np.ones_like(same)
    gauged = context.explainer.sign_is_gauge
    sideless = gauged and (context.one_sided or context.sign_no_evidence_reason() is not None)
    if sideless or not context.scores_signed:
        no_evidence = context.sign_no_evidence_reason(size=True) if gauged else None
        return np.abs(context.scores), every, no_evidence
    if context.binary:
        return np.where(same[:, None], 1, -1) * context.scores, every, None
    return context.scores, same, None
