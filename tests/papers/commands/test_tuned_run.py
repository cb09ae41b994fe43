"""Somebody's BERT, trained on new data with its own attention: what is suggested next works as printed."""

import shlex

from classifier_data import table
from classifier_families import FAMILIES
from typed import glasshead


def test_a_tuned_model_is_audited_and_explained_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    family = FAMILIES["Bert"]
    family.build().save_pretrained("my-bert")
    family.tokenizer().save_pretrained("my-bert")
    table(tmp_path / "reviews.csv", 60)
    trained = glasshead("train", "reviews.csv", "--model", "my-bert", "--out", "RUN", "--epochs", "1")
    (suggestion,) = [line for line in trained.stdout.splitlines() if line.startswith("Next: ")]
    program, *arguments = shlex.split(suggestion.removeprefix("Next: "))
    assert (program, arguments[:2]) == ("glasshead", ["audit", "RUN"])
    glasshead(*arguments, "--draws", "2")
    assert (tmp_path / arguments[-1] / "report.html").is_file()
    explained = glasshead("explain", "RUN", "a warm funny film").stdout
    assert "funny" in explained
    glasshead("plot", "heads", "RUN", "a warm funny film", "--out", "heads.svg")
