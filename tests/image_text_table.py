"""Which family of models of images and texts can do what: docs/reference/image-text-families.md, computed,
written and read again.

`make families` computes every row and writes the page; the tests compute rows anew and compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transformers import GenerationConfig
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as MAPPED,
)

import glasshead
from family_table import Row, outcome, page
from glasshead.data.watched_processor import mark_of_image
from glasshead.errors import InputError
from image_text_families import FAMILIES, RARER, build, photo

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "image-text-families.md"
HEAD = """# Families of models of images and texts

What can be explained and audited in models that write text from images and text: every entry of
`AutoModelForImageTextToText`. The first column is the `model_type` in its `config.json`. A number refers to
the reason below the table why something does not work. Support is detected at run time, not from a list.

- `erasure-mean-embedding` erases words and image tokens, `erasure-neutral-colour` the pixels of each token.
- *map over the image*: image tokens have places. These are measured, so trained weights can do better than
  the random weights here.
- *generate*: what each written token depended on.

"""
TAIL = """
Every row was computed with a tiny random model of the family and a processor with a few words
(`make families`), and tests compute it anew. They also compare probabilities and attention with those of the
model itself. How to use such a model: [Images with text](../how-to/images-with-text.md).
"""
METHODS = ("attention", "gradient", "erasure-mean-embedding", "erasure-neutral-colour")
OTHERS = ("map over the image", "several images", "generate", "audit")
QUESTION = "what is the cat doing ?"
UNMADE = "no tiny model of it is made here"
NOT_TRIED = {
    "cosmos3_omni": UNMADE,
    "deepseek_ocr2": UNMADE,
    "diffusion_gemma": "it writes blocks by diffusion, not token by token",
    "dots3_note": "its processor needs one of sounds",
    "evolla": "it reads proteins, not images",
    "fast_vlm": "it needs the package timm",
    "gemma3n": "it needs the package timm",
    "glm5_next": UNMADE,
    "granite4_vision": UNMADE,
    "instructblipvideo": "it reads videos only",
    "kosmos-2.5": UNMADE,
    "minicpmv4_6": UNMADE,
    "minicpmv4_7": UNMADE,
    "mistral4": "it reads no images",
    "mistral_large4": UNMADE,
    "pi0": "it needs the states of a robot",
    "qwen2_5_omni_thinker": "its processor needs one of sounds",
    "qwen3_omni_moe_thinker": "its processor needs one of sounds",
    "udop": UNMADE,
}
"""Why there is no tiny model of a family; of all others the image processor needs torchvision."""


def families() -> dict[str, str | None]:
    """Every family, and why it is not tried, if so."""
    return {kind: None if kind in FAMILIES | RARER else untried(kind) for kind in MAPPED}


def untried(kind: str) -> str:
    """Why a family is not tried."""
    if kind not in NOT_TRIED:
        assert "pil" not in IMAGE_PROCESSOR_MAPPING_NAMES[kind], kind
    return f"not tried: {NOT_TRIED.get(kind, 'its image processor needs the package torchvision')}"


def row_of(kind: str, methods: Sequence[str] = METHODS) -> Row:
    """What a model of the family can do; of the methods, some."""
    if (reason := families()[kind]) is not None:
        return dict.fromkeys((*methods, *OTHERS), reason)
    model, processor = build(kind)
    ask = {"tokenizer": processor, "answer": " sleeping"}
    one = [{"image": photo(), "text": QUESTION}]
    asked: dict[str, Callable[[], object]] = {
        method: partial(glasshead.explain, model, one, method=method, **ask) for method in methods
    }
    mark = mark_of_image(processor) if hasattr(processor, "image_token") else "<image>"
    two = {"images": [photo(), photo(64, 96, 1)], "text": f"the {mark} dog : {mark} {QUESTION}"}
    table = [
        {"image": photo(seed=seed), "question": QUESTION, "answer": answer}
        for seed, answer in enumerate(("sleeping", "yes", "the cat"))
    ]
    asked |= {
        "map over the image": lambda: check_places(glasshead.explain(model, one, **ask)),
        "several images": lambda: glasshead.explain(model, [two], **ask),
        "generate": lambda: glasshead.generate(
            model, one[0], tokenizer=processor, tokens=2, strategy=words_alone(processor)
        ).explain("attention"),
        "audit": lambda: glasshead.audit(model, table, tokenizer=processor, draws=2),
    }
    name = type(model).__name__
    said = {title: outcome(attempt).replace(name, "the model") for title, attempt in asked.items()}
    return {title: reason.rstrip(".").replace("<", "&lt;") for title, reason in said.items()}


def words_alone(processor: Any) -> GenerationConfig:
    """A strategy that writes no token of an image: random weights would."""
    allowed = set(processor.tokenizer("yes no two", add_special_tokens=False)["input_ids"])
    every = range(len(processor.tokenizer))
    return GenerationConfig(suppress_tokens=[number for number in every if number not in allowed])


def check_places(attributions: Any) -> None:
    """Raise InputError unless the image tokens of an explanation have places in the image."""
    if not attributions[0].images:
        raise InputError("no grid fits its image tokens, so their places could not be measured")


if __name__ == "__main__":
    PAGE.write_text(page({kind: row_of(kind) for kind in families()}, HEAD, TAIL))
