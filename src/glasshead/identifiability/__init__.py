"""Is an attention map the only one that its head could have drawn?

`lp.intervals` computes the interval of one weight, `lp.rank` ranks and their threshold, `row_extraction` what
one row of a head is, `query_certificate` whether another query could have drawn it, and `interval_batches`
all of it for many texts.
"""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports

if TYPE_CHECKING:
    from glasshead.identifiability.attention_row import (
        AttentionRow,
        weight_domain,
        weight_domain_of_activation,
    )
    from glasshead.identifiability.depth_collapse import (
        CollapseSample,
        collapse_by_depth,
        rank_collapse,
        read_sample,
    )
    from glasshead.identifiability.effective_attention import effective_weights
    from glasshead.identifiability.head_ranks import HeadRanks, layer_ranks, value_ranks
    from glasshead.identifiability.interval_batches import (
        PARTS,
        ResultStore,
        fingerprints,
        merge_parts,
        solve_batches,
    )
    from glasshead.identifiability.length_sampling import LengthSample, read_texts, sample_texts, to_csv
    from glasshead.identifiability.logit_rank import LeastRanks, least_ranks, unsupported_call_reason
    from glasshead.identifiability.logit_rank_by_length import logit_ranks_by_length
    from glasshead.identifiability.lp.extreme_weights import SameOutput
    from glasshead.identifiability.lp.highs import highs_maxima
    from glasshead.identifiability.lp.intervals import Intervals, intervals
    from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
    from glasshead.identifiability.lp.rank import FLOAT32_EPS, ColumnSpace, column_space, rank_threshold
    from glasshead.identifiability.parallel_intervals import IntervalOptions, solve_parallel
    from glasshead.identifiability.pooled import pooled_batches
    from glasshead.identifiability.random_collapse import (
        composite_norm,
        gaussian_collapse,
        log_ranks,
        residual,
    )
    from glasshead.identifiability.rank_by_length import ranks_by_length
    from glasshead.identifiability.row_extraction import (
        attention_rows,
        projected_values,
        query_values,
        rows_in_words,
        usual_rows,
    )
    from glasshead.identifiability.row_selector import MOST_ROWS, RowSelector

# The linear programs run in processes of their own, which need no torch.
MODULES = {
    "CollapseSample": "glasshead.identifiability.depth_collapse",
    "collapse_by_depth": "glasshead.identifiability.depth_collapse",
    "composite_norm": "glasshead.identifiability.random_collapse",
    "gaussian_collapse": "glasshead.identifiability.random_collapse",
    "log_ranks": "glasshead.identifiability.random_collapse",
    "rank_collapse": "glasshead.identifiability.depth_collapse",
    "read_sample": "glasshead.identifiability.depth_collapse",
    "residual": "glasshead.identifiability.random_collapse",
    "logit_ranks_by_length": "glasshead.identifiability.logit_rank_by_length",
    "ranks_by_length": "glasshead.identifiability.rank_by_length",
    "read_texts": "glasshead.identifiability.length_sampling",
    "sample_texts": "glasshead.identifiability.length_sampling",
    "to_csv": "glasshead.identifiability.length_sampling",
    "LengthSample": "glasshead.identifiability.length_sampling",
    "ColumnSpace": "glasshead.identifiability.lp.rank",
    "HeadRanks": "glasshead.identifiability.head_ranks",
    "AttentionRow": "glasshead.identifiability.attention_row",
    "Intervals": "glasshead.identifiability.lp.intervals",
    "LeastRanks": "glasshead.identifiability.logit_rank",
    "PARTS": "glasshead.identifiability.interval_batches",
    "IntervalOptions": "glasshead.identifiability.parallel_intervals",
    "WEIGHT_DOMAINS": "glasshead.identifiability.lp.polytopes",
    "FLOAT32_EPS": "glasshead.identifiability.lp.rank",
    "ResultStore": "glasshead.identifiability.interval_batches",
    "MOST_ROWS": "glasshead.identifiability.row_selector",
    "RowSelector": "glasshead.identifiability.row_selector",
    "SameOutput": "glasshead.identifiability.lp.extreme_weights",
    "solve_parallel": "glasshead.identifiability.parallel_intervals",
    "projected_values": "glasshead.identifiability.row_extraction",
    "column_space": "glasshead.identifiability.lp.rank",
    "effective_weights": "glasshead.identifiability.effective_attention",
    "attention_rows": "glasshead.identifiability.row_extraction",
    "fingerprints": "glasshead.identifiability.interval_batches",
    "highs_maxima": "glasshead.identifiability.lp.highs",
    "intervals": "glasshead.identifiability.lp.intervals",
    "merge_parts": "glasshead.identifiability.interval_batches",
    "rows_in_words": "glasshead.identifiability.row_extraction",
    "usual_rows": "glasshead.identifiability.row_extraction",
    "weight_domain": "glasshead.identifiability.attention_row",
    "weight_domain_of_activation": "glasshead.identifiability.attention_row",
    "least_ranks": "glasshead.identifiability.logit_rank",
    "unsupported_call_reason": "glasshead.identifiability.logit_rank",
    "layer_ranks": "glasshead.identifiability.head_ranks",
    "pooled_batches": "glasshead.identifiability.pooled",
    "value_ranks": "glasshead.identifiability.head_ranks",
    "solve_batches": "glasshead.identifiability.interval_batches",
    "rank_threshold": "glasshead.identifiability.lp.rank",
    "query_values": "glasshead.identifiability.row_extraction",
}

__all__ = [
    "FLOAT32_EPS",
    "MOST_ROWS",
    "PARTS",
    "WEIGHT_DOMAINS",
    "AttentionRow",
    "CollapseSample",
    "ColumnSpace",
    "HeadRanks",
    "IntervalOptions",
    "Intervals",
    "LeastRanks",
    "LengthSample",
    "ResultStore",
    "RowSelector",
    "SameOutput",
    "attention_rows",
    "collapse_by_depth",
    "column_space",
    "composite_norm",
    "effective_weights",
    "fingerprints",
    "gaussian_collapse",
    "highs_maxima",
    "intervals",
    "layer_ranks",
    "least_ranks",
    "log_ranks",
    "logit_ranks_by_length",
    "merge_parts",
    "pooled_batches",
    "projected_values",
    "query_values",
    "rank_collapse",
    "rank_threshold",
    "ranks_by_length",
    "read_sample",
    "read_texts",
    "residual",
    "rows_in_words",
    "sample_texts",
    "solve_batches",
    "solve_parallel",
    "to_csv",
    "unsupported_call_reason",
    "usual_rows",
    "value_ranks",
    "weight_domain",
    "weight_domain_of_activation",
]

__getattr__, __dir__, _ = lazy_exports(globals(), MODULES)
