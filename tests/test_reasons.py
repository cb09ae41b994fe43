"""What other libraries raise is said in words of ours."""

import json

import pytest
from pydantic import BaseModel, Field, ValidationError

from glasshead.errors import InputError
from glasshead.reasons import because, wrong_value


class Inner(BaseModel, extra="forbid"):
    number: int
    share: float = Field(1.0, ge=0, le=1)
    names: list[str] = []


def errors(**values):
    with pytest.raises(ValidationError) as caught:
        Inner(**values)
    return caught.value


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"number": "abc"}, "must be a whole number, not 'abc'"),
        ({"number": 2.5}, "must be a whole number, not 2.5"),
        ({}, "is missing"),
        ({"number": 1, "share": "x"}, "must be a number, not 'x'"),
        ({"number": 1, "share": 3}, "must be at most 1.0"),
        ({"number": 1, "names": 3}, "must be a list"),
        ({"number": 1, "other": 3}, "is not known"),
    ],
)
def test_a_value_that_pydantic_refuses(values, says):
    error = errors(**values)
    assert wrong_value(error.errors()[0]) == says
    assert because(error).endswith(f"{says})")


def test_why_a_file_cannot_be_used():
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"a":\n}')
    assert because(caught.value) == " (no JSON at line 2, column 1)"
    assert because(KeyError("rows")) == " (without 'rows')"
    assert because(InputError("it names no padding token")) == " (it names no padding token)"
    assert because(FileNotFoundError(2, "No such file or directory", "a")) == " (No such file or directory)"
    assert because(RuntimeError("Parquet magic bytes not found in footer.")) == ""
