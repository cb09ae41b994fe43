"""Ranks over the length of texts: which texts, which lengths, which head."""

import numpy as np
import pytest

from fake_models import write_model
from glasshead.errors import InputError
from glasshead.identifiability import RowSelector
from glasshead.opening import open_model
from glasshead.papers.lengths import logit_ranks_by_length, ranks_by_length
from glasshead.papers.lengths.length_sampling import LengthSample, sample_texts
from glasshead.papers.lengths.logit_rank_by_length import usual_logit_lengths
from glasshead.papers.lengths.rank_by_length import usual_lengths
from kinds import saved

WORDS = ("warm", "film", "the", "plot", "is", "thin", "but", "end", "was", "good", "and", "music", "too")
HEAD = RowSelector((0,), (0,))
SIZE = 4  # d_v and d_k of the models


def review(number, words):
    rng = np.random.default_rng(number)
    return " ".join(rng.choice(WORDS, words))


TEXTS = [review(number, 3 + number) for number in range(24)]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A run and a saved model; not to be written to."""
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "softmax", attention="softmax", positions="none")
    saved(folder / "bert")
    return folder


def test_texts_of_one_length_exactly(models):
    _, tokenizer = open_model(models / "softmax")
    before = tokenizer.model_max_length
    found = {
        length: (numbers, encoded)
        for length, numbers, encoded in sample_texts(tokenizer, TEXTS, LengthSample((5, 20), 8))
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


def test_the_head_and_the_layer_that_were_asked_for(models):
    model, tokenizer = open_model(models / "bert")
    points = ranks_by_length(model, tokenizer, TEXTS, LengthSample((9,), 3), RowSelector((1,), (1,)))
    assert points.description == "layer 1, head 1: T = V D, d_v = 8, d_e = 16"
    others = ranks_by_length(model, tokenizer, TEXTS, LengthSample((9,), 3), RowSelector((0,), (1,)))
    assert (points.column("margin") != others.column("margin")).all()


def test_usual_lengths_reach_beyond_the_values(models):
    model, tokenizer = open_model(models / "softmax")
    found = usual_lengths(model, tokenizer, TEXTS, LengthSample(()), RowSelector((0,), (0,)))
    assert SIZE in found
    assert max(found) == 3 * SIZE
    assert list(found) == sorted(set(found))
    short = usual_lengths(model, tokenizer, TEXTS[:3], LengthSample(()), RowSelector((0,), (0,)))
    assert max(short) == len(TEXTS[2].split()) + 1


def test_the_usual_lengths_of_logits(models):
    model, tokenizer = open_model(models / "softmax")
    assert usual_logit_lengths(model, tokenizer, TEXTS, LengthSample(()), HEAD) == (6, 7, 8)
    tokenizer.model_max_length = 5
    with pytest.raises(InputError, match="have no alternative weights for texts of 5 tokens"):
        usual_logit_lengths(model, tokenizer, TEXTS, LengthSample(()), HEAD)


def test_a_learned_query_has_one_row(models):
    model, tokenizer = open_model(models / "softmax")
    with pytest.raises(InputError, match="one learned query gives one row of weights"):
        logit_ranks_by_length(model, tokenizer, TEXTS, LengthSample((6,)), RowSelector((1,), (0,)), draws=1)


def test_no_draws(models):
    model, tokenizer = open_model(models / "softmax")
    with pytest.raises(InputError, match="`draws` must be at least 1, not 0"):
        logit_ranks_by_length(model, tokenizer, TEXTS, LengthSample((6,)), HEAD, draws=0)
