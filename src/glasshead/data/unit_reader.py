"""What takes the place of a tokenizer, before a model that reads no texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from glasshead.data.encoded import Encoded
from glasshead.errors import ParameterError
from glasshead.nouns import Nouns

NO_UNIT_LIMIT = 2**40


class UnitReader(ABC):
    """Cuts inputs into units, as a tokenizer cuts texts into tokens.

    It has no vocabulary: nothing is unknown to it, and it has no token that replaces a removed one.
    """

    unk_token_id: int | None = None
    mask_token_id: int | None = None
    cls_token_id: int | None = None
    sep_token_id: int | None = None
    pad_token_id: int | None = None
    unk_token: str | None = None
    mask_token: str | None = None
    pad_token: ClassVar[str | None] = None
    model_max_length = NO_UNIT_LIMIT
    nouns: ClassVar[Nouns]
    """What its inputs and units are called."""
    usual_blocks: ClassVar[int | None] = None
    """Into how many blocks in each direction an audit divides an input, where no one says."""
    usual_limit: ClassVar[int | None] = None
    """How many inputs an audit reads, where no one says; None: all."""
    reads_all: ClassVar[bool] = True
    """Whether nothing of an input is cut off, and no unit is unknown."""

    @abstractmethod
    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """Inputs in a form that this reader accepts: files are opened, folders become their contents.

        Raises:
            InputError: if a source is of another kind.
        """

    @abstractmethod
    def with_blocks(self, blocks: int | None) -> Self:
        """A reader with ``blocks`` blocks of units in each direction, which are removed as a whole."""

    def with_limit(self, max_length: int | None, blocks: int | None) -> Any:
        """A reader with this number of blocks in each direction (None: the usual number; 0: every unit is
        one).

        Raises:
            InputError: on a maximum length, which such inputs do not have.
        """
        if max_length is not None:
            raise ParameterError("max_length", "is for texts: all images have one size")
        return self.with_blocks(self.usual_blocks if blocks is None else blocks or None)

    @abstractmethod
    def cost_note(self, inputs: int, total: int) -> str | None:
        """What the default blocks and limit left out, and what everything would cost; None: nothing."""

    @abstractmethod
    def encode(self, inputs: Sequence[Any]) -> Encoded:
        """The units of inputs, and their places.

        Raises:
            InputError: if an input is of another kind, or cannot be read.
        """

    @abstractmethod
    def names(self, units: Sequence[int]) -> list[str]:
        """The names of units, by their places."""

    @abstractmethod
    def save_pretrained(self, folder: str | Path) -> None:
        """Save the reader with the model."""
