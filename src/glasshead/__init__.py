"""Glasshead: attention you can see through."""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glasshead.attention import Mask, Mechanism, attend, mechanism
    from glasshead.errors import InputError
    from glasshead.huggingface import doctor, load, plug, unplug
    from glasshead.trace import intervene, record

# Public names by package, imported when first asked for: torch and transformers take seconds.
PUBLIC = {
    "InputError": "glasshead.errors",
    "Mask": "glasshead.attention",
    "Mechanism": "glasshead.attention",
    "attend": "glasshead.attention",
    "doctor": "glasshead.huggingface",
    "intervene": "glasshead.trace",
    "load": "glasshead.huggingface",
    "mechanism": "glasshead.attention",
    "plug": "glasshead.huggingface",
    "record": "glasshead.trace",
    "unplug": "glasshead.huggingface",
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

__getattr__, __dir__, _ = lazy_exports(globals(), PUBLIC)
