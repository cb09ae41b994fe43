"""Grad-CAM: the feature maps of an image, weighted by how much the class's logit grows with each."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate, pad
from transformers import PreTrainedModel

from glasshead.data import EncodedImages, heads_of, layers_of
from glasshead.errors import InputError
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.explainers.targets import logit
from glasshead.huggingface import class_name, own_model
from glasshead.trace import FeatureMap, find_feature_maps, module_outputs, slopes_of

FEATURE_MAPS = "feature maps"
LITTLE, MOST = 0.01, 0.5
"""A place matters from this part of the largest slope on, and this part of the places are most of them."""


class GradCam(Explainer):
    """L = ReLU(Σ_c α_c A_c) with α_c = mean_{h,w} ∂z/∂A_c[h, w], A [c, h, w] a feature map and z the target's
    logit; the number of a patch is L there, interpolated where the map has another size.

    Which modules give feature maps, and how places of the image lie in them, is found by running the model
    (`glasshead.trace.find_feature_maps`). ``layer`` is the number of one of those that the whole prediction
    goes through (−1: the last), or the name of any module that gives one. For regions only those are
    numbered that mix places further on: in the others no place but its own matters to a region.
    """

    family = "gradients"
    description = "feature maps weighted by their mean gradients, positive part"
    citation = "Selvaraju et al. 2017"
    for_images = True
    reads_target_fn = False
    mirrors_classes = False

    def __init__(self, layer: int | str = -1) -> None:
        self.layer = layer

    def with_options(self, options: dict[str, float | str]) -> GradCam:
        layer = take_options(self.name, options, {"layer": None})["layer"]
        if not isinstance(layer, str) and not float(layer).is_integer():
            raise InputError(
                f"there is no feature map {layer:g}: give a whole number, or the name of a module"
            )
        return GradCam(layer if isinstance(layer, str) else int(layer))

    def signed(self, context: ExplanationContext) -> bool:
        return False

    def settings(self, context: ExplanationContext) -> str:
        own = self.choose(context)
        return f"the feature map of {own.layout.rows} × {own.layout.columns} that {own.name} gives"

    def caveat(self, context: ExplanationContext) -> str | None:
        is_empty = (self.importance(context) == 0).all(dim=1)
        if not is_empty.any():
            return None
        says = "nothing in the feature map supports the target, so all numbers are zero"
        if is_empty.all():
            return says
        return f"in {int(is_empty.sum())} of {context.encoded.nouns.count(len(is_empty))} {says}"

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        if self.name not in context.cache:
            context.cache[self.name] = self.compute(context)
        result: Tensor = context.cache[self.name]
        return result

    def compute(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        """The map of every image at its patches; zero at special tokens."""
        own, model, encoded = self.choose(context), context.model, context.encoded
        assert isinstance(encoded, EncodedImages)
        grid, result = encoded.grid, torch.zeros(encoded.mask.shape, dtype=context.logits.dtype)
        maps = heads_of(model.config) * layers_of(model.config)
        for rows, inputs in context.in_batches(maps):
            small = activation_map(model, own, inputs, context.target[rows])
            size = grid.rows, grid.columns
            parts = interpolate(small[:, None], size, mode="bilinear", antialias=True).flatten(1)
            result[rows] = pad(parts, (grid.special, 0)).cpu().to(result.dtype)
        return result

    def choose(self, context: ExplanationContext) -> FeatureMap:
        """The feature map that is read.

        Raises:
            InputError: on texts, a model without a feature map, or without this one.
        """
        if not isinstance(context.encoded, EncodedImages):
            raise InputError(
                f"{self.name!r} reads the feature maps of an image classifier, but these are "
                f"{context.encoded.nouns.texts}: use the method 'gradient'"
            )
        maps = feature_maps(context)
        through = [own for own in maps if own.is_bottleneck and own.is_read and own.tells_regions]
        if not through:
            regions = " before its places are mixed" if context.encoded.asks_region else ""
            raise InputError(
                f"{class_name(context.model)} has no feature map that its whole prediction goes through"
                f"{regions}: use the method 'gradient'"
            )
        if isinstance(self.layer, str):
            named = [own for own in maps if own.name == self.layer and own.is_read]
            if named:
                return named[-1]
            raise InputError(
                f"no module {self.layer[:60]!r} gives a feature map that the prediction depends on: try "
                f"{through[-1].name!r}"
            )
        if not -len(through) <= self.layer < len(through):
            raise InputError(
                f"there is no feature map {self.layer}: the prediction goes through {len(through)}, numbered "
                f"from 0 ({through[0].name}) to {len(through) - 1} ({through[-1].name})"
            )
        return through[self.layer]


def feature_maps(context: ExplanationContext) -> list[FeatureMap]:
    """The feature maps of the model, found once."""
    model = context.model
    assert isinstance(context.encoded, EncodedImages)
    asks_region = context.encoded.asks_region
    inputs = context.encoded.inputs(slice(0, 1), model.device)

    def predict(pixels: Tensor) -> Tensor:
        own = {name: values.expand(len(pixels), *values.shape[1:]) for name, values in inputs.items()}
        logits: Tensor = model(**own | {"pixel_values": pixels}).logits
        return logits

    def measure() -> list[FeatureMap]:
        maps = find_feature_maps(model, own_model(model), predict, inputs["pixel_values"])
        return with_regions(context, maps, inputs) if asks_region else maps

    if context.known is not None:
        return context.known.fact(model, FEATURE_MAPS, measure)
    if FEATURE_MAPS not in context.shared:
        context.shared[FEATURE_MAPS] = measure()
    maps: list[FeatureMap] = context.shared[FEATURE_MAPS]
    return maps


def with_regions(
    context: ExplanationContext, maps: list[FeatureMap], inputs: dict[str, Tensor]
) -> list[FeatureMap]:
    """Feature maps, and whether the logit of the first patch of an image of noise changes with most of their
    places. Behind the last layer that mixes places, a patch knows of its own place alone, and its map would
    be that of any other patch."""
    assert isinstance(context.encoded, EncodedImages)
    question = torch.zeros_like(inputs["question"])
    question[0, context.encoded.grid.special] = 1
    noise = torch.randn(inputs["pixel_values"].shape, generator=torch.Generator().manual_seed(0))
    asked = {"pixel_values": noise.to(inputs["pixel_values"]), "question": question}
    usable = [own for own in maps if own.is_bottleneck and own.is_read]
    telling = set()
    for own, (slope, _) in zip(
        usable, slopes_and_maps(context.model, usable, asked, torch.zeros(1, dtype=torch.long)), strict=True
    ):
        sizes = slope.abs().sum(dim=1)
        if (sizes > LITTLE * sizes.max()).float().mean() >= MOST:
            telling.add((own.name, own.call))
    return [replace(own, tells_regions=(own.name, own.call) in telling) for own in maps]


def activation_map(
    model: PreTrainedModel, own: FeatureMap, inputs: dict[str, Tensor], target: Tensor
) -> Float[Tensor, "b h w"]:
    """ReLU(Σ_c α_c A_c) of a batch, in the size of its feature map."""
    ((slope, output),) = slopes_and_maps(model, [own], inputs, target)
    return (slope.mean(dim=(2, 3), keepdim=True) * output).sum(dim=1).relu()


def slopes_and_maps(
    model: PreTrainedModel, maps: list[FeatureMap], inputs: dict[str, Tensor], target: Tensor
) -> list[tuple[Float[Tensor, "b c h w"], Float[Tensor, "b c h w"]]]:
    """∂z/∂A and A of feature maps, for a batch."""
    inputs = inputs | {"pixel_values": inputs["pixel_values"].detach().requires_grad_()}
    names = {own.name for own in maps}
    with torch.enable_grad(), module_outputs(own_model(model), lambda output: output, names) as outputs:
        logits = model(**inputs).logits
    tensors = [outputs[own.name, own.call] for own in maps]
    slopes = slopes_of(model, logit(logits, target.to(logits.device)).sum(), tensors)
    return [
        (own.layout.read(slope), own.layout.read(output.detach()))
        for own, slope, output in zip(maps, slopes, tensors, strict=True)
    ]


register("grad-cam", GradCam())
