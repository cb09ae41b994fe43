"""Grad-CAM: numbers of the package pytorch-grad-cam for tiny classifiers of four families.

Their GradCAM was given the same module, and for tokens a function that puts them on their grid. `map` is
ReLU(Σ α A) of two images in the size of the feature map; `scaled` every eighth pixel of what they return for
the first: the map interpolated to the size of the image, its numbers from 0 to 1.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from glasshead.explainers import make_context
from glasshead.explainers.grad_cam import GradCam, activation_map
from glasshead.opening import open_subject
from image_families import pictures, processor
from image_table import build

AUTHORS = json.loads((Path(__file__).parent / "grad_cam_numbers.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", AUTHORS, ids=lambda case: case["layer"])
def test_the_map_is_that_of_pytorch_grad_cam(case):
    subject = open_subject(build(*case["family"]), processor(case["size"]))
    encoded = subject.tokenizer.encode(pictures(2, case["size"]))
    context = make_context(subject.model, encoded, subject.tokenizer, target=1)
    own = GradCam(case["layer"]).choose(context)
    maps = activation_map(subject.model, own, encoded.inputs(), context.target)
    size = np.abs(case["map"]).max()
    np.testing.assert_allclose(maps.numpy(), case["map"], rtol=0, atol=1e-5 * size)
    scaled = interpolate(maps[None, :1], (case["size"],) * 2, mode="bilinear")[0, 0]
    low, high = scaled.min(), scaled.max()
    np.testing.assert_allclose(((scaled - low) / (high - low))[::8, ::8], case["scaled"], atol=1e-5)


@pytest.mark.parametrize(
    ("family", "layer"),
    [
        (("resnet", "ResNetForImageClassification"), "resnet.encoder.stages.3"),
        (("convnext", "ConvNextForImageClassification"), "convnext.encoder.stages.3"),
        (("swin", "SwinForImageClassification"), "swin.layernorm"),
        (("vit", "ViTForImageClassification"), "vit.layers.0"),
    ],
    ids=lambda value: value[0],
)
def test_the_last_feature_map_is_found(family, layer):
    size = 128 if family[0] in ("resnet", "convnext") else 32
    subject = open_subject(build(*family), processor(size))
    context = make_context(
        subject.model, subject.tokenizer.encode(pictures(1, size)), subject.tokenizer, target=1
    )
    assert GradCam().choose(context).name == layer
    assert torch.is_grad_enabled()
