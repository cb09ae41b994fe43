"""Where the pieces of a tokenizer come from in a text, for those in Python, which do not say.

A tokenizer changes a text before it divides it: it lowers cases, strips accents, writes blanks as ▁. So
letters are compared without case and in compatibility form (NFKD), and blanks and the marks of pieces (##,
@@, ▁) are left out. Where text and pieces differ, both are skipped up to the next few letters that agree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.utils import logging

from glasshead.errors import InputError

Span = tuple[int, int]
Spelling = Literal["characters", "bytes"]

PREFIXES = ("##",)
SUFFIXES = ("@@", "</w>")
BLANK = "▁"
"""What marks the inside of a word, its end, and a blank."""
AGREE = 4
"""Letters that have to agree after a difference."""
SAMPLE = "A text with 5 words."
MOST_SKIPPED = 16
"""Pieces that are skipped at most to find such letters."""
AHEAD = MOST_SKIPPED + AGREE + 1
"""Pieces behind a place that are read to find it."""
FARTHEST = 2048
"""Letters of the text that are skipped at most."""
BYTES = 0xF0000
"""Where bytes of characters beyond ASCII stand among letters: apart from all that texts have."""


@dataclass(frozen=True)
class Pieces:
    """The tokens of a text or a pair, with what `tokenizers.Encoding` says of them."""

    ids: Sequence[int]
    type_ids: Sequence[int]
    offsets: Sequence[Span]
    sequence_ids: Sequence[int | None]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def word_ids(self) -> Sequence[int | None]:
        """White space alone divides words, so each text is one until it is divided (`word_places`)."""
        return [None if which is None else 0 for which in self.sequence_ids]


def has_places(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether tokens of this tokenizer can be found in a text: it knows where they are, or reads texts as all
    tokenizers in Python do."""
    if isinstance(tokenizer, PreTrainedTokenizerFast):
        return True
    try:
        usual = tokenizer(SAMPLE, truncation=True, verbose=False)["input_ids"]
        return list(read_pieces(tokenizer, SAMPLE).ids) == list(usual)
    except Exception:  # tables, entities and other inputs that are no texts: they break in every way there is
        return False


def offsets_of(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[list[int], list[Span]]:
    """All tokens of a text with those around it, and the characters of each, blanks included where the
    tokenizer includes them."""
    if isinstance(tokenizer, PreTrainedTokenizerFast):
        read = tokenizer(text, return_offsets_mapping=True, truncation=False, verbose=False)
        return list(read["input_ids"]), [(int(start), int(stop)) for start, stop in read["offset_mapping"]]
    row = read_pieces(tokenizer, text, None, truncation=False)
    return list(row.ids), list(row.offsets)


def read_pieces(
    tokenizer: PreTrainedTokenizerBase, text: str, pair: str | None = None, *, truncation: bool = True
) -> Pieces:
    """A text, or a pair, as the tokenizer reads and cuts it, with the places of its pieces.

    Raises:
        InputError: if the tokenizer reads texts in a way of its own.
    """
    texts = [text] if pair is None else [text, pair]
    tokens = [tokenizer.tokenize(each) for each in texts]
    numbers: list[list[int]] = [tokenizer.convert_tokens_to_ids(some) for some in tokens]  # type: ignore[misc]
    row = put_together(tokenizer, numbers, truncation=truncation)
    # The same with the place of each piece instead of its number says which were kept, and where. A special
    # token that ends a text keeps its number: ByT5 ends a text only if it does not end already.
    ends = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    sources = [(which, place) for which, some in enumerate(numbers) for place in range(len(some))]
    marked, behind = [], 0
    for some in numbers:
        marked.append([n if n in ends else -1 - behind - place for place, n in enumerate(some)])
        behind += len(some)
    placed = put_together(tokenizer, marked, truncation=truncation)["input_ids"]
    kept = [sources[-1 - place] for place in placed if place < 0]
    spelling = spelling_of(tokenizer)
    spans = []
    for number, (each, read) in enumerate(zip(texts, tokens, strict=True)):
        last = max((place for which, place in kept if which == number), default=-1)
        spans.append(align(each, read[: last + 1 + AHEAD], spelling))  # of a long text most are cut away
    offsets: list[Span] = []
    which_text: list[int | None] = []
    for number, place in zip(row["input_ids"], placed, strict=True):
        which, at = sources[-1 - place] if place < 0 else (None, 0)
        if which is not None and numbers[which][at] != number:
            raise InputError(f"{type(tokenizer).__name__} reads the same text in two ways: use another one")
        offsets.append((0, 0) if which is None else spans[which][at])
        which_text.append(which)
    types = row.get("token_type_ids", [0] * len(offsets))
    return Pieces(row["input_ids"], types, offsets, which_text)


def put_together(
    tokenizer: PreTrainedTokenizerBase, numbers: Sequence[list[int]], *, truncation: bool
) -> dict[str, list[int]]:
    """Tokens of a text or a pair, cut and with special tokens around, as a call of the tokenizer does it."""
    logger = logging.get_logger("transformers.tokenization_python")
    level = logger.level
    logger.setLevel(logging.ERROR)  # of each pair that is cut it says that it does not return the rest
    try:
        # A copy of each: some tokenizers write into what they are given.
        read = tokenizer.prepare_for_model(*map(list, numbers), truncation=truncation, verbose=False)
    finally:
        logger.setLevel(level)
    return dict(read)


def spelling_of(tokenizer: PreTrainedTokenizerBase) -> Spelling:
    """Whether tokens are written as characters, or as bytes (those of ByT5)."""
    return "bytes" if "".join(tokenizer.tokenize("é")) == "é".encode().decode("latin-1") else "characters"


def align(text: str, tokens: Sequence[str], spelling: Spelling = "characters") -> list[Span]:
    """The characters of a text that each token is made of, from left to right; a token that has none stands
    between two, and tokens that replace a part of the text share it."""
    letters, places = spell_out(text, spelling)
    prefixes, suffixes = ([mark for mark in marks if mark not in text] for marks in (PREFIXES, SUFFIXES))
    blank = BLANK if BLANK in text else " "
    written = (surface(token, prefixes, suffixes, blank) for token in tokens)
    pieces = [spell_out(token, spelling, is_token=True)[0] for token in written]
    if not any(map(unicodedata.combining, "".join(pieces))):  # accents are stripped
        kept = [index for index, letter in enumerate(letters) if not unicodedata.combining(letter)]
        letters, places = "".join(letters[index] for index in kept), [places[index] for index in kept]
    spans: list[Span | None] = [None] * len(tokens)
    at, index = 0, 0
    while index < len(pieces):
        piece = pieces[index]
        if piece and letters.startswith(piece, at):
            spans[index] = places[at][0], places[at + len(piece) - 1][1]
            at += len(piece)
            index += 1
            continue
        if not piece:
            index += 1
            continue
        nearest, until = resume(letters, at, pieces, index)
        share(text, places[at:nearest], [n for n in range(index, until) if pieces[n]], spans)
        at, index = nearest, until
    return fill(spans)


def surface(token: str, prefixes: Sequence[str], suffixes: Sequence[str], blank: str) -> str:
    """What a token writes of a text, without the marks that the text does not have."""
    for prefix in prefixes:
        if len(token) > len(prefix):
            token = token.removeprefix(prefix)
    for suffix in suffixes:
        token = token.removesuffix(suffix)
    return token.replace(BLANK, blank)


def spell_out(text: str, spelling: Spelling, *, is_token: bool = False) -> tuple[str, list[Span]]:
    """The letters of a text as they are compared, without blanks, and the character that each comes from."""
    letters, places = [], []
    for index, character in enumerate(text):
        if spelling == "bytes" and not character.isascii():
            written = character if is_token else character.encode(errors="surrogatepass").decode("latin-1")
            own = [chr(BYTES + ord(byte)) for byte in written]
        else:
            own = [each for each in unicodedata.normalize("NFKD", character.casefold()) if not each.isspace()]
        letters += own
        places += [(index, index + 1)] * len(own)
    return "".join(letters), places


def resume(letters: str, at: int, pieces: Sequence[str], index: int) -> tuple[int, int]:
    """Where text and pieces agree again: a letter, and a piece behind ``index``; the ends if they do not."""
    best, found = (len(letters), len(pieces)), FARTHEST
    skipped = 0
    for until in range(index, min(index + MOST_SKIPPED, len(pieces)) + 1):
        ahead = "".join(pieces[until : until + AGREE + 1])
        if not ahead:
            break
        is_end = len(ahead) < AGREE
        if is_end:
            place = len(letters) - len(ahead) if letters.endswith(ahead) else -1
        else:
            place = letters.find(ahead[:AGREE], at, at + found + AGREE)
        if place >= at and place - at + skipped < found and pieces[until]:
            best, found = (place, until), place - at + skipped
        skipped += len(pieces[until])
    if found == FARTHEST and index + MOST_SKIPPED < len(pieces):
        return at, index + MOST_SKIPPED  # nothing near: these have no place, and the search goes on
    return best


def share(text: str, gap: Sequence[Span], tokens: Sequence[int], spans: list[Span | None]) -> None:
    """Give a part of a text to the tokens that replace it: a word to each if there are as many, else all."""
    if not gap or not tokens:
        return
    start, stop = gap[0][0], gap[-1][1]
    words = list(words_within(text, start, stop))
    if len(words) == len(tokens):
        for token, word in zip(tokens, words, strict=True):
            spans[token] = word
        return
    for token in range(tokens[0], tokens[-1] + 1):
        spans[token] = start, stop


def words_within(text: str, start: int, stop: int) -> Iterator[Span]:
    """The words of a part of a text, between white space."""
    at = start
    for word in text[start:stop].split():
        at = text.index(word, at)
        yield at, at + len(word)
        at += len(word)


def fill(spans: Sequence[Span | None]) -> list[Span]:
    """Tokens without a place stand where the one before them ends."""
    filled: list[Span] = []
    for span in spans:
        end = filled[-1][1] if filled else 0
        filled.append((end, end) if span is None else span)
    return filled
