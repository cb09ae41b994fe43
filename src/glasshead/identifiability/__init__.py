"""Is an attention map the only one that its head could have drawn?"""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports

if TYPE_CHECKING:
    from glasshead.identifiability.batch_run import PARTS, ResultStore, merge_parts, run_batches
    from glasshead.identifiability.effective import effective_weights
    from glasshead.identifiability.length_sampling import LengthSample, table, texts_of
    from glasshead.identifiability.logit_rank import LeastRanks, least_ranks, objection_to_call
    from glasshead.identifiability.logit_rank_by_length import logit_ranks_by_length
    from glasshead.identifiability.lp.highs import highs_maxima
    from glasshead.identifiability.lp.intervals import Intervals, intervals
    from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
    from glasshead.identifiability.lp.rank import SINGLE, ColumnSpace, column_space, threshold
    from glasshead.identifiability.parallel import IntervalQuery, solve_parallel
    from glasshead.identifiability.pooled import pooled_rows
    from glasshead.identifiability.rank_by_length import ranks_by_length
    from glasshead.identifiability.ranks import HeadRanks, layer_ranks, value_ranks
    from glasshead.identifiability.row_extraction import attention_rows, projected_values, values_of
    from glasshead.identifiability.row_selection import AttentionRow, RowSelector, weight_domain

# The linear programs run in processes of their own, which need no torch.
MODULES = {
    "logit_ranks_by_length": "glasshead.identifiability.logit_rank_by_length",
    "ranks_by_length": "glasshead.identifiability.rank_by_length",
    "texts_of": "glasshead.identifiability.length_sampling",
    "table": "glasshead.identifiability.length_sampling",
    "LengthSample": "glasshead.identifiability.length_sampling",
    "ColumnSpace": "glasshead.identifiability.lp.rank",
    "HeadRanks": "glasshead.identifiability.ranks",
    "AttentionRow": "glasshead.identifiability.row_selection",
    "Intervals": "glasshead.identifiability.lp.intervals",
    "LeastRanks": "glasshead.identifiability.logit_rank",
    "PARTS": "glasshead.identifiability.batch_run",
    "IntervalQuery": "glasshead.identifiability.parallel",
    "WEIGHT_DOMAINS": "glasshead.identifiability.lp.polytopes",
    "SINGLE": "glasshead.identifiability.lp.rank",
    "ResultStore": "glasshead.identifiability.batch_run",
    "RowSelector": "glasshead.identifiability.row_selection",
    "solve_parallel": "glasshead.identifiability.parallel",
    "projected_values": "glasshead.identifiability.row_extraction",
    "column_space": "glasshead.identifiability.lp.rank",
    "effective_weights": "glasshead.identifiability.effective",
    "attention_rows": "glasshead.identifiability.row_extraction",
    "highs_maxima": "glasshead.identifiability.lp.highs",
    "intervals": "glasshead.identifiability.lp.intervals",
    "merge_parts": "glasshead.identifiability.batch_run",
    "weight_domain": "glasshead.identifiability.row_selection",
    "least_ranks": "glasshead.identifiability.logit_rank",
    "objection_to_call": "glasshead.identifiability.logit_rank",
    "layer_ranks": "glasshead.identifiability.ranks",
    "pooled_rows": "glasshead.identifiability.pooled",
    "value_ranks": "glasshead.identifiability.ranks",
    "run_batches": "glasshead.identifiability.batch_run",
    "threshold": "glasshead.identifiability.lp.rank",
    "values_of": "glasshead.identifiability.row_extraction",
}

__all__ = [
    "PARTS",
    "SINGLE",
    "WEIGHT_DOMAINS",
    "AttentionRow",
    "ColumnSpace",
    "HeadRanks",
    "IntervalQuery",
    "Intervals",
    "LeastRanks",
    "LengthSample",
    "ResultStore",
    "RowSelector",
    "attention_rows",
    "column_space",
    "effective_weights",
    "highs_maxima",
    "intervals",
    "layer_ranks",
    "least_ranks",
    "logit_ranks_by_length",
    "merge_parts",
    "objection_to_call",
    "pooled_rows",
    "projected_values",
    "ranks_by_length",
    "run_batches",
    "solve_parallel",
    "table",
    "texts_of",
    "threshold",
    "value_ranks",
    "values_of",
    "weight_domain",
]

__getattr__, __dir__, _ = lazy_exports(globals(), MODULES)
