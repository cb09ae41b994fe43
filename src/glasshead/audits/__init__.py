"""One file, one question about an attention map."""

from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.compare_audits import differences
from glasshead.audits.compare_runs import baseline, compare_runs, short_names
from glasshead.audits.context import AuditContext, build_context, check_labels
from glasshead.audits.folder_comparison import AuditComparison, compare_cards, compare_folders
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.model_identifiability import audit_maps
from glasshead.audits.request import IDENTIFIABILITY, AuditRequest, audit_folder
from glasshead.audits.run import audit
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
    "audit_maps",
    "baseline",
    "build_context",
    "check_labels",
    "compare_cards",
    "compare_folders",
    "compare_runs",
    "differences",
    "short_names",
]
