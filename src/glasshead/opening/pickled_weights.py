"""Weights on the Hub that are a pickle, which may run code as it is read: they are not read."""

from pathlib import Path

from transformers.utils import has_file

from glasshead.errors import InputError

SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")


def refuse_pickled(source: str | Path) -> None:
    """Raise InputError for a Hub id that has weights as a pickle alone; `load_weights` looks into folders."""
    name = str(source)
    if Path(source).is_dir() or any(has_file(name, file) for file in SAFE):
        return
    if any(has_file(name, file) for file in PICKLED):
        raise InputError(
            f"{name} has its weights only as a pickle (pytorch_model.bin), which may run code. If you trust "
            "it, load it with from_pretrained(…, use_safetensors=False), write it and its tokenizer with "
            "save_pretrained, and give that folder"
        )
