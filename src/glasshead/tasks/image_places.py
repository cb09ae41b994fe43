"""Models that are asked about a place in an image, which is some of its patches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig

from glasshead.data import Encoded, EncodedImages
from glasshead.errors import ParameterError, pluralise
from glasshead.huggingface import Inputs, PatchClassifier, TaskModel, class_names, place_of
from glasshead.registry import did_you_mean

PLACE = re.compile(r"\s*(\d+)\s*,\s*(\d+)\s*")
"""Row and column of a patch, counted from 1."""


class PlaceTask(TaskModel):
    """A model of images of so many ``rows`` and ``columns`` of patches, whose ``question`` [b, n] marks some
    of them."""

    main_input_name = "pixel_values"
    pairs = "none"
    explains_predicted = True
    asks_places = True

    def __init__(
        self, model: PatchClassifier, rows: int, columns: int, config: PreTrainedConfig | None = None
    ) -> None:
        super().__init__(model, config)
        self.rows, self.columns = rows, columns

    @property
    def patches(self) -> int:
        """How many patches an image has."""
        return self.rows * self.columns

    @property
    def reads_patches(self) -> bool:
        """True: a place is made of patches."""
        return True

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """About the place that is asked about unless one is named: of the named class, or of any."""
        if classes and len(classes) > 1:
            raise ParameterError("classes", "names several classes: give one")
        return self.ask(inputs, classes[0] if classes else None)[0].encoded

    def question_names(self, encoded: Encoded) -> list[str]:
        """The place of each image."""
        return [self.question_in_words(encoded, row, "") or "" for row in range(len(encoded.ids))]

    def number_of(self, target: int | str) -> int:
        """The number of a class, by its name or its number.

        Raises:
            InputError: if there is none.
        """
        names = class_names(self)
        number = place_of(target, names)
        if number is None:
            raise ParameterError("target", f"is {target!r}: {did_you_mean(str(target), names)}")
        return number

    def patch_at(self, at: int | str) -> int:
        """The number of a patch, row by row, from its row and column.

        Raises:
            ParameterError: if it has none, or they are not in the image.
        """
        place = PLACE.fullmatch(str(at))
        if place is None:
            raise ParameterError("at", f"is {str(at)!r}: give row and column of a patch, such as '3,5'")
        row, column = map(int, place.groups())
        if not (0 < row <= self.rows and 0 < column <= self.columns):
            both = f"{pluralise(self.rows, 'row')} and {pluralise(self.columns, 'column')}"
            raise ParameterError("at", f"is {str(at)!r}, but images have {both} of patches")
        return (row - 1) * self.columns + column - 1


def mark(encoded: Encoded, question: Int[Tensor, "b n"]) -> EncodedImages:
    """Images with a question about some of their patches."""
    assert isinstance(encoded, EncodedImages)
    return replace(encoded, question=question, asks_region=True)
