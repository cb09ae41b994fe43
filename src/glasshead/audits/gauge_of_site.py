"""Where the sign of the attention that is read lives, as training or the texts have fixed it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glasshead.explainers import ExplanationContext
from glasshead.results import ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.trace import AttentionSite

MOST = 0.95
"""Heads that hold so much of what several do to the score speak for all of them."""


def read_gauge(
    gauge: Mapping[str, Any] | None, explanation: ExplanationContext
) -> tuple[str | None, float | None]:
    """Where the sign of what is read lives, and the margin; None where no sign was fixed.

    Of two layers whose weights are multiplied the product has a side where one of them has: their margin is
    that of the weaker.
    """
    if gauge is None:
        return None, None
    if "margin" in gauge:
        return gauge["kind"], float(gauge["margin"])
    if explanation.site is None:
        return None, None
    sites = [site for site in (explanation.site, explanation.site.above) if site is not None]
    kinds, margins = zip(*(layer_gauge(gauge, site) for site in sites), strict=True)
    return next(kind for kind in (UNDECIDED, SIGN_IN_WEIGHTS, ONE_SIGN) if kind in kinds), min(margins)


def layer_gauge(gauge: Mapping[str, Any], site: AttentionSite) -> tuple[str, float]:
    """Of the heads of a layer that are read: the kind that those with 95 % of Σ |a| |∂z/∂a| share, else
    undecided, and the mean margin with these masses as weights."""
    heads = slice(None) if site.head is None else slice(site.head, site.head + 1)
    margins, masses = (np.array(gauge[name][site.layer])[heads] for name in ("margins", "masses"))
    total = masses.sum()
    if total <= 0:
        return UNDECIDED, 0.0
    kinds = np.array(gauge["kinds"][site.layer])[heads]
    shared = [kind for kind in (SIGN_IN_WEIGHTS, ONE_SIGN) if masses[kinds == kind].sum() >= MOST * total]
    return shared[0] if shared else UNDECIDED, float((margins * masses).sum() / total)
