"""Which explanation of a model should one trust: methods against each other, on the same texts.

`rank`             any model, on any data, by several methods → `MethodRanking`   rank_methods.py
`run_ranking`      the same of a `RankRequest`                                    rank_methods.py
scores and cost    of every method                                                methods.py
criteria           the numbers of every text that methods are judged by           criteria.py
standings          from paired, corrected intervals                               standings.py
conclusion         what follows, in words                                         conclusion.py
"""

from glasshead.audits.ranking.criteria import Criterion
from glasshead.audits.ranking.rank_methods import rank, run_ranking
from glasshead.audits.ranking.standings import comparisons, join_and, judge_all

__all__ = ["Criterion", "comparisons", "join_and", "judge_all", "rank", "run_ranking"]
