"""What the marks of coloured weights with ranges mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.results import Attribution


@dataclass(frozen=True)
class Key:
    """What a legend must explain: weights below zero, ranges that are not known; and if ``every`` text has
    ranges."""

    every: bool
    signed: bool
    unknown: bool


def weight_key(attributions: Sequence[Attribution]) -> Key | None:
    """What the legend of these texts explains; None where no text has ranges."""
    ranged = [attribution for attribution in attributions if attribution.intervals is not None]
    if not ranged:
        return None
    return Key(
        every=len(ranged) == len(attributions),
        signed=any(attribution.signed for attribution in ranged),
        unknown=any(ends is None for attribution in ranged for ends in attribution.intervals or ()),
    )
