"""Train a small CLIP that knows the colour of a square: the folders my-clip, and pictures with images."""

import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizerFast, CLIPConfig, CLIPModel, CLIPProcessor, pipeline
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

import glasshead

CAPTIONS = ["a red square", "a green square", "a blue square", "nothing"]
TEMPLATE = "This is a photo of {}."
draw, noise = random.Random(0), np.random.default_rng(0)


def picture(number):
    """Grey with some noise, and in one of nine places a square of the colour of a caption."""
    pixels = noise.integers(118, 138, (24, 24, 3), dtype=np.uint8)
    row, column = 8 * draw.randrange(3), 8 * draw.randrange(3)
    if number < 3:
        pixels[row : row + 8, column : column + 8] = [220 if n == number else 60 for n in range(3)]
    return Image.fromarray(pixels)


texts = [TEMPLATE.format(caption) for caption in CAPTIONS]
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator(texts, vocab_size=100)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=32)
images = CLIPImageProcessorPil(size={"shortest_edge": 24}, crop_size={"height": 24, "width": 24})
processor = CLIPProcessor(image_processor=images, tokenizer=tokenizer)
torch.manual_seed(0)
sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
ends = {"eos_token_id": tokenizer.sep_token_id, "bos_token_id": tokenizer.cls_token_id, "pad_token_id": 0}
model = CLIPModel(
    CLIPConfig(
        text_config={**sizes, **ends, "vocab_size": len(tokenizer), "max_position_embeddings": 32},
        vision_config={**sizes, "image_size": 24, "patch_size": 8},
        projection_dim=16,
        initializer_factor=5.0,
    )
)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for _ in range(300):
    numbers = [draw.randrange(4) for _ in range(32)]
    read = processor(text=texts, images=list(map(picture, numbers)), padding=True, return_tensors="pt")
    logits = model(**read).logits_per_image
    torch.nn.functional.cross_entropy(logits, torch.tensor(numbers)).backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("my-clip")
processor.save_pretrained("my-clip")
for number in range(24):
    folder = Path("pictures", CAPTIONS[number % 3])
    folder.mkdir(parents=True, exist_ok=True)
    picture(number % 3).save(folder / f"{number}.png")

zero_shot = pipeline(
    "zero-shot-image-classification", model=model.eval(), tokenizer=tokenizer, image_processor=images
)
image = Image.open("pictures/a green square/1.png")
print(zero_shot(image, candidate_labels=CAPTIONS)[0])
print(glasshead.explain(zero_shot, image, choices=CAPTIONS, method="erasure-neutral-colour"))
asked = {"image": image, "text": TEMPLATE.format("a green square")}
print(glasshead.explain(zero_shot, asked, method="attention"))
