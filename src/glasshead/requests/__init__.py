"""What each command is asked, said once: from a request come the options of the command line, the keywords of
the Python function and their check, and what a resumed folder was measured with. Knows nothing of torch."""

from glasshead.requests import readers
from glasshead.requests.audit import (
    AuditRequest,
    HeadsRequest,
    JudgedRequest,
    MeasuringRequest,
    RankRequest,
)
from glasshead.requests.cite import CiteRequest
from glasshead.requests.explain import ExplainRequest, GenerateRequest, MethodRequest, WritingRequest
from glasshead.requests.fields import (
    Option,
    Request,
    check_values,
    defaults_of,
    fingerprint_fields,
    option,
    options_of,
    types_of,
)
from glasshead.requests.front_door import takes
from glasshead.requests.inside import InsideRequest, InsideViewRequest, LensRequest, LogitAttributionRequest
from glasshead.requests.patch import PatchRequest
from glasshead.requests.subject import (
    LARGEST_SEED,
    AttentionRequest,
    DataRequest,
    OpeningRequest,
    RenamingRequest,
)

__all__ = [
    "LARGEST_SEED", "AttentionRequest", "AuditRequest", "CiteRequest",
    "DataRequest", "ExplainRequest", "GenerateRequest",
    "HeadsRequest", "InsideRequest", "InsideViewRequest", "JudgedRequest", "LensRequest",
    "LogitAttributionRequest", "MeasuringRequest", "MethodRequest", "OpeningRequest", "Option",
    "PatchRequest", "RankRequest", "RenamingRequest", "Request", "WritingRequest", "check_values",
    "defaults_of", "fingerprint_fields", "option", "options_of", "readers", "takes", "types_of",
]  # fmt: skip
