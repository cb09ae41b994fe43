"""What an editor says of calls as our examples make them: that their arguments have the right types."""

import re
from pathlib import Path

import glasshead

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
CALLS = "|".join(name for name in glasshead.__all__ if name.islower())
WRONG_CALL = re.compile(rf'^.* error: .* (?:to|for) "(?:{CALLS})".*\[(?:arg-type|call-arg)\]$', re.MULTILINE)


def complaints(*files: Path) -> list[str]:
    """What mypy says of calls of Glasshead; what it says of other libraries is theirs."""
    from mypy import api

    said, errors, _ = api.run(["--no-error-summary", *map(str, files)])
    assert not errors
    return WRONG_CALL.findall(said)


def test_the_examples_call_with_the_right_types(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        'import glasshead\n\nglasshead.audit("m", "d", audits=3)\nglasshead.explain("m", "t", typo=1)\n'
    )
    examples = {*EXAMPLES.glob("*.py")} - {EXAMPLES / "specs.py"}  # its list is of words and mappings
    found = complaints(wrong, *examples)
    assert [line.split(": error: ")[0].rpartition("/")[2] for line in found] == ["wrong.py:3", "wrong.py:4"]
