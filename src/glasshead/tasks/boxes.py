"""A model that finds objects in an image, asked about one of its boxes: which class has what is there?"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, LoadOptions, batches
from glasshead.errors import InputError
from glasshead.huggingface import At, Inputs, PatchClassifier, Target, TaskModel, class_names
from glasshead.tasks.image_places import PlaceTask, mark
from glasshead.tasks.task import QUESTIONS, Chosen, Questions

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

NO_OBJECT = "no object"
"""What detectors call a box in which they find nothing."""
NO_DATA = "detectors are explained image by image: data of boxes are not supported"


class BoxClassifier(PlaceTask):
    """The class of one box: logits [b, K + 1] of one of the places at which a detector (a DETR, a YOLOS) may
    find something, the last one of no object.

    The ``question`` [b, n] marks the patches in the box by the number of its place, counted from 1. The place
    stays while parts of the image are erased, and what is found there may move.

    Source: Carion et al. (2020); as a question to explain, Chefer, Gur and Wolf (2021), section 4.3.
    """

    notes: tuple[str, ...] = ()
    """What a reader of explanations should know of this detector."""

    def __init__(self, model: PatchClassifier, rows: int, columns: int) -> None:
        config = copy.deepcopy(model.config)
        config.id2label = dict(enumerate([*class_names(model), NO_OBJECT]))
        super().__init__(model, rows, columns, config)

    def rebuild(self, config: PreTrainedConfig) -> BoxClassifier:
        """The questions, put to a model of another configuration, with new weights."""
        config = copy.deepcopy(config)
        names = [name for name in class_names(self) if name != NO_OBJECT]
        config.id2label = dict(enumerate(names))
        return BoxClassifier(self.model.rebuild(config), self.rows, self.columns)

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K + 1] of the boxes."""
        if question is None:
            raise ValueError("no question: name the box")
        logits: Tensor = self.model(**inputs).logits
        places = question.amax(dim=1) - 1
        return SequenceClassifierOutput(logits=logits[torch.arange(len(logits)), places.to(logits.device)])

    def ask_rows(self, inputs: Inputs, split: Dataset) -> NoReturn:
        """Not supported.

        Raises:
            InputError: always.
        """
        raise InputError(NO_DATA)

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about the box with the highest probability of the target, or of any class; ``at`` a row and a
        column ("3,5", from 1): of those around the middle of that patch.

        Raises:
            InputError: if there is no such patch, class or box, or the model finds nothing there.
        """
        number = None if target is None else self.number_of(target)
        patch = None if at is None else self.patch_at(at)
        question = torch.zeros_like(inputs.encoded.ids)
        for rows, own in batches(replace(inputs.encoded, question=None), device=self.model.device):
            with torch.no_grad():
                output = self.model(**own)
            found = zip(rows.tolist(), output.logits.cpu(), output.pred_boxes.cpu(), strict=True)
            for row, logits, boxes in found:
                place = self.choose(logits, boxes, number, patch, str(inputs.texts[row]))
                question[row, -self.patches :] = self.patches_in(boxes[place]).long() * (place + 1)
        return inputs._replace(encoded=mark(inputs.encoded, question)), target

    def choose(
        self,
        logits: Float[Tensor, "boxes k"],
        boxes: Float[Tensor, "boxes 4"],
        number: int | None,
        patch: int | None,
        image: str,
    ) -> int:
        """The number of the box in question.

        Raises:
            InputError: if no box is there, or the model finds nothing and no class is named.
        """
        around = torch.ones(len(boxes), dtype=torch.bool)
        if patch is not None:
            row, column = divmod(patch, self.columns)
            middle = torch.tensor([(column + 0.5) / self.columns, (row + 0.5) / self.rows])
            around = ((boxes[:, :2] - middle).abs() <= boxes[:, 2:] / 2).all(dim=1)
            if not around.any():
                raise InputError(f"no box of {image} is around row {row + 1}, column {column + 1}")
        classes = logits.softmax(dim=-1)
        sure = classes[:, :-1].amax(dim=1) if number is None else classes[:, number]
        place = int(sure.masked_fill(~around, -1.0).argmax())
        if number is None and int(classes[place].argmax()) == logits.shape[1] - 1:
            there = "" if patch is None else " there"
            raise InputError(f"the model finds nothing in {image}{there}: name the class that is explained")
        return place

    def patches_in(self, box: Float[Tensor, 4]) -> Bool[Tensor, " patches"]:
        """The patches whose middle is in a box (middle, width, height, in shares of the image); of a small
        one the nearest."""
        down, across = torch.meshgrid(
            (torch.arange(self.rows) + 0.5) / self.rows,
            (torch.arange(self.columns) + 0.5) / self.columns,
            indexing="ij",
        )
        off = (torch.stack([across, down], dim=-1) - box[:2]).abs()
        inside = (off <= box[2:] / 2).all(dim=-1).flatten()
        if not inside.any():
            inside[off.square().sum(dim=-1).argmin()] = True
        return inside

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """Rows and columns of the patches in the box."""
        assert encoded.question is not None
        inside = encoded.question[row, -self.patches :].reshape(self.rows, self.columns) > 0
        rows, columns = (inside.any(dim=axis).nonzero().flatten() + 1 for axis in (1, 0))
        ends = (f"{int(own[0])} to {int(own[-1])}" for own in (rows, columns))
        return "a box, rows {}, columns {}".format(*ends)


class Boxes(Questions):
    """Of a detector nothing is asked by data."""

    model = BoxClassifier

    def read(self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions) -> NoReturn:
        """Not supported.

        Raises:
            InputError: always.
        """
        raise InputError(NO_DATA)

    def texts(self, rows: Sequence[Any]) -> NoReturn:
        """Not supported."""
        raise InputError(NO_DATA)

    def draw(self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen) -> NoReturn:
        """Not supported."""
        raise InputError(NO_DATA)


QUESTIONS.register("boxes")(Boxes())
