"""Folders in which long work is kept part by part: they say what they hold parts of."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glasshead.errors import InputError

SETTINGS_FILE = "settings.json"


def claim_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder for parts with these settings, or take up what was begun in it.

    Raises:
        InputError: if its parts were made with other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, mine = folder / SETTINGS_FILE, json.loads(json.dumps(settings))
    if not path.exists():
        path.write_text(json.dumps(mine, indent=1), encoding="utf-8")
    elif json.loads(path.read_text(encoding="utf-8")) != mine:
        raise InputError(f"{folder} holds part of another audit: repeat that command, or remove the folder")
