"""How much of the texts a model reads, and how much of that it knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from glasshead.data.encode import begins_twice
from glasshead.data.encoded import Encoded
from glasshead.data.unit_reader import UnitReader
from glasshead.errors import pluralise

LETTERS_COUNTED = 100_000
"""For a longer text the tokens of so many letters tell how many there are in all."""
LIMITLESS = 2**31
"""No text is so long; a tokenizer without a limit names a larger number."""


@dataclass(frozen=True)
class Coverage:
    """Counts over texts that were cut to ``length`` tokens.

    ``tokens`` and ``unknown`` (those that are [UNK] to the model) count what is read, ``left_out`` what is
    not; for very long texts this is ``estimated``. Special tokens that the tokenizer adds count as tokens.
    """

    texts: int
    cut: int
    length: int
    tokens: int
    left_out: int
    unknown: int
    estimated: bool = False

    def lines(self, name: str) -> list[str]:
        """Remarks on them, one per line; ``name`` is the noun for the texts."""
        lines = []
        if self.cut:
            total = self.tokens + self.left_out
            share, about = self.left_out / total, "about " if self.estimated else ""
            cut = f"{self.cut:,} of {pluralise(self.texts, 'text')} cut"
            lines.append(
                f"{name}: {cut} to {pluralise(self.length, 'token')}, "
                f"{about}{self.left_out:,} of {pluralise(total, 'token')} not read ({share:.1%})"
            )
        if self.unknown:
            lines.append(
                f"{name}: {self.unknown:,} of {pluralise(self.tokens, 'token')} unknown to the model "
                f"({self.unknown / self.tokens:.1%})"
            )
        return lines


def coverage(
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None,
    encoded: Encoded,
) -> Coverage:
    """How much of the texts survived encoding; only texts that may have been cut are read again."""
    sizes = encoded.mask.sum(dim=1)
    length = min(tokenizer.model_max_length, LIMITLESS)
    # One less where a text began with a token that is put before each text.
    full = (sizes >= length - 1).nonzero().flatten().tolist()
    beyond, estimated = list[int](), False
    if full and not isinstance(tokenizer, UnitReader):
        firsts = [texts[row][:LETTERS_COUNTED] for row in full]
        seconds = () if pairs is None else ([pairs[row][:LETTERS_COUNTED] for row in full],)
        read = tokenizer(firsts, *seconds, verbose=False)["input_ids"]
        letters = [len(texts[row]) + (0 if pairs is None else len(pairs[row])) for row in full]
        parts = [sum(map(len, row)) for row in zip(firsts, *seconds, strict=True)]
        more = [total / max(part, 1) for total, part in zip(letters, parts, strict=True)]
        estimated = any(share > 1 for share in more)
        # What was read is counted, not what should have been: a limit below the special tokens cuts nothing.
        beyond = [
            max(round(share * (len(ids) - begins_twice(tokenizer, ids))) - int(sizes[row]), 0)
            for share, ids, row in zip(more, read, full, strict=True)
        ]
    unknown = -1 if tokenizer.unk_token_id is None else tokenizer.unk_token_id
    return Coverage(
        texts=len(texts),
        cut=sum(more > 0 for more in beyond),
        length=length,
        tokens=int(sizes.sum()),
        left_out=sum(beyond),
        unknown=int(((encoded.ids == unknown) & encoded.mask).sum()),
        estimated=estimated,
    )
