"""Whether a model normalises its embeddings, as BERT does: a layer norm hides how long they are.

Of y = f(LN(e)) with e = word + place + type, ∂y/∂e · e = 0 and Σ ∂y/∂e = 0. The derivative along the word is
then minus that along its place and type: it does not tell how much the word matters.

This is measured. Take every state t between the vectors that a model looks up and what its first layer reads,
x, and see how far x moves along t: J t = ∂x(s t)/∂s at s = 1. It is 0 where x depends on the direction of t
alone, whatever made t (words, places, types, a convolution, parameters) and whatever normalises it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.huggingface import every_attention
from glasshead.models import TransformerClassifier
from glasshead.trace import thread_hook

UNMOVED = 0.05
"""Below this part of what a random direction does, ‖J t‖² d / (‖t‖² ‖J‖²), x does not move along t; the ε of
a layer norm leaves some movement, a state that is not normalised has about 1."""
PROBES = 8
SAME_GRADIENT = 1e-3
"""Gradients that differ by less than this part of their length are the same up to rounding."""

Lookups = list[tuple[Tensor, Tensor]]
LookupContext = Callable[[PreTrainedModel], AbstractContextManager[Lookups]]
"""Makes leaves of the vectors that a model looks up in a block of code: their ids, and they themselves."""


def normalises_embeddings(model: PreTrainedModel, inputs: Inputs, leaves: LookupContext) -> bool | None:
    """Whether some state on the way to the first layer tells it nothing but its direction; None where it
    cannot be told, since no attention of the model follows, or its output depends on no word."""
    with torch.enable_grad(), leaves(model) as lookups, embedding_states(model, lookups) as states:
        logits = model(**inputs).logits
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(logits.shape, generator=generator, dtype=torch.float64).to(logits)
    reads = [read and read[0] for read in states.first_reads((logits * noise).sum())]
    if isinstance(model, TransformerClassifier):
        reads = reads[:1]  # the words; further ones are sentences
    if not reads or any(read is None for read in reads):
        return None
    words = [vectors for _, vectors in lookups]
    return all(
        hides_length(x, [*words, *states.before(number)], words)
        for number, x in enumerate(reads)
        if x is not None
    )


def hides_length(x: Tensor, states: list[Tensor], words: list[Tensor]) -> bool:
    """Whether ‖J t‖² is nothing next to what a random direction of the same length does, for one of the
    states that are made of the words; E over random r: E⟨t, Jᵀr⟩² = ‖J t‖² and E‖Jᵀr‖² = ‖J‖²."""
    generator = torch.Generator().manual_seed(0)
    moved, possible = (x.new_zeros(len(states)) for _ in range(2))
    for _ in range(PROBES):
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
        slopes = torch.autograd.grad(
            x, states, noise, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        for number, (state, slope) in enumerate(zip(states, slopes, strict=True)):
            moved[number] += (state * slope).sum(dim=-1).square().sum().detach()
            possible[number] += (state.square().sum(dim=-1) * slope.square().mean(dim=-1)).sum().detach()
    hidden = (possible > 0) & (moved < UNMOVED * possible)
    return any(depends_on_words(states[number], words) for number in hidden.nonzero()[:, 0].tolist())


def depends_on_words(state: Tensor, words: list[Tensor]) -> bool:
    """Whether a state depends on vectors of words."""
    if any(state is word for word in words):
        return True
    slopes = torch.autograd.grad(state.sum(), words, retain_graph=True, allow_unused=True)
    return any(slope is not None for slope in slopes)


class EmbeddingStates(TorchFunctionMode):
    """Collects, for each look-up of words, every vector computed between it and the next attention."""

    def __init__(self, lookups: Lookups) -> None:
        super().__init__()
        self.lookups, self.closed = lookups, 0
        self.made: dict[int, list[Tensor]] = {}

    def enter_attention(self, *_: Any) -> None:
        """The first layer has begun that reads what was looked up."""
        self.closed = len(self.lookups)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.requires_grad and result.ndim > 1:
            for number in range(self.closed, len(self.lookups)):
                self.made.setdefault(number, []).append(result)
        return result

    def before(self, number: int) -> list[Tensor]:
        """The states between a look-up and the attention behind it; none where no attention follows."""
        return self.made.get(number, []) if number < self.closed else []

    def first_reads(self, value: Tensor) -> list[tuple[Tensor, Tensor] | None]:
        """What the first layer behind each look-up reads, and the slope of ``value`` along it: the last state
        [b, n, d] before its attention through which everything passes that a number made of the logits reads
        of the words. What a layer computes inside is no such state, since its residual goes past. None where
        nothing passes, or no attention follows."""
        return [self.first_read(number, value) for number in range(len(self.lookups))]

    def first_read(self, number: int, value: Tensor) -> tuple[Tensor, Tensor] | None:
        """What is read first of one look-up."""
        word = self.lookups[number][1]
        states = [word, *(state for state in self.before(number) if state.ndim == 3)]
        if number >= self.closed:
            return None
        slopes_of = partial(torch.autograd.grad, retain_graph=True, allow_unused=True, materialize_grads=True)
        total, *slopes = slopes_of(value, states)
        if not bool(total.any()):
            return None
        for state, slope in zip(reversed(states[1:]), reversed(slopes), strict=True):
            (through,) = slopes_of(state, word, slope)
            if bool((through - total).norm() <= SAME_GRADIENT * total.norm()):
                return state, slope
        return word, total


@contextmanager
def embedding_states(model: PreTrainedModel, lookups: Lookups) -> Iterator[EmbeddingStates]:
    """The states on the way from the look-ups in the block to the attention that follows them."""
    states = EmbeddingStates(lookups)
    enter = thread_hook(states.enter_attention)
    hooks = [module.register_forward_pre_hook(enter) for module in set(every_attention(model))]
    try:
        with states:
            yield states
    finally:
        for hook in hooks:
            hook.remove()
