"""Train a small YOLOS that finds a square in an image: the folder my-detector, and a photo."""

import random

import numpy as np
import torch
from PIL import Image
from transformers import YolosConfig, YolosForObjectDetection
from transformers.models.yolos.image_processing_pil_yolos import YolosImageProcessorPil

import glasshead

draw, noise = random.Random(0), np.random.default_rng(0)


def scene():
    """A red or a blue square in one of nine places."""
    pixels = noise.integers(118, 138, (24, 24, 3), dtype=np.uint8)
    row, column, kind = draw.randrange(3), draw.randrange(3), draw.randrange(2)
    pixels[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = [(220, 30, 30), (30, 30, 220)][kind]
    return Image.fromarray(pixels), kind, [(column + 0.5) / 3, (row + 0.5) / 3, 1 / 3, 1 / 3]


processor = YolosImageProcessorPil(do_pad=False, size={"height": 24, "width": 24})
torch.manual_seed(0)
model = YolosForObjectDetection(
    YolosConfig(
        image_size=[24, 24],
        patch_size=8,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        num_detection_tokens=3,
        id2label={0: "red", 1: "blue"},
        initializer_range=0.1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        auxiliary_loss=False,
    )
)
for name, weight in model.named_parameters():
    if "embeddings.position" in name or "tokens" in name:
        torch.nn.init.normal_(weight)  # else all places begin alike
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(300):
    images, kinds, boxes = zip(*(scene() for _ in range(16)), strict=True)
    labels = [
        {"class_labels": torch.tensor([kind]), "boxes": torch.tensor([box])}
        for kind, box in zip(kinds, boxes, strict=True)
    ]
    model(**processor(list(images), return_tensors="pt"), labels=labels).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("my-detector")
processor.save_pretrained("my-detector")
scene()[0].save("square.png")

print(glasshead.explain(model.eval(), "square.png", tokenizer=processor, method="grad-cam"))
