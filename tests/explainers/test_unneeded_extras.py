"""What a processor says of images may be left out only if it changes nothing for any of them."""

import copy
from dataclasses import replace

import pytest
import torch

from glasshead.data import reader_of
from glasshead.errors import InputError
from glasshead.huggingface.seeing_model import seeing_model
from glasshead.opening import OpenOptions, open_subject
from image_text_families import build, photo

pytestmark = pytest.mark.usefixtures("quiet")


def tilted_seeing(*masks):
    """A model whose logits are tilted by a mask, and one text with an image for each mask."""
    model, processor = build("llava")
    subject = open_subject(model, processor, OpenOptions(images=True))
    rows = [{"image": photo(), "text": "what is it ?"}]
    (text,) = reader_of(subject.tokenizer).inputs(rows)

    class Tilted(type(model)):
        def forward(self, input_ids=None, mm_encoder_outputs=None, tilt=None, **others):
            output = super().forward(input_ids=input_ids, mm_encoder_outputs=mm_encoder_outputs, **others)
            if tilt is not None:
                output.logits = output.logits + tilt.float().sum() * torch.arange(output.logits.shape[-1])
            return output

    own = copy.deepcopy(model)
    own.__class__ = Tilted
    images = [replace(text.images, pixels=text.images.pixels | {"tilt": mask[None]}) for mask in masks]
    return seeing_model(own, images)


def test_a_mask_that_changes_nothing_for_any_shape_is_left_out():
    assert tilted_seeing(torch.zeros(2), torch.zeros(3)).unneeded == {"tilt"}


def test_a_mask_that_matters_to_a_later_text_is_not_left_out():
    for masks in ((torch.zeros(2), torch.ones(3)), (torch.ones(2), torch.zeros(3))):
        with pytest.raises(InputError, match="explain them one by one"):
            tilted_seeing(*masks)
