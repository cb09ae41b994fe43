"""A Sphinx extension: before a build, write the pages that come from the code."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import command_pages
import package_pages
import registry_tables
import verdict_tables

# Folder in the reference → its pages, and their suffix.
GENERATED = {
    "cli": (command_pages.pages, "md"),
    "api": (package_pages.pages, "rst"),
    "tables": (lambda: registry_tables.tables() | verdict_tables.tables(), "md"),
}


def generate(reference: Path) -> None:
    """Write below a folder what has changed, so that Sphinx reads nothing twice; what is no more goes."""
    for folder, (pages, suffix) in GENERATED.items():
        (reference / folder).mkdir(parents=True, exist_ok=True)
        texts_by_path = {reference / folder / f"{name}.{suffix}": text for name, text in pages().items()}
        for stale in set((reference / folder).iterdir()) - set(texts_by_path):
            stale.unlink()
        for path, text in texts_by_path.items():
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: generate(Path(app.srcdir) / "reference"))
    return {"parallel_read_safe": True}
