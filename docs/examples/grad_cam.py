"""A small ResNet that names the colour of a disc in grey noise: the folder my-resnet, photo.png, discs/."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from transformers import ResNetConfig, ResNetForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import glasshead

colours = {"red": (220, 40, 40), "green": (40, 170, 60), "blue": (50, 80, 220)}
rng = np.random.default_rng(0)


def draw(places):
    """Grey noise, and a disc of each colour with its middle in that row and column."""
    noise = rng.integers(60, 200, (48, 48, 1), dtype=np.uint8)
    image = Image.fromarray(np.repeat(noise, 3, axis=2))
    for colour, (row, column) in places.items():
        box = (column - 6, row - 6, column + 6, row + 6)
        ImageDraw.Draw(image).ellipse(box, fill=colours[colour])
    return image


processor = ViTImageProcessorPil(size={"height": 48, "width": 48})
names = dict(enumerate(colours))
torch.manual_seed(0)
model = ResNetForImageClassification(
    ResNetConfig(
        embedding_size=16,
        hidden_sizes=[16, 32],
        depths=[1, 1],
        layer_type="basic",
        id2label=names,
        label2id={name: number for number, name in names.items()},
    )
)
labels = torch.tensor(rng.integers(0, 3, 400))
images = [draw({names[int(label)]: rng.integers(6, 42, 2)}) for label in labels]
pixels = processor(images, return_tensors="pt")["pixel_values"]
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
model.train()
for _ in range(60):
    rows = torch.randint(len(images), (32,))
    loss = torch.nn.functional.cross_entropy(model(pixel_values=pixels[rows]).logits, labels[rows])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval().save_pretrained("my-resnet")
processor.save_pretrained("my-resnet")
draw({"red": (12, 12), "blue": (34, 36)}).save("photo.png")
for number in range(30):
    colour = names[number % 3]
    Path("discs", colour).mkdir(parents=True, exist_ok=True)
    draw({colour: rng.integers(6, 42, 2)}).save(f"discs/{colour}/{number}.png")

for colour in ("red", "blue"):
    (explained,) = glasshead.explain("my-resnet", "photo.png", method="grad-cam", target=colour)
    print(colour, "at", explained.tokens[int(np.argmax(explained.scores))])
    print(explained.settings)
