"""Tiny random models that compare images with captions."""

import torch
import transformers as hf
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

from classifier_families import FAMILIES
from image_families import SIZE, SIZES, processor

NAMES = ["good film", "dull plot", "long"]
TEXT = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 66,
}
KINDS = {
    "clip": (hf.CLIPModel, hf.CLIPConfig, {"projection_dim": 8}),
    "siglip": (hf.SiglipModel, hf.SiglipConfig, {}),
    "chinese-clip": (hf.ChineseCLIPModel, hf.ChineseCLIPConfig, {"projection_dim": 8}),
    "tips": (hf.Tipsv2Model, hf.Tipsv2Config, {}),
}


def build(kind):
    """A tiny model of images and texts, and the tokenizer of its captions."""
    tokenizer = FAMILIES["Bert"].tokenizer()
    tokenizer.model_max_length = 64
    ids = {"eos_token_id": tokenizer.sep_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": 0}
    cls, config, options = KINDS[kind]
    text = {**TEXT, **ids, "vocab_size": len(tokenizer)}
    torch.manual_seed(0)
    model = cls(config(text_config=text, vision_config=SIZES, **options)).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return model, tokenizer


def clip_processor():
    """What cuts images as CLIP does."""
    return CLIPImageProcessorPil(
        size={"shortest_edge": SIZE},
        crop_size={"height": SIZE, "width": SIZE},
        image_mean=processor().image_mean,
        image_std=processor().image_std,
    )
