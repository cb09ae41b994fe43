"""What the messages of the library name."""

import ast
from pathlib import Path

import glasshead

SOURCE = Path(glasshead.__file__).parent


def calls(*functions):
    """The literal arguments of each call of some functions in the library, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in functions:
                values = [each.value for each in node.args if isinstance(each, ast.Constant)]
                if node.args and isinstance(node.args[0], ast.Constant):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", values
