"""What `import glasshead` gives, and how fast."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import glasshead


def test_importing_glasshead_imports_nothing_heavy():
    program = (
        "import glasshead, sys; print([m for m in ('torch', 'transformers', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", glasshead.__all__)
def test_every_public_name_is_there(name):
    found = getattr(glasshead, name)
    assert callable(found)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(glasshead)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'plugg'"):
        glasshead.plugg  # noqa: B018


ROOT = Path(__file__).parents[1]
IMPORT = re.compile(r"\s*(from|import) ")
NAME = re.compile(r"\bglasshead\.[A-Za-z][\w.]*\b")


def names_in_messages():
    """Every dotted name of ours in a message, a docstring or a page, and where it stands."""
    generated = {ROOT / "docs" / "reference" / folder for folder in ("cli", "tables")}
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.parent not in generated]
    written = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for path in [*(ROOT / "src").rglob("*.py"), *written, *pages]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not IMPORT.match(line):
                yield from ((name, path.name) for name in NAME.findall(line))


def exists(name):
    """Whether there is such a module, or a module that has such a name; nothing is imported."""
    _, first, *others = name.split(".")
    if first in glasshead.__all__ and not others:
        return True
    place = ROOT / "src" / "glasshead"
    for part in (first, *others):
        if (place / part).is_dir():
            place = place / part
        elif (place / f"{part}.py").is_file():
            place = place / f"{part}.py"
        else:
            source = (place / "__init__.py" if place.is_dir() else place).read_text(encoding="utf-8")
            return part in re.findall(r"\w+", source) and place.name != "glasshead"
    return True


def test_every_name_of_ours_in_a_message_or_on_a_page_exists():
    named = sorted(set(names_in_messages()))
    assert {"glasshead.Mask", "glasshead.plug", "glasshead.trace.head_gauges"} <= {name for name, _ in named}
    assert not [(name, path) for name, path in named if not exists(name)]
    assert not exists("glasshead.Msk")
    assert not exists("glasshead.attention.Msk")
