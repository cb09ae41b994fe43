"""A linear probe reads a class off frozen features that hold it, and off no others."""

import pytest
import torch
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from classifier_families import VOCABULARY
from glasshead import InputError
from glasshead.language import linear_probe
from writers import small_writer

WORDS = [word for word in VOCABULARY if word.isalpha()][:8]
SIZES = {"train": 300, "dev": 100, "test": 120}


def labelled(rule, kind=None):
    """Random texts of six words, and what the rule says of their words [6]."""
    generator = torch.Generator().manual_seed(0)
    features = Features({"text": Value("string"), "label": kind or ClassLabel(names=["no", "yes"])})
    splits = {}
    for split, size in SIZES.items():
        rows = torch.randint(len(WORDS), (size, 6), generator=generator)
        texts = [" ".join(WORDS[word] for word in row) for row in rows.tolist()]
        labels = [rule(row, generator) for row in rows]
        splits[split] = Dataset.from_dict({"text": texts, "label": labels}, features=features)
    return DatasetDict(splits)


def has_first_word(row, generator):
    return int((row == 0).any())


def coin(row, generator):
    return int(torch.rand((), generator=generator) < 0.5)


@pytest.mark.parametrize(("layer", "pooling"), [(0, "mean"), (-1, "mean")])
def test_a_word_is_read_off_mean_features(layer, pooling):
    model, tokenizer = small_writer()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    found = linear_probe(model, tokenizer, labelled(has_first_word), layer=layer, pooling=pooling)
    assert (found.split, found.n) == ("test", 120)
    assert found.interval[0] > found.guess
    assert found.interval[0] < found.accuracy <= found.interval[1]
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert not model.training


def test_the_last_token_says_which_word_it_is():
    model, tokenizer = small_writer()
    found = linear_probe(model, tokenizer, labelled(lambda row, _: int(row[-1] < 4)), layer=0)
    assert found.accuracy == 1
    assert found.random_weights == 1  # any embedding tells words apart: this is no merit of a training


def test_a_coin_is_not_read():
    model, tokenizer = small_writer()
    found = linear_probe(model, tokenizer, labelled(coin))
    assert found.interval[0] < 0.5 < found.interval[1]


def test_what_cannot_be_probed_is_refused():
    model, tokenizer = small_writer()
    with pytest.raises(InputError, match="ratings"):
        linear_probe(model, tokenizer, labelled(coin, Value("float64")))
    with pytest.raises(InputError, match="between 0 and 2"):
        linear_probe(model, tokenizer, labelled(coin), layer=3)
    with pytest.raises(InputError, match="did you mean 'mean'"):
        linear_probe(model, tokenizer, labelled(coin), pooling="means")
