"""What explanations and audits know of inputs of any kind: what is a unit, where it stands, how it goes.

`Encoded` has the tokens of texts; `glasshead.data.encoded_images` the patches of images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from glasshead.arrays import Flags
from glasshead.data.marks import Marks
from glasshead.nouns import TEXTS, Nouns

GIVEN_NUMBERS = "given"
"""The input of a model that is not a token of its texts."""
Unit = Literal["word", "token"]
"""What is one unit of a text."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Right-padded token ids; ``words`` is −1 on padding and special tokens, ``offsets`` are characters.

    ``types`` says which text of a pair a token belongs to, for models that use it; words and offsets of the
    second text count on from the first, as in `join_pair`. ``question`` holds the question at every token,
    for tasks with several questions (`glasshead.tasks`); ``asks_place``: it marks tokens, which therefore
    cannot be cut out. ``given`` is what a prediction depends on besides the tokens: numbers, such as those of
    other options, or the tokens of an answer. ``begins`` says which tokens begin a word.
    ``unit`` is what is removed as a whole: a token, or a word with all its pieces.
    ``needs_words``: the model cannot predict without words, so they are not cut out.
    ``one_length``: padding changes what the model predicts, so a batch holds texts of one length.
    """

    edits: ClassVar[tuple[str, ...]] = ("delete", "mask-token", "unknown-token", "mean-embedding")
    """The meanings of taking a unit out of the input itself; the first is the usual one."""
    nouns: ClassVar[Nouns] = TEXTS
    in_line: ClassVar[bool] = True
    """Whether units are words of a text, or pieces of them, one behind the other."""
    shows_halves: ClassVar[bool] = False
    """Whether weights of either sign are drawn by themselves."""

    ids: Int[Tensor, "texts tokens"]
    mask: Bool[Tensor, "texts tokens"]
    words: Int[np.ndarray, "texts tokens"]
    offsets: Int[np.ndarray, "texts tokens 2"]
    types: Int[Tensor, "texts tokens"] | None = None
    unit: Unit = "token"
    one_length: bool = False
    question: Int[Tensor, "texts tokens"] | None = None
    asks_place: bool = False
    needs_words: bool = False
    given: Float[Tensor, "texts numbers"] | Int[Tensor, "texts numbers"] | None = None
    begins: Flags | None = None

    @property
    def asks_each(self) -> bool:
        """Whether each input has a question of its own."""
        return self.question is not None or self.given is not None

    @property
    def removals(self) -> tuple[str, ...]:
        """Those that these inputs allow; where words cannot be cut out, the average replaces them."""
        return (*reversed(self.edits[1:]),) if self.asks_place or self.needs_words else self.edits

    @property
    def erasure(self) -> str:
        """The usual method that removes a unit from the input itself."""
        return f"erasure-{self.removals[0]}"

    def inputs(
        self, rows: slice | Tensor = slice(None), device: torch.device | str = "cpu"
    ) -> dict[str, Tensor]:
        """The inputs of the model for some of the texts."""
        inputs = {"input_ids": self.ids[rows], "attention_mask": self.mask[rows].long()}
        if self.types is not None:
            inputs["token_type_ids"] = self.types[rows]
        if self.question is not None:
            inputs["question"] = self.question[rows]
        if self.given is not None:
            inputs[GIVEN_NUMBERS] = self.given[rows]
        return {name: tensor.to(device) for name, tensor in inputs.items()}

    @staticmethod
    def cut(inputs: dict[str, Tensor], length: int) -> dict[str, Tensor]:
        """Inputs without the padding beyond a length."""
        return {
            name: tensor if name == GIVEN_NUMBERS else tensor[:, :length] for name, tensor in inputs.items()
        }

    def take(self, rows: slice | np.ndarray | Int[Tensor, " rows"]) -> Self:
        """Some of the texts; one may occur several times."""
        places = rows.numpy() if isinstance(rows, Tensor) else rows
        return replace(
            self,
            ids=self.ids[rows],
            mask=self.mask[rows],
            words=self.words[places],
            offsets=self.offsets[places],
            types=None if self.types is None else self.types[rows],
            question=None if self.question is None else self.question[rows],
            given=None if self.given is None else self.given[rows],
            begins=None if self.begins is None else self.begins[places],
        )

    def some(self, rows: slice | np.ndarray) -> Self:
        """Some of the texts, padded to the longest of them."""
        taken = self.take(rows)
        longest = max(int(taken.mask.sum(dim=1).max()) if len(taken.mask) else 0, 1)
        return replace(
            taken,
            ids=taken.ids[:, :longest],
            mask=taken.mask[:, :longest],
            words=taken.words[:, :longest],
            offsets=taken.offsets[:, :longest],
            types=None if taken.types is None else taken.types[:, :longest],
            question=None if taken.question is None else taken.question[:, :longest],
            begins=None if taken.begins is None else taken.begins[:, :longest],
        )

    @classmethod
    def joined(cls, texts: Sequence[Self]) -> Self:
        """Texts that were read one by one, padded to the longest."""

        def padded(name: str, value: float) -> Any:
            own = [torch.as_tensor(getattr(text, name)) for text in texts]
            return pad_sequence([one[0] for one in own], batch_first=True, padding_value=value)

        first, given = texts[0], {"ids": padded("ids", 0), "mask": padded("mask", 0)}
        given |= {name: padded(name, value).numpy() for name, value in (("words", -1), ("offsets", 0))}
        given |= {name: padded(name, 0) for name in ("types", "question") if getattr(first, name) is not None}
        if first.begins is not None:
            given["begins"] = padded("begins", 0).numpy()
        return replace(first, **given)

    @cached_property
    def owner(self) -> Int[Tensor, "texts tokens"]:
        """The first of the tokens that are removed together with each token: the token itself, or the first
        piece of its word."""
        places = np.broadcast_to(np.arange(self.ids.shape[1]), self.words.shape)
        if self.unit == "token":
            return torch.from_numpy(places.copy())
        before = np.concatenate([np.full((len(self.words), 1), -1), self.words[:, :-1]], axis=1)
        begins = (self.words < 0) | (self.words != before)
        return torch.from_numpy(np.maximum.accumulate(np.where(begins, places, 0), axis=1))

    @property
    def has_larger_units(self) -> bool:
        """Whether some unit is several tokens."""
        return bool((self.owner != torch.arange(self.ids.shape[1])).any())

    @property
    def leads(self) -> Bool[Tensor, "texts tokens"]:
        """Which tokens represent their unit."""
        return self.mask & (self.owner == torch.arange(self.ids.shape[1]))

    @property
    def shares(self) -> Float[Tensor, "texts tokens"]:
        """The part of each token in its unit: 1 where units are tokens."""
        sizes = torch.zeros(self.ids.shape).scatter_add(1, self.owner, self.mask.float())
        return self.mask / sizes.gather(1, self.owner).clamp(min=1)

    def sum_units(self, values: np.ndarray) -> np.ndarray:
        """Numbers of tokens [texts, tokens], added up where each unit begins; zeros elsewhere."""
        if not self.has_larger_units:
            return values
        owner = self.owner.numpy()
        sums = np.zeros(values.shape, dtype=np.result_type(values, np.float32))
        np.add.at(sums, (np.arange(len(values))[:, None], owner), np.where(self.mask.numpy(), values, 0))
        return sums

    def whole_units(
        self, removed: Bool[Tensor, "variants tokens"], texts: Int[Tensor, " variants"]
    ) -> Tensor:
        """Sets of tokens of some texts, with all tokens of the units that they touch."""
        owner = self.owner[texts, : removed.shape[1]]
        touched = torch.zeros_like(removed).scatter_reduce(1, owner, removed, "amax", include_self=False)
        return touched.gather(1, owner)

    def neighbours(self, words: Int[np.ndarray, " n"]) -> dict[str, Int[np.ndarray, " n"]]:
        """The place of each word's neighbour, by direction; −1 if there is none."""
        order = np.arange(len(words))
        return {"previous": order - 1, "next": np.append(order[1:], -1), "itself": order}

    def distances(self, words: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n n"]:
        """The distance between two tokens, in tokens."""
        order = np.arange(len(words), dtype=float)
        return np.abs(order - order[:, None])

    def baseline(self, token: int) -> Encoded:
        """Empty texts of the same length: this token in place of every word; special tokens stay."""
        words = self.mask & torch.from_numpy(self.words >= 0)
        return replace(self, ids=self.ids.masked_fill(words, token))

    def find_marked(self, texts: Sequence[Any], marks: Sequence[Any]) -> Bool[np.ndarray, "texts tokens"]:
        """Which tokens share a character with a mark of their text."""
        return find_marked_tokens(texts, marks, self.offsets)

    def in_image(self, row: int) -> Bool[np.ndarray, " tokens"]:
        """Which tokens of a text are image tokens."""
        return np.zeros(self.ids.shape[1], dtype=bool)

    def adjacent_parts(self, row: int) -> Bool[np.ndarray, "parts parts"] | None:
        """Which parts of the image of a text share an edge; None where that is not known."""
        return None

    def name_tokens(self, row: int, names: Sequence[str]) -> list[str]:
        """The names of the tokens of a text, from the tokenizer."""
        return list(names)

    def drawing(self, index: int, text: str) -> dict[str, Any]:
        """What an attribution needs to be drawn, besides its text or in place of it."""
        return {}


def find_marked_tokens(texts: Sequence[str], marks: Sequence[Marks], offsets: NDArray[np.int64]) -> Flags:
    """Which tokens share a character with a mark of their text [N, n], from their ``offsets`` [N, n, 2]."""
    lengths = np.array([len(text) + 1 for text in texts])
    starts = lengths.cumsum() - lengths  # of each text, where all stand one behind the other
    spans = np.array(
        [
            (starts[text] + start, starts[text] + end)
            for text, own in enumerate(marks)
            for start, end in own or []
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    size = int(lengths.sum()) + 1
    opened, closed = (np.bincount(spans[:, side], minlength=size) for side in (0, 1))
    inside = (opened - closed).cumsum() > 0
    before = np.concatenate([[0], inside.cumsum()])  # marked characters before each place
    first, last = np.moveaxis(offsets + starts[:, None, None], -1, 0)
    return np.asarray(before[last] > before[first])
