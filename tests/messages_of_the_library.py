"""What the messages of the library name."""

import ast
from functools import cache
from pathlib import Path

import glasshead

SOURCE = Path(glasshead.__file__).parent


@cache
def nodes_of(path):
    """All that a file of Python says, node by node; read once for all tests."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def literal_calls():
    """Function, place and literal arguments of each call in the library that has any."""
    return [
        (
            ast.unparse(node.func),
            f"{path.relative_to(SOURCE)}:{node.lineno}",
            [each.value for each in node.args if isinstance(each, ast.Constant)],
        )
        for path in sorted(SOURCE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    ]


def calls(*functions):
    """The literal arguments of each call of some functions in the library, with its place."""
    return [(place, values) for function, place, values in literal_calls() if function in functions]
