"""What it costs to look into a model of images and texts, beside its bare forward pass.

    python -m benchmarks.images_with_text

A random LLaVA (ViT-B/16 at 384 × 384 pixels, a Llama of 12 layers of width 768) reads 576 image tokens and 24
words, and writes a word. *row of one word* records what that word attended to in all heads of all layers of
the language model, in one pass; *all maps* records every row. Explanations are those of `glasshead.explain`
by a model that was opened before, with their numbers in a table. All alternate within one run; a ratio is
that of times of one core, the median over rounds, with the least and the largest. Memory is the peak of the
tensors that the work makes.

Goal: at most 1.15 × the bare pass for the row of one word in all layers.
"""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import torch
import transformers as hf
from PIL import Image
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

import glasshead
from benchmarks.measuring import Spread, peak_bytes, print_table, ratios, time_interleaved
from benchmarks.random_bert import word_tokenizer

ROUNDS = 7
LAYERS, WORDS, SIDE, PATCH = 12, 32_000, 384, 16
IMAGE = "<image>"
BARE = "bare forward pass"
SIZES = {
    "hidden_size": 768,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 12,
    "intermediate_size": 2048,
}
QUESTION = " ".join(f"w{number}" for number in range(24))
ANSWER = " w99"


def random_llava() -> tuple[hf.LlavaForConditionalGeneration, hf.LlavaProcessor]:
    """A random LLaVA that is always the same, and its processor."""
    tokenizer = word_tokenizer(WORDS)
    tokenizer.backend_tokenizer.post_processor = None  # texts stay open
    tokenizer.add_special_tokens({"additional_special_tokens": [IMAGE]})
    torch.manual_seed(0)
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(
            **SIZES | {"intermediate_size": 3072}, image_size=SIDE, patch_size=PATCH
        ),
        text_config=hf.LlamaConfig(**SIZES, vocab_size=len(tokenizer), pad_token_id=0),
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
    )
    square = {"height": SIDE, "width": SIDE}
    images = CLIPImageProcessorPil(size=square, crop_size=square)
    processor = hf.LlavaProcessor(
        images, tokenizer, patch_size=PATCH, vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )  # fmt: skip
    return hf.LlavaForConditionalGeneration(config).eval(), processor


def main() -> None:
    torch.set_num_threads(1)
    model, processor = random_llava()
    plugged = glasshead.plug(copy.deepcopy(model), "softmax")
    pixels = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    inputs = processor(images=[image], text=[IMAGE + QUESTION], return_tensors="pt")
    tokens = inputs["input_ids"].shape[1]
    of_text = range(LAYERS, 2 * LAYERS)  # those of the image encoder run first

    @torch.inference_mode()
    def bare() -> None:
        model(**inputs, use_cache=False, logits_to_keep=1)

    @torch.no_grad()
    def recorded(record: Callable[..., AbstractContextManager[Any]], rows: int) -> None:
        with record(plugged) as trace:
            plugged(**inputs, use_cache=False, logits_to_keep=1)
        weights = [layer.weights for layer in trace]
        assert len(weights) == LAYERS
        assert weights[0].shape == (1, 12, rows, tokens)

    subject = glasshead.open(model, processor)
    row = [{"image": image, "text": QUESTION}]

    def explained(method: str) -> Callable[[], object]:
        return lambda: glasshead.explain(subject, row, answer=ANSWER, method=method).to_pandas()

    row_of_word = partial(glasshead.record, layers=of_text, rows=[-1])
    all_rows = partial(glasshead.record, layers=of_text)
    contenders = {
        BARE: bare,
        "row of one word, all layers": lambda: recorded(row_of_word, 1),
        "all maps": lambda: recorded(all_rows, tokens),
    } | {f"explain, {name}": explained(name) for name in ("attention", "layer-mean")}
    seconds = time_interleaved(contenders, rounds=ROUNDS, clock=process_time)
    print_table(
        f"LLaVA, one image and {tokens} tokens",
        list(contenders),
        {
            "way": str,
            "s": lambda name: f"{Spread.of(seconds[name]).median:.3f}",
            "×": lambda name: ratios(seconds[name], seconds[BARE]),
            "MB": lambda name: f"{peak_bytes(contenders[name]) / 1e6:,.0f}",
        },
    )


if __name__ == "__main__":
    main()
