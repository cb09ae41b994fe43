"""Audits of attention: one file, one question.

The questions: adversarial.py, agreement.py, explanation.py, faithfulness.py, identifiability.py,
operators.py, performance.py, perturbation.py, plausibility.py, read_heads.py, tokens.py.

    `audit`          any model, on any data, by several audits → `AuditCard`       audit_model.py
    `compare`        audits, or runs → `Comparison`                                comparison.py
    `heads`          what every head of a model does → `HeadReport`                head_report/
    `rank`           explanations of a model against each other → `MethodRanking`  ranking/
    `run_audit`      the same of an `AuditRequest`                                 audit_model.py
    `AuditContext`   what every audit is given                                     context.py
    `Audit`          one question → `AuditResult`                                  base.py
"""

from glasshead.audits.audit_model import audit, check_audit, run_audit
from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.build_context import build_context
from glasshead.audits.compare_audits import finding_differences
from glasshead.audits.compare_runs import compare_runs
from glasshead.audits.comparison import Comparable, compare
from glasshead.audits.context import AuditContext
from glasshead.audits.finished import FINISHED
from glasshead.audits.head_report import heads, run_heads
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability
from glasshead.audits.null_weights import few_tokens, random_weights
from glasshead.audits.ranking import rank, run_ranking
from glasshead.audits.slices import Group
from glasshead.audits.summary import StatSummary, summarise
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "AUDITS",
    "FINISHED",
    "IDENTIFIABILITY",
    "Audit",
    "AuditContext",
    "AuditResult",
    "Comparable",
    "Group",
    "Identifiability",
    "StatSummary",
    "audit",
    "build_context",
    "check_audit",
    "compare",
    "compare_runs",
    "few_tokens",
    "finding_differences",
    "heads",
    "random_weights",
    "rank",
    "run_audit",
    "run_heads",
    "run_ranking",
    "summarise",
]
