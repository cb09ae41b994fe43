"""One reference page for each package: what its `__init__` exports, and nothing else."""

import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import glasshead


def packages() -> dict[str, ModuleType]:
    """The packages that export something, by name; the front door first."""
    modules = {"glasshead": glasshead}
    places = [(glasshead.__path__, "glasshead.")]
    if find_spec("glasshead.papers") is not None:
        places.append((import_module("glasshead.papers").__path__, "glasshead.papers."))
    for path, prefix in places:
        for info in pkgutil.iter_modules(path, prefix):
            if info.name.removeprefix(prefix) in ("cli", "commands", "__main__"):  # described elsewhere
                continue
            module = import_module(info.name)
            if getattr(module, "__all__", None):
                modules[info.name] = module
    return modules


def pages() -> dict[str, str]:
    """reStructuredText by page name, the list of all packages as `index`."""
    modules = packages()
    lines = [*heading("Python", "="), "Import from these packages. What they do not export is internal.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for name, module in modules.items():
        lines += [f"   * - :doc:`{name} <{name}>`", f"     - {summary(module)}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in modules)]
    texts = {"index": "\n".join(lines) + "\n"}
    indexed: set[Any] = set()
    for name, module in modules.items():
        texts[name] = "\n".join(page(name, module, indexed)) + "\n"
    return texts


def page(name: str, module: ModuleType, indexed: set[Any]) -> Iterator[str]:
    """What is exported; the index names each thing once, also where a second package exports it."""
    yield from (*heading(name, "="), summary(module), "")
    things = {export: getattr(module, export) for export in module.__all__}
    for title, is_kind in (("Functions", inspect.isroutine), ("Classes", inspect.isclass)):
        names = [export for export, thing in things.items() if is_kind(thing)]
        if names:
            yield from heading(title, "-")
            for export in names:
                yield from directive(f"{name}.{export}", things[export], things[export] in indexed)
                indexed.add(things[export])
    values = {n: t for n, t in things.items() if not inspect.isroutine(t) and not inspect.isclass(t)}
    if values:
        yield from heading("Values", "-")
        for export, value in values.items():
            yield from (f"``{export}``", f"   {describe(value)}", "")


def heading(title: str, sign: str) -> list[str]:
    return [title, sign * len(title), ""]


def summary(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def directive(path: str, thing: Any, again: bool) -> Iterator[str]:
    yield f".. {'autoclass' if inspect.isclass(thing) else 'autofunction'}:: {path}"
    if inspect.isclass(thing):
        yield "   :members:"
    if again:
        yield "   :no-index:"
    yield ""


def describe(value: Any) -> str:
    """The names that a registry holds, or the value."""
    if isinstance(value, ModuleType):
        return f"The package ``{value.__name__}``."
    if isinstance(value, Mapping):
        return "By name: " + ", ".join(f"``{name}``" for name in value) + "."
    return f"``{value!r}``"
