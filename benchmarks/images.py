"""What it costs to look into a ViT of 12 layers, 12 heads and 197 tokens, beside its bare forward pass.

    python benchmarks/images.py

A random ViT-B/16 classifies an image of 224 × 224 pixels. All maps of all layers are recorded in one pass;
explanations are those of `glasshead.explain` by a model that was opened before, with the image read and its
numbers in a table. All alternate within one run; a ratio is the median over rounds, with the least and the
largest.

Goal: at most 3 × the bare pass for all maps.
"""

from __future__ import annotations

import copy
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
from PIL import Image
from transformers import ViTConfig, ViTForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import glasshead

ROUNDS = 7


def elapsed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


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
    contenders = {"all maps": all_maps} | {f"explain, {name}": explained(name) for name in methods}
    for work in (bare, *contenders.values()):
        work()
    rounds = [
        {"bare": elapsed(bare)} | {name: elapsed(work) for name, work in contenders.items()}
        for _ in range(ROUNDS)
    ]
    print(f"bare forward pass {statistics.median(one['bare'] for one in rounds):.3f} s")
    for name in contenders:
        ratios = [one[name] / one["bare"] for one in rounds]
        seconds = statistics.median(one[name] for one in rounds)
        middle = statistics.median(ratios)
        print(f"{name:30} {seconds:7.3f} s  {middle:6.2f} × ({min(ratios):.2f}–{max(ratios):.2f})")


if __name__ == "__main__":
    main()
