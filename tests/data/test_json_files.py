"""JSON in the three shapes that people have, and what is none of them."""

import gzip
import json

import pytest

from glasshead.data.read import read
from glasshead.errors import LONGEST, InputError

ROWS = [{"text": "naïve\u2028 NA", "label": 1}, {"label": 0, "more": "null"}]
COLUMNS = {"text": ["naïve\u2028 NA", None], "label": [1, 0], "more": [None, "null"]}


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ROWS, indent=2),
        json.dumps({"version": "1.1", "tags": ["x"], "data": ROWS}),
        "\n".join(map(json.dumps, ROWS)),
        "\n" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n",
    ],
)
def test_a_list_an_object_with_a_list_and_lines_are_one_table(tmp_path, name, content):
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert read(tmp_path / name).values == COLUMNS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("[]", "is empty"),
        ("3", "has no list of records"),
        ('{"text": {"0": "a"}, "label": {"0": 1}}', "has no list of records"),  # to_json() of pandas
        ('{"text": ["a"], "label": [1]}', "has no list of records"),
        ('{"data": []}', "has no list of records"),
        ('{"train": [{"text": "a"}], "test": [{"text": "b"}]}', r"several lists of records \(train, test\)"),
        ('[{"text": "a"}, 3]', "record 2 is not a JSON object"),
        ('[{"text": "a"}, {"text": "\\ud83d"}]', "record 2 holds half a surrogate pair"),
        ('[{"text": "a"}', "is not JSON"),
        ('{"text": "a"}\n{"text": ', "line 2 is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, content, said):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path / "a.json")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) <= LONGEST
