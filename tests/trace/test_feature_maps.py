"""Feature maps are found by running a model: all that it predicts went through them, place by place."""

from functools import partial

import pytest
import torch
from torch import nn

from glasshead.trace import find_feature_maps, module_outputs
from image_families import SIZE, image_model
from image_table import build

PIXELS = torch.zeros(1, 3, 32, 32)


def maps_of(network, pixels=PIXELS):
    return find_feature_maps(network, network, lambda images: predict(network, images), pixels)


def predict(network, images):
    output = network(images)
    return getattr(output, "logits", output)


FAMILIES = {
    "resnet": partial(build, "resnet", "ResNetForImageClassification"),
    "swin": partial(build, "swin", "SwinForImageClassification"),
    "vit": image_model,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_gradient_reaches_the_image_around_a_bottleneck(family):
    """The slow, obvious twin: without the gradient of that output none is left."""
    model, size = FAMILIES[family](), SIZE if family == "vit" else 32
    found = maps_of(model, torch.zeros(1, 3, size, size))
    assert {own.is_bottleneck for own in found} == {True, False}
    for own in found:
        pixels = torch.randn(1, 3, size, size, requires_grad=True)
        calls = iter(range(100))

        def without_gradient(module, args, output, number=own.call, calls=calls):
            if next(calls) != number:
                return output
            return (output[0].detach(), *output[1:]) if isinstance(output, tuple) else output.detach()

        hook = model.get_submodule(own.name).register_forward_hook(without_gradient)
        logits = predict(model, pixels)
        hook.remove()
        reaches = logits.requires_grad and (
            torch.autograd.grad(logits.sum(), pixels, allow_unused=True)[0] is not None
        )
        assert reaches is not own.is_bottleneck, own
    assert not any(module._forward_hooks for module in model.modules())


class Parts(nn.Module):
    """One of the two maps that a convolution is split into, and the prediction reads ``read`` of them."""

    def __init__(self, read):
        super().__init__()
        torch.manual_seed(0)
        self.vectors, self.first, self.read = nn.Conv2d(3, 16, 4, 4), First(), read
        self.head = nn.Linear(8, 3)

    def forward(self, images):
        parts = self.first(self.vectors(images))
        return self.head(sum(parts[: self.read]).mean((2, 3)))


class First(nn.Module):
    def forward(self, maps):
        return maps.chunk(2, 1)


@pytest.mark.parametrize("read", [1, 2])
def test_one_of_several_parts_is_no_bottleneck_if_others_are_read(read):
    found = {own.name: own.is_bottleneck for own in maps_of(Parts(read))}
    assert found == {"vectors": True, "first": read == 1}


class Places(nn.Module):
    """A convolution whose places are put elsewhere, and the mean over them."""

    def __init__(self, change):
        super().__init__()
        torch.manual_seed(0)
        self.vectors, self.change, self.places = nn.Conv2d(3, 8, 4, 4), change, nn.Tanh()
        self.head = nn.Linear(8, 3)

    def forward(self, images):
        maps = self.places(self.change(self.vectors(images)))
        axes = {4: (1, 2) if maps.shape[-1] == 8 else (2, 3), 3: (1,)}[maps.ndim]
        return self.head(maps.mean(axes))


SHUFFLED = torch.randperm(64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("change", "layout"),
    [
        (lambda maps: maps + 0, (8, 8, None, 1)),
        (lambda maps: maps.movedim(1, -1) + 0, (8, 8, None, -1)),
        (lambda maps: maps.flatten(2).mT + 0, (8, 8, 0, -1)),
        (lambda maps: nn.functional.pad(maps.flatten(2).mT, (0, 0, 3, 0)), (8, 8, 3, -1)),
        (lambda maps: maps.flatten(2).mT[:, SHUFFLED], None),
        (lambda maps: maps.mean(dim=(2, 3), keepdim=True).expand_as(maps) + 0, None),
    ],
    ids=["channels first", "channels last", "tokens", "special tokens", "shuffled places", "one for all"],
)
def test_how_places_lie_is_measured(change, layout):
    found = {own.name: own for own in maps_of(Places(change))}
    assert ("places" in found) is (layout is not None)
    if layout is not None:
        own = found["places"].layout
        assert (own.rows, own.columns, own.special, own.channels) == layout
        images = torch.randn(2, 3, 32, 32)
        model = Places(change)
        with module_outputs(model, lambda output: output) as outputs:
            model(images)
        torch.testing.assert_close(own.read(outputs["places", 0]), outputs["vectors", 0].tanh())


def test_an_image_that_is_no_square_keeps_its_rows():
    (own,) = [one for one in maps_of(Places(lambda maps: maps.flatten(2).mT), torch.zeros(1, 3, 16, 64))
              if one.name == "places"]  # fmt: skip
    assert (own.layout.rows, own.layout.columns) == (4, 16)
