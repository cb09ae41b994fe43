"""Audits of attention: one file, one question.

The questions: agreement.py, identifiability.py, performance.py, perturbation.py, tokens.py.

    `audit_folder`   an `AuditRequest`: what lies in the folder, on which data     audit_folder.py
    `audit`          a run on a split, by several audits → `AuditCard`             audit_run.py
    `AuditContext`   what every audit is given                                     context.py
    `Audit`          one question → `AuditResult`                                  base.py
"""

from glasshead.audits.audit_folder import audit_folder
from glasshead.audits.audit_run import audit
from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.compare_audits import finding_differences
from glasshead.audits.compare_folders import AuditComparison, compare_cards, compare_folders
from glasshead.audits.compare_runs import baseline_index, compare_runs, short_names
from glasshead.audits.context import AuditContext, build_context, check_labels
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.request import IDENTIFIABILITY, AuditRequest
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "AUDITS",
    "IDENTIFIABILITY",
    "Audit",
    "AuditComparison",
    "AuditContext",
    "AuditRequest",
    "AuditResult",
    "Identifiability",
    "audit",
    "audit_folder",
    "baseline_index",
    "build_context",
    "check_labels",
    "compare_cards",
    "compare_folders",
    "compare_runs",
    "finding_differences",
    "short_names",
]
