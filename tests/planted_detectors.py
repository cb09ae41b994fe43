"""A convolutional classifier of images that is made by hand: which colour a square in the image has, red or
blue. Its answer comes from the square alone."""

from typing import ClassVar

import numpy as np
import torch
from PIL import Image
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import ImageClassifierOutput, SemanticSegmenterOutput

CELLS, CELL = 6, 8
"""Rows and columns of places of a square, and its side in pixels."""
SIZE = CELLS * CELL


class DetectorConfig(PreTrainedConfig):
    model_type = "colour-detector"


class DetectorForImageClassification(PreTrainedModel):
    """Two filters of colours, a ReLU, a 3 × 3 mean, and the mean over the image."""

    config_class = DetectorConfig
    main_input_name = "pixel_values"
    all_tied_weights_keys: ClassVar[dict] = {}

    def __init__(self, config):
        super().__init__(config)
        self.colours = nn.Conv2d(3, 3, 4, stride=2, padding=1)
        self.activation = nn.ReLU()
        self.blur = nn.Conv2d(3, 3, 3, padding=1, groups=3, bias=False)
        self.classifier = nn.Linear(3, 2, bias=False)
        self.post_init()

    def forward(self, pixel_values):
        maps = self.blur(self.activation(self.colours(pixel_values)))
        return ImageClassifierOutput(logits=self.classifier(maps.mean(dim=(2, 3))))


def detector():
    """The classifier; a third filter, of grey, speaks for neither."""
    config = DetectorConfig(id2label={0: "red", 1: "blue"}, label2id={"red": 0, "blue": 1})
    model = DetectorForImageClassification(config).eval()
    with torch.no_grad():
        filters = torch.tensor([[1.0, -0.5, -0.5], [-0.5, -0.5, 1.0], [0.3, 0.3, 0.3]])
        model.colours.weight.copy_(filters[:, :, None, None].expand(3, 3, 4, 4) / 16)
        model.colours.bias.copy_(torch.tensor([-0.3, -0.3, 0.0]))
        model.blur.weight.fill_(1 / 9)
        model.classifier.weight.copy_(torch.tensor([[40.0, -40.0, 0.0], [-40.0, 40.0, 0.0]]))
    return model


class HalvesForSemanticSegmentation(DetectorForImageClassification):
    """Places in the left half are of the class 1 if there is red anywhere, in the right half if blue; a
    little speaks for it where the place itself is grey."""

    def __init__(self, config):
        super().__init__(config)
        self.classes = nn.Conv2d(2, 2, 1, bias=False)

    def forward(self, pixel_values):
        maps = self.blur(self.activation(self.colours(pixel_values)))
        red, blue, _ = maps.mean(dim=(2, 3), keepdim=True).split(1, dim=1)
        is_left = (torch.arange(maps.shape[3]) < maps.shape[3] // 2).float().expand_as(maps[:, :1])
        found = 40 * (is_left * red + (1 - is_left) * blue) + 10 * maps[:, 2:]
        return SemanticSegmenterOutput(logits=self.classes(torch.cat([-found, found], dim=1)))


def halves():
    """The segmenter, with the filters of the detector."""
    config = DetectorConfig(id2label={0: "nothing", 1: "square"})
    model = HalvesForSemanticSegmentation(config).eval()
    model.load_state_dict(detector().state_dict(), strict=False)
    nn.init.dirac_(model.classes.weight)
    return model


def image_with_squares(places, seed=0):
    """An image of grey noise with a square of each colour, by name, in the cell of that number."""
    noise = np.random.default_rng(seed).integers(90, 166, (SIZE, SIZE, 1), dtype=np.uint8)
    pixels = np.repeat(noise, 3, axis=2)
    for colour, place in places.items():
        row, column = divmod(place, CELLS)
        square = pixels[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
        square[:] = {"red": (255, 0, 0), "blue": (0, 0, 255)}[colour]
    return Image.fromarray(pixels)
