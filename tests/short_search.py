"""The search of other maps that the audit `adversarial` makes, shorter than usual."""

from dataclasses import replace

import pytest


def shorten_search(patch: pytest.MonkeyPatch) -> None:
    """Make the search of other maps short, where what is tested does not depend on how far it gets."""
    from glasshead.audits import adversarial

    patch.setattr(adversarial, "SEARCH", replace(adversarial.SEARCH, starts=2, passes=12, waves=1))
