"""Audits of attention: one file, one question.

The questions: adversarial.py, agreement.py, explanation.py, faithfulness.py, identifiability.py,
operators.py, performance.py, perturbation.py, plausibility.py, read_heads.py, tokens.py.

    `audit`          any model, on any data, by several audits → `AuditCard`       audit_model.py
    `compare`        audits, or runs → `Comparison`                                comparison.py
    `heads`          what every head of a model does → `HeadReport`                head_report/
    `rank`           explanations of a model against each other → `MethodRanking`  ranking/
    `run_audit`      the same of an `AuditRequest`                                 audit_model.py
    `ModelView`      what every audit asks: a model before a batch of inputs       view.py
    `Audit`          one question: measures rows, then judges them                 base.py
    `Measurements`   the rows of all inputs, shard by shard                        measurements.py
    `Question`       what a number is about, and the claim on which it bears       question.py
    `conclude`       what the findings of a card come to, in words                 conclude.py
    `CASES`          the first sentence: a table of answers and sentences          headline.py
"""

from typing import TYPE_CHECKING

from glasshead.audits.agreement_strength import agreement_level, agreement_words
from glasshead.audits.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.border import Border, at
from glasshead.audits.compare_audits import finding_differences
from glasshead.audits.conclude import conclude
from glasshead.audits.headline import CASES
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability, write_lines
from glasshead.audits.judge import judge
from glasshead.audits.measurements import FOLDER as MEASUREMENTS
from glasshead.audits.measurements import MEASURED, copy_measurements
from glasshead.audits.perturbation import shuffling_outcome
from glasshead.audits.question import Outcome, Question, QuestionSet, decisive, usable
from glasshead.audits.slices import Group
from glasshead.audits.summary import StatSummary, few_tokens, summarise
from glasshead.audits.table import Column
from glasshead.lazy import lazy_exports
from glasshead.registry import import_entries

if TYPE_CHECKING:  # what measures needs torch and transformers, what judges does not
    from glasshead.audits.audit_model import audit, check_audit, run_audit
    from glasshead.audits.comparison import Comparable, compare
    from glasshead.audits.data_view import build_view
    from glasshead.audits.head_report import heads, run_heads
    from glasshead.audits.null_weights import random_weights
    from glasshead.audits.ranking import rank, run_ranking
    from glasshead.audits.run_differences import compare_runs
    from glasshead.audits.view import ModelView

__getattr__, __dir__, _ = lazy_exports(globals())
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
    "conclude",
    "copy_measurements",
    "decisive",
    "few_tokens",
    "finding_differences",
    "heads",
    "judge",
    "random_weights",
    "rank",
    "run_audit",
    "run_heads",
    "run_ranking",
    "shuffling_outcome",
    "summarise",
    "usable",
    "write_lines",
]
