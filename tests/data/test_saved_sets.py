"""What `save_to_disk` wrote is read as it would be from memory."""

import io

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Image, Value
from PIL import Image as Pillow

from glasshead.data import LoadOptions, is_undivided, load, read_plain
from glasshead.data.resolve import resolve_source
from glasshead.errors import InputError
from glasshead.language import read_corpus

FEATURES = Features({"text": Value("string"), "label": ClassLabel(names=["good", "bad"])})


def rows(size, start=0):
    texts = [f"text {number}" for number in range(start, start + size)]
    return Dataset.from_dict({"text": texts, "label": [0, 1] * (size // 2)}, features=FEATURES)


def test_rows_are_one_whole_with_the_names_of_their_classes(tmp_path):
    rows(40).save_to_disk(tmp_path)
    assert is_undivided(tmp_path)
    whole = load(tmp_path, divide=False)["train"]
    assert whole["text"][:] == [f"text {number}" for number in range(40)]
    assert whole.features["label"].names == ["good", "bad"]
    assert {name: len(part) for name, part in load(tmp_path).items()} == {"train": 28, "dev": 6, "test": 6}
    assert read_plain(tmp_path, LoadOptions()).firsts == whole["text"][:]


def test_splits_stay_as_they_are(tmp_path):
    DatasetDict(train=rows(8), validation=rows(4, 8), test=rows(2, 12)).save_to_disk(tmp_path)
    assert not is_undivided(tmp_path)
    data = load(str(tmp_path))
    assert {name: part["text"][0] for name, part in data.items()} == {
        "train": "text 0", "dev": "text 8", "test": "text 12",
    }  # fmt: skip


def test_images(tmp_path):
    file = io.BytesIO()
    Pillow.new("RGB", (5, 4), (200, 80, 40)).save(file, "PNG")
    images = {"image": [{"bytes": file.getvalue(), "path": None}] * 4, "label": ["a", "b"] * 2}
    Dataset.from_dict(images, Features({"image": Image(), "label": Value("string")})).save_to_disk(tmp_path)
    assert load(tmp_path, divide=False)["train"][3]["image"]["bytes"] == file.getvalue()


def test_a_language_model_needs_no_labels(tmp_path):
    texts = rows(20).remove_columns("label")
    texts.save_to_disk(tmp_path / "rows")
    corpus = read_corpus(tmp_path / "rows")
    assert sorted(corpus.train + corpus.dev) == sorted(texts["text"])
    DatasetDict(train=texts, validation=texts.select([3])).save_to_disk(tmp_path / "splits")
    corpus = read_corpus(tmp_path / "splits")
    assert (corpus.train, corpus.dev) == (tuple(texts["text"]), ("text 3",))


def test_splits_without_train(tmp_path):
    DatasetDict(test=rows(4)).save_to_disk(tmp_path)
    with pytest.raises(InputError, match=r"has no train split \(it has: test\)"):
        load(tmp_path)


def test_a_damaged_set(tmp_path):
    rows(4).save_to_disk(tmp_path)
    next(tmp_path.glob("*.arrow")).write_bytes(b"no rows")
    with pytest.raises(InputError, match="is a damaged data set: save it again with save_to_disk"):
        load(tmp_path)


def test_records_stay_records(tmp_path):
    answers = {"text": ["a"], "answer_start": [3]}
    Dataset.from_dict({"context": ["is a"], "answers": [answers]}).save_to_disk(tmp_path)
    assert resolve_source(tmp_path)[0]["train"].values == {"context": ["is a"], "answers": [answers]}
