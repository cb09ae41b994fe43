"""``glasshead plot ranks`` and ``plot logits``: curves over the length of a text, or one clear line."""

import csv

import numpy as np
import pytest

from fake_models import write_model
from glasshead.papers.lengths import read_job_texts
from kinds import saved
from typed import glasshead, refusal

WORDS = ("warm", "film", "the", "plot", "is", "thin", "but", "end", "was", "good", "and", "music", "too")
SIZE = 4  # d_v and d_k of the models


def review(number, words):
    rng = np.random.default_rng(number)
    return " ".join(rng.choice(WORDS, words))


TEXTS = [review(number, 3 + number) for number in range(24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs, a saved model, and reviews of 3 to 26 words; not to be written to."""
    folder = tmp_path_factory.mktemp("certainty")
    write_model(folder / "softmax", attention="softmax", positions="none")
    write_model(folder / "signed", attention="tanhmax")
    write_model(folder / "distances", attention="distance-aware")
    write_model(folder / "sentences", "hierarchical")
    write_model(folder / "pooled", "pooled")
    saved(folder / "bert")
    rows = [f'"{text}",{("bad", "good")[number % 2]}' for number, text in enumerate(TEXTS)]
    (folder / "data").mkdir()
    for split in ("train", "test"):
        (folder / "data" / f"{split}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return folder


def table(path):
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_all_rows_of_the_data_are_drawn_from(folder, tmp_path):
    assert sorted(read_job_texts(str(folder / "data"), "all")) == sorted(2 * TEXTS)
    data = tmp_path / "ranks.csv"
    glasshead(
        *("plot", "ranks", folder / "pooled", folder / "data", "--split", "all"),
        *("--lengths", "12", "--texts", 99, "--out", tmp_path / "ranks.svg", "--data", data),
    )
    assert len(table(data)["tokens"]) == 2 * sum(len(text.split()) >= 12 for text in TEXTS)


@pytest.mark.parametrize("name", ["softmax", "bert", "pooled"])
def test_ranks_follow_the_length(folder, name, tmp_path):
    out, data = tmp_path / "ranks.svg", tmp_path / "ranks.csv"
    arguments = ("plot", "ranks", folder / name, folder / "data", "--lengths", "3,6,12", "--texts", 4)
    glasshead(*arguments, "--out", out, "--data", data)
    assert out.read_bytes().startswith(b"<?xml")
    found = table(data)
    assert sorted(found["tokens"]) == [3] * 4 + [6] * 4 + [12] * 4
    assert (found["rank"] <= found["tokens"]).all()
    np.testing.assert_array_equal(found["rank"] + found["null"], found["tokens"])
    assert (
        (found["rank_with_ones"] - found["rank"] == 0) | (found["rank_with_ones"] - found["rank"] == 1)
    ).all()
    if name == "softmax":  # d_v = 4 bounds the rank
        assert found["rank"].max() == SIZE
        assert found["null"][found["tokens"] == 12].min() == 12 - SIZE
    again = tmp_path / "again.csv"
    glasshead(*arguments, "--out", tmp_path / "again.svg", "--data", again)
    assert again.read_bytes() == data.read_bytes()
    assert (tmp_path / "again.svg").read_bytes() == out.read_bytes()


def test_logits_of_other_weights(folder, tmp_path):
    """Logits of the head's own weights have rank d_k at most, those of others with the same output more."""
    out, data = tmp_path / "logits.png", tmp_path / "logits.csv"
    given = ("--lengths", "6,12", "--texts", 2, "--draws", 5, "--processes", 1)
    glasshead("plot", "logits", folder / "softmax", folder / "data", *given, "--out", out, "--data", data)
    assert out.read_bytes().startswith(b"\x89PNG")
    found = table(data)
    assert found["tokens"].tolist() == [6, 6, 12, 12]
    assert (found["own"] <= SIZE).all()
    assert (found["least"] <= found["mean"]).all()
    assert (found["most"] < found["tokens"]).all()
    assert (found["mean"][2:] > SIZE).all()
    assert found["obtainable"][2:].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("signed", "the logarithm of tanhmax weights is not the score"),
        ("distances", "depend on the places of the tokens"),
        ("pooled", "one learned query gives one row of weights"),
        ("sentences", "reads a text in parts"),
    ],
)
def test_where_the_rank_of_logits_says_nothing(folder, name, said, tmp_path):
    arguments = ("plot", "logits", folder / name, folder / "data", "--out", tmp_path / "a.png")
    assert said in refusal(tmp_path, *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lengths", "1"), "leaves no room for words between special tokens: start at 2"),
        (("--lengths", "129"), "the model reads at most 128 tokens, not 129"),
        (("--lengths", "100"), "no text has 100 tokens; the longest has 2"),
        (("--lengths", "many"), "--lengths takes 1 to 40 numbers"),
        (("--layer", "7"), "there is no attention layer 7"),
        (("--head", "6"), "has no head 6"),
        (("--split", "tset"), "did you mean 'test'?"),
        (("--out", "a.jpg"), "must end in"),
        (("--data", "/dev/null/a.csv"), "not a folder"),
    ],
)
def test_bad_input(folder, arguments, said, tmp_path):
    given = ("plot", "ranks", folder / "softmax", folder / "data", "--texts", 2)
    out = () if "--out" in arguments else ("--out", tmp_path / "a.png")
    assert said in refusal(tmp_path, *given, *out, *arguments)


def test_a_folder_without_a_model(folder, tmp_path):
    said = refusal(tmp_path, "plot", "ranks", folder / "data", folder / "data", "--out", tmp_path / "a.png")
    assert "holds neither a run" in said
