"""Blocks as a Trainer reads them, and which of their tokens are hidden where the objective is masked."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase

IGNORED = -100
"""The label of a token that no loss is computed of."""
SHOWN_AS_MASK, SHOWN_AS_ITSELF = 0.8, 0.1
"""Of the tokens to be found; the rest is shown as a random one (Devlin et al. 2019, section 3.1)."""

Blocks = dict[str, Tensor]


@dataclass(frozen=True)
class Masking:
    """The share of tokens that is hidden, and the tokens that hide them."""

    fraction: float
    mask_token: int
    special_tokens: tuple[int, ...]
    vocab_size: int

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, fraction: float) -> "Masking":
        """Masking with a tokenizer's tokens."""
        return cls(fraction, int(tokenizer.mask_token_id), tuple(tokenizer.all_special_ids), len(tokenizer))

    def hide(self, blocks: Int[Tensor, "b n"], generator: torch.Generator | None = None) -> Blocks:
        """Blocks with some tokens hidden, which are the labels; each block has at least one.

        Source: Devlin et al., NAACL 2019, section 3.1.
        """
        special = torch.isin(blocks, torch.tensor(self.special_tokens))
        chance = torch.rand(blocks.shape, generator=generator).masked_fill(special, 1.0)
        chosen = chance < self.fraction
        lowest = chance.argmin(dim=1, keepdim=True)
        chosen = chosen.scatter(1, lowest, True)
        shown = torch.rand(blocks.shape, generator=generator)
        random = torch.randint(self.vocab_size, blocks.shape, generator=generator)
        ids = blocks.masked_fill(chosen & (shown < SHOWN_AS_MASK), self.mask_token)
        ids = torch.where(chosen & (shown >= SHOWN_AS_MASK + SHOWN_AS_ITSELF), random, ids)
        return {"input_ids": ids, "labels": blocks.masked_fill(~chosen, IGNORED)}


class BlockDataset(Dataset[Blocks]):
    """Blocks of one size; a batch is one index_select. Hidden tokens are drawn anew for every batch."""

    def __init__(self, blocks: Int[Tensor, "blocks n"], masking: Masking | None = None) -> None:
        self.blocks, self.masking = blocks, masking

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Blocks:
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Blocks:
        blocks = self.blocks[torch.as_tensor(indices)]
        return {"input_ids": blocks, "labels": blocks} if self.masking is None else self.masking.hide(blocks)

    def frozen(self, seed: int) -> Blocks:
        """All blocks, with hidden tokens that depend only on the seed, to measure every epoch on the same
        tokens."""
        if self.masking is None:
            return {"input_ids": self.blocks, "labels": self.blocks}
        return self.masking.hide(self.blocks, torch.Generator().manual_seed(seed))
