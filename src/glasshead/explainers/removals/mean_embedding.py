"""A token is read as the average word: its embedding becomes the mean of all embeddings."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import Inputs, length_of
from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.gradient import change_lookups, shift_of
from glasshead.explainers.removals.removal import Removal, logits_edited, register_removal
from glasshead.huggingface import class_name

MULTIPLE = 1e-2
"""A vector that misses a multiple of another by less than this part of its length is one."""


class MeanEmbedding(Removal):
    """e_i becomes Σ_w e_w / |vocabulary|; its place in the text stays."""

    description = "its embedding becomes the mean of all word embeddings"
    citation = "Haug et al. 2021"

    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        model = context.model

        def average(rows: Tensor, inputs: Inputs) -> AbstractContextManager[None]:
            return average_embeddings(model, inputs, removed[rows, : length_of(inputs)].to(model.device))

        return logits_edited(context, texts, average)


@contextmanager
def average_embeddings(
    model: PreTrainedModel, inputs: Inputs, removed: Bool[Tensor, "b n"]
) -> Iterator[None]:
    """Removed tokens are looked up as the mean of all words in the block.

    Raises:
        InputError: if the model does not look up one vector for each token.
    """

    def average(module: nn.Module, args: tuple[Tensor, ...], embedded: Tensor) -> Tensor:
        shift = shift_of(args[0], inputs["input_ids"])
        if shift is None:
            raise no_vectors(model)
        n = inputs["input_ids"].shape[1]
        gone = torch.zeros(embedded.shape[:2], dtype=torch.bool, device=embedded.device)
        gone[:, shift:n] = removed[:, : n - shift]
        return replace_by_mean(model, module, args[0], embedded, gone)

    with change_lookups(model, average):
        yield


@contextmanager
def average_lookups(model: PreTrainedModel, removed: Sequence[Bool[Tensor, "b n"]]) -> Iterator[None]:
    """Average the look-ups of the removed tokens in a pass over several texts.

    Raises:
        InputError: if the model does not look up one vector for each token.
    """
    waiting = iter(removed)

    def average(module: nn.Module, args: tuple[Tensor, ...], embedded: Tensor) -> Tensor:
        gone = next(waiting, None)
        if gone is None or gone.shape != embedded.shape[:2]:
            raise no_vectors(model)
        return replace_by_mean(model, module, args[0], embedded, gone)

    with change_lookups(model, average):
        yield


def replace_by_mean(
    model: PreTrainedModel, module: nn.Module, ids: Tensor, embedded: Tensor, gone: Bool[Tensor, "b n"]
) -> Float[Tensor, "b n d"]:
    """Vectors that were looked up, the mean of all where a token is gone."""
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.shape[-1] != embedded.shape[-1]:
        raise no_vectors(model)
    mean = weight.mean(dim=0) * scale_of(module, ids, weight, embedded)
    return torch.where(gone[..., None], mean, embedded)


def no_vectors(model: PreTrainedModel) -> InputError:
    """Why no token can become the mean."""
    return InputError(
        f"{class_name(model)} does not look up one vector for each token of a text, so none can be "
        "replaced by the mean: use the method 'erasure-delete'"
    )


def scale_of(module: nn.Module, ids: Tensor, weight: Tensor, embedded: Tensor) -> Tensor:
    """The factor by which the model multiplies the vectors that it looks up (BART, T5 and Gemma may).

    Only vectors that are a multiple of that of their word count: others come from an image. If all these
    vectors are zero, the longest vector of the vocabulary is looked up instead.
    """
    vectors = weight[ids.clamp(max=len(weight) - 1)]
    along, size = (vectors * embedded).sum(dim=-1), (vectors * vectors).sum(dim=-1)
    factors = along / size.clamp(min=torch.finfo(size.dtype).tiny)
    off = (embedded - factors[..., None] * vectors).norm(dim=-1)
    looked_up = off <= MULTIPLE * embedded.norm(dim=-1)
    kept = looked_up if bool(looked_up.any()) else torch.ones_like(looked_up)
    if not bool(size[kept].any()):
        longest = weight.norm(dim=-1).argmax()
        vector = weight[longest]
        along = module.forward(longest[None]) * vector
        return along.sum() / vector.square().sum().clamp(min=torch.finfo(vector.dtype).tiny)
    return along[kept].sum() / size[kept].sum()


register_removal("mean-embedding", MeanEmbedding())
