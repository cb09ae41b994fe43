"""What a trained language model's next token rests on is known here, and explanations have to find it.

One model copies: after A B … A it writes B. It stands at the earlier B, which the earlier A finds.
The other makes a verb agree with the first noun and not with the nearer one.
"""

import random
from dataclasses import replace

import numpy as np
import pytest

import glasshead
from glasshead.huggingface import token_id
from language_models import PLURAL, SINGULAR, repeated, train_agreement, train_copier
from once import made_once

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def copier(tmp_path_factory):
    folder = made_once(tmp_path_factory, "copier", lambda place: train_copier(place / "run"))
    return glasshead.open(folder / "run")


@pytest.fixture(scope="session")
def agreeing(tmp_path_factory):
    """A model asked for "are" rather than "is"."""
    folder = made_once(tmp_path_factory, "agreement", lambda place: train_agreement(place / "run"))
    subject = glasshead.open(folder / "run")
    verbs = [token_id(subject.tokenizer, verb) for verb in ("is", "are")]
    return replace(subject, model=subject.model.between(verbs))


def copies(count):
    """Texts that end with a word for the second time, the places of A and B, and B."""
    rng = random.Random(1)
    for _ in range(count):
        words = repeated(rng)
        once = len(set(words))
        size = rng.randint(once + 2, min(2 * once, 20))
        yield " ".join(words[:size]), (size - 1 - once, size - once), words[size - once]


def share_that_points_there(subject, method):
    """How often the highest number, the last word left out, is at A or B; and how often a random one is."""
    hits, chances = [], []
    for text, places, _ in copies(40):
        scores = np.abs(glasshead.explain(subject, [text], method=method)[0].scores[:-1])
        hits.append(int(scores.argmax()) in places)
        chances.append(2 / len(scores))
    return np.mean(hits), np.mean(chances)


def test_the_copier_copies(copier):
    right = [
        glasshead.explain(copier, [text], method="random")[0].predicted == f"“{answer}”"
        for text, _, answer in copies(40)
    ]
    assert np.mean(right) > 0.9


@pytest.mark.parametrize(
    ("method", "least"), [("erasure-delete", 0.7), ("erasure-unknown-token", 0.45), ("gradient-l2", 0.4)]
)
def test_explanations_of_a_copy_point_at_the_earlier_one(copier, method, least):
    found, chance = share_that_points_there(copier, method)
    assert found > least > 2 * chance


def test_random_explanations_of_a_copy_point_anywhere(copier):
    found, chance = share_that_points_there(copier, "random")
    assert found < chance + 0.2


def test_heads_that_copy_are_named(copier, tmp_path):
    rng = random.Random(2)
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(" ".join(repeated(rng)) for _ in range(60)))
    heads = glasshead.heads(copier, path).heads
    named = [head.layer for head in heads if head.pattern == "token after an earlier copy (induction)"]
    assert named
    assert set(named) == {1}  # the layer below says what stood before


def sentences():
    """Sentences up to the verb, whose two nouns differ in number, and what the verb is."""
    rng = random.Random(3)
    for number in range(40):
        nouns, others = (PLURAL, SINGULAR) if number % 2 else (SINGULAR, PLURAL)
        yield f"the {rng.choice(nouns)} near the {rng.choice(others)}", "are" if number % 2 else "is"


def at_the_subject(subject, method):
    """How often the highest number is at the first noun."""
    explained = (glasshead.explain(subject, [text], method=method)[0] for text, _ in sentences())
    return np.mean([int(np.abs(one.scores).argmax()) == 1 for one in explained])


@pytest.mark.parametrize("method", ["erasure-unknown-token", "gradient-l2"])
def test_a_verb_rests_on_its_subject(agreeing, method):
    right = [
        glasshead.explain(agreeing, [text], method="random")[0].predicted.startswith(f"“{verb}”")
        for text, verb in sentences()
    ]
    assert np.mean(right) > 0.9
    assert at_the_subject(agreeing, method) > 0.4  # by chance 0.2
    assert at_the_subject(agreeing, "random") < 0.4
