"""Glasshead: attention you can see through."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from glasshead.attention import Mask, Mechanism, attend, mechanism
    from glasshead.audits import audit, compare, heads, rank
    from glasshead.errors import InputError
    from glasshead.explainers import explain
    from glasshead.generation import generate
    from glasshead.huggingface import doctor, load, plug, unplug
    from glasshead.opening import open
    from glasshead.trace import intervene, record

# Public names by package, imported when first asked for: torch and transformers take seconds.
PUBLIC = {
    "InputError": "glasshead.errors",
    "Mask": "glasshead.attention",
    "Mechanism": "glasshead.attention",
    "attend": "glasshead.attention",
    "audit": "glasshead.audits",
    "compare": "glasshead.audits",
    "doctor": "glasshead.huggingface",
    "explain": "glasshead.explainers",
    "generate": "glasshead.generation",
    "heads": "glasshead.audits",
    "intervene": "glasshead.trace",
    "load": "glasshead.huggingface",
    "mechanism": "glasshead.attention",
    "open": "glasshead.opening",
    "plug": "glasshead.huggingface",
    "rank": "glasshead.audits",
    "record": "glasshead.trace",
    "unplug": "glasshead.huggingface",
}

# Functions whose results can be drawn: `glasshead.report`, which registers how, is imported with them.
RETURNS_DRAWABLE = {"audit", "compare", "explain", "generate", "heads", "rank", "record"}

__all__ = [
    "InputError",
    "Mask",
    "Mechanism",
    "attend",
    "audit",
    "compare",
    "doctor",
    "explain",
    "generate",
    "heads",
    "intervene",
    "load",
    "mechanism",
    "open",
    "plug",
    "rank",
    "record",
    "unplug",
]

_load, __dir__, _ = lazy_exports(globals(), PUBLIC)


def __getattr__(name: str) -> Any:
    value = _load(name)
    if name in RETURNS_DRAWABLE:
        import_module("glasshead.report")
    return value
