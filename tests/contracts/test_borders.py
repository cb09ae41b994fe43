"""The border of a room is its ``__init__``: other rooms import what it exports, and nothing deeper."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import glasshead

SOURCE = Path(glasshead.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def crossing(tree, room):
    """Module and name of every import of another room, also of those under TYPE_CHECKING and in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("glasshead."):
            if node.module.split(".")[1] in set(ROOMS) - {room}:
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "glasshead":
            yield from (
                ("glasshead", alias.name) for alias in node.names if alias.name in set(ROOMS) - {room}
            )
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.count(".") > 1)


def wrong(tree, room):
    """The imports that reach beyond a border."""
    return [
        f"{module}: {name}"
        for module, name in crossing(tree, room)
        if module.count(".") != 1 or name not in import_module(module).__all__
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_other_rooms_are_entered_by_their_front_door(room):
    found = {
        str(path.relative_to(SOURCE)): imports
        for path in (SOURCE / room).rglob("*.py")
        if (imports := wrong(ast.parse(path.read_text(encoding="utf-8")), room))
    }
    assert not found


def test_what_reaches_deeper_is_found():
    def reaches(line):
        return bool(wrong(ast.parse(line), "audits"))

    assert reaches("from glasshead.data.encode import encode")
    assert reaches("def f():\n    from glasshead.data import encodings")
    assert reaches("import glasshead.data.encode")
    assert not reaches("from glasshead.data import encode")
    assert not reaches("from glasshead.audits.audit_subject import jsonable")


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_what_packages_export(example):
    assert not wrong(ast.parse(example.read_text(encoding="utf-8")), room=None)


@pytest.mark.parametrize("room", ROOMS)
def test_every_export_exists_once(room):
    names = import_module(f"glasshead.{room}").__all__
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(import_module(f"glasshead.{room}"), name)] == []
