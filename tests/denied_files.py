"""Files that may not be read: a test that runs as root could read any."""

import os

import pytest

DENIED = ["model.safetensors", "dynamics"]
"""A file of a folder, and the folder itself."""


@pytest.fixture
def denied(monkeypatch):
    """Names of files that nobody may read."""
    names, allowed = set(), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path.name not in names and allowed(path, mode))
    return names


def damaged_folder(parent):
    """A folder of which nothing can be read, whoever asks."""
    folder = parent / "dynamics"
    folder.mkdir()
    for each in ("run.json", "config.json", "card.json", "model.safetensors"):
        (folder / each).write_text("damaged")
    return folder
