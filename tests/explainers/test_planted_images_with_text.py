"""A model that reads one of four digits in an image: erasing image tokens shows which one was asked for."""

import numpy as np
import pytest
import torch

import glasshead
from glasshead.data import encode, reader_of
from glasshead.explainers import make_context
from glasshead.explainers.removals import REMOVALS
from glasshead.huggingface import Inputs, with_images_of
from glasshead.tasks import GIVEN, ask_answer
from planted_quarters import DIGITS, draw_questions, train_quarters

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet")]
COUNT = 100


@pytest.fixture(scope="module")
def reader():
    return train_quarters()


@pytest.fixture(scope="module")
def questions():
    return draw_questions(np.random.default_rng(1), COUNT, trained=False)


def quarter_of(name):
    """The quarter of “row 1, column 3” in a grid of four rows and columns."""
    row, column = (int(part.split()[-1]) for part in name.split(", "))
    return 2 * (row > 2) + (column > 2)


def pointed(model, processor, questions, method):
    """How often the image tokens with the highest sum are those of the quarter, and how often the digit is
    known."""
    quarters = []
    for digit in range(10):  # one answer at a time
        own = [question for question in questions if question.digit == digit]
        rows = [{"image": question.image, "text": question.text} for question in own]
        attributions = glasshead.explain(
            model, rows, tokenizer=processor, answer=f" {DIGITS[digit]}", method=method
        )
        for question, attribution in zip(own, attributions, strict=True):
            sums = np.zeros(4)
            for name, score in zip(attribution.tokens, attribution.scores, strict=True):
                if name.startswith("row"):
                    sums[quarter_of(name)] += score
            if attribution.prediction > 0.5:  # whoever does not know the digit may look anywhere
                quarters.append(sums.argmax() == question.quarter)
    return np.mean(quarters), len(quarters) / len(questions)


def test_erasing_a_whole_quarter_says_which_one_was_read(reader, questions):
    """The four image tokens of a quarter are taken out together."""
    subject = glasshead.open(*reader)
    right = []
    for digit in range(10):
        own = [question for question in questions if question.digit == digit]
        rows = [{"image": question.image, "text": question.text} for question in own]
        texts = reader_of(subject.tokenizer).inputs(rows)
        encoded = encode(subject.tokenizer, texts)
        model = with_images_of(subject.model, encoded)
        asked = ask_answer(model, Inputs(subject.tokenizer, texts, None, encoded), f" {DIGITS[digit]}", None)
        context = make_context(asked.model, asked.inputs.encoded, subject.tokenizer, target=GIVEN)
        quarters = np.array([quarter_of(name) for name in texts[0].images.names])
        falls = np.zeros((len(own), 4))
        for quarter in range(4):
            removed = torch.zeros(asked.inputs.encoded.ids.shape, dtype=torch.bool)
            removed[:, : len(quarters)] = torch.from_numpy(quarters == quarter)  # the image comes first
            without = REMOVALS["mean-embedding"].logits(context, torch.arange(len(own)), removed)
            falls[:, quarter] = (context.value(context.logits) - context.value(without)).numpy()
        known = context.logits.softmax(-1)[:, 1].numpy() > 0.5
        right += (falls.argmax(axis=1) == [question.quarter for question in own])[known].tolist()
    assert len(right) >= 0.85 * len(questions)
    assert np.mean(right) >= 0.95


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [
        ("erasure-mean-embedding", 0.85, 1),
        ("erasure-neutral-colour", 0.85, 1),
        ("attention", 0.9, 1),
        ("gradient-l2", 0.9, 1),
        ("random", 0.1, 0.45),
    ],
)
def test_a_method_points_to_the_quarter_that_is_asked_for(reader, questions, method, least, most):
    share, accuracy = pointed(*reader, questions, method)
    assert accuracy >= 0.85
    assert least <= share <= most
