"""One reference page for each package: what its `__init__` exports, and nothing else."""

import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import glasshead


def packages() -> dict[str, ModuleType]:
    """The packages that export something, by name; the front door first."""
    found = {"glasshead": glasshead}
    for each in pkgutil.iter_modules(glasshead.__path__):
        if each.name not in ("cli", "commands"):  # the command line has pages of its own
            module = import_module(f"glasshead.{each.name}")
            if getattr(module, "__all__", None):
                found[f"glasshead.{each.name}"] = module
    return found


def pages() -> dict[str, str]:
    """reStructuredText by page name, the list of all packages as `index`."""
    modules = packages()
    lines = [*heading("Python", "="), "Import from these packages. What they do not export is internal.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for name, module in modules.items():
        lines += [f"   * - :doc:`{name} <{name}>`", f"     - {summary(module)}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in modules)]
    found = {"index": "\n".join(lines) + "\n"}
    indexed: set[Any] = set()
    for name, module in modules.items():
        found[name] = "\n".join(page(name, module, indexed)) + "\n"
    return found


def page(name: str, module: ModuleType, indexed: set[Any]) -> Iterator[str]:
    """What is exported; the index names each thing once, also where a second package exports it."""
    yield from (*heading(name, "="), summary(module), "")
    things = {each: getattr(module, each) for each in module.__all__}
    for title, chosen in (("Functions", inspect.isroutine), ("Classes", inspect.isclass)):
        names = [each for each, thing in things.items() if chosen(thing)]
        if names:
            yield from heading(title, "-")
            for each in names:
                yield from directive(f"{name}.{each}", things[each], things[each] in indexed)
                indexed.add(things[each])
    values = {n: t for n, t in things.items() if not inspect.isroutine(t) and not inspect.isclass(t)}
    if values:
        yield from heading("Values", "-")
        for each, value in values.items():
            yield from (f"``{each}``", f"   {described(value)}", "")


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


def described(value: Any) -> str:
    """The names that a registry holds, or the value."""
    if isinstance(value, ModuleType):
        return f"The package ``{value.__name__}``."
    if isinstance(value, Mapping):
        return "By name: " + ", ".join(f"``{name}``" for name in value) + "."
    return f"``{value!r}``"
