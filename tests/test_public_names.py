"""What `import glasshead` gives, and how fast."""

import subprocess
import sys

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
