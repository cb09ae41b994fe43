"""A small LLaVA that reads one of four digits in an image, the one that the question names: the right image
tokens are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers as hf
from PIL import Image
from sklearn.datasets import load_digits
from transformers import PreTrainedModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

from image_text_families import PATCH, tokenizer

SIDE = 16
DIGITS = [f"d{number}" for number in range(10)]
QUARTERS = ("top left", "top right", "bottom left", "bottom right")
STEPS, BATCH = 750, 64
IMAGE_AXES = 4


class Question(NamedTuple):
    """An image of four digits, the quarter that is asked about, and the digit that is there."""

    image: Image.Image
    quarter: int
    digit: int

    @property
    def text(self) -> str:
        """The question."""
        return f"what is at the {QUARTERS[self.quarter]} ?"


def draw_questions(rng: np.random.Generator, count: int, *, trained: bool) -> list[Question]:
    """Questions about digits that the model was trained on, or about others."""
    data = load_digits()
    pool = np.arange(1200) if trained else np.arange(1200, len(data.images))
    questions = []
    for _ in range(count):
        chosen, quarter = rng.choice(pool, 4), int(rng.integers(4))
        first, second, third, fourth = data.images[chosen]
        pixels = np.block([[first, second], [third, fourth]]) * (255 / 16)
        grey = np.repeat(pixels.astype(np.uint8)[..., None], 3, axis=2)
        questions.append(Question(Image.fromarray(grey), quarter, int(data.target[chosen[quarter]])))
    return questions


def small_llava(side: int) -> tuple[PreTrainedModel, Any]:
    """An untrained model of images of so many pixels, and its processor."""
    torch.manual_seed(0)
    own = tokenizer("llava")
    own.add_tokens(DIGITS)
    sizes = {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
    }  # fmt: skip
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**sizes, image_size=side, patch_size=PATCH),
        text_config=hf.LlamaConfig(
            **sizes, vocab_size=len(own), pad_token_id=0, bos_token_id=2, eos_token_id=3
        ),
        image_token_id=own.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    images = CLIPImageProcessorPil(size={"height": side, "width": side}, do_center_crop=False)
    processor = hf.LlavaProcessor(
        images, own, patch_size=PATCH, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    return hf.LlavaForConditionalGeneration(config).train(), processor


def fit_digits(
    model: PreTrainedModel,
    processor: Any,
    inputs: Mapping[str, torch.Tensor],
    digits: Sequence[int],
    rng: np.random.Generator,
    steps: int,
) -> PreTrainedModel:
    """The model, trained to answer with these digits; each input has a row for each answer."""
    names = [DIGITS[digit] for digit in digits]
    answers = torch.tensor(processor.tokenizer.convert_tokens_to_ids(names))
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps)
    for _ in range(steps):
        rows = torch.from_numpy(rng.integers(0, len(answers), BATCH))
        batch = {name: tensor[rows] for name, tensor in inputs.items()}
        if batch["pixel_values"].ndim > IMAGE_AXES:  # several images in each text
            batch["pixel_values"] = batch["pixel_values"].flatten(0, 1)
        logits = model(**batch, logits_to_keep=1).logits
        loss = torch.nn.functional.cross_entropy(logits[:, -1], answers[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model.eval()


@cache
def train_quarters(steps: int = STEPS) -> tuple[PreTrainedModel, Any]:
    """The model and its processor."""
    model, processor = small_llava(SIDE)
    rng = np.random.default_rng(0)
    questions = draw_questions(rng, 8_000, trained=True)
    texts = [f"<image>{question.text}" for question in questions]
    inputs = processor(images=[question.image for question in questions], text=texts, return_tensors="pt")
    digits = [question.digit for question in questions]
    return fit_digits(model, processor, inputs, digits, rng, steps), processor
