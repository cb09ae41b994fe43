"""Two language models whose answers rest on words that are known: one copies, one makes verbs agree."""

import random

from glasshead.language import Corpus, LanguageModelConfig, train_language_model

WORDS = tuple(f"w{number:02}" for number in range(12))
SINGULAR = ("key", "dog", "book", "child", "door", "lamp")
PLURAL = ("keys", "dogs", "books", "children", "doors", "lamps")
SMALL = {"tokenizer": "word", "num_hidden_layers": 2, "num_attention_heads": 2, "batch_size": 64}


def repeated(rng, size=23):
    """Different words in random order, again and again: every later word follows an earlier copy."""
    words = rng.sample(WORDS, rng.randint(6, 11))
    return (words * size)[:size]


def train_copier(out, seed=0):
    """A model that has to find what followed the last word before: A B … A → B."""
    rng = random.Random(0)
    train, dev = (tuple(" ".join(repeated(rng)) for _ in range(count)) for count in (12_800, 320))
    config = LanguageModelConfig(**SMALL, hidden_size=32, block_size=24, epochs=3, learning_rate=8e-3)
    return train_language_model(Corpus(train, dev, "drawn"), config, out, seed=seed)


def agreement(rng):
    """A sentence whose verb agrees with its first noun, and not with the nearer one."""
    plural, other = rng.random() < 0.5, rng.random() < 0.5
    subject = rng.choice(PLURAL if plural else SINGULAR)
    attractor = rng.choice(PLURAL if other else SINGULAR)
    where = rng.choice(("near", "by", "behind"))
    verb = "are" if plural else "is"
    return f"the {subject} {where} the {attractor} {verb} {rng.choice(('old', 'here', 'red'))}"


def train_agreement(out, seed=0):
    """A model that writes "are" after "the keys near the door"."""
    rng = random.Random(0)
    train, dev = (tuple(agreement(rng) for _ in range(count)) for count in (6_000, 300))
    config = LanguageModelConfig(**SMALL, hidden_size=32, block_size=8, epochs=4, learning_rate=5e-3)
    return train_language_model(Corpus(train, dev, "drawn"), config, out, seed=seed)
