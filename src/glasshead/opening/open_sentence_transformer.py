"""A `SentenceTransformer`: its model, and the modules behind it that make a vector of what it gives."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import arithmetic_of, own_model
from glasshead.opening.check_copy import are_close, tolerance_for
from glasshead.opening.fit_tokenizer import with_padding_noted
from glasshead.opening.open_cross_encoder import is_of_sentence_transformers
from glasshead.opening.open_pipeline import LONGEST_SAMPLE
from glasshead.tasks import SimilarityModel
from glasshead.trace import Subject, eval_mode

MODULES, SETTINGS, CONFIG = "modules.json", "config_sentence_transformers.json", "config.json"
"""What lies in the folder of a `SentenceTransformer`."""
KIND = "SentenceTransformer"
SAMPLES = ("a text", "A Text with Capitals, 2 numbers!")


def is_sentence_transformer(source: object) -> bool:
    """Whether it is a `sentence_transformers.SentenceTransformer`."""
    return is_of_sentence_transformers(source, KIND)


def gives_vectors(folder: Path) -> bool:
    """Whether a folder holds a `SentenceTransformer`; a `CrossEncoder` has modules too, and a classifier that
    was made of one may have kept them."""
    if not (folder / MODULES).is_file():
        return False
    kind = read_json(folder / SETTINGS).get("model_type", KIND)
    heads = read_json(folder / CONFIG).get("architectures") or [""]
    return kind == KIND and not re.search(r"For[A-Z]", str(heads[0]))


def read_json(path: Path) -> dict[str, Any]:
    """What a file of JSON holds; nothing if there is none, or it is broken: whoever loads it says so."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def load_sentence_transformer(source: object) -> object:
    """The `SentenceTransformer` of a folder that holds one, if the package is there; else the source."""
    if not isinstance(source, str | Path) or not gives_vectors(Path(source)):
        return source
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        return source
    return SentenceTransformer(str(source), device="cpu", local_files_only=True)


class Pooled(nn.Module):
    """What the modules of a `SentenceTransformer` behind its model make of the model's output."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        self.behind = nn.ModuleList(modules)

    def forward(self, output: Any, mask: Int[Tensor, "b n"]) -> Float[Tensor, "b d"]:
        features: dict[str, Any] = {"token_embeddings": output[0], "attention_mask": mask}
        for module in self.behind:
            features = module(features)
        vectors: Tensor = features["sentence_embedding"]
        return vectors


def parts_of_sentence_transformer(source: Any) -> tuple[Any, Any]:
    """The model of a `SentenceTransformer`, and its tokenizer.

    Raises:
        InputError: if it does not begin with a model of Transformers.
    """
    first: Any = next(iter(source), None)
    if not hasattr(first, "auto_model"):
        raise InputError(
            f"the SentenceTransformer begins with {type(first).__name__}, not with a Transformers model: "
            "give one that does"
        )
    return first.auto_model, source.tokenizer


def follow_sentence_transformer(source: Any, subject: Subject) -> Subject:
    """The subject, asked about similarity.

    Raises:
        InputError: if its vectors are others than those of the `SentenceTransformer`.
    """
    from sentence_transformers.util import SimilarityFunction

    behind = (
        Pooled(copy.deepcopy(list(source)[1:])).to(subject.model.device, arithmetic_of(subject.model)).eval()
    )
    name = str(source.similarity_fn_name)
    likeness = SimilarityFunction.to_similarity_pairwise_fn(name)
    model = SimilarityModel(subject.model, behind, likeness, name)
    texts, limit = list(SAMPLES), subject.tokenizer.model_max_length
    if limit <= LONGEST_SAMPLE and source.max_seq_length == limit:
        texts.append("a the " * limit)
    for text in texts:
        inputs = encode(subject.tokenizer, [text]).inputs(device=model.device)
        with torch.no_grad(), eval_mode(source):
            own = model.embed(**inputs)[1][0].float().cpu()
            given = source.encode([text], convert_to_tensor=True, show_progress_bar=False)[0].float().cpu()
        if own.shape != given.shape or not are_close(own, given, tolerance_for(own_model(model).dtype)):
            raise InputError(
                "the SentenceTransformer gives different vectors from its modules when Glasshead calls "
                "them, because of a prompt, a setting or its own code: build a plain one"
            )
    return with_padding_noted(replace(subject, model=model))
