"""One file, one question about an attention map."""

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.card import audit
from glasshead.audit.identifiability import Identifiability
from glasshead.audit.kendall import KendallResult, kendall_tau_b
from glasshead.audit.maps import audit_maps
from glasshead.audit.subject import Subject, prepare
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "AUDITS",
    "Audit",
    "Identifiability",
    "KendallResult",
    "Outcome",
    "Subject",
    "audit",
    "audit_maps",
    "kendall_tau_b",
    "prepare",
]
