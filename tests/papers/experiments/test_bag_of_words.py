"""A bag of words learns what one word decides, and nothing of order or of pairs."""

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from glasshead.errors import InputError
from glasshead.papers.experiments import bag_of_words

FILLERS = ("the", "film", "was", "a", "plot", "and", "long", "scene")
SIZES = {"train": 300, "dev": 60, "test": 200}


def texts(words, rng):
    """Fillers around a word that decides."""
    return [" ".join(rng.permutation([*rng.choice(FILLERS, 5), word])) for word in words]


def dataset(make, pairs=False):
    rng = np.random.default_rng(0)
    names = ["text", "text_pair"] if pairs else ["text"]
    features = Features(
        {name: Value("string") for name in names} | {"label": ClassLabel(names=["no", "yes"])}
    )
    return DatasetDict(
        {split: Dataset.from_dict(make(rng, n), features=features) for split, n in SIZES.items()}
    )


def decided_by_a_word(rng, size):
    labels = rng.integers(2, size=size)
    return {"text": texts(np.where(labels, "good", "bad"), rng), "label": labels}


def decided_by_order(rng, size):
    labels = rng.integers(2, size=size)
    return {"text": [("good bad", "bad good")[label] for label in labels], "label": labels}


def decided_by_the_second(rng, size):
    labels = rng.integers(2, size=size)
    return {
        "text": texts(rng.choice(["good", "bad"], size), rng),
        "text_pair": texts(np.where(labels, "good", "bad"), rng),
        "label": labels,
    }


def decided_by_agreement(rng, size):
    labels, first = rng.integers(2, size=size), rng.integers(2, size=size)
    second = np.where(labels, first, 1 - first)
    pairs = [texts(np.where(each, "good", "bad"), rng) for each in (first, second)]
    return {"text": pairs[0], "text_pair": pairs[1], "label": labels}


def test_a_word_that_decides_is_found():
    found = bag_of_words(dataset(decided_by_a_word))
    assert found["test"] == {"accuracy": 1.0, "macro_f1": 1.0}
    assert found["reads"] == "text"
    assert found["features"] == 5 + len(FILLERS) + 2  # special tokens, too


def test_order_is_not_seen():
    assert abs(bag_of_words(dataset(decided_by_order))["test"]["accuracy"] - 0.5) < 0.15


def test_what_of_a_pair_is_read():
    data = dataset(decided_by_the_second, pairs=True)
    accuracies = {
        reads: bag_of_words(data, reads=reads)["test"]["accuracy"] for reads in ("text", "text_pair", "both")
    }
    assert accuracies["text_pair"] == accuracies["both"] == 1.0
    assert abs(accuracies["text"] - 0.5) < 0.15
    assert bag_of_words(data)["reads"] == "both"


def test_whether_two_texts_agree_is_not_seen():
    found = bag_of_words(dataset(decided_by_agreement, pairs=True))["test"]["accuracy"]
    assert abs(found - 0.5) < 0.15


def test_equals_scikit_learn_on_these_words():
    """Its own counting of words, with the weighting and the C that dev chose."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    def noisy(rng, size):
        labels = rng.integers(2, size=size)
        told = np.where(rng.random(size) < 0.3, 1 - labels, labels)
        return {"text": texts(np.where(told, "good", "bad"), rng), "label": labels}

    data = dataset(noisy)
    found = bag_of_words(data)
    kind = {"counts": CountVectorizer, "tf-idf": TfidfVectorizer}[found["weighting"]]
    options = {"sublinear_tf": True} if kind is TfidfVectorizer else {}
    vectors = kind(analyzer=str.split, **options)
    model = LogisticRegression(C=found["C"], max_iter=5000)
    model.fit(vectors.fit_transform(data["train"]["text"][:]), data["train"]["label"][:])
    accuracy = model.score(vectors.transform(data["test"]["text"][:]), data["test"]["label"][:])
    assert found["test"]["accuracy"] == pytest.approx(accuracy, abs=0.01)
    assert 0.6 < accuracy < 0.8


@pytest.mark.parametrize("reads", ["text_pair", "both", "words"])
def test_what_is_not_there_is_refused(reads):
    with pytest.raises(InputError, match="reads one of text of these data"):
        bag_of_words(dataset(decided_by_a_word), reads=reads)


def test_ratings_that_words_decide():
    """Each of two words is worth two stars; what no text tells is noise of SD 0.5."""

    def made(rng, size):
        good = rng.integers(3, size=size)
        words = np.array(["bad bad", "good bad", "good good"])[good]
        return {"text": texts(words, rng), "label": 1.0 + 2 * good + rng.normal(0, 0.5, size)}

    rng = np.random.default_rng(0)
    features = Features({"text": Value("string"), "label": Value("float64")})
    data = DatasetDict(
        {split: Dataset.from_dict(made(rng, n), features=features) for split, n in SIZES.items()}
    )
    found = bag_of_words(data)["test"]
    assert found["rmse"] == pytest.approx(0.5, abs=0.1)
    assert found["mae"] == pytest.approx(0.4, abs=0.1)
    assert np.std(data["test"]["label"][:]) > 1.4
