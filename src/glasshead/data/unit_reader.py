"""What stands where a tokenizer does, before a model that reads no texts."""

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

    It has no vocabulary: nothing is unknown to it, and no token of it stands for one that was removed.
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
    """Into how many blocks in each direction an audit divides an input, where nobody says."""
    usual_limit: ClassVar[int | None] = None
    """How many inputs an audit reads, where nobody says; None: all."""
    reads_all: ClassVar[bool] = True
    """Whether nothing of an input is cut off, and no unit is unknown."""

    @abstractmethod
    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """What somebody has, as this reads it: files are opened, folders are what they hold.

        Raises:
            InputError: if a source is of another kind.
        """

    @abstractmethod
    def with_blocks(self, blocks: int | None) -> Self:
        """A reader with so many blocks of units in each direction, which are taken out as a whole."""

    def with_limit(self, max_length: int | None, blocks: int | None) -> Any:
        """A reader with so many blocks in each direction (None: the usual number; 0: every unit is one).

        Raises:
            InputError: on a length to cut to, which such inputs do not have.
        """
        if max_length is not None:
            raise ParameterError("max_length", "is for texts: all images have one size")
        return self.with_blocks(self.usual_blocks if blocks is None else blocks or None)

    @abstractmethod
    def cost_note(self, inputs: int, total: int) -> str | None:
        """What was left out by the usual blocks and limit, and what all would cost; None: nothing."""

    @abstractmethod
    def encode(self, inputs: Sequence[Any]) -> Encoded:
        """The units of inputs, and where they stand.

        Raises:
            InputError: if an input is of another kind, or cannot be read.
        """

    @abstractmethod
    def names(self, units: Sequence[int]) -> list[str]:
        """What units are called, by their places."""

    @abstractmethod
    def save_pretrained(self, folder: str | Path) -> None:
        """Write what reads such inputs again beside a saved model."""
