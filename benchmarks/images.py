"""What it costs to look into a ViT of 12 layers, 12 heads and 197 tokens, beside its bare forward pass.

    python -m benchmarks.images

A random ViT-B/16 classifies an image of 224 × 224 pixels. All maps of all layers are recorded in one pass;
explanations are those of `glasshead.explain` by a model that was opened before, with the image read and its
numbers in a table. All alternate within one run; a ratio is the median over rounds, with the least and the
largest.

Goal: at most 3 × the bare pass for all maps.
"""

import copy
from collections.abc import Callable

import numpy as np
import torch
from PIL import Image
from transformers import ViTConfig, ViTForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import glasshead
from benchmarks.measuring import Spread, print_table, ratios, time_interleaved

ROUNDS = 7
BARE = "bare forward pass"


def main() -> None:
    torch.manual_seed(0)
    model = ViTForImageClassification(ViTConfig(num_labels=10)).eval()
    plugged = glasshead.plug(copy.deepcopy(model), "softmax")
    processor = ViTImageProcessorPil()
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    values = processor(image, return_tensors="pt")["pixel_values"]

    def bare() -> None:
        with torch.inference_mode():
            model(pixel_values=values)

    def all_maps() -> None:
        with torch.no_grad(), glasshead.record(plugged) as trace:
            plugged(pixel_values=values)
        weights = [layer.weights for layer in trace]
        assert len(weights) == 12
        assert weights[0].shape == (1, 12, 197, 197)

    subject = glasshead.open(model, processor)

    def explained(method: str) -> Callable[[], object]:
        return lambda: glasshead.explain(subject, image, method=method).to_pandas()

    methods = ("attention", "rollout", "value-norm", "gradient-attention", "gradient")
    contenders = {BARE: bare, "all maps": all_maps} | {
        f"explain, {name}": explained(name) for name in methods
    }
    seconds = time_interleaved(contenders, rounds=ROUNDS)
    print_table(
        "ViT-B/16, one image",
        list(contenders),
        {
            "way": str,
            "s": lambda name: f"{Spread.of(seconds[name]).median:.3f}",
            "×": lambda name: ratios(seconds[name], seconds[BARE]),
        },
    )


if __name__ == "__main__":
    main()
