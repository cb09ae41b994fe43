"""What every head of a model does: `glasshead.heads`.

    `heads`          any model, before any texts → `HeadReport`              inspect_heads.py
    `run_heads`      the same of a `HeadsRequest`                            inspect_heads.py

Texts, perhaps with dependency trees (read_texts.py), and kinds of tokens (token_kinds.py) → one attention
call before one text at a time (views.py) → statistics of rows, gathered by text (row_statistics.py,
text_statistics.py), of random weights too (random_heads.py), how alike heads are (head_agreement.py),
predictions without a head and whether a map is the only one (inspect_heads.py), relations of trees
(relations.py, relation_tables.py) → findings (summaries.py, layer_summaries.py, verdicts.py) → what follows
(conclusion.py).
"""

from typing import TYPE_CHECKING

from glasshead.audits.head_report.verdicts import HALF, LITTLE, judge_attention_share, side_of, size_verdict
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # judges need no torch
    from glasshead.audits.head_report.inspect_heads import heads, run_heads
    from glasshead.audits.head_report.removal import ablate_heads

__getattr__, __dir__ = lazy_exports(globals())

__all__ = [
    "HALF",
    "LITTLE",
    "ablate_heads",
    "heads",
    "judge_attention_share",
    "run_heads",
    "side_of",
    "size_verdict",
]
