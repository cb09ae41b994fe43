"""The path from a baseline to a text, through the word vectors that a model looks up.

Integrated gradients and DeepLift compare a text with a baseline x′ in which every word has the vector of the
padding token. Special tokens stay, and so does everything else that the model reads: places, segments, and
which tokens are padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import EncodedImages, Inputs, batches, heads_of, layers_of, length_of
from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.gradient import change_lookups, embedding_leaves, lookup_shifts, sum_shifted
from glasshead.explainers.targets import Target


@dataclass(frozen=True)
class EmbeddingPath:
    """One text of a context: what the model reads, and the vectors [1, …, d] of each of its look-ups, those
    of the text and those of the baseline. ``shifts`` says by how many places a look-up is behind the text."""

    context: ExplanationContext
    text: int
    inputs: Inputs
    vectors: tuple[Float[Tensor, "1 _ d"], ...]
    baselines: tuple[Float[Tensor, "1 _ d"], ...]
    shifts: Sequence[int]

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        """What `predict` needs next to vectors."""
        return tuple(self.inputs.values())

    def predict(self, target_fn: Target, *arguments: Tensor) -> Float[Tensor, " rows"]:
        """The explained number of rows of this text, each with vectors of its own; ``arguments`` are the
        vectors of each look-up and then `arguments`, all [rows, …]."""
        vectors, rest = arguments[: len(self.vectors)], arguments[len(self.vectors) :]
        inputs = dict(zip(self.inputs, rest, strict=True))
        with replace_lookups(self.context.model, vectors):
            logits = self.context.model(**inputs).logits
        target = self.context.target[self.text].to(logits.device)
        return target_fn(logits, target.expand(len(logits)))

    def by_token(self, attributions: Sequence[Float[Tensor, "1 _ d"]]) -> Float[Tensor, " n"]:
        """What the vectors that are looked up, of each token, or of each patch, come to by token."""
        return sum_shifted(attributions, self.shifts, length_of(self.inputs)).sum(dim=-1)[0].detach().cpu()


BASELINES = ("pad", "mask", "unk", "zero")
"""What a baseline has instead of words: a special token of the tokenizer, or zero vectors."""


def embedding_paths(context: ExplanationContext, baseline: str) -> Iterator[EmbeddingPath]:
    """The texts, one after the other, each with a way from one of `BASELINES`.

    Raises:
        InputError: if the model does not look up one vector for each token, or knows no such baseline.
    """
    token = baseline_token(context, baseline)
    empty = context.encoded.baseline(token)
    for text in range(len(context.encoded.ids)):
        _, inputs = next(batches(context.encoded, torch.tensor([text]), context.model.device))
        _, without = next(batches(empty, torch.tensor([text]), context.model.device))
        with torch.no_grad(), embedding_leaves(context.model) as lookups:
            context.model(**inputs)
        shifts = lookup_shifts(context.model, lookups, inputs)
        with torch.no_grad(), embedding_leaves(context.model) as baseline_lookups:
            context.model(**without)
        yield EmbeddingPath(
            context,
            text,
            inputs,
            tuple(vectors.detach().requires_grad_() for _, vectors in lookups),
            tuple(
                vectors.detach().masked_fill((ids != own)[..., None], 0.0)
                if baseline == "zero"
                else vectors.detach()
                for (own, _), (ids, vectors) in zip(lookups, baseline_lookups, strict=True)
            ),
            shifts,
        )
        context.progress(text + 1, len(context.encoded.ids))


@contextmanager
def replace_lookups(model: PreTrainedModel, vectors: Sequence[Tensor]) -> Iterator[None]:
    """The look-ups of word embeddings in the block give these vectors, one after the other."""
    waiting = iter(vectors)

    def replace(module: nn.Module, args: tuple[Tensor, ...], embedded: Tensor) -> Tensor:
        return next(waiting)

    with change_lookups(model, replace):
        yield


def rows_that_fit(context: ExplanationContext, text: int, most: int) -> int:
    """How many rows of a text make one batch, where gradients of all layers are held."""
    maps = heads_of(context.model.config) * layers_of(context.model.config)
    rows, _ = next(batches(context.encoded, torch.full((most,), text), maps=maps))
    return len(rows)


def baseline_token(context: ExplanationContext, baseline: str) -> int:
    """The token that a baseline puts in place of words; for zeros any that the texts do not have.

    Raises:
        InputError: if the tokenizer has no such token, and on images, which have one baseline.
    """
    if isinstance(context.encoded, EncodedImages):
        if baseline != "pad":
            raise InputError("images have one baseline, the neutral colour: leave 'baselines' out")
        return 0
    tokens = {name: getattr(context.tokenizer, f"{name}_token_id") for name in BASELINES if name != "zero"}
    known: dict[str, int] = {name: token for name, token in tokens.items() if token is not None}
    if not known:
        raise InputError("this tokenizer has no padding, mask or unknown token to replace words: use erasure")
    if baseline == "zero":  # a token that no word has, to tell where words are
        return next(
            (token for token in known.values() if token not in context.encoded.ids),
            next(iter(known.values())),
        )
    if baseline not in known:
        raise InputError(f"this tokenizer has no {baseline} token: choose {' or '.join([*known, 'zero'])}")
    return known[baseline]


def baseline_name(context: ExplanationContext, baseline: str) -> str:
    """What the baseline puts instead of words."""
    if baseline == "zero":
        return "zeros"
    return f"the vector of {getattr(context.tokenizer, f'{baseline}_token')}"
