"""A model that gives every pixel of an image a class, asked about a region: which class has it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, interpolate, one_hot
from transformers import PreTrainedConfig, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.arrays import Integers
from glasshead.data import (
    NO_CLASS,
    Encoded,
    EncodedImages,
    LoadOptions,
    PatchGrid,
    SegmentedImage,
    batches,
    read_segmented,
)
from glasshead.errors import InputError
from glasshead.huggingface import At, Inputs, Target, TaskModel, class_names
from glasshead.tasks.image_places import PlaceTask, mark
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PATCH = "patch"
"""The column of the patch that a row is asked about, row by row."""


class RegionClassifier(PlaceTask):
    """The class of a region of an image: logits [b, K], z_k = mean of the model's logits of class k over the
    pixels of the patches where the ``question`` [b, n] is 1.

    By default the region is what the model assigns to one class: the target, or else the class that covers
    most of the image.

    Source: Vinogradova, Dibrov and Myers (2020), section 3.
    """

    def rebuild(self, config: PreTrainedConfig) -> RegionClassifier:
        """The questions for a model of another configuration, with new weights."""
        model: Any = self.model
        return RegionClassifier(model.rebuild(config), self.rows, self.columns)

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] of the classes of the regions."""
        if question is None:
            raise ValueError("no question: name the region")
        patches = self.patch_logits(inputs)
        asked = question[:, -patches.shape[2] :].to(patches)[:, None]
        return SequenceClassifierOutput(logits=(patches * asked).sum(dim=2) / asked.sum(dim=2))

    def patch_logits(self, inputs: dict[str, Tensor]) -> Float[Tensor, "b k patches"]:
        """The mean logits of the pixels of each patch; the map of the model is scaled to the pixels."""
        maps: Tensor = self.model(**inputs).logits
        pixels = interpolate(maps, inputs["pixel_values"].shape[2:], mode="bilinear", align_corners=False)
        return adaptive_avg_pool2d(pixels, (self.rows, self.columns)).flatten(2)

    def about(self, encoded: Encoded, patches: Bool[Tensor, "images patches"]) -> Encoded:
        """Inputs, each asked about some of its patches."""
        question = torch.zeros_like(encoded.ids)
        question[:, -self.patches :] = patches.long()
        return mark(encoded, question)

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Ask about the patch of each row of a split; if rows name none, about the largest region."""
        if PATCH not in split.column_names:
            return self.ask_usual(inputs)
        return self.about(inputs.encoded, one_hot(torch.tensor(split[PATCH][:]), self.patches).bool())

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about the patch ``at`` a row and a column ("3,5", from 1); by default, about all patches that
        the model assigns to the target, or to the class that covers most of the image. The prediction for a
        patch is the class with the largest mean logit.

        Raises:
            InputError: if there is no such patch or class, or an image has nothing of the class.
        """
        if at is not None:
            places = torch.full((len(inputs.texts),), self.patch_at(at))
            patches = one_hot(places, self.patches).bool()
            return inputs._replace(encoded=self.about(inputs.encoded, patches)), target
        predicted = self.predict_patches(inputs.encoded)
        own = predicted.mode(dim=1).values if target is None else torch.tensor(self.number_of(target))
        patches = predicted == own.reshape(-1, 1)
        without = (~patches.any(dim=1)).nonzero().flatten().tolist()
        if without:
            name = str(inputs.texts[without[0]])
            of = f" of image {without[0] + 1} ({name})" if len(inputs.texts) > 1 else ""
            raise InputError(
                f"the model predicts no patch{of} as {target!r}: name another class, or one patch, or leave "
                "the image out"
            )
        return inputs._replace(encoded=self.about(inputs.encoded, patches)), target

    @torch.no_grad()
    def predict_patches(self, encoded: Encoded) -> Int[Tensor, "images patches"]:
        """The class of each patch of images."""
        found = torch.zeros(len(encoded.ids), self.patches, dtype=torch.long)
        for rows, inputs in batches(replace(encoded, question=None), device=self.model.device):
            found[rows] = self.patch_logits(inputs).argmax(dim=1).cpu()
        return found

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The patch, or the number of patches."""
        assert encoded.question is not None
        assert isinstance(encoded, EncodedImages)
        patches = encoded.question[row, encoded.grid.special :].nonzero()[:, 0].tolist()
        if len(patches) == 1:
            row, column = divmod(patches[0], self.columns)
            return f"row {row + 1}, column {column + 1}"
        return f"{len(patches):,} of {self.patches:,} patches"


DRAWN = "each image is about one patch, drawn at random: each class in the image is equally likely"


class Regions(Questions):
    """Which class has a region of an image?"""

    model = RegionClassifier

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[SegmentedImage]:
        """Images with masks."""
        return read_segmented(source, split, options)

    def texts(self, rows: Sequence[SegmentedImage]) -> tuple[list[Any], None]:
        """The images."""
        return [one.image for one in rows], None

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """A patch of each image, and the class of most of its pixels as the label.

        Raises:
            InputError: if a mask cannot be read, or no image has a patch with a class of the model.
        """
        assert isinstance(model, RegionClassifier)
        reader: Any = tokenizer
        names, asked = class_names(model), {}
        for row, one in enumerate(chosen.rows):
            classes = one.classes(reader.processor, reader.grid.height, reader.grid.width)
            if (unknown := np.setdiff1d(classes, [*range(len(names)), NO_CLASS])).size:
                raise InputError(
                    f"the mask {one.mask} has the class {unknown[0]}, and the model has classes 0 to "
                    f"{len(names) - 1}"
                )
            of_patches = patch_classes(classes, reader.grid, len(names))
            present = np.unique(of_patches[of_patches >= 0])
            if present.size:
                random = chosen.random(row)
                patch = int(random.choice(np.flatnonzero(of_patches == random.choice(present))))
                cell = {"bytes": one.image.content, "path": one.image.name}
                asked[row] = {"image": cell, "label": int(of_patches[patch]), PATCH: patch}
        return question_rows(names, chosen, asked, DRAWN, "a patch with a class")


def patch_classes(classes: Integers, grid: PatchGrid, count: int) -> Integers:
    """The class of most pixels of each patch; −1 where most pixels have none."""
    found = []
    for patch in range(grid.rows * grid.columns):
        left, top, right, bottom = grid.box(patch)
        own = np.bincount(classes[top:bottom, left:right].ravel(), minlength=NO_CLASS + 1)
        most = int(own.argmax())
        found.append(most if most < count else -1)
    return np.array(found)


QUESTIONS.register("regions")(Regions())
