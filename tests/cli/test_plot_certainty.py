"""``glasshead plot ranks`` and ``plot logits``: curves over the length of a text, or one clear line."""

import csv

import numpy as np
import pytest
from typed import glasshead, refusal

from fake_models import write_model
from glasshead.errors import InputError
from glasshead.identifiability import RowSelector, logit_ranks_by_length, ranks_by_length
from glasshead.identifiability.length_sampling import LengthSample, clip_texts, texts_of
from glasshead.identifiability.logit_rank_by_length import usual_logit_lengths
from glasshead.identifiability.rank_by_length import usual_lengths
from glasshead.training import open_model
from kinds import saved

WORDS = ("warm", "film", "the", "plot", "is", "thin", "but", "end", "was", "good", "and", "music", "too")
HEAD = RowSelector((0,), (0,))
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
    assert sorted(texts_of(str(folder / "data"), "all")) == sorted(2 * TEXTS)
    data = tmp_path / "ranks.csv"
    glasshead(
        *("plot", "ranks", folder / "pooled", folder / "data", "--split", "all"),
        *("--lengths", "12", "--texts", 99, "--out", tmp_path / "ranks.svg", "--data", data),
    )
    assert len(table(data)["tokens"]) == 2 * sum(len(text.split()) >= 12 for text in TEXTS)


def test_texts_of_one_length_exactly(folder):
    _, tokenizer = open_model(folder / "softmax")
    before = tokenizer.model_max_length
    found = {
        length: (numbers, encoded)
        for length, numbers, encoded in clip_texts(tokenizer, TEXTS, LengthSample((5, 20), 8))
    }
    assert tokenizer.model_max_length == before
    for length, (numbers, encoded) in found.items():
        assert encoded.ids.shape == (len(numbers), length)
        assert encoded.mask.all()
        for number, ids in zip(numbers, encoded.ids, strict=True):
            whole = tokenizer(TEXTS[number])["input_ids"]
            assert len(whole) >= length
            assert ids.tolist()[: length - 1] == whole[: length - 1]
    assert len(found[5][0]) == len(set(found[5][0].tolist())) == 8
    assert sorted(found[20][0]) == [
        number for number, text in enumerate(TEXTS) if len(text.split()) + 1 >= 20
    ]


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


def test_the_head_and_the_layer_that_were_asked_for(folder):
    model, tokenizer = open_model(folder / "bert")
    points = ranks_by_length(model, tokenizer, TEXTS, LengthSample((9,), 3), RowSelector((1,), (1,)))
    assert points.description == "layer 1, head 1: T = V D, d_v = 8, d_e = 16"
    others = ranks_by_length(model, tokenizer, TEXTS, LengthSample((9,), 3), RowSelector((0,), (1,)))
    assert (points.column("margin") != others.column("margin")).all()


def test_usual_lengths_reach_beyond_the_values(folder):
    model, tokenizer = open_model(folder / "softmax")
    found = usual_lengths(model, tokenizer, TEXTS, LengthSample(()), RowSelector((0,), (0,)))
    assert SIZE in found
    assert max(found) == 3 * SIZE
    assert list(found) == sorted(set(found))
    short = usual_lengths(model, tokenizer, TEXTS[:3], LengthSample(()), RowSelector((0,), (0,)))
    assert max(short) == len(TEXTS[2].split()) + 1


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


def test_the_usual_lengths_of_logits(folder):
    model, tokenizer = open_model(folder / "softmax")
    assert usual_logit_lengths(model, tokenizer, TEXTS, LengthSample(()), HEAD) == (6, 7, 8)
    tokenizer.model_max_length = 5
    with pytest.raises(InputError, match="give other weights to no text of 5 tokens"):
        usual_logit_lengths(model, tokenizer, TEXTS, LengthSample(()), HEAD)


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


def test_a_learned_query_has_one_row(folder):
    model, tokenizer = open_model(folder / "softmax")
    with pytest.raises(InputError, match="one learned query gives one row of weights"):
        logit_ranks_by_length(model, tokenizer, TEXTS, LengthSample((6,)), RowSelector((1,), (0,)), draws=1)


def test_no_draws(folder):
    model, tokenizer = open_model(folder / "softmax")
    with pytest.raises(InputError, match="`draws` is at least 1, not 0"):
        logit_ranks_by_length(model, tokenizer, TEXTS, LengthSample((6,)), HEAD, draws=0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lengths", "1"), "leaves no word beside special tokens: begin at 2"),
        (("--lengths", "129"), "the model reads at most 128 tokens, not 129"),
        (("--lengths", "100"), "no text has 100 tokens, the longest has 2"),
        (("--lengths", "many"), "--lengths takes 1 to 40 numbers"),
        (("--layer", "7"), "there is no attention layer 7"),
        (("--head", "6"), "has no head 6"),
        (("--split", "tset"), "did you mean 'test'?"),
        (("--out", "a.jpg"), "is to end in"),
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
