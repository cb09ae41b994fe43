"""How words become tokens, pair by pair."""

from collections.abc import Iterator
from dataclasses import dataclass

WordTokens = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Merge:
    """A pair that became a token, how often it occurred in the words, and the tokens of every word after
    the merge."""

    pair: tuple[str, str]
    count: int
    words: WordTokens

    @property
    def token(self) -> str:
        """The new token."""
        return "".join(self.pair)


@dataclass(frozen=True)
class MergeTrace:
    """Different words as characters, how often each occurs, and one merge after the other."""

    words: WordTokens
    counts: tuple[int, ...]
    merges: tuple[Merge, ...]

    @property
    def lines(self) -> Iterator[str]:
        """The trace in words, a line for each merge."""
        yield f"start: {in_tokens(self.words)}"
        for number, merge in enumerate(self.merges, start=1):
            first, second = merge.pair
            yield f"{number}. {first} + {second} ({merge.count}×): {in_tokens(merge.words)}"


def in_tokens(words: WordTokens) -> str:
    """Words with a bar between their tokens."""
    return "  ".join("|".join(tokens) for tokens in words)
