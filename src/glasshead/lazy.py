"""Names that a package exports, imported when first asked for: torch and transformers take seconds."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_exports(package: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package: what its file imports ``if TYPE_CHECKING``.

    Args:
        package: the package's ``globals()``.
    """
    modules = type_checking_imports(Path(package["__file__"]).read_text(encoding="utf-8"))

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = value = getattr(import_module(modules[name]), name)
        return value

    return load, lambda: sorted({*package, *modules})


def type_checking_imports(source: str) -> dict[str, str]:
    """Imported name → the module that defines it."""
    blocks = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"
    ]
    return {
        name.name: str(line.module)
        for block in blocks
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
