"""Values as JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from glasshead.escaping import as_json


def json_text(value: Any) -> str:
    """The value as standard JSON: a missing number is null, never NaN."""
    return as_json(json.dumps(to_json_values(value), ensure_ascii=False, allow_nan=False, indent=1)) + "\n"


def to_json_values(value: Any) -> Any:
    """Numbers, strings, lists and mappings instead of dataclasses and arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        return to_json_values(asdict(value))
    if isinstance(value, np.ndarray | np.generic):
        return to_json_values(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): to_json_values(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json_values(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
