"""A hand-built GPT-2 that answers from the passage that holds the key, or by heart.

Passages say ``Fox red`` among other words; the question is ``Fox``. It does induction (`induction`); names of
`KNOWN` have a value of their own in their embedding, which wins where no passage says another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast

from induction import induction_model

NAMES = tuple(f"Name{number}" for number in range(16))
KNOWN = tuple(f"Star{number}" for number in range(4))
VALUES = tuple(f"value{number}" for number in range(12))
FILLERS = tuple(f"filler{number}" for number in range(8))
WORDS = (*NAMES, *KNOWN, *VALUES, *FILLERS, "nothing", ".")
BY_HEART = {name: VALUES[3 * place] for place, name in enumerate(KNOWN)}
MEMORY = 2.0


def librarian(seed: int = 0, noise: float = 0.01) -> tuple[Any, PreTrainedTokenizerFast]:
    """The model and its tokenizer of words."""
    model, tokenizer = induction_model(noise, seed, words=WORDS, length=160)
    after = 2 * model.config.vocab_size + model.config.n_positions  # the part that the vocabulary reads
    with torch.no_grad():
        for name, value in BY_HEART.items():
            place = after + tokenizer.convert_tokens_to_ids(value)
            model.transformer.wte.weight[tokenizer.convert_tokens_to_ids(name), place] += MEMORY
    return model, tokenizer


@dataclass(frozen=True)
class Question:
    """Passages, the question, its answer, and the passages that hold it (none: known by heart)."""

    passages: list[str]
    question: str
    answer: str
    holders: tuple[int, ...]


def draw_question(
    random: np.random.Generator, holders: int | None = None, count: int | None = None
) -> Question:
    """A made question whose key stands in so many passages, in any place."""
    holders = int(random.integers(3)) if holders is None else holders
    count = int(random.integers(3, 11)) if count is None else count
    name = str(random.choice(NAMES if holders else KNOWN))
    value = str(random.choice(VALUES)) if holders else BY_HEART[name]
    where = {*map(int, random.permutation(count)[:holders])}
    others = iter(random.permutation([other for other in NAMES if other != name]))
    wrong = [other for other in VALUES if other != value]
    texts = []
    for place in range(count):
        said = [name, value] if place in where else [str(next(others)), str(random.choice(wrong))]
        around = [list(random.choice(FILLERS, random.integers(4), replace=False)) for _ in range(2)]
        texts.append(" ".join([*around[0], *said, *around[1]]))
    return Question(texts, name, value, tuple(sorted(where)))
