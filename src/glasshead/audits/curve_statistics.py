"""What is measured along an order of the tokens, and of which texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

MOST_SEARCHED = 64
"""A greedy order of n tokens takes n² / 2 passes: longer texts have none."""
MOST_SUBSETS = 10
"""All 2ⁿ sets of so many tokens are asked, of more none."""


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
