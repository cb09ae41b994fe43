"""Is an attention map the only one that its head could have drawn?

`lp.intervals` computes the interval of one weight, `lp.rank` ranks and their threshold, `row_extraction` what
one row of a head is, `query_certificate` whether another query could have drawn it, and `interval_batches`
all of it for many texts.
"""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # the linear programs run in processes of their own, which need no torch
    from glasshead.identifiability.attention_row import (
        AttentionRow,
        weight_domain,
        weight_domain_of_activation,
    )
    from glasshead.identifiability.effective_attention import effective_weights
    from glasshead.identifiability.head_ranks import HeadRanks, layer_ranks, value_ranks
    from glasshead.identifiability.interval_batches import (
        STORE_FILES,
        ResultStore,
        fingerprints,
        merge_parts,
        solve_batches,
        weights_digest,
    )
    from glasshead.identifiability.interval_options import IntervalOptions
    from glasshead.identifiability.lines import SCHEMAS, line_table
    from glasshead.identifiability.lp.extreme_weights import SameOutput
    from glasshead.identifiability.lp.highs import highs_maxima
    from glasshead.identifiability.lp.intervals import Intervals, intervals
    from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
    from glasshead.identifiability.lp.rank import FLOAT32_EPS, ColumnSpace, column_space, rank_threshold
    from glasshead.identifiability.parallel_intervals import solve_parallel
    from glasshead.identifiability.pooled import read_pooled_batches
    from glasshead.identifiability.row_extraction import (
        attention_rows,
        project_values,
        query_values,
        rows_in_words,
        usual_rows,
    )
    from glasshead.identifiability.row_selector import MOST_ROWS, RowSelector

__getattr__, __dir__ = lazy_exports(globals())

__all__ = [
    "FLOAT32_EPS", "MOST_ROWS", "SCHEMAS", "STORE_FILES", "WEIGHT_DOMAINS", "AttentionRow",
    "ColumnSpace", "HeadRanks", "IntervalOptions", "Intervals", "ResultStore", "RowSelector",
    "SameOutput", "attention_rows", "column_space", "effective_weights", "fingerprints", "highs_maxima",
    "intervals", "layer_ranks", "line_table", "merge_parts", "project_values", "query_values",
    "rank_threshold", "read_pooled_batches", "rows_in_words", "solve_batches", "solve_parallel",
    "usual_rows", "value_ranks", "weight_domain", "weight_domain_of_activation", "weights_digest",
]  # fmt: skip
