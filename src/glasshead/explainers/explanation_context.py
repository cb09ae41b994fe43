"""Texts before a model: what every explanation is given."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import Encoded, Inputs, UnitReader, batches, heads_of
from glasshead.errors import InputError, brief
from glasshead.explainers.attention_observation import AttentionObservation, OnTexts, not_watched
from glasshead.explainers.first_pass import FirstPass, first_pass
from glasshead.explainers.forward_observation import observe_by_forward
from glasshead.explainers.linear_readout import is_linear_readout, observe_linear, observe_pooled
from glasshead.explainers.targets import TARGETS, Target, log_probability, probability
from glasshead.huggingface import TaskModel, class_name, class_names, place_of
from glasshead.models import is_regression
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.trace import (
    AttentionSelector,
    AttentionSite,
    KnownStates,
    ReadAttention,
    ReadRows,
    default_target,
    eval_mode,
    find_read_attention,
    unit_of_each,
)

READ_ATTENTION = "attention"
DEFAULT_SELECTOR = AttentionSelector()
"""Where a model's own prediction reads."""


@dataclass(frozen=True)
class ExplanationContext:
    """Encoded texts and a model, with the target of each text, and the attention to use.

    ``first_pass`` is the pass over a single text, if attention will be needed.
    """

    model: PreTrainedModel
    tokenizer: Any
    encoded: Encoded
    logits: Float[Tensor, "texts classes"]
    target: Int[Tensor, " texts"]
    target_fn: Target
    attention_selector: AttentionSelector = DEFAULT_SELECTOR
    progress: OnTexts = not_watched
    first_pass: FirstPass | None = None
    known: KnownStates | None = field(default=None, repr=False, compare=False)
    """Hidden states that later passes over the same texts start from, or None to run every pass whole."""
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was measured of these texts, whatever target is explained."""

    @cached_property
    def logits_without_each(self) -> dict[str, Float[Tensor, "texts tokens classes"]]:
        """Logits without each token, by type of deletion: they serve every target."""
        return {}

    @property
    def attention(self) -> ReadAttention | None:
        """The selected attention of this model; None for a pooled classifier, which has one attention."""
        if READ_ATTENTION not in self.shared:
            kept = self.first_pass
            self.shared[READ_ATTENTION] = find_read_attention(
                self.model,
                self.encoded,
                self.attention_selector,
                None if kept is None else list(kept.calls),
                None if kept is None else (kept.probe, kept.logits),
                known=self.known,
            )
        read_attention: ReadAttention | None = self.shared[READ_ATTENTION]
        return read_attention

    @property
    def site(self) -> AttentionSite | None:
        """The call and its heads."""
        return None if self.attention is None else self.attention.site

    @property
    def rows(self) -> ReadRows:
        """The selected rows of this attention in each text."""
        assert self.attention is not None
        return self.attention.rows

    @property
    def layer_note(self) -> str | None:
        """Why the selected attention is not the last one; None if it is, or if you chose a layer."""
        return None if self.attention is None else self.attention.note

    @property
    def reading(self) -> str | None:
        """Which attention is used, in words; None where there is no choice."""
        if self.site is None:
            return None
        text = f"{self.site.description}, {self.rows.in_words}"
        if self.site.above is None or self.rows.above is None:
            return text
        return (
            f"{text}, times that of the sentence: {self.site.above.description}, {self.rows.above.in_words}"
        )

    @cached_property
    def unreadable_reason(self) -> str | None:
        """Why no attention can be read in this model; None if it can. A reading that you chose and the
        model does not have is still an error."""
        try:
            self.site  # noqa: B018
        except InputError as error:
            if self.attention_selector.is_customised:
                raise
            return str(error)
        return None

    def towards(self, target: Int[Tensor, " texts"]) -> "ExplanationContext":
        """A view of the texts about another class of each text."""
        return replace(self, target=target)

    def towards_predicted(self) -> "ExplanationContext":
        """A view of the texts about the predicted class; ratings have only one number."""
        return self if self.is_regression else self.towards(self.logits.argmax(dim=-1))

    @cached_property
    def observation(self) -> AttentionObservation:
        """Attention from the inside; read only by the methods that need it."""
        if self.site is None:
            return observe_pooled(self.model, self.encoded.ids, self.encoded.mask)
        if is_linear_readout(self.model, self.site):
            return observe_linear(self.model, self.encoded, self.site, self.logits)
        return observe_by_forward(
            self.model, self.encoded, self.site, self.rows, self.logits, self.progress, self.first_pass,
            self.known,
        )  # fmt: skip

    @cached_property
    def cache(self) -> dict[str, Any]:
        """A cache of explainers for these texts, by name."""
        return {}

    @cached_property
    def has_divided_words(self) -> Bool[Tensor, " texts"]:
        """Which texts have a word of several tokens."""
        divided = [len({*unit_of_each(own)}) < len(own) for own in self.encoded.words.tolist()]
        return torch.tensor(divided, dtype=torch.bool)

    @cached_property
    def is_regression(self) -> bool:
        """Whether the model predicts a number."""
        return is_regression(self.model.config)

    def in_batches(self, maps: int) -> Iterator[tuple[Int[Tensor, " b"], Inputs]]:
        """The texts in batches, with so many maps in memory for each; those that are done are reported."""
        done = 0
        for rows, inputs in batches(self.encoded, device=self.model.device, maps=maps):
            yield rows, inputs
            done += len(rows)
            self.progress(done, len(self.encoded.ids))

    def some(self, rows: Int[Tensor, " some"]) -> "ExplanationContext":
        """A view of some of the texts."""
        encoded = self.encoded.some(rows.numpy())
        logits, target = self.logits[rows], self.target[rows]
        # What is known of the model, and of each of these texts, is not measured again.
        known = self.shared.get(READ_ATTENTION)
        shared = (
            {READ_ATTENTION: None if known is None else known.some(rows)}
            if READ_ATTENTION in self.shared
            else {}
        )
        return replace(self, encoded=encoded, logits=logits, target=target, first_pass=None, shared=shared)

    def afresh(self) -> "ExplanationContext":
        """A view of the texts without any earlier measurement."""
        return replace(self, shared={}, known=None)

    def value(self, logits: Float[Tensor, "*d texts classes"]) -> Float[Tensor, "*d texts"]:
        """The explained number ŷ for other logits of the same texts."""
        return self.target_fn(logits, self.target.expand(logits.shape[:-1]))

    @property
    def sized_fn(self) -> Target:
        """The number whose changes are called small or large: ŷ, or the probability where ŷ is a
        log-probability, which has no range."""
        return probability if self.target_fn is log_probability else self.target_fn


def make_context(
    model: PreTrainedModel,
    encoded: Encoded,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    *,
    target: int | str | None = None,
    target_fn: str | None = None,
    attention_selector: AttentionSelector = DEFAULT_SELECTOR,
    progress: OnTexts = not_watched,
    reads_attention: bool = False,
    known: KnownStates | None = None,
) -> ExplanationContext:
    """Predict, and resolve the class or number that is explained.

    ``progress`` is called with the number of finished texts while long methods run. With ``reads_attention``
    the pass over a single text is kept; with several texts, the pass that predicts also finds the attention
    to use. ``known`` caches the outputs of blocks for texts that are used many times.
    """
    regression = is_regression(model.config)
    named = target_fn or default_target_fn(model)
    function = TARGETS[named]
    if regression != (named == "rating"):
        usable = (
            f"a rating: use {spell('target_fn')} rating"
            if regression
            else f"a class: use {spell('target_fn')} probability, log-probability, logit or log-odds"
        )
        raise InputError(f"there is no {named} to explain, this model predicts {usable}")
    if regression and target is not None:
        raise InputError(f"this model predicts a rating and knows no class {target!r}: leave the target out")
    with eval_mode(model), failing_text_named(model, encoded):
        one = reads_attention and known is None
        kept = first_pass(model, encoded, attention_selector.layer) if one else None
        attention = None
        if kept is None and reads_attention and len(encoded.ids):
            attention = attention_or_none(model, encoded, attention_selector, known)
        if kept is not None:
            logits = kept.logits.detach().cpu()
        elif attention is not None and attention.logits is not None:
            logits = attention.logits
        else:
            logits = compute_logits(model, encoded)
    if target is not None:
        targets = torch.full((len(logits),), class_index(model, target))
    elif isinstance(model, TaskModel) and model.explains_predicted:
        targets = logits.argmax(dim=-1)
    else:
        targets = default_target(logits, len(class_names(model)))
    return ExplanationContext(
        model, tokenizer, encoded, logits, targets, function, attention_selector, progress,
        first_pass=kept, known=known, shared={} if attention is None else {READ_ATTENTION: attention},
    )  # fmt: skip


def attention_or_none(
    model: PreTrainedModel, encoded: Encoded, selector: AttentionSelector, known: KnownStates | None
) -> ReadAttention | None:
    """The selected attention, with the logits of the pass that has measured it; None where it cannot be:
    whoever reads it says why."""
    try:
        return find_read_attention(model, encoded, selector, known=known)
    except InputError:
        return None


@torch.no_grad()
def compute_logits(model: PreTrainedModel, encoded: Encoded) -> Float[Tensor, "texts classes"]:
    """The logits of all texts."""
    logits: Tensor | None = None
    for rows, inputs in batches(encoded, device=model.device, maps=heads_of(model.config)):
        part = model(**inputs).logits.cpu()
        logits = part.new_zeros(len(encoded.ids), part.shape[1]) if logits is None else logits
        logits[rows] = part
    return torch.zeros(0, len(class_names(model))) if logits is None else logits


NO_TEXT = (torch.OutOfMemoryError, NotImplementedError)
"""Errors that no text is the reason of."""


def is_ours(error: Exception) -> bool:
    """Whether code of Glasshead raised an error, so that it says nothing of the model."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return Path(last.filename).is_relative_to(Path(__file__).parents[1])


@contextmanager
def failing_text_named(model: PreTrainedModel, encoded: Encoded) -> Iterator[None]:
    """If a pass in the block fails, look for a text on which the model fails by itself.

    Raises:
        InputError: if there is one: models that merge tokens fail on texts that are too short.
    """
    try:
        yield
    except (RuntimeError, IndexError) as error:
        if not isinstance(error, NO_TEXT):
            check_texts(model, encoded)
        raise


@torch.no_grad()
def check_texts(model: PreTrainedModel, encoded: Encoded) -> None:
    """Raise InputError for the first text on which the model fails by itself."""
    for row in torch.arange(len(encoded.ids)):
        ((_, inputs),) = batches(encoded, row[None], model.device)
        try:
            model(**inputs)
        except (RuntimeError, IndexError) as error:
            if isinstance(error, NO_TEXT) or is_ours(error):
                raise
            length, nouns = int(encoded.mask[row].sum()), encoded.nouns
            raise InputError(
                f"{class_name(model)} fails on {nouns.text} {int(row) + 1}, of {length} {nouns.tokens} "
                f"({brief(error)}): leave it out"
            ) from error


def default_target_fn(model: PreTrainedModel) -> str:
    """The number that is explained by default."""
    if is_regression(model.config):
        return "rating"
    return model.target_fn if isinstance(model, TaskModel) else "probability"


def class_index(model: PreTrainedModel, target: int | str) -> int:
    """The index of a class given by index or name.

    Raises:
        InputError: if the model has no such class.
    """
    names = class_names(model)
    place = place_of(target, names)
    if place is None:
        raise InputError(f"the model has no class {target!r}: {did_you_mean(str(target), names)}")
    return place
