"""The fingerprint sees every change of content, and nothing else."""

import json

from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from glasshead.data import describe


def make(texts=("a", "bc"), labels=(0, 1), names=("x", "y"), split="train"):
    features = Features({"text": Value("string"), "label": ClassLabel(names=list(names))})
    columns = {"text": list(texts), "label": list(labels)}
    return DatasetDict({split: Dataset.from_dict(columns, features=features)})


def fingerprint(**changes):
    return describe(make(**changes))["fingerprint"]


def test_it_is_json_and_counts():
    found = describe(make(texts=("a", " \n")))
    assert json.loads(json.dumps(found)) == found
    assert found["rows"] == {"train": 2}
    assert found["classes"] == {"train": {"x": 1, "y": 1}}
    assert found["empty_texts"] == {"train": 1}


def test_fingerprint_is_pinned():
    # A run's record names this value: changing the recipe would orphan every run.
    assert fingerprint() == "9f28e5fadd82a275a913cf6b985d9bb8ea28460174623a236426be5d4ca16ff3"


def test_fingerprint_sees_every_change():
    prints = [
        fingerprint(),
        fingerprint(texts=("ab", "c")),
        fingerprint(texts=("bc", "a")),
        fingerprint(labels=(1, 0)),
        fingerprint(names=("x", "z")),
        fingerprint(split="test"),
        fingerprint(texts=("a", "bc", ""), labels=(0, 1, 0)),
    ]
    assert len(set(prints)) == len(prints)


def test_fingerprint_is_of_the_content_and_not_of_its_storage():
    data = make(texts=("b", "a"), labels=(1, 0))
    reordered = DatasetDict({"train": data["train"].select([1, 0])})
    assert describe(reordered)["fingerprint"] == fingerprint(texts=("a", "b"), labels=(0, 1))
    data["train"] = data["train"].add_column("extra", [1, 2])
    assert describe(data)["fingerprint"] == fingerprint(texts=("b", "a"), labels=(1, 0))
