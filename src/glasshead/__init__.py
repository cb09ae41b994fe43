"""Glasshead: attention you can see through."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # imported when first asked for: torch and transformers take seconds
    from glasshead.attention import Mask, Mechanism, attend, mechanism
    from glasshead.audits import audit, compare, heads, judge, rank
    from glasshead.errors import InputError
    from glasshead.explainers import explain
    from glasshead.generation import generate
    from glasshead.huggingface import doctor, load, plug, unplug
    from glasshead.inside import lens, logit_attribution, patch
    from glasshead.opening import open
    from glasshead.sources import audit_sources, cite
    from glasshead.trace import intervene, record

    __version__: str

# Functions whose results can be drawn: `glasshead.report`, which registers how, is imported with them.
RETURNS_DRAWABLE = {
    "audit", "audit_sources", "cite", "compare", "explain", "generate", "heads", "judge", "lens",
    "logit_attribution", "patch", "rank", "record",
}  # fmt: skip

__all__ = [
    "InputError",
    "Mask",
    "Mechanism",
    "attend",
    "audit",
    "audit_sources",
    "cite",
    "compare",
    "doctor",
    "explain",
    "generate",
    "heads",
    "intervene",
    "judge",
    "lens",
    "load",
    "logit_attribution",
    "mechanism",
    "open",
    "patch",
    "plug",
    "rank",
    "record",
    "unplug",
]

_load, __dir__ = lazy_exports(globals())


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("glasshead")
    value = _load(name)
    if name in RETURNS_DRAWABLE:
        import_module("glasshead.report")
    return value
