"""How much of the texts a model reads, and how much of that it knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerFast

from glasshead.data.encoded import Encoded
from glasshead.data.unit_reader import UnitReader
from glasshead.errors import pluralise

LIMITLESS = 2**31
"""No text is so long; a tokenizer without a limit names a larger number."""


@dataclass(frozen=True)
class Coverage:
    """Counts over texts that were cut to ``length`` tokens.

    ``tokens`` and ``unknown`` (those that are [UNK] to the model) are of what is read, ``left_out`` of what
    is not; special tokens that the tokenizer adds count as tokens.
    """

    texts: int
    cut: int
    length: int
    tokens: int
    left_out: int
    unknown: int

    def lines(self, name: str) -> list[str]:
        """What a person should know of them, a line each; ``name`` is what the texts are called."""
        lines = []
        if self.cut:
            whole = self.tokens + self.left_out
            share = self.left_out / whole
            lines.append(
                f"{name}: {self.cut:,} of {pluralise(self.texts, 'text')} cut to {self.length:,} "
                f"tokens, {self.left_out:,} of {pluralise(whole, 'token')} not read ({share:.1%})"
            )
        if self.unknown:
            lines.append(
                f"{name}: {self.unknown:,} of {pluralise(self.tokens, 'token')} unknown to the model "
                f"({self.unknown / self.tokens:.1%})"
            )
        return lines


def coverage(
    tokenizer: PreTrainedTokenizerFast | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None,
    encoded: Encoded,
) -> Coverage:
    """What became of the texts as they were ``encoded``; only those that may have been cut are read again."""
    sizes = encoded.mask.sum(dim=1)
    length = min(tokenizer.model_max_length, LIMITLESS)
    full = (sizes >= length).nonzero().flatten().tolist()
    beyond = []
    if full and not isinstance(tokenizer, UnitReader):
        firsts = [texts[row] for row in full]
        seconds = () if pairs is None else ([pairs[row] for row in full],)
        whole = tokenizer(firsts, *seconds, verbose=False)["input_ids"]
        beyond = [len(ids) - length for ids in whole]
    unknown = -1 if tokenizer.unk_token_id is None else tokenizer.unk_token_id
    return Coverage(
        texts=len(texts),
        cut=sum(more > 0 for more in beyond),
        length=length,
        tokens=int(sizes.sum()),
        left_out=sum(beyond),
        unknown=int(((encoded.ids == unknown) & encoded.mask).sum()),
    )
