"""Labels of texts are read from lists, numbers, or a column for each; every text is asked about one."""

import json

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value

from glasshead.data import LoadOptions, read_questions
from glasshead.data.label_columns import draw_label
from glasshead.errors import InputError

NAMES = ["toxic", "insult", "threat"]
TEXTS = ["one", "two", "three", "four"]
HAS = [["toxic"], [], ["insult", "threat"], ["toxic", "insult", "threat"]]
HOT = [[int(name in own) for name in NAMES] for own in HAS]


def forms():
    """The same labels, in every form that people have."""
    lists = {
        "names": HAS,
        "case": [[name.upper() for name in own] for own in HAS],
        "numbers": [[NAMES.index(name) for name in own] for own in HAS],
        "hot": HOT,
        "floats": np.array(HOT, dtype=float).tolist(),
    }
    for name, values in lists.items():
        yield name, {"text": TEXTS, "labels": values}
    yield "column", {"text": TEXTS, "label": HAS}
    yield "columns", {"text": TEXTS} | {name: [row[k] for row in HOT] for k, name in enumerate(NAMES)}
    yield (
        "truths",
        {"text": TEXTS} | {name.upper(): [bool(row[k]) for row in HOT] for k, name in enumerate(NAMES)},
    )


def read(source, split="all", **options):
    return read_questions(source, split, NAMES, LoadOptions(**options))


EXPECTED = read(Dataset.from_dict({"text": TEXTS, "labels": HAS}))


@pytest.mark.parametrize(("name", "columns"), [*forms()])
def test_labels_are_read_in_every_form(name, columns, tmp_path):
    assert read(Dataset.from_dict(columns))[:] == EXPECTED[:]
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read(path)[:] == EXPECTED[:]


def test_cells_of_a_table_hold_labels_between_commas(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('text,labels\none,toxic\ntwo,\nthree,insult; threat\nfour,"toxic, insult, threat"\n')
    assert read(path)[:] == EXPECTED[:]


def test_names_behind_numbers_go_before_the_order_of_the_model():
    order = ["threat", "toxic", "insult"]
    features = Features({"text": Value("string"), "labels": List(ClassLabel(names=order))})
    coded = [[order.index(name) for name in own] for own in HAS]
    assert read(Dataset.from_dict({"text": TEXTS, "labels": coded}, features=features))[:] == EXPECTED[:]


def test_a_row_without_labels_leaves_the_others_as_they_are(tmp_path):
    """Flags stay flags beside an empty row, and numbers numbers."""
    for flags in ([[1, 0, 0], [], [0, 1, 1], [1, 1, 1]], [[1, 0, 0], None, [0, 1, 1], [1, 1, 1]]):
        assert read(Dataset.from_dict({"text": TEXTS, "labels": flags}))[:] == EXPECTED[:]
    path = tmp_path / "texts.csv"
    flags = ("1,0,0", "0,0,0", "0,1,1", "1,1,1")
    for cells in (flags, ("toxic", "", "[insult, threat]", "[0 , 1, 2]")):
        lines = [f'{text},"{cell}"' for text, cell in zip(TEXTS, cells, strict=True)]
        path.write_text("\n".join(["text,labels", *lines]))
        assert read(path)[:] == EXPECTED[:]


def test_one_label_is_a_flag():
    for values in ([[1], [0], [1]], [["x"], [], ["x"]], ["yes", "no", "yes"], ["1", "0", "1"], [1, 0, 1]):
        rows = Dataset.from_dict({"text": TEXTS[:3], "labels": values})
        assert read_questions(rows, "all", ["x"], LoadOptions())["label"][:] == [1, 0, 1]


def test_whole_cells_may_be_names_with_commas():
    rows = Dataset.from_dict({"text": TEXTS[:2], "labels": ["war, peace", "food"]})
    names = ["war, peace", "food"]
    read_questions(rows, "all", names, LoadOptions())
    own = rows.add_column("question", ["a", "b"])
    with pytest.raises(InputError, match="already has a column 'question'"):
        read_questions(own, "all", names, LoadOptions(), ["question"])


def test_answers_are_true():
    for row, own in zip(EXPECTED, HAS, strict=True):
        assert (row["question"] in own) == (row["label"] == 1)


def test_questions_have_even_chances_and_follow_the_place():
    has = np.array([True, False, False, False, False])
    drawn = [draw_label(has, 0, row) for row in range(2000)]
    assert 0.46 < np.mean(np.array(drawn) == 0) < 0.54
    assert {draw_label(np.zeros(3, dtype=bool), 0, row) for row in range(50)} == {0, 1, 2}
    assert drawn == [draw_label(has, 0, row) for row in range(2000)]
    assert drawn != [draw_label(has, 1, row) for row in range(2000)]


def test_only_some_labels_are_asked_about():
    rows = read_questions(
        Dataset.from_dict({"text": TEXTS, "labels": HAS}), "all", NAMES, LoadOptions(), asked=["insult"]
    )
    assert rows["question"][:] == ["insult"] * 4
    assert rows["label"][:] == [0, 0, 1, 1]


def test_splits_are_chosen(tmp_path):
    sizes = {"train": 4, "test": 2}
    both = DatasetDict(
        {name: Dataset.from_dict({"text": TEXTS[:n], "labels": HAS[:n]}) for name, n in sizes.items()}
    )
    assert len(read(both, "test")) == 2
    for name, rows in both.items():
        rows.to_parquet(tmp_path / f"{name}.parquet")
    assert len(read(tmp_path, "test")) == 2
    assert len(read(tmp_path, "all")) == 6
    for source in (both, tmp_path):
        assert len(read(source, "all")) == 6
        with pytest.raises(InputError, match="has no split 'dev'"):
            read(source, "dev")


@pytest.mark.parametrize(
    ("says", "columns"),
    [
        (
            "row 2 has 'toxin' in the column 'labels', which is not a label",
            {"labels": [["toxic"], ["toxin"]]},
        ),
        ("row 1 has 7 in the column", {"labels": [[7], [1]]}),
        ("row 1 has 0 in the column 'labels', twice", {"labels": [[0, 0], [1]]}),
        ("has no label in the column 'labels'", {"labels": [[], []]}),
        ("no column of labels .it has: text, other.", {"other": [1, 2]}),
        ("none for 'threat'", {"toxic": [0, 1], "insult": [0, 1]}),
        ("row 2 has 2 for the label 'toxic': write 0 or 1", {name: [0, 2] for name in NAMES}),
    ],
)
def test_what_is_no_label_is_named(says, columns):
    with pytest.raises(InputError, match=says):
        read(Dataset.from_dict({"text": TEXTS[:2]} | columns))
