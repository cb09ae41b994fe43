"""Names that a package exports, imported when first asked for: torch and transformers take seconds."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: dict[str, Any], modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: the package's ``globals()``.
        modules: exported name → the module that defines it.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = value = getattr(import_module(modules[name]), name)
        return value

    return load, lambda: sorted({*package, *modules}), sorted(modules)
