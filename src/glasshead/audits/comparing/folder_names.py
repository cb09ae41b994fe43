"""What the folders that are compared are called."""

from collections.abc import Sequence
from pathlib import Path

from glasshead.errors import InputError, ParameterError
from glasshead.registry import did_you_mean


def short_names(folders: Sequence[Path]) -> list[str]:
    """The names of the folders, with as much of their paths as tells them apart."""
    if not folders:
        return []
    paths = [folder.absolute() for folder in folders]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("the same folder is given twice: a comparison needs two")
    depth = next(
        size
        for size in range(1, max(len(path.parts) for path in paths) + 1)
        if len({path.parts[-size:] for path in paths}) == len(paths)
    )
    return [str(Path(*path.parts[-depth:])) for path in paths]


def baseline_index(folders: Sequence[Path], names: Sequence[str], against: str | None) -> int:
    """The index of the folder with which the others are compared.

    Raises:
        InputError: on a name that none of them has.
    """
    if against is None:
        return 0
    for rank, (folder, name) in enumerate(zip(folders, names, strict=True)):
        if against.rstrip("/") in (str(folder), name) or Path(against).resolve() == folder.resolve():
            return rank
    raise ParameterError(
        "against", f"{against!r} is none of the folders compared: {did_you_mean(against, names)}"
    )
