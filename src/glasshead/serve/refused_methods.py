"""Which methods a model refuses, found by asking each of them once."""

from __future__ import annotations

import time
from importlib.util import find_spec

from glasshead.explainers import EXPLAINERS, ExplainRequest, explain_texts
from glasshead.trace import Subject

TEXT = "it was good"
SECONDS = 5.0
"""A large model is asked by the first methods alone; the others stay offered."""


def refused_methods(subject: Subject, *, pairs: bool, seconds: float = SECONDS) -> frozenset[str]:
    """The names of the methods that cannot explain a model: each explains one short text, or a pair."""
    refused, end = set(), time.monotonic() + seconds
    for name, explainer in EXPLAINERS.items():
        if time.monotonic() > end:
            break
        if explainer.package is not None and find_spec(explainer.package) is None:
            continue
        try:
            explain_texts(subject, [TEXT], [TEXT] if pairs else None, ExplainRequest(method=name))
        except Exception:  # whatever it is: one method is no reason to serve none of the others
            refused.add(name)
    return frozenset(refused)
