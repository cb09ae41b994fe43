"""Folders in which long work is kept part by part: they say what they hold parts of."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from glasshead.errors import InputError
from glasshead.files.atomic import write_text

SETTINGS_FILE = "settings.json"
NAMES_SHOWN = 4
"""So many settings that differ are named."""


def claim_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder for parts with these settings, or continue an existing one.

    Raises:
        InputError: if its parts were made with other settings, or if the settings are unknown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, mine = folder / SETTINGS_FILE, json.loads(json.dumps(settings))
    if not path.exists():
        write_text(path, json.dumps(mine, indent=1))
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: delete the folder {folder} and start again") from error
    if before != mine:
        names = list(dict.fromkeys(differing(before, mine)))[:NAMES_SHOWN]
        which = f" (different: {', '.join(names)})" if names else ""
        raise InputError(
            f"{folder} holds the measurements of another request{which}: "
            "repeat that one, or delete the "
            "folder"
        )


def differing(before: Any, now: Any) -> Iterator[str]:
    """The innermost names under which two settings differ."""
    before, now = ({} if names is None else names for names in (before, now))
    if not isinstance(before, dict) or not isinstance(now, dict):
        return
    for name in dict.fromkeys([*before, *now]):
        one, other = before.get(name), now.get(name)
        if one != other:
            inner = [*differing(one, other)]
            yield from inner or [name.replace("_", " ")]
