"""What people have marked: from every kind of file, checked against the text, and never guessed."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, Value

from glasshead.data import LoadOptions, as_split, load, marks_of
from glasshead.errors import InputError

TEXTS = ["a good film", "bad music", "the end", "dull"]
LABELS = ["yes", "no", "yes", "no"]
MARKS = [[[2, 6]], [[0, 3], [4, 9]], None, []]
SPANS = [[(2, 6)], [(0, 3), (4, 9)], None, []]


def write(path, marks=MARKS, name="marks", texts=TEXTS):
    """A file of these texts with a column of marks, as its kind has it."""
    rows = [
        {"text": text, "label": label, name: spans}
        for text, label, spans in zip(texts, LABELS, marks, strict=True)
    ]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        written = [
            row
            | {
                name: ""
                if row[name] is None
                else row[name]
                if isinstance(row[name], str)
                else json.dumps(row[name])
            }
            for row in rows
        ]
        pd.DataFrame(written).to_csv(path, index=False)
    return path


def whole(path, **options):
    """All rows of a file, in its order."""
    return load(path, LoadOptions(**options), divide=False)["train"]


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        whole(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_spans_are_read_from_every_kind_of_file(tmp_path, suffix):
    assert marks_of(whole(write(tmp_path / f"a{suffix}"))) == SPANS
    named = write(tmp_path / f"b{suffix}", name="rationale")
    assert marks_of(whole(named, marks_column="rationale")) == SPANS
    assert marks_of(whole(named)) is None


def test_rows_and_data_frames_have_marks():
    rows = [
        {"text": text, "label": label, "marks": spans}
        for text, label, spans in zip(TEXTS, LABELS, MARKS, strict=True)
    ]
    split = as_split(Dataset.from_list(rows), LoadOptions())
    assert marks_of(split) == SPANS
    assert marks_of(as_split(split, LoadOptions())) == SPANS
    frame = Dataset.from_pandas(pd.DataFrame(rows).rename(columns={"marks": "why"}), preserve_index=False)
    assert marks_of(as_split(frame, LoadOptions(marks_column="why"))) == SPANS
    assert marks_of(as_split(frame, LoadOptions())) is None


def test_a_split_in_the_schema_is_checked_too():
    """As JSON, as lists, and never beyond a text, whose end is another's beginning."""
    features = Features({"text": Value("string"), "label": ClassLabel(names=["no", "yes"])})
    split = Dataset.from_dict({"text": TEXTS, "label": [1, 0, 1, 0]}, features=features)
    written = [None if spans is None else json.dumps(spans) for spans in MARKS]
    assert marks_of(as_split(split.add_column("marks", written), LoadOptions())) == SPANS
    whole = split.add_column("marks", MARKS)
    assert as_split(whole, LoadOptions()) is whole
    assert marks_of(as_split(split.add_column("marks", [1, 2, 3, 4]), LoadOptions())) is None
    with pytest.raises(InputError, match=r"the data set row 4: \[0, 5\] is not part of its text"):
        as_split(split.add_column("marks", [[], [], [], [[0, 5]]]), LoadOptions())


def test_of_a_pair_they_count_on_into_the_second_text(tmp_path):
    rows = [
        {"text": "a film", "text_pair": "it was good", "label": label, "marks": [[14, 18]]}
        for label in ("yes", "no")
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert marks_of(whole(tmp_path / "a.jsonl")) == [[(14, 18)]] * 2
    rows[1]["marks"] = [[14, 19]]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert "row 2: [14, 19] is not part" in refusal(tmp_path / "b.jsonl", marks_column="marks")


def test_rows_keep_their_marks_when_they_are_divided(tmp_path):
    """By their text, every row is known again."""
    rows = [{"text": f"{'x' * n} y", "label": "ab"[n % 2], "marks": [[0, n]]} for n in range(1, 61)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    splits = load(tmp_path / "a.jsonl", LoadOptions(max_examples=30))
    assert set(splits) == {"train", "dev", "test"}
    for split in splits.values():
        assert marks_of(split) == [[(0, len(text) - 2)] for text in split["text"]]


def test_one_split_may_have_marks_and_the_other_none(tmp_path):
    write(tmp_path / "test.jsonl")
    pd.DataFrame({"text": TEXTS, "label": LABELS}).to_csv(tmp_path / "train.csv", index=False)
    splits = load(tmp_path, divide=False)
    assert marks_of(splits["test"]) == SPANS
    assert marks_of(splits["train"]) == [None] * 4


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([[0, 12]], "[0, 12] is not part of its text, which has 11 characters"),
        ([[-1, 2]], "[-1, 2] is not part"),
        ([[3, 3]], "[3, 3] is not part"),
        ([[5, 2]], "[5, 2] is not part"),
        ([[0, 1, 2]], "[[0, 1, 2]] is not a list of spans"),
        ([0, 4], "[0, 4] is not a list of spans"),
        ([[0.0, 4.5]], "is not a list of spans"),
        ([[True, 4]], "is not a list of spans"),
        ({"start": 0}, "is not a list of spans"),
        ("good", "'good' is not a list of spans"),
        ("[[0, 4", "is not a list of spans"),
        ("[" * 5000, "is not a list of spans"),
        (7, "7 is not a list of spans"),
    ],
)
def test_what_is_no_span_is_refused_by_its_row(tmp_path, spans, why):
    path = write(tmp_path / "a.jsonl", marks=[spans, None, None, None])
    message = refusal(path, marks_column="marks")
    assert message.startswith(f"{path} row 1: ")
    assert why in message
    # A column that nobody named may be anything: marks of a school, for one.
    assert marks_of(whole(path)) is None


def test_a_column_that_is_not_there(tmp_path):
    path = write(tmp_path / "a.csv")
    assert "has no column 'why' (it has: text, label, marks)" in refusal(path, marks_column="why")


class TestTrees:
    """The Stanford Sentiment Treebank as its authors publish it."""

    LINES = (
        "(3 (2 It) (4 (2 's) (4 (2 a) (4 (3 lovely) (1 mess)))))",
        "(1 (0 awful) (2 film))",
        "(2 (4 best) (0 worst))",
        "(4 superb)",
    )

    def trees(self, folder, *lines):
        for split in ("train", "test"):
            (folder / f"{split}.txt").write_text("\n".join(lines or self.LINES) + "\n", encoding="utf-8")
        return folder

    def test_words_on_the_side_of_the_sentence_are_marks(self, tmp_path):
        split = load(self.trees(tmp_path), divide=False)["test"]
        assert split["text"][:] == ["It 's a lovely mess", "awful film", "superb"]
        assert split.features["label"].names == ["negative", "positive"]
        assert split["label"][:] == [1, 0, 1]
        assert marks_of(split) == [[(8, 14)], [(0, 5)], [(0, 6)]]

    def test_five_sentiments(self, tmp_path):
        """A neutral sentence is a row then, and nobody has marked it."""
        options = LoadOptions(label_column="sentiment")
        split = load(self.trees(tmp_path), options, divide=False)["test"]
        names = split.features["label"].names
        assert [names[label] for label in split["label"]] == [
            "positive", "negative", "neutral", "very positive",
        ]  # fmt: skip
        assert marks_of(split) == [[(8, 14)], [(0, 5)], None, [(0, 6)]]

    @pytest.mark.parametrize(
        "line",
        ["a good film", "(5 (2 a) (2 film))", "(3 (2 a) (2 film)", "(3 (2 a) (2 good) (2 film))", "()"],
    )
    def test_what_is_no_tree_is_refused_by_its_line(self, tmp_path, line):
        folder = self.trees(tmp_path, *self.LINES, "", line)
        with pytest.raises(InputError, match=r"line 6 is not a labelled tree"):
            load(folder)

    def test_plain_texts_are_no_data_set(self, tmp_path):
        texts = tmp_path / "texts.txt"
        texts.write_text("a good film\n", encoding="utf-8")
        with pytest.raises(InputError, match="holds plain texts, but more is needed here: give a table"):
            load(texts)

    def test_tables_go_before_trees(self, tmp_path):
        """A folder may hold notes beside its data."""
        folder = self.trees(tmp_path, "some notes")
        write(folder / "train.csv")
        assert load(folder, divide=False)["train"]["text"][:] == TEXTS

    def test_they_are_the_sentences_of_sst_2(self, real_data):
        trees, sentences = (load(real_data / name) for name in ("sst_trees", "sst2"))
        for split in ("train", "dev", "test"):
            assert trees[split]["text"][:] == sentences[split]["text"][:]
            assert trees[split]["label"][:] == sentences[split]["label"][:]
        marks = marks_of(trees["test"])
        assert sum(not spans for spans in marks) == 282  # no word is on the side of the sentence
        first = trees["dev"][0]
        assert [first["text"][start:end] for start, end in first["marks"]] == ["lovely", "lovely"]
