"""The statistics of faithfulness, and the longest texts whose reference orders are searched."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

MOST_SEARCHED = 64
"""A greedy order of n tokens takes n² / 2 passes: longer texts have none."""
MOST_SUBSETS = 10
"""Up to so many tokens, the model is run on all 2ⁿ sets of them; longer texts have no best order."""


@dataclass(frozen=True)
class CurveStatistic:
    """A weighted mean Σ_k w_k c_k of a curve c, or ŷ(x) minus that: the area under ŷ."""

    curve: Literal["without", "alone"]
    area: bool
    larger_is_better: bool


STATISTICS: Mapping[str, CurveStatistic] = MappingProxyType(
    {
        "comprehensiveness": CurveStatistic("without", area=False, larger_is_better=True),
        "sufficiency": CurveStatistic("alone", area=False, larger_is_better=False),
        "deletion": CurveStatistic("without", area=True, larger_is_better=False),
        "insertion": CurveStatistic("alone", area=True, larger_is_better=True),
    }
)
