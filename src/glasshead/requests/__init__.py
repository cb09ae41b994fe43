"""The request of each command, defined once: the options of the command line, the keywords of the Python
function and their checks, and the settings of a resumed folder all come from it. It does not need torch."""

from glasshead.requests import readers
from glasshead.requests.audit import (
    AuditRequest,
    HeadsRequest,
    JudgedRequest,
    MeasuringRequest,
    RankRequest,
)
from glasshead.requests.cite import CiteRequest, PassagesRequest, SourcesRequest
from glasshead.requests.explain import (
    ExplainRequest,
    GenerateRequest,
    MethodRequest,
    WritingRequest,
    methods_of,
)
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
    WatchedRequest,
)

__all__ = [
    "LARGEST_SEED", "AttentionRequest", "AuditRequest", "CiteRequest",
    "DataRequest", "ExplainRequest", "GenerateRequest",
    "HeadsRequest", "InsideRequest", "InsideViewRequest", "JudgedRequest", "LensRequest",
    "LogitAttributionRequest", "MeasuringRequest", "MethodRequest", "OpeningRequest", "Option",
    "PassagesRequest", "PatchRequest", "RankRequest", "RenamingRequest", "Request", "SourcesRequest",
    "WatchedRequest", "WritingRequest", "check_values",
    "defaults_of", "fingerprint_fields", "methods_of", "option", "options_of", "readers", "takes", "types_of",
]  # fmt: skip
