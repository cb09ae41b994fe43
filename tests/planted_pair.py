"""A small LLaVA that reads one of two digits, each in an image of its own: the question names the image."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from transformers import PreTrainedModel

from planted_quarters import fit_digits, small_llava

SIDE = 8
ORDINALS = ("one", "two")
STEPS = 500


class PairQuestion(NamedTuple):
    """Two images of a digit each, the one that is asked about, and its digit."""

    images: list[Image.Image]
    number: int
    digit: int

    @property
    def text(self) -> str:
        """The question."""
        return f"<image><image>what is in image {ORDINALS[self.number]} ?"


def draw_pair_questions(rng: np.random.Generator, count: int, *, trained: bool) -> list[PairQuestion]:
    """Questions about digits that the model was trained on, or about others."""
    data = load_digits()
    pool = np.arange(1200) if trained else np.arange(1200, len(data.images))
    questions = []
    for _ in range(count):
        chosen, number = rng.choice(pool, 2), int(rng.integers(2))
        pixels = [(data.images[one] * (255 / 16)).astype(np.uint8) for one in chosen]
        images = [Image.fromarray(np.repeat(one[..., None], 3, axis=2)) for one in pixels]
        questions.append(PairQuestion(images, number, int(data.target[chosen[number]])))
    return questions


@cache
def train_pairs(steps: int = STEPS) -> tuple[PreTrainedModel, Any]:
    """The model and its processor."""
    model, processor = small_llava(SIDE)
    rng = np.random.default_rng(0)
    questions = draw_pair_questions(rng, 6_000, trained=True)
    inputs = processor(
        images=[question.images for question in questions],
        text=[question.text for question in questions],
        return_tensors="pt",
    )
    inputs["pixel_values"] = inputs["pixel_values"].unflatten(0, (-1, 2))
    digits = [question.digit for question in questions]
    return fit_digits(model, processor, inputs, digits, rng, steps), processor
