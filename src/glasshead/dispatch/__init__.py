"""The attention function that Transformers calls for every module of a plugged model.

To import this package registers it: from then on `from_pretrained` knows every folder of a plugged model.
"""

from glasshead.dispatch.attention_function import (
    MECHANISM,
    UNSUPPORTED,
    attach,
    check_usage_hook,
    mechanism_of,
    parse_saved_spec,
)
from glasshead.dispatch.configuration import KEY, Plugged, clear_spec, restore_spec, set_spec, spec_of

__all__ = [
    "KEY",
    "MECHANISM",
    "UNSUPPORTED",
    "Plugged",
    "attach",
    "check_usage_hook",
    "clear_spec",
    "mechanism_of",
    "parse_saved_spec",
    "restore_spec",
    "set_spec",
    "spec_of",
]
