"""The search of other maps that the audit `adversarial` makes, shorter than usual."""

from dataclasses import replace
from functools import partial

import pytest


def shorten_search(patch: pytest.MonkeyPatch) -> None:
    """Make the search of other maps short, where what is tested does not depend on how far it gets."""
    from glasshead.audits import adversarial
    from glasshead.audits.adversary import ascent, doublings

    short = {"steps": 20, "doublings": 0}
    patch.setattr(adversarial, "PASS_SEARCH", replace(adversarial.PASS_SEARCH, **short))
    patch.setattr(adversarial, "Search", partial(adversarial.Search, **short, candidates=32))
    patch.setattr(ascent, "BISECTIONS", 8)
    patch.setattr(doublings, "HALVINGS", 4)
