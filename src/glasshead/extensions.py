"""What packages add to Glasshead: entry points of the group ``glasshead.extensions``.

The name of an entry point is the kind of thing that its module adds, one of `KINDS`:

    [project.entry-points."glasshead.extensions"]
    explainers = "my_package.explainer"
    commands = "my_package.commands"

A module is imported when its kind is first looked through, and adds what it has to our registries.
"""

import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

ENTRY_POINTS = "glasshead.extensions"
KINDS = (
    "activations",
    "audits",
    "commands",
    "datasets",
    "explainers",
    "kernels",
    "models",
    "pages",
    "plots",
    "positions",
    "recorders",
    "removals",
)
"""What can be added, each by the registry of that name."""


@cache
def extensions() -> dict[str, list[EntryPoint]]:
    """The entry points of all installed packages, by kind."""
    by_kind: dict[str, list[EntryPoint]] = {kind: [] for kind in KINDS}
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in by_kind:
            by_kind[entry.name].append(entry)
        else:
            known = ", ".join(KINDS)
            warnings.warn(f"{origin_of(entry)} adds {entry.name!r}; the kinds are {known}", stacklevel=2)
    return by_kind


_attached: set[str] = set()


def attach_extensions(kind: str) -> None:
    """Import what installed packages add of a kind, once.

    What cannot be imported is left out, with a warning; a package that is gone and has left its metadata,
    without one.
    """
    if kind in _attached:
        return
    _attached.add(kind)  # before the imports, which may look through the registry that they fill
    for entry in extensions()[kind]:
        try:
            import_module(entry.module)
        except Exception as error:  # a package of somebody else's breaks in every way there is
            if isinstance(error, ModuleNotFoundError) and f"{entry.module}.".startswith(f"{error.name}."):
                continue
            reason = " ".join(str(error).split())
            warnings.warn(f"{origin_of(entry)} is left out: {type(error).__name__}: {reason}", stacklevel=2)


def origin_of(entry: EntryPoint) -> str:
    """A package and its module, for a warning."""
    package = "a package" if entry.dist is None else entry.dist.name
    return f"the extension {entry.module} of {package}"
