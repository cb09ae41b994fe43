"""Is an attention map the only one that its head could have drawn?"""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports

if TYPE_CHECKING:
    from glasshead.identifiability.attention_rows import coordinates, head_rows, values_of
    from glasshead.identifiability.batch_run import PARTS, Store, join, survey
    from glasshead.identifiability.effective import effective_weights
    from glasshead.identifiability.logit_rank import LeastRanks, least_ranks, objection_to_call
    from glasshead.identifiability.lp.highs import highs_maxima
    from glasshead.identifiability.lp.intervals import Intervals, intervals
    from glasshead.identifiability.lp.polytopes import RANGES
    from glasshead.identifiability.lp.rank import SINGLE, Directions, directions, threshold
    from glasshead.identifiability.parallel import Question, answers
    from glasshead.identifiability.pooled import pooled_rows
    from glasshead.identifiability.ranks import HeadRanks, of_layer, ranks
    from glasshead.identifiability.row_selection import HeadRow, Where, kind_of

# The linear programs run in processes of their own, which need no torch.
MODULES = {
    "Directions": "glasshead.identifiability.lp.rank",
    "HeadRanks": "glasshead.identifiability.ranks",
    "HeadRow": "glasshead.identifiability.row_selection",
    "Intervals": "glasshead.identifiability.lp.intervals",
    "LeastRanks": "glasshead.identifiability.logit_rank",
    "PARTS": "glasshead.identifiability.batch_run",
    "Question": "glasshead.identifiability.parallel",
    "RANGES": "glasshead.identifiability.lp.polytopes",
    "SINGLE": "glasshead.identifiability.lp.rank",
    "Store": "glasshead.identifiability.batch_run",
    "Where": "glasshead.identifiability.row_selection",
    "answers": "glasshead.identifiability.parallel",
    "coordinates": "glasshead.identifiability.attention_rows",
    "directions": "glasshead.identifiability.lp.rank",
    "effective_weights": "glasshead.identifiability.effective",
    "head_rows": "glasshead.identifiability.attention_rows",
    "highs_maxima": "glasshead.identifiability.lp.highs",
    "intervals": "glasshead.identifiability.lp.intervals",
    "join": "glasshead.identifiability.batch_run",
    "kind_of": "glasshead.identifiability.row_selection",
    "least_ranks": "glasshead.identifiability.logit_rank",
    "objection_to_call": "glasshead.identifiability.logit_rank",
    "of_layer": "glasshead.identifiability.ranks",
    "pooled_rows": "glasshead.identifiability.pooled",
    "ranks": "glasshead.identifiability.ranks",
    "survey": "glasshead.identifiability.batch_run",
    "threshold": "glasshead.identifiability.lp.rank",
    "values_of": "glasshead.identifiability.attention_rows",
}

__all__ = [
    "PARTS",
    "RANGES",
    "SINGLE",
    "Directions",
    "HeadRanks",
    "HeadRow",
    "Intervals",
    "LeastRanks",
    "Question",
    "Store",
    "Where",
    "answers",
    "coordinates",
    "directions",
    "effective_weights",
    "head_rows",
    "highs_maxima",
    "intervals",
    "join",
    "kind_of",
    "least_ranks",
    "objection_to_call",
    "of_layer",
    "pooled_rows",
    "ranks",
    "survey",
    "threshold",
    "values_of",
]

__getattr__, __dir__, _ = lazy_exports(globals(), MODULES)
