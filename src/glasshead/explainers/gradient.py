"""The derivative of the prediction with respect to each token's embedding, reduced to one number."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import Inputs, heads_of, layers_of, length_of, longest
from glasshead.errors import InputError
from glasshead.explainers.aggregate_words import sum_words
from glasshead.explainers.embedding_norm import embedding_states, normalises_embeddings
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.targets import log_odds, probability
from glasshead.huggingface import class_name
from glasshead.models import TransformerClassifier
from glasshead.nouns import TEXTS
from glasshead.trace import gradients_that_pass, slopes_of, thread_hook, token_layout

Reduction = Callable[[Tensor], Tensor]
REDUCTIONS: dict[str, tuple[Reduction, bool, str]] = {
    "mean": (lambda g: g.mean(dim=-1), True, "mean entry of ∂ŷ/∂e"),
    "l1": (lambda g: g.abs().mean(dim=-1), False, "mean absolute entry of ∂ŷ/∂e"),
    "l2": (lambda g: g.norm(dim=-1), False, "Euclidean norm of ∂ŷ/∂e"),
}
ZERO_GRADIENT = 1e-4
"""A mean entry this small next to the mean absolute entry is zero up to rounding."""
INSTEAD = "'gradient-after-norm' or {!r}"
"""What to use where the derivative says little, next to erasure."""


def embedding_gradients(
    context: ExplanationContext, *, after_norm: bool = False
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Texts [b], ∂ŷ/∂e_i [b, n, d] and e_iᵀ ∂ŷ/∂e_i [b, n], batch after batch; attention moves.

    ``after_norm``: e_i is what the first layer reads, not the word's embedding. A token that the model reads
    twice, in its encoder and one place further in its decoder (BART, T5), has the sum of both.

    Raises:
        InputError: if the model does not look up one vector for each token.
    """
    maps = heads_of(context.model.config) * layers_of(context.model.config)
    for rows, inputs in context.in_batches(maps):
        model = context.model
        with (
            torch.enable_grad(),
            embedding_leaves(model) as lookups,
            embedding_states(model, lookups) as states,
        ):
            logits = model(**inputs).logits
        segments = None
        if after_norm and isinstance(model, TransformerClassifier) and model.packs_segments:
            segments = token_layout(model, inputs, "packed").segments
        # ∂ŷ = ŷ (1 − ŷ) ∂(log-odds): the softmax's own derivative is 0 as soon as ŷ rounds to 1.
        target_fn = log_odds if context.target_fn is probability else context.target_fn
        value = target_fn(logits, context.target[rows].to(logits.device))
        vectors, gradients = tuple(leaf for _, leaf in lookups), None
        if after_norm:
            with gradients_that_pass(model):
                reads = [read for read in states.first_reads(value.sum()) if read is not None]
            vectors, gradients = tuple(state for state, _ in reads), tuple(slope for _, slope in reads)
        if len(vectors) != len(lookups):
            raise no_vector_for_each_token(model)
        looked_up = [(ids, vector) for (ids, _), vector in zip(lookups, vectors, strict=True)]
        shifts = lookup_shifts(model, looked_up, inputs)
        if gradients is None:  # only the embeddings': parameters of the caller's model stay untouched
            gradients = slopes_of(model, value.sum(), vectors)
        if segments is not None:
            gradients, vectors = (tuple(map(segments.unpack, rows)) for rows in (gradients, vectors))
        if context.target_fn is probability:
            factor = (torch.sigmoid(value) * torch.sigmoid(-value)).detach()[:, None, None]
            gradients = tuple(factor * gradient for gradient in gradients)
        n = length_of(inputs)
        along = [g * e.detach() for g, e in zip(gradients, vectors, strict=True)]
        yield (
            rows,
            sum_shifted(gradients, shifts, n).cpu(),
            sum_shifted(along, shifts, n).sum(dim=-1).cpu(),
        )


@contextmanager
def embedding_leaves(model: PreTrainedModel) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """The ids and vectors of every look-up of word embeddings in the block; gradients are taken with
    respect to these vectors."""
    lookups: list[tuple[Tensor, Tensor]] = []

    def leaf(module: nn.Module, args: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
        lookups.append((args[0], vectors.detach().requires_grad_()))
        return lookups[-1][1]

    with change_lookups(model, leaf):
        yield lookups


@contextmanager
def change_lookups(model: PreTrainedModel, change: Callable[..., Tensor]) -> Iterator[None]:
    """Every look-up of words in the block gives what ``change(module, args, vectors)`` makes of it; one of
    padding alone, with which LED fills a window behind the text, stays as it is."""
    padding, begun = getattr(model.config.get_text_config(), "pad_token_id", None), False

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Any) -> Any:
        nonlocal begun
        if begun and padding is not None and bool((args[0] == padding).all()):
            return None
        begun = True
        vectors, *others = (output,) if isinstance(output, Tensor) else output  # I-BERT gives a scale, too
        changed = change(module, args, vectors).clone()  # CTRL scales its vectors in place
        return changed if isinstance(output, Tensor) else (changed, *others)

    hooks = [module.register_forward_hook(thread_hook(hook)) for module in word_embeddings(model)]
    try:
        yield
    finally:
        for handle in hooks:
            handle.remove()


def word_embeddings(model: PreTrainedModel) -> list[nn.Module]:
    """The modules of word embeddings: the one that the model names, and those that share its vectors."""
    named = model.get_input_embeddings()
    weight, within = getattr(named, "weight", None), set(named.modules())
    tied = [
        module
        for module in model.modules()
        if isinstance(module, nn.Embedding) and module not in within and module.weight is weight
    ]
    return [named, *tied]


def lookup_shifts(
    model: PreTrainedModel, lookups: Sequence[tuple[Tensor, Tensor]], inputs: Inputs
) -> list[int]:
    """How many places the vectors of each look-up are behind the text; below 0 where those of an image
    stand behind those that the model adds.

    Raises:
        InputError: if there is none, or one of another text.
    """
    if "input_ids" not in inputs:  # pixels are read as a whole
        return [vectors.shape[1] - length_of(inputs) for _, vectors in lookups]
    shifts = [shift for ids, _ in lookups if (shift := shift_of(ids, inputs["input_ids"])) is not None]
    if not shifts or len(shifts) < len(lookups):
        raise no_vector_for_each_token(model)
    return shifts


def no_vector_for_each_token(model: PreTrainedModel) -> InputError:
    """Why nothing along an embedding belongs to a token alone."""
    return InputError(
        f"{class_name(model)} does not look up one vector for each token of a text, so tokens have no "
        "separate gradients: use the method 'erasure-delete'"
    )


def shift_of(ids: Tensor, input_ids: Tensor) -> int | None:
    """How many places a look-up is behind the text: 0, or 1 in a decoder; None where it is another text.

    What a model appends to fill a window does not count.
    """
    n = input_ids.shape[1]
    if ids.shape[0] != input_ids.shape[0] or ids.shape[1] < n:
        return None
    if torch.equal(ids[:, :n], input_ids):
        return 0
    return 1 if torch.equal(ids[:, 1:n], input_ids[:, : n - 1]) else None


def sum_shifted(values: Sequence[Tensor], shifts: Sequence[int], n: int) -> Tensor:
    """Vectors of several look-ups of the same n tokens, added up token by token."""
    total = values[0].new_zeros(len(values[0]), n, *values[0].shape[2:])
    for vectors, shift in zip(values, shifts, strict=True):
        total[:, max(-shift, 0) : n - max(shift, 0)] += vectors[:, max(shift, 0) : n + min(shift, 0)]
    return total


class GradientAlong(Explainer):
    """e_iᵀ ∂ŷ/∂e_i: what ŷ would gain, to first order, if the token's vector grew by its own length.

    e_i is the word's embedding or, ``after_norm``, what the first layer reads where a model normalises its
    embeddings.
    """

    family = "gradients"
    citation = "Denil et al. 2014; Li et al. 2016; Atanasova et al. 2020"

    def __init__(self, *, after_norm: bool = False) -> None:
        self.after_norm = after_norm
        self.template = (
            "derivative along the {token}, after the layer norm of the embeddings if there is one"
            if after_norm
            else "derivative along the {token} itself, e·∂ŷ/∂e"
        )
        self.description = TEXTS.fill(self.template)

    def caveat(self, context: ExplanationContext) -> str | None:
        normalised, nouns = normalises(context), context.encoded.nouns
        if normalised is None:
            return (
                "this model may normalise its embeddings; if it does, the derivative along "
                f"{nouns.a_word} says little about the {nouns.word}: compare with "
                f"{context.encoded.erasure!r}"
            )
        if self.after_norm or not normalised:
            return None
        return (
            f"this model normalises its embeddings, so the derivative along {nouns.a_word} is "
            f"minus that along its position, and neither says much about the {nouns.word} alone: use "
            f"{INSTEAD.format(context.encoded.erasure)}"
        )

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        gradients = embedding_gradients(context, after_norm=self.after_norm and bool(normalises(context)))
        return fill_texts(context, ((texts, along) for texts, _, along in gradients))


class Gradient(Explainer):
    """``mean``, ``l1``: mean of (|·| of) the entries of ∂ŷ/∂e_i; ``l2``: its Euclidean norm."""

    family = "gradients"
    citation = "Atanasova et al. 2020; Li et al. 2016"

    def __init__(self, reduction: str) -> None:
        self.reduce, self._signed, self.description = REDUCTIONS[reduction]

    def signed(self, context: ExplanationContext) -> bool:
        return self._signed

    def caveat(self, context: ExplanationContext) -> str | None:
        """Where a layer norm takes the mean off whatever reads an embedding, Σ ∂ŷ/∂e = 0."""
        if not self._signed or not len(context.encoded.ids):
            return None
        _, gradient, _ = next(embedding_gradients(context))
        if self.reduce(gradient).norm() > ZERO_GRADIENT * gradient.abs().mean(dim=-1).norm():
            return None
        return (
            "a layer norm of this model takes the mean off the embeddings, so the mean entry of the gradient "
            f"is zero up to rounding: use {INSTEAD.format(context.encoded.erasure)}"
        )

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return self._reduce_gradients(context)[0]

    def word_importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        """The norm of the sum of the gradients of its tokens; a mean entry adds up by itself."""
        return None if self._signed else self._reduce_gradients(context)[1]

    def _reduce_gradients(self, context: ExplanationContext) -> tuple[Tensor, Tensor]:
        """The number of every token, and of every word at its first token."""
        if self.name not in context.cache:
            batches = [
                (texts, self.reduce(gradient), self.reduce(sum_text_words(context, texts, gradient)))
                for texts, gradient, _ in embedding_gradients(context)
            ]
            context.cache[self.name] = tuple(
                fill_texts(context, ((batch[0], batch[column]) for batch in batches)) for column in (1, 2)
            )
        return context.cache[self.name]


def fill_texts(
    context: ExplanationContext, batch_scores: Iterable[tuple[Tensor, Tensor]]
) -> Float[Tensor, "texts tokens"]:
    """The scores of batches, each with its texts [b] and its tokens [b, n], as one table, zero at padding."""
    result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
    for texts, scores in batch_scores:
        result[texts, : scores.shape[1]] = scores.to(result.dtype)
    return result


def sum_text_words(
    context: ExplanationContext, texts: Int[Tensor, " b"], vectors: Float[Tensor, "b *q n d"]
) -> Float[Tensor, "b *q n d"]:
    """The sum of the vectors of each word of some texts at its first token."""
    words = context.encoded.words[texts.numpy(), : vectors.shape[-2]].tolist()
    return torch.stack([sum_words(own, text) for own, text in zip(vectors, words, strict=True)])


def normalises(context: ExplanationContext) -> bool | None:
    """Whether the model normalises its embeddings, asked of the longest text; None: it cannot be told."""
    if not len(context.encoded.ids):
        return False

    def measure() -> bool | None:
        with gradients_that_pass(context.model):
            return normalises_embeddings(
                context.model, longest(context.encoded, context.model.device), embedding_leaves
            )

    if context.known is None:
        return measure()
    return context.known.fact(context.model, "normalises its embeddings", measure)


register("gradient", GradientAlong())
register("gradient-after-norm", GradientAlong(after_norm=True))
register("gradient-mean", Gradient("mean"))
register("gradient-l1", Gradient("l1"))
register("gradient-l2", Gradient("l2"))
