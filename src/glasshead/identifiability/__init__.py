"""Is an attention map the only one that its head could have drawn?"""

from glasshead.identifiability.certainty import Question, answers
from glasshead.identifiability.heads import HeadRow, Where, head_rows, kind_of
from glasshead.identifiability.survey import PARTS, Store, join, survey

__all__ = [
    "PARTS",
    "HeadRow",
    "Question",
    "Store",
    "Where",
    "answers",
    "head_rows",
    "join",
    "kind_of",
    "survey",
]
