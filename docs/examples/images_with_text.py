"""A tiny LLaVA that names the colour at a corner of an image: my-vlm, photo.png and two tables."""

import json
import random
from pathlib import Path

import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

colours = {"red": (220, 40, 40), "green": (40, 170, 60), "blue": (50, 80, 220), "yellow": (240, 210, 40)}
corners = ["top left", "top right", "bottom left", "bottom right"]
words = ["what", "colour", "is", "at", "the", "top", "bottom", "left", "right", "?"]
vocabulary = {word: n for n, word in enumerate(["<unk>", "<pad>", "<image>", *words, *colours])}
pieces = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
pieces.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=pieces, unk_token="<unk>", pad_token="<pad>", additional_special_tokens=["<image>"]
)
images = CLIPImageProcessorPil(size={"height": 16, "width": 16}, do_center_crop=False)
processor = LlavaProcessor(
    images, tokenizer, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1
)


def draw(names, side=16):
    image = Image.new("RGB", (side, side))
    for corner, name in enumerate(names):
        left, top = (corner % 2) * side // 2, (corner // 2) * side // 2
        image.paste(colours[name], (left, top, left + side // 2, top + side // 2))
    return image


random.seed(0)
torch.manual_seed(0)
sizes = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
model = LlavaForConditionalGeneration(
    LlavaConfig(
        vision_config=CLIPVisionConfig(**sizes, image_size=16, patch_size=8),
        text_config=LlamaConfig(**sizes, vocab_size=len(vocabulary), pad_token_id=1),
        image_token_id=vocabulary["<image>"],
        vision_feature_layer=-1,
    )
)
drawn = [random.choices(list(colours), k=4) for _ in range(1000)]
asked = [random.randrange(4) for _ in drawn]
texts = [f"<image>what colour is at the {corners[corner]} ?" for corner in asked]
inputs = processor(images=[draw(names) for names in drawn], text=texts, return_tensors="pt")
answers = torch.tensor([vocabulary[names[corner]] for names, corner in zip(drawn, asked, strict=True)])
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for _ in range(400):
    rows = torch.randint(len(drawn), (64,))
    logits = model(**{name: value[rows] for name, value in inputs.items()}, logits_to_keep=1).logits
    loss = torch.nn.functional.cross_entropy(logits[:, -1], answers[rows])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if loss < 0.02:
        break
model.save_pretrained("my-vlm")
processor.save_pretrained("my-vlm")
draw(["red", "blue", "yellow", "green"], side=160).save("photo.png")
rows = ["image,question,answer"]
for number in range(24):
    names, corner = random.choices(list(colours), k=4), random.randrange(4)
    draw(names).save(f"corners-{number}.png")
    rows.append(f"corners-{number}.png,what colour is at the {corners[corner]} ?,{names[corner]}")
Path("questions.csv").write_text("\n".join(rows))

pairs = [
    {"images": ["photo.png", "corners-0.png"], "text": "what colour is at the top left ?", "answer": "red"},
    {"images": ["photo.png"], "text": "what colour is at the top right ?", "answer": "blue"},
]
Path("pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)))

import glasshead

question = {"image": "photo.png", "text": "what colour is at the top right ?"}
(one,) = glasshead.explain("my-vlm", question, answer=" blue", method="erasure-mean-embedding")
parts = [
    (score, name)
    for score, name, box in zip(one.scores, one.tokens, one.boxes, strict=True)
    if box is not None
]
print(f"p(blue) = {one.prediction:.2f}, most from {max(parts)[1]!r}")
