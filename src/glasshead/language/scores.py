"""How well a language model finds tokens: loss, perplexity and accuracy, with intervals and a floor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.language.rows import IGNORED, Blocks
from glasshead.statistics import mean_interval

LOGITS = 2**26
"""So many logits are held at a time."""


@dataclass(frozen=True)
class BlockScores:
    """Scores of each block: the sum of −log p over hidden tokens, their number, how many were found."""

    losses: Float[np.ndarray, " blocks"]
    tokens: Float[np.ndarray, " blocks"]
    correct: Float[np.ndarray, " blocks"]

    @property
    def loss(self) -> float:
        """The mean of −log p over tokens."""
        return float(self.losses.sum() / self.tokens.sum())

    def summary(self, seed: int = 0) -> dict[str, Any]:
        """Loss, perplexity exp(loss) and accuracy, with 95 % bootstrap intervals over blocks."""
        rng = np.random.default_rng(seed)
        values: dict[str, Any] = {"tokens": int(self.tokens.sum()), "blocks": len(self.tokens)}
        for name, sums, most in (("loss", self.losses, np.inf), ("accuracy", self.correct, 1.0)):
            mean = float(sums.sum() / self.tokens.sum())
            # The ratio of two sums, to first order a mean over blocks.
            linear = mean + (sums - mean * self.tokens) / self.tokens.mean()
            estimate = mean_interval(linear, rng=rng)
            values[name] = mean
            ends = estimate.interval
            values[f"{name}_interval"] = None if ends is None else np.clip(ends, 0.0, most).tolist()
        values["perplexity"] = perplexity_of(values["loss"])
        ends = values["loss_interval"]
        values["perplexity_interval"] = None if ends is None else [perplexity_of(end) for end in ends]
        return values


def perplexity_of(loss: float) -> float:
    """exp(loss), at most e^700, which is the end of what is a number."""
    return math.exp(min(loss, 700.0))


@torch.no_grad()
def score_blocks(model: PreTrainedModel, rows: Blocks, *, masked: bool) -> BlockScores:
    """−log p of every token to be found, block by block.

    −log p(x_{t+1} | x_{1…t}) for t = 1, …, n − 1, or −log p(x_t | the block with hidden tokens) of those.
    """
    training = model.training
    model.eval()
    ids, labels = rows["input_ids"], rows["labels"]
    size = max(1, LOGITS // (ids.shape[1] * model.config.get_text_config().vocab_size))
    parts = []
    for start in range(0, len(ids), size):
        chunk = ids[start : start + size].to(model.device)
        wanted = labels[start : start + size].to(model.device)
        logits = model(input_ids=chunk).logits.float()
        if not masked:
            logits, wanted = logits[:, :-1], wanted[:, 1:]
        losses = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
        )
        counted = wanted != IGNORED
        correct = (logits.argmax(dim=-1) == wanted) & counted
        parts.append(torch.stack([losses.double().sum(1), counted.sum(1), correct.sum(1)]).cpu())
    model.train(training)
    losses, tokens, correct = torch.cat(parts, dim=1).numpy()
    return BlockScores(losses, tokens, correct)


def unigram_scores(
    train: Int[Tensor, " tokens"],
    rows: Blocks,
    vocab_size: int,
    *,
    masked: bool,
    never: Sequence[int] = (),
) -> BlockScores:
    """Scores of a unigram model: p(t) = (n_t + 1) / (n + D), and which tokens ``never`` occur, such as
    special ones where tokens are hidden."""
    counts = torch.bincount(train, minlength=vocab_size).double() + 1
    counts[list(never)] = 0
    cost = -(counts / counts.sum()).log()
    wanted = rows["labels"] if masked else rows["labels"][:, 1:]
    counted = wanted != IGNORED
    losses = torch.where(counted, cost[wanted.clamp(min=0)], 0.0)
    correct = (wanted == counts.argmax()) & counted
    return BlockScores(*(part.double().sum(1).numpy() for part in (losses, counted, correct)))
