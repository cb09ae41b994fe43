"""The border of a room is its ``__init__``: other rooms import what it exports, and nothing deeper."""

import ast
import tomllib
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import glasshead
from messages_of_the_library import nodes_of

SOURCE = Path(glasshead.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
WING = "glasshead.papers."
"""Its rooms are entered one by one, as those of the tool are."""


def crossing(nodes, room):
    """Module and name of every import of another room, also of those under TYPE_CHECKING and in functions."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("glasshead."):
            if node.module.split(".")[1] in set(ROOMS) - {room}:
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "glasshead":
            yield from (
                ("glasshead", alias.name) for alias in node.names if alias.name in set(ROOMS) - {room}
            )
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.count(".") > 1)


def wrong(nodes, room):
    """The imports that reach beyond a border."""
    return [
        f"{module}: {name}"
        for module, name in crossing(nodes, room)
        if module.count(".") != (2 if module.startswith(WING) else 1) or name not in exports(module)
    ]


def exports(module):
    """What a room exports; a room of the wing may be a single file."""
    entered = import_module(module)
    return getattr(entered, "__all__", vars(entered))


@pytest.mark.parametrize("room", ROOMS)
def test_other_rooms_are_entered_by_their_front_door(room):
    found = {
        str(path.relative_to(SOURCE)): imports
        for path in (SOURCE / room).rglob("*.py")
        if (imports := wrong(nodes_of(path), room))
    }
    assert not found


def test_what_reaches_deeper_is_found():
    def reaches(line):
        return bool(wrong(ast.walk(ast.parse(line)), "audits"))

    assert reaches("from glasshead.data.encode import encode")
    assert reaches("def f():\n    from glasshead.data import encodings")
    assert reaches("import glasshead.data.encode")
    assert not reaches("from glasshead.data import encode")
    assert not reaches("from glasshead.audits.audit_subject import jsonable")


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_what_packages_export(example):
    assert not wrong(nodes_of(example), room=None)


@pytest.mark.parametrize(
    "room",
    [room for room in ROOMS if room != "papers"]
    + [f"papers.{path.parent.name}" for path in (SOURCE / "papers").glob("*/__init__.py")],
)
def test_every_export_exists_once(room):
    names = getattr(import_module(f"glasshead.{room}"), "__all__", [])
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(import_module(f"glasshead.{room}"), name)] == []


def module_files():
    """Module name → file, of the whole package."""
    files = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports_of(tree, modules):
    """The modules that one imports: also under TYPE_CHECKING, in functions and by ``import_module("…")``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in full)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


def find_cycle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_no_module_imports_itself_by_way_of_others():
    files = module_files()
    graph = {
        name: {
            target
            for target in imports_of(ast.parse(path.read_text(encoding="utf-8")), files)
            if target in files and target != name
        }
        for name, path in files.items()
    }
    assert find_cycle(graph) is None


@pytest.mark.parametrize(
    "line",
    [
        "from b import x",
        "import b",
        "if TYPE_CHECKING:\n    from b import x",
        "importlib.import_module('b')",
        "def f():\n    import b",
    ],
)
def test_a_cycle_is_found(line):
    graph = {"a": set(imports_of(ast.parse(line), {"a", "b"})), "b": {"a"}}
    assert find_cycle(graph)


def test_every_module_at_the_top_is_in_a_layer():
    settings = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    named = {name.strip() for layer in layers for name in layer.split("|")}
    modules = {name for name in module_files() if name.count(".") == 1}
    assert named == modules | {"glasshead.papers"}  # the wing may be gone


def test_every_audit_judges_without_torch():
    """The contract of import-linter names the audits one by one, and the room of what they share."""
    settings = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (judging,) = (one for one in contracts if one["name"].startswith("Judging"))
    audits = {type(audit).__module__ for audit in import_module("glasshead.audits").AUDITS.values()}
    verdicts = {
        name for name in module_files() if name.startswith("glasshead.audits.") and "verdicts" in name
    }
    shared = {name for name in verdicts if name.startswith("glasshead.audits.judging.")}
    named = set(judging["source_modules"])
    assert "glasshead.audits.judging" in named
    assert audits | (verdicts - shared) <= named
