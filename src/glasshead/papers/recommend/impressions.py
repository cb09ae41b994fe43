"""Impressions as tensors: what a training step reads, with negatives drawn anew in every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset
from transformers import (
    PreTrainedTokenizerFast,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from glasshead.data import encode
from glasshead.papers.recommend.mind import NewsLogs
from glasshead.training import Batch

NO_NEWS = -1


@dataclass(frozen=True)
class NewsTensors:
    """Titles [N, L] and, for every impression, row numbers of titles.

    ``history`` [I, T] is oldest first, cut to the latest T and padded with −1 at its end.
    """

    ids: Int[Tensor, "news words"]
    mask: Bool[Tensor, "news words"]
    history: Int[Tensor, "impressions clicks"]
    shown: list[NDArray[np.int64]]
    clicked: list[NDArray[np.bool_]]

    @classmethod
    def of(cls, logs: NewsLogs, tokenizer: PreTrainedTokenizerFast, history_length: int) -> "NewsTensors":
        """Impressions from logs; where they do not say what was clicked, ``clicked`` is empty."""
        titles = encode(tokenizer, [news.title for news in logs.news.values()])
        row = {name: number for number, name in enumerate(logs.news)}
        before = [impression.history[-history_length:] for impression in logs.impressions]
        history = np.full((len(before), max(map(len, before), default=0) or 1), NO_NEWS)
        for number, names in enumerate(before):
            history[number, : len(names)] = [row[name] for name in names]
        shown = [np.array([row[name] for name in impression.shown]) for impression in logs.impressions]
        clicked = [np.array(impression.clicked or (), dtype=bool) for impression in logs.impressions]
        return cls(titles.ids, titles.mask, torch.from_numpy(history), shown, clicked)


class ClickRows(Dataset[Batch]):
    """One example for each click: the clicked item first, then K items of its impression not clicked.

    They are drawn without replacement from what a generator of (seed, epoch, example) gives, so that they do
    not depend on the order of the batches, nor on whether a training was interrupted; an impression with
    fewer than K gives them all. ``epoch`` is set by `NewEpoch`.

    Source: Wu et al. (2019), section 2.4.
    """

    def __init__(self, tensors: NewsTensors, negatives: int, seed: int) -> None:
        self.tensors, self.negatives, self.seed, self.epoch = tensors, negatives, seed, 0
        self.clicks = [
            (impression, item)
            for impression, clicked in enumerate(tensors.clicked)
            for item in np.flatnonzero(clicked).tolist()
        ]

    def __len__(self) -> int:
        return len(self.clicks)

    def __getitem__(self, index: int) -> Batch:
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        candidates = np.full((len(indices), 1 + self.negatives), NO_NEWS)
        for place, index in enumerate(indices):
            drawn = self.candidates(index)
            candidates[place, : len(drawn)] = drawn
        impressions = [self.clicks[index][0] for index in indices]
        batch = batch_of(self.tensors, impressions, torch.from_numpy(candidates))
        return batch | {"labels": torch.zeros(len(indices), dtype=torch.long)}

    def candidates(self, index: int) -> NDArray[np.int64]:
        """The clicked item and this epoch's negatives."""
        impression, item = self.clicks[index]
        shown, clicked = self.tensors.shown[impression], self.tensors.clicked[impression]
        negatives = shown[~clicked]
        rng = np.random.default_rng([self.seed, self.epoch, index])
        count = min(self.negatives, len(negatives))
        return np.concatenate([shown[item : item + 1], rng.choice(negatives, count, replace=False)])


def batch_of(tensors: NewsTensors, impressions: Sequence[int], candidates: Int[Tensor, "b c"]) -> Batch:
    """What the model reads; every title that occurs is there once."""
    history = tensors.history[torch.as_tensor(impressions)]
    history = history[:, : max(int((history >= 0).sum(dim=1).max()), 1)]
    both = torch.cat([history.flatten(), candidates.flatten()])
    rows, index = both[both >= 0].unique(return_inverse=True)
    local = torch.full_like(both, NO_NEWS)
    local[both >= 0] = index
    mask = tensors.mask[rows]
    longest = max(int(mask.sum(dim=1).max()), 1)
    return {
        "input_ids": tensors.ids[rows, :longest],
        "attention_mask": mask[:, :longest],
        "history": local[: history.numel()].view_as(history),
        "candidates": local[history.numel() :].view_as(candidates),
    }


class NewEpoch(TrainerCallback):
    """Tells the examples which epoch begins, also where a training goes on."""

    def __init__(self, rows: ClickRows) -> None:
        self.rows = rows

    def on_epoch_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        self.rows.epoch = round(state.epoch or 0.0)
