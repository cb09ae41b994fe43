"""Options of audit, rank and heads of another kind are refused in one line, and None is the default."""

from functools import partial

import pytest

import glasshead
from glasshead.errors import InputError
from small import as_run, planted_model, planted_texts

TEXTS, LABELS = planted_texts(12)
RUN = as_run(planted_model("softmax"), TEXTS, LABELS)
ROWS = [{"text": text, "label": RUN.labels[label]} for text, label in zip(TEXTS, LABELS, strict=True)]
DOORS = {
    "audit": partial(glasshead.audit, RUN, ROWS, audits=["performance"]),
    "heads": partial(glasshead.heads, RUN, ROWS, limit=3),
    "rank": partial(glasshead.rank, RUN, ROWS, methods=["attention", "random"], limit=4),
}
NONSENSE = {
    "progress": (3, "`progress` must be a function or True or False, not 3"),
    "effects": ("no", "`effects` must be True or False, not 'no'"),
    "trust_remote_code": ("no", "`trust_remote_code` must be True or False"),
    "ray": (7, "`ray` must be a word, not 7"),
}
OWN = {"effects": ("heads",), "ray": ("audit",)}
CASES = [(door, option) for option in NONSENSE for door in OWN.get(option, DOORS)]


@pytest.mark.wrong_types
@pytest.mark.parametrize(("door", "option"), CASES)
def test_a_value_of_another_kind_is_refused(door, option):
    value, says = NONSENSE[option]
    with pytest.raises(InputError, match=says):
        DOORS[door](**{option: value})


@pytest.mark.wrong_types
@pytest.mark.parametrize("door", DOORS)
def test_none_is_the_default(door):
    nothing = {option: None for other, option in CASES if other == door}
    assert DOORS[door](**nothing, labels=None, dtype=None, split=None) is not None
