"""Parameters of which a few run quickly, and all with the slow tests."""

import pytest

from glasshead.explainers import EXPLAINERS

QUICK_METHODS = ("attention", "gradient", "erasure-mean-embedding", "rollout", "attn-lrp", "value-zeroing")


def slow_but(*quick, of):
    """These cases as parameters; all but the ``quick`` ones are slow."""
    cases = list(of)
    assert set(quick) <= set(cases)
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def own_methods(usable=lambda name: EXPLAINERS[name].package is None):
    """The explainers as parameters, but those of other packages."""
    return slow_but(*QUICK_METHODS, of=[name for name in EXPLAINERS if usable(name)])
