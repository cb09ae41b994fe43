"""A model that reads one of two images: what is removed from the image that the question names matters."""

import numpy as np
import pytest

import glasshead
from planted_pair import draw_pair_questions, train_pairs
from planted_quarters import DIGITS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet")]
COUNT = 60


@pytest.fixture(scope="module")
def reader():
    return train_pairs()


def pointed(model, processor, method):
    """How often the image with the larger sum is the one that the question names, where the digit is known,
    and how often it is."""
    questions, right = draw_pair_questions(np.random.default_rng(1), COUNT, trained=False), []
    for digit in range(10):  # one answer at a time
        own = [question for question in questions if question.digit == digit]
        rows = [{"images": question.images, "text": question.text} for question in own]
        answer = f" {DIGITS[digit]}"
        for question, one in zip(
            own,
            glasshead.explain(model, rows, tokenizer=processor, answer=answer, method=method),
            strict=True,
        ):
            numbers = np.array([number or 0 for number in one.image_numbers])
            sums = [np.sum(np.array(one.scores)[numbers == number]) for number in (1, 2)]
            if one.prediction > 0.5:
                right.append(int(np.argmax(sums)) == question.number)
    return np.mean(right), len(right) / COUNT


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [
        ("erasure-mean-embedding", 0.85, 1),
        ("erasure-neutral-colour", 0.85, 1),
        ("gradient-l2", 0.85, 1),
        ("random", 0.15, 0.85),
    ],
)
def test_a_method_points_to_the_image_that_the_question_names(reader, method, least, most):
    share, accuracy = pointed(*reader, method)
    assert accuracy >= 0.75
    assert least <= share <= most
