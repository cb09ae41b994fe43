"""A small language model that answers from the passage that holds the key, trained here in a minute.

Passages say ``fox=red`` among other words, one token, which makes training short; the question is ``fox``.
Some names have a colour of their own, which the model knows by heart where no passage names them; of others
it says that it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

NAMES = [f"name{number}" for number in range(16)]
KNOWN = [f"star{number}" for number in range(6)]
VALUES = [f"value{number}" for number in range(18)]
FILLERS = [f"filler{number}" for number in range(12)]
FACTS = [f"{name}={value}" for name in NAMES for value in VALUES]
UNKNOWN = "unknown"
WORDS = [
    "[PAD]",
    "[UNK]",
    UNKNOWN,
    ".",
    "There",
    "nothing",
    "here.",
    *NAMES,
    *KNOWN,
    *VALUES,
    *FILLERS,
    *FACTS,
]


def own_value(name: str) -> str:
    """What the model knows by heart."""
    return VALUES[3 * KNOWN.index(name)]


def tokenizer() -> PreTrainedTokenizerFast:
    """Every word is a token."""
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]")


@dataclass(frozen=True)
class Question:
    """Passages, the question, its answer, and the passages that hold it (none: known by heart)."""

    passages: list[str]
    question: str
    answer: str
    holders: tuple[int, ...]


def draw_question(random: np.random.Generator, kind: str = "any", least: int = 3) -> Question:
    """One made question: its key in ``one`` passage, in ``two``, known by heart (``none``), ``unknown``."""
    kind = random.choice(["one", "one", "two", "none", "unknown"]) if kind == "any" else kind
    held = {"one": 1, "two": 2}.get(kind, 0)
    count = int(random.integers(max(least, held), 9))
    value = VALUES[random.integers(len(VALUES))]
    if kind == "none":
        name = KNOWN[random.integers(len(KNOWN))]
        value = own_value(name)
    else:
        name = NAMES[random.integers(len(NAMES))]
        value = UNKNOWN if kind == "unknown" else value
    holders = random.permutation(count)[:held]
    others = iter(random.permutation([other for other in NAMES if other != name]))
    wrong = [other for other in VALUES if other != value]  # the same word elsewhere may carry it, too
    texts = []
    for place in range(count):
        key, says = (name, value) if place in holders else (next(others), random.choice(wrong))
        before, after = (" ".join(random.choice(FILLERS, random.integers(0, 4))) for _ in range(2))
        texts.append(f"{before} {key}={says} {after} .".strip())
    return Question(texts, name, value, tuple(sorted(map(int, holders))))


def prompt_of(question: Question) -> str:
    """As the model reads it."""
    return "\n\n".join(question.passages) + f"\n\n{question.question}\n"


def draw_training(random: np.random.Generator) -> tuple[list[str], list[int]]:
    """Words of a made question that goes on with questions about all its passages, and which are answers."""
    question = draw_question(random, least=0)
    words = f"{prompt_of(question)} {question.answer}".split()
    answers = [len(words) - 1]
    for passage in random.permutation(question.passages):
        words += next(word for word in passage.split() if "=" in word).split("=")
        answers.append(len(words) - 1)
    return words, answers


def questions_loss(model: LlamaForCausalLM, random: np.random.Generator) -> torch.Tensor:
    """Passages, and questions about all of them."""
    numbers = {word: number for number, word in enumerate(WORDS)}
    drawn = [draw_training(random) for _ in range(16)]
    longest = max(len(words) for words, _ in drawn)
    ids, labels = torch.zeros(16, longest, dtype=torch.long), torch.full((16, longest), -100)
    for row, (words, answers) in enumerate(drawn):
        ids[row, : len(words)] = torch.tensor([numbers[word] for word in words])
        labels[row, answers] = ids[row, answers]
    return model(input_ids=ids, labels=labels).loss


@cache
def trained(steps: int = 800, seed: int = 0) -> LlamaForCausalLM:
    """The model, trained on questions of every kind."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    config = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=256, pad_token_id=0,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    for _ in range(steps):
        loss = questions_loss(model, random)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()
