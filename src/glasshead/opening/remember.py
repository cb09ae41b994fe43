"""A model in memory and its tokenizer, opened once: to check and copy them takes longer than a small model
runs."""

from __future__ import annotations

import copy
import hashlib
import tempfile
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.huggingface import ModelState, shares_tensors, version_of
from glasshead.trace import Subject

OF_CALLS = ("_tokenizer", "deprecation_warnings", "verbose", "_in_target_context_manager")
"""Attributes of a tokenizer that say nothing of how it reads texts."""


@dataclass(frozen=True)
class SourceState:
    """A model and its tokenizer as they are: a subject that was made of them serves as long as this is the
    same."""

    model: ModelState
    weights: list[tuple[int, int] | None]
    tokenizer: ReferenceType[PreTrainedTokenizerFast]
    definition: bytes
    settings: dict[str, Any]
    options: Hashable

    @classmethod
    def of(cls, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, options: Hashable) -> SourceState:
        """Take them as they are now."""
        return cls(
            ModelState.of(model),
            [version_of(tensor) for tensor in (*model.parameters(), *model.buffers())],
            ref(tokenizer),
            definition_of(tokenizer),
            {name: value for name, value in vars(tokenizer).items() if name not in OF_CALLS},
            options,
        )

    def snapshot(self) -> SourceState:
        """A copy that no later change reaches."""
        return SourceState(
            self.model.snapshot(),
            self.weights,
            self.tokenizer,
            self.definition,
            copy.deepcopy(self.settings),
            self.options,
        )

    def equals(self, other: SourceState) -> bool:
        """Whether nothing differs."""
        return (
            self.tokenizer() is other.tokenizer()
            and (self.options, self.definition, self.weights, self.settings)
            == (other.options, other.definition, other.weights, other.settings)
            and self.model.equals(other.model)
        )


SUBJECTS: WeakKeyDictionary[PreTrainedModel, tuple[SourceState, Subject]] = WeakKeyDictionary()


def remember(
    model: PreTrainedModel, tokenizer: object, options: Hashable, open_model: Callable[[], Subject]
) -> Subject:
    """What ``open_model`` makes of a model and its tokenizer: the last one again if nothing of theirs has
    changed since, and if it shares all weights of the model."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        return open_model()
    now = SourceState.of(model, tokenizer, options)
    known = SUBJECTS.get(model)
    if known is not None and known[0].equals(now):
        return known[1]
    subject = open_model()
    if None not in now.weights and shares_tensors(model, subject.model):
        SUBJECTS[model] = now.snapshot(), subject
    return subject


def definition_of(reader: Any) -> bytes:
    """A fingerprint of everything that decides how texts become tokens, or how an image is read. Truncation
    and padding are set in each call, so they are left out."""
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(reader, PreTrainedTokenizerFast):
        text = reader.backend_tokenizer.to_str().partition('"added_tokens"')[2]
        digest.update(text.encode(errors="surrogatepass"))
        return digest.digest()
    with tempfile.TemporaryDirectory() as folder:
        reader.save_pretrained(folder)
        for path in sorted(Path(folder).iterdir()):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()
