"""A Sphinx extension: before a build, write the pages that come from the code."""

import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import command_pages
import package_pages
import registry_tables

# Folder in the reference → its pages, and their suffix.
GENERATED = {
    "cli": (command_pages.pages, "md"),
    "api": (package_pages.pages, "rst"),
    "tables": (registry_tables.tables, "md"),
}


def generate(reference: Path) -> None:
    """Write all of them below a folder; what was generated before and is no more goes."""
    for folder, (pages, suffix) in GENERATED.items():
        shutil.rmtree(reference / folder, ignore_errors=True)
        (reference / folder).mkdir(parents=True)
        for name, text in pages().items():
            (reference / folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: generate(Path(app.srcdir) / "reference"))
    return {"parallel_read_safe": True}
