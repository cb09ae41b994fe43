"""Glasshead: attention you can see through."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.registration import watch

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glasshead.attention import Mask, Mechanism, attend, mechanism
    from glasshead.errors import InputError
    from glasshead.models import doctor, load, plug, unplug
    from glasshead.trace import intervene, record

# Public names by package, imported when first asked for: torch and transformers take seconds.
PUBLIC = {
    "InputError": "glasshead.errors",
    "Mask": "glasshead.attention",
    "Mechanism": "glasshead.attention",
    "attend": "glasshead.attention",
    "doctor": "glasshead.models",
    "intervene": "glasshead.trace",
    "load": "glasshead.models",
    "mechanism": "glasshead.attention",
    "plug": "glasshead.models",
    "record": "glasshead.trace",
    "unplug": "glasshead.models",
}

__all__ = [
    "InputError",
    "Mask",
    "Mechanism",
    "attend",
    "doctor",
    "intervene",
    "load",
    "mechanism",
    "plug",
    "record",
    "unplug",
]


# A plain from_pretrained then restores a plugged model.
watch()


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'glasshead' has no attribute {name!r}")
    found = getattr(import_module(PUBLIC[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *PUBLIC])
