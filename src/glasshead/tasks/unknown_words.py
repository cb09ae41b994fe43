"""Parts of an answer that a tokenizer replaces by its unknown token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transformers import PreTrainedTokenizerBase

from glasshead.data import offsets_of
from glasshead.huggingface import quote

MOST_NAMED = 3
MOST_LETTERS = 40
"""How many parts a note names, and letters of each."""


def unknown_notes(tokenizer: PreTrainedTokenizerBase, parts: Iterable[str]) -> tuple[str, ...]:
    """A note that names what the model does not know of an answer; none if it knows all."""
    parts = list(dict.fromkeys(parts))
    if not parts:
        return ()
    named = [quote(part[:MOST_LETTERS]) for part in parts[:MOST_NAMED]]
    more = [f"{len(parts) - MOST_NAMED} more"] if len(parts) > MOST_NAMED else []
    unknown = tokenizer.unk_token
    it, word = ("it", named[0]) if len(parts) == 1 else ("each", "these words")
    return (
        f"the model does not know {', '.join(named + more)} and reads {it} as {unknown}: "
        f"the scores explain the probability of {unknown} there, not of {word}",
    )


def unknown_parts(
    tokenizer: PreTrainedTokenizerBase, text: str, ids: Iterable[int], spans: Iterable[Sequence[int]]
) -> list[str]:
    """What a text has where tokens at these places are unknown."""
    places = (span for own, span in zip(ids, spans, strict=True) if own == tokenizer.unk_token_id)
    parts = (text[start:stop].strip() for start, stop in places)
    return [part for part in parts if part and part != tokenizer.unk_token]


def unknown_labels(tokenizer: PreTrainedTokenizerBase, answer: str, labels: Sequence[int]) -> list[str]:
    """The parts of an answer of which the ``labels`` are unknown; all of it where a tokenizer reads what is
    to be written differently from sources."""
    unknown = tokenizer.unk_token_id
    ids, spans = offsets_of(tokenizer, answer)
    if ids.count(unknown) == labels.count(unknown):
        return unknown_parts(tokenizer, answer, ids, spans)
    return unknown_parts(tokenizer, answer, labels, [(0, len(answer))] * len(labels))
