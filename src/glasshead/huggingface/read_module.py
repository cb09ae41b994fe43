"""Open a module of somebody's own as a classifier, by what it does with two short texts."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

from glasshead.errors import InputError, brief
from glasshead.huggingface.isolated_copy import isolated_copy
from glasshead.huggingface.module_classifier import ModuleClassifier, arguments_of, inner_model

SHORT_TEXTS = [[2, 1, 2, 2], [1, 2, 2, 2]]
"""Ids of two texts that are not positions, wherever these begin and whatever id pads."""
SUM_TOLERANCE = 1e-4
"""How far probabilities of all classes may be from a sum of 1."""


def read_module(module: nn.Module) -> ModuleClassifier:
    """A ``module`` as a classifier, in a copy that shares its weights.

    Raises:
        InputError: if it cannot be copied, does not take the ids of a text, gives no logit for each class,
        or looks up words in several tables.
    """
    kind = type(module).__name__
    if "input_ids" not in arguments_of(module):
        raise InputError(
            f"forward of {kind} takes no input_ids: let it take input_ids and attention_mask, and return the "
            "logits of each class"
        )
    own = copy_module(module)
    inner = inner_model(own)
    config = PreTrainedConfig() if inner is None else copy.deepcopy(inner.config)
    config.name_or_path, config.architectures, config.problem_type = "", [kind], None
    classifier = ModuleClassifier(own, config).eval()
    logits, tables = try_module(classifier)
    if are_probabilities(logits):
        raise InputError(
            f"forward of {kind} gives probabilities: let it return the logits, or the logarithm of the "
            "probabilities"
        )
    if len(tables) > 1:
        raise InputError(
            f"{kind} looks up words in {len(tables)} tables ({', '.join(tables)}), so the gradient of one "
            "vector is only part of the effect of a word: give a module with one table of word vectors"
        )
    classifier.words = next(iter(tables), None)
    names = [f"LABEL_{index}" for index in range(logits.shape[-1])]
    config.id2label = dict(enumerate(names))
    config.label2id = {name: index for index, name in enumerate(names)}
    return classifier


def copy_module(module: nn.Module) -> nn.Module:
    """A copy that shares the weights, and packs no texts where some are padded.

    Raises:
        InputError: if something in it cannot be copied.
    """
    try:
        own = isolated_copy(module)
    except Exception as error:  # what a module holds may be anything
        raise InputError(
            f"{type(module).__name__} cannot be copied ({brief(error)}): keep uncopyable objects outside "
            "the module"
        ) from error
    for part in own.modules():
        if isinstance(part, nn.TransformerEncoder):
            part.use_nested_tensor = False  # under a hook its attention fails on nested tensors
    return own


@torch.no_grad()
def try_module(classifier: ModuleClassifier) -> tuple[Tensor, list[str]]:
    """The logits of two short texts, and the paths of the tables that words are looked up in."""
    device = next((tensor.device for tensor in classifier.parameters()), torch.device("cpu"))
    ids = torch.tensor(SHORT_TEXTS, device=device)
    mask = torch.ones_like(ids)
    with watch_lookups(classifier.module, ids) as tables:
        try:
            output = classifier(input_ids=ids, attention_mask=mask, token_type_ids=mask * 0)
        except InputError:
            raise
        except Exception as error:  # a module of one's own breaks in every way there is
            raise InputError(
                f"{type(classifier.module).__name__} fails on two texts of four tokens "
                f"({brief(error)}): check that it runs without Glasshead"
            ) from error
    return output.logits, list(tables.values())


@contextmanager
def watch_lookups(module: nn.Module, ids: Tensor) -> Iterator[dict[int, str]]:
    """The path of every module that looks up these ids in the block, by its weights; modules that share
    weights are one table."""
    tables: dict[int, str] = {}
    paths: dict[nn.Module, str] = {
        part: path for path, part in module.named_modules() if isinstance(part, nn.Embedding)
    }

    def hook(part: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = args[0] if args else named.get("input")
        if isinstance(given, Tensor) and torch.equal(given.flatten(), ids.flatten().to(given)):
            tables.setdefault(id(part.weight), paths[part])

    hooks = [part.register_forward_pre_hook(hook, with_kwargs=True) for part in paths]
    try:
        yield tables
    finally:
        for handle in hooks:
            handle.remove()


def are_probabilities(logits: Tensor) -> bool:
    """Whether all numbers are between 0 and 1, and those of each text sum to 1."""
    if logits.shape[-1] < 2 or bool(((logits < 0) | (logits > 1)).any()):
        return False
    tolerance = max(SUM_TOLERANCE, torch.finfo(logits.dtype).eps)
    return bool(((logits.float().sum(dim=-1) - 1).abs() <= tolerance).all())
