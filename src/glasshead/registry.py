"""Name → object, with a helpful word for a misspelt name."""

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from glasshead.errors import InputError
from glasshead.extensions import attach_extensions

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str], elsewhere: Mapping[str, str] | None = None) -> str:
    """End of an error message: what the user may have meant, else all that there is. What other libraries
    call it comes first: ``elsewhere`` has their names, in small letters with hyphens, and ours."""
    name, names = str(name), sorted(known)
    if not names:
        return "there is none"
    ours = (elsewhere or {}).get(re.sub(r"[\s_]+", "-", name.strip().lower()))
    matches = [ours] if ours else difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {matches[0]!r}?" if matches else f"choose from: {', '.join(names)}"


def with_suggestion(error: str, hint: str) -> str:
    """A refusal after what may have been meant, where something comes near: that is usually all there is."""
    return f"{hint} If not: {error}" if hint.startswith("did you mean") else error


class Registry(Mapping[str, T], Generic[T]):
    """A mapping that refuses a duplicate and answers a misspelt name with "did you mean".

    What other packages add of the kind ``extensions`` (`glasshead.extensions.KINDS`) is imported when the
    registry is looked through, or asked for a name that it does not know. ``elsewhere`` says what other
    libraries call an entry.

    Raises:
        InputError: on looking up a name that is not registered.
        ValueError: on registering a name twice.
    """

    def __init__(
        self, kind: str, extensions: str | None = None, elsewhere: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._extensions, self._elsewhere = extensions, elsewhere or {}
        self._entries: dict[str, T] = {}

    def _all_entries(self) -> dict[str, T]:
        """All entries, with those of other packages."""
        if self._extensions is not None:
            attach_extensions(self._extensions)
        return self._entries

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator (or plain call) that files an object under ``name``."""

        def file(entry: T) -> T:
            if name in self._entries:
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            self._entries[name] = entry
            return entry

        return file

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name] if name in self._entries else self._all_entries()[name]
        except (KeyError, TypeError):  # a list has no hash
            raise InputError(
                f"unknown {self.kind} {name!r}: {did_you_mean(name, self._all_entries(), self._elsewhere)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._entries or name in self._all_entries())

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all_entries()))

    def __len__(self) -> int:
        return len(self._all_entries())


def import_siblings(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that one new file is one new registry entry."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def import_entries(package: str, path: Iterable[str], registry: str) -> None:
    """Import the modules of a package whose source adds to a ``registry``; the others are for whoever needs
    them, and may take seconds."""
    for folder in map(Path, path):
        for file in sorted(folder.glob("*.py")):
            if f"\n{registry}.register(" in file.read_text(encoding="utf-8"):
                importlib.import_module(f"{package}.{file.stem}")
