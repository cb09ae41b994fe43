"""Models whose truth is planted for the first sentence on an audit, and their texts."""

from dataclasses import dataclass

import numpy as np
import torch

from glasshead.models import PooledClassifier, PooledConfig
from small import WORDS, planted_model, random_model, tokenizer

NEUTRAL = WORDS[2:]


@dataclass(frozen=True)
class World:
    """A model, its texts and their classes, and what a headline must say: do weights decide, and do they
    point."""

    model: object
    texts: list
    labels: list
    decides: str
    points: tuple
    classes: tuple = ("negative", "positive")


def word_ids(*words):
    return tokenizer().convert_tokens_to_ids(list(words))


def texts_of(counts, alone=0.0, seed=0):
    """Texts with one of good and bad; a share of them, ``alone``, of that word alone, seven times."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], counts).tolist()
    texts = []
    for number, label in enumerate(labels):
        word = "good" if label else "bad"
        if (number * 7) % 10 < 10 * alone:
            texts.append(" ".join([word] * 7))
            continue
        words = list(rng.choice(NEUTRAL, size=rng.integers(4, 9)))
        words.insert(int(rng.integers(0, len(words) + 1)), word)
        texts.append(" ".join(words))
    return texts, labels


def values_decide(scores, strength=20.0, activation="softmax"):
    """A model whose good and bad words have the values 1 and −1 and ``scores``; other words have neither."""
    model = planted_model(activation)
    with torch.no_grad():
        score, value = model.pooling.score.context.weight[0], model.pooling.value
        score.zero_()
        score[word_ids("good", "bad")] = torch.tensor(scores)
        value.weight.zero_()
        value.bias.zero_()
        value.weight[0, word_ids("good", "bad")] = torch.tensor([1.0, -1.0])
        model.classifier.weight.fill_(strength)
    return model


def uniform(counts):
    """All scores are 0; the values decide."""
    return World(values_decide([0.0, 0.0]), *texts_of(counts), "no", ("no",))


def uniform_and_negative(counts):
    """All words have the same negative weight, with one sum in every text; the values decide."""
    made = uniform(counts)
    model = values_decide([0.0, 0.0], activation="tanhmax")
    with torch.no_grad():
        model.pooling.score.context.weight[0].fill_(-9.0)
        model.classifier.weight.neg_()
    return World(model, made.texts, made.labels, "no", ("no",))


def near_uniform(counts):
    """Weights differ by a hundredth, in the order in which the tokens matter."""
    return World(values_decide([0.01, 0.01]), *texts_of(counts), "no", ("no", "yes", "in part"))


def sign_in_values(counts):
    """Attention finds the word that decides, whose value has the sign."""
    return World(values_decide([6.0, 6.0], 6.0), *texts_of(counts), "yes", ("yes",))


def sign_in_values_of_tanhmax(counts):
    """The same where weights could be negative and are not."""
    return World(values_decide([4.0, 4.0], 6.0, "tanhmax"), *texts_of(counts), "yes", ("yes",))


def sign_in_weights(counts):
    """All values are nearly 1, so that no shuffling of the weights changes anything."""
    model = planted_model("tanhmax")
    with torch.no_grad():
        model.pooling.value.weight.normal_(0.0, 0.02, generator=torch.Generator().manual_seed(0))
    return World(model, *texts_of(counts), "yes", ("yes", "in part"))


def sum_in_weights(counts):
    """All values are 1: only the sum of the signed weights says anything."""
    return World(planted_model("tanhmax"), *texts_of(counts), "yes", ("yes", "in part"))


def sign_in_equal_weights(counts):
    """All words of a text have the same weight, of the sign of its class, and the value 1."""
    model = planted_model("tanhmax")
    with torch.no_grad():
        score = model.pooling.score.context.weight[0]
        score.zero_()
        score[word_ids("good", "bad")] = torch.tensor([2.0, -2.0])
    return World(model, *texts_of(counts, alone=1.0), "yes", ("no",))


def size_in_weights(counts):
    """Good has a large weight and every other word none: a text without it has a sum of 0."""
    model = planted_model("tanhmax")
    with torch.no_grad():
        model.pooling.score.context.weight[0].zero_()
        model.pooling.score.context.weight[0][word_ids("good")] = 4.0
        model.classifier.weight.fill_(2.0)
    return World(model, *texts_of(counts), "yes", ("yes", "undecided"))


def mixed(counts):
    """Attention decides texts of many words; those of one word it cannot change."""
    return World(values_decide([6.0, 6.0], 6.0), *texts_of(counts, alone=0.5), "in part", ("yes",))


def mixed_by_class(counts):
    """Attention decides the texts of one class; those of the other have one word."""
    texts, labels = texts_of(counts)
    texts = [text if label else " ".join(["bad"] * 6) for text, label in zip(texts, labels, strict=True)]
    return World(values_decide([6.0, 6.0], 6.0), texts, labels, "in part", ("yes", "undecided"))


def ignored(counts):
    """Attention looks at good and bad, but all words of a text have the same value."""
    model = planted_model("softmax")
    with torch.no_grad():
        model.pooling.value.weight.zero_()
        model.pooling.value.weight[0, word_ids(*NEUTRAL)] = torch.tensor([1.0, -1.0] * (len(NEUTRAL) // 2))
        model.pooling.value.weight[0, word_ids("good", "bad")] = torch.tensor([1.0, -1.0])
        model.classifier.weight.fill_(4.0)
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], counts).tolist()
    sides = [NEUTRAL[1::2], NEUTRAL[::2]]
    texts = [
        " ".join(["good" if label else "bad", *rng.choice(sides[label], size=rng.integers(4, 9))])
        for label in labels
    ]
    return World(model, texts, labels, "no", ("yes",))


def untrained(counts):
    """A model as it begins."""
    model = random_model()
    with torch.no_grad():
        model.embedding.weight.div_(15)
    texts, labels = texts_of(counts)
    return World(model, texts, labels, "no", ("no",))


def ten_classes(counts):
    """No class of ten has a probability far above a tenth, and with uniform weights another one is predicted:
    that of all other words."""
    names = tuple(f"class {number}" for number in range(10))
    size = len(tokenizer())
    config = PooledConfig(
        vocab_size=size,
        embedding_size=size,
        score="context",
        temperature=1.0,
        activation="softmax",
        value_dim=3,
        bias=False,
        id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
    )
    model = PooledClassifier(config).eval()
    score, value = model.pooling.score.context.weight[0], model.pooling.value
    with torch.no_grad():
        model.embedding.weight.copy_(torch.eye(size))
        for zeros in (score, value.weight, value.bias, model.classifier.weight):
            zeros.zero_()
        score[word_ids("good", "bad")] = 6.0
        for axis, words in enumerate((["bad"], ["good"], NEUTRAL)):
            value.weight[axis, word_ids(*words)] = 1.0
            model.classifier.weight[axis, axis] = 0.2 if axis == 2 else 0.35
    return World(model, *texts_of(counts), "yes", ("yes", "in part"), names)


def near_half(counts):
    """The odds of no class are far from one, and uniform weights turn those of one class."""
    made = sign_in_values(counts)
    with torch.no_grad():
        made.model.pooling.value.weight[0, word_ids(*NEUTRAL)] = -0.5
        made.model.classifier.weight.fill_(0.08)
    return World(made.model, made.texts, made.labels, "in part", ("yes", "in part"))


def sink(counts):
    """One word without a value holds nearly all weight in every text, and the others share the rest."""
    model = values_decide([2.0, 2.0], 40.0)
    texts, labels = texts_of(counts)
    texts = ["film " + " ".join(word for word in text.split() if word != "film") for text in texts]
    with torch.no_grad():
        model.pooling.score.context.weight[0, word_ids("film")] = 6.0
    return World(model, texts, labels, "yes", ("in part", "no"))


def sink_for_nothing(counts):
    """The same, where so little weight decides as surely as more would."""
    made = sink(counts)
    with torch.no_grad():
        made.model.classifier.weight.fill_(300.0)
    return World(made.model, made.texts, made.labels, "no", ("in part", "no"))


def one_token(counts):
    """Texts of one word, which gets all the weight whatever the model does."""
    texts, labels = texts_of(counts)
    texts = ["good" if label else "bad" for label in labels]
    return World(
        values_decide([6.0, 6.0], 6.0), texts, labels, "no", ("yes", "no", "undecided", "not tested")
    )


def one_class(counts):
    """Attention decides, and all texts are of one class, which says nothing of guessing."""
    made = sign_in_values(counts)
    texts = [text.replace("bad", "good") for text in made.texts]
    return World(made.model, texts, [1] * len(texts), "yes", ("yes",))


WORLDS = (
    uniform,
    uniform_and_negative,
    near_uniform,
    sign_in_values,
    sign_in_values_of_tanhmax,
    sign_in_weights,
    sum_in_weights,
    sign_in_equal_weights,
    size_in_weights,
    mixed,
    mixed_by_class,
    ignored,
    untrained,
    ten_classes,
    near_half,
    sink,
    sink_for_nothing,
    one_token,
    one_class,
)
