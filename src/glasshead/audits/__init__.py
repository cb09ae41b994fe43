"""Audits of attention: one file, one question.

The questions: adversarial.py, agreement.py, explanation.py, faithfulness.py, identifiability.py,
image_map.py, image_sinks.py, operators.py, performance.py, perturbation.py, plausibility.py,
read_heads.py, tokens.py.

    `audit`          any model, on any data, by several audits → `AuditCard`       audit_model.py
    `judge`          the rows of an audit once more, without the model             judge.py
    `compare`        audits, or runs → `Comparison`                                comparing/
    `heads`          what every head of a model does → `HeadReport`                head_report/
    `rank`           explanations of a model compared → `MethodRanking`            ranking/

What they share when they measure is in measuring/ (`ModelView`: a model and a batch of inputs; shards,
workers, passes), and what they share when they judge is in judging/, without torch (`Audit`, `Question`,
`Measurements`: the rows of all inputs; `conclude`: the verdict of a card; `CASES`: its first sentence).
"""

from typing import TYPE_CHECKING

from glasshead.audits.comparing.compare_audits import finding_differences
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability, write_lines
from glasshead.audits.judge import judge
from glasshead.audits.judging.agreement_strength import agreement_level, agreement_words
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import Border, at
from glasshead.audits.judging.conclude import conclude
from glasshead.audits.judging.headline import CASES
from glasshead.audits.judging.measurements import FOLDER as MEASUREMENTS
from glasshead.audits.judging.measurements import MEASURED, copy_measurements
from glasshead.audits.judging.question import Outcome, Question, QuestionSet, decisive, usable
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import StatSummary, few_tokens, summarise
from glasshead.audits.judging.table import Column
from glasshead.audits.perturbation import shuffling_outcome
from glasshead.lazy import lazy_exports
from glasshead.registry import import_entries

if TYPE_CHECKING:  # what measures needs torch and transformers, what judges does not
    from glasshead.audits.audit_model import audit, check_audit, run_audit
    from glasshead.audits.comparing.comparison import Comparable, compare
    from glasshead.audits.comparing.run_differences import compare_runs
    from glasshead.audits.head_report import heads, run_heads
    from glasshead.audits.measuring.data_view import build_view
    from glasshead.audits.measuring.null_weights import random_weights
    from glasshead.audits.measuring.view import ModelView
    from glasshead.audits.model_list import read_model_list
    from glasshead.audits.ranking import Criterion, comparisons, join_and, judge_all, rank, run_ranking

__getattr__, __dir__ = lazy_exports(globals())
import_entries(__name__, __path__, "AUDITS")

__all__ = [
    "AUDITS",
    "CASES",
    "IDENTIFIABILITY",
    "MEASURED",
    "MEASUREMENTS",
    "Audit",
    "AuditResult",
    "Border",
    "Column",
    "Comparable",
    "Criterion",
    "Group",
    "Identifiability",
    "Measured",
    "ModelView",
    "Outcome",
    "Question",
    "QuestionSet",
    "StatSummary",
    "agreement_level",
    "agreement_words",
    "at",
    "audit",
    "build_view",
    "check_audit",
    "compare",
    "compare_runs",
    "comparisons",
    "conclude",
    "copy_measurements",
    "decisive",
    "few_tokens",
    "finding_differences",
    "heads",
    "join_and",
    "judge",
    "judge_all",
    "random_weights",
    "rank",
    "read_model_list",
    "run_audit",
    "run_heads",
    "run_ranking",
    "shuffling_outcome",
    "summarise",
    "usable",
    "write_lines",
]
