"""Tiny models with adapters (PEFT) that have learned something: all that is added is random, and not zero."""

import warnings

import pytest
import torch

from classifier_families import FAMILIES

peft = pytest.importorskip("peft")
LEARNED = ("lora_", "modules_to_save", "ia3_l", "prompt_", "ln_tuning")


def adapted(model=None, kind="LoraConfig", name="default", **settings):
    """A model (a classifier of three classes) with one adapter around it."""
    usual = {"r": 4, "target_modules": ["query", "value"], "task_type": "SEQ_CLS"}
    settings = usual | settings if kind == "LoraConfig" else {"task_type": "SEQ_CLS", **settings}
    model = FAMILIES["Bert"].build() if model is None else model
    with warnings.catch_warnings():  # of weights that are tied, and of layers other than linear ones
        warnings.simplefilter("ignore")
        around = peft.get_peft_model(model, getattr(peft, kind)(**settings), name)
    return learned(around)


def learned(model, seed=1):
    """Other numbers in all adapters of a model, large enough that it predicts otherwise."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if any(part in name for part in LEARNED):
                weight.add_(torch.randn(weight.shape, generator=random).to(weight) * 0.3)
    return model.eval()


def saved_adapter(folder, model=None, **settings):
    """A folder of adapters; the model that they belong to is saved beside it, with its tokenizer."""
    base = FAMILIES["Bert"].build() if model is None else model
    base.save_pretrained(folder / "base")
    FAMILIES["Bert"].tokenizer().save_pretrained(folder / "base")
    base.config.name_or_path = base.name_or_path = str(folder / "base")
    around = adapted(base, **settings)
    around.save_pretrained(folder / "adapter")
    return around, folder / "adapter"
