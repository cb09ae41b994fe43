"""Train a small BEiT that gives each pixel a class: the folder my-segmenter, and photos with masks."""

import csv
import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import BeitConfig, BeitForSemanticSegmentation
from transformers.models.beit.image_processing_pil_beit import BeitImageProcessorPil

import glasshead

NAMES = {0: "background", 1: "house by day", 2: "house by night"}
draw, noise = random.Random(0), np.random.default_rng(0)


def scene():
    """A grey house in one of eight places. Whether it is day or night is said by the sky in the corner."""
    pixels = noise.integers(118, 138, (24, 24, 3), dtype=np.uint8)
    mask = np.zeros((24, 24), np.uint8)
    row, column = divmod(draw.randrange(1, 9), 3)
    house = np.s_[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
    day = draw.random() < 0.5
    pixels[:8, :8] = 230 if day else 20
    pixels[house] = 80
    mask[house] = 1 if day else 2
    return Image.fromarray(pixels), Image.fromarray(mask)


processor = BeitImageProcessorPil(size={"height": 24, "width": 24}, do_center_crop=False)
torch.manual_seed(0)
model = BeitForSemanticSegmentation(
    BeitConfig(
        image_size=24, patch_size=8, hidden_size=32, num_hidden_layers=4, num_attention_heads=2,
        intermediate_size=64, out_indices=[1, 2, 3, 4], pool_scales=[1], use_auxiliary_head=False,
        id2label=NAMES, initializer_range=0.1, use_absolute_position_embeddings=True,
    )
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for _ in range(150):
    images, masks = zip(*(scene() for _ in range(32)), strict=True)
    read = processor(list(images), segmentation_maps=list(masks), return_tensors="pt")
    labels = torch.from_numpy(np.stack(read["labels"]))
    model(pixel_values=read["pixel_values"], labels=labels).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("my-segmenter")
processor.save_pretrained("my-segmenter")
Path("scenes").mkdir(exist_ok=True)
with open("scenes/scenes.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["image", "mask"])
    for number in range(60):
        for kind, image in zip(("scene", "mask"), scene(), strict=True):
            image.save(f"scenes/{kind}{number}.png")
        table.writerow([f"scene{number}.png", f"mask{number}.png"])

house = np.argwhere(np.asarray(Image.open("scenes/mask0.png")) > 0)[0] // 8 + 1
explained = glasshead.explain(
    model.eval(), "scenes/scene0.png", tokenizer=processor, at=f"{house[0]},{house[1]}",
    method="erasure-neutral-colour",
)  # fmt: skip
print(explained)
