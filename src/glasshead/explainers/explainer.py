"""The shape of every explanation method: texts in, one Attribution per text out.

A method that reads one attention takes it from `ExplanationContext.observation`. One that aggregates over
layers, such as rollout, runs the model itself and records every layer (`glasshead.trace.record`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import Encoded, EncodedTextsWithImages, UnitReader, join_pair, token_names
from glasshead.errors import InputError, MissingExtra
from glasshead.explainers.aggregate_sentences import by_sentence, sentence_numbers
from glasshead.explainers.attention_observation import OnTexts, count_on, not_watched
from glasshead.explainers.explanation_context import DEFAULT_SELECTOR, ExplanationContext, make_context
from glasshead.explainers.method_options import parse_option
from glasshead.explainers.row_caveat import row_caveat
from glasshead.explainers.targets import TARGETS
from glasshead.huggingface import Inputs, answers_of, ask_usual, question_in_words, rated_name
from glasshead.models import TextClassifier
from glasshead.nouns import Nouns
from glasshead.registry import Registry
from glasshead.results import Attribution, missing_share, sink_of
from glasshead.spelling import spell
from glasshead.trace import (
    AttentionSelector,
    KnownStates,
    eval_mode,
)

FAMILIES = (
    "attention of one layer", "attention through all layers", "gradients", "relevance", "erasure",
    "local surrogates", "control", "other methods",
)  # fmt: skip


class ResolvedTargets:
    """The class that each method explained of each text, so that another model can explain the same ones."""

    def __init__(self, before: ResolvedTargets | None = None) -> None:
        self.before = {} if before is None else {name: torch.cat(own) for name, own in before.own.items()}
        self.own: dict[str, list[Tensor]] = {}

    def resolve(self, method: str, rows: slice, context: ExplanationContext) -> ExplanationContext:
        """The context of some texts, with the classes of ``before`` where there are some."""
        if method in self.before:
            context = context.towards(self.before[method][rows][: len(context.target)])
        self.own.setdefault(method, []).append(context.target)
        return context


class Explainer(ABC):
    """One number per token: how much it mattered for the target.

    ``importance`` is the method; calling the object does the rest (tokenising once, batches, packing).
    """

    name: str
    description: str
    template: str = ""
    """The description with fields for what inputs are called (`Nouns.fill`), where it names them."""
    citation: str
    family: str = "other methods"
    """The kind of method, one of `FAMILIES`, by which a list of all is ordered."""
    reads_attention: bool = False
    """Whether it makes a difference which attention is read."""
    for_images: bool = False
    """Whether it explains images alone."""
    reads_target_fn: bool = True
    """Whether its numbers depend on which number of the target is explained."""
    reads_weights: bool = False
    """Whether its numbers are the selected weights, so that they have intervals."""
    combines_heads: bool = False
    """Whether the maps of all heads can become one other than by their mean."""
    package: str | None = None
    """The package that the method comes from; the extra of that name installs it."""
    mirrors_classes: bool = True
    """Whether its numbers towards one of two classes are those towards the other, but for their sign. Others
    are asked about the class that is predicted, unless one is named."""
    sign_is_gauge: bool = False
    """Whether its signs are those of the weights, which say something only once a gauge is fixed."""

    def describe(self, nouns: Nouns) -> str:
        """The description, in words about such inputs."""
        return nouns.fill(self.template) if self.template else self.description

    def word_importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        """Numbers of tokens that add up to that of each word, where those of `importance` do not; None: they
        do."""
        return None

    @abstractmethod
    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        """Importance of every token; padding is ignored."""

    def with_options(self, options: dict[str, float | str]) -> Explainer:
        """The method with options of its own: ``rollout+discard=0.9``, ``layer-mean+reading=to``.

        Raises:
            InputError: if it has no such option.
        """
        raise InputError(f"the method {self.name!r} has no option {next(iter(options))!r}: it has none")

    def signed(self, context: ExplanationContext) -> bool:
        """Whether the sign carries meaning."""
        return True

    def contributions(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        """The invariant numbers that colour the map, where they differ from the importance."""
        return None

    def halves(
        self, context: ExplanationContext
    ) -> tuple[Float[Tensor, "texts tokens"], Float[Tensor, "texts tokens"]] | None:
        """What speaks for the target and what against it, where the importance is only their difference;
        None: its own sign says it."""
        return None

    def caveat(self, context: ExplanationContext) -> str | None:
        """Why the numbers mean little for this model, and what to use instead; None: nothing is known."""
        return None

    def reading(self, context: ExplanationContext) -> str | None:
        """Which attention of a model with several it reads, in words; None: there is no choice."""
        return context.reading if self.reads_attention else None

    def settings(self, context: ExplanationContext) -> str | None:
        """The steps, samples or baseline with which the numbers were computed; None: nothing to set."""
        return None

    def own_removal(self, context: ExplanationContext) -> str | None:
        """The type of deletion with which it scores tokens; None: it deletes none."""
        return None

    def completeness_gaps(self, context: ExplanationContext) -> Float[Tensor, " texts"] | None:
        """How far the numbers of each text miss the change of ŷ that they should add up to; None: they need
        not add up."""
        return None

    def __call__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase | UnitReader,
        texts: Sequence[Any],
        pairs: Sequence[str] | None = None,
        *,
        target: int | str | None = None,
        target_fn: str | None = None,
        attention_selector: AttentionSelector = DEFAULT_SELECTOR,
        batch_size: int = 256,
        encoded: Encoded | None = None,
        known: KnownStates | None = None,
        targets: ResolvedTargets | None = None,
        progress: OnTexts = not_watched,
    ) -> list[Attribution]:
        """Explain texts, or pairs of texts, for one target class (None: class 1 of a binary task, else the
        predicted class; that of two as well where the method does not mirror classes). ``target_fn`` is the
        explained number: the probability, or the rating of a rating model. ``encoded`` are the texts as
        `glasshead.data.encode` gives them, where that was done before, and ``known`` what blocks said of
        texts in earlier passes; ``targets`` keep the class of each text, or say it. ``progress`` is called
        with how many texts are done, and how many there are.

        Raises:
            InputError: on an unknown target class or target function, or one that changes nothing, pairs for
                a model of single texts and the reverse, and a model or a reading that the method cannot read.
        """
        check_installed(self)
        if target_fn in TARGETS and not self.reads_target_fn:
            raise InputError(
                f"the numbers of {self.name!r} do not depend on the number that is explained: leave "
                f"{spell('target_fn')} "
                "out, or choose a gradient or an erasure"
            )
        if attention_selector.is_customised and not self.reads_attention:
            raise InputError(
                f"the method {self.name!r} reads no attention: leave {spell('layer')}, {spell('head')} "
                f"and {spell('row')} out"
            )
        check_heads(self, attention_selector)
        results: list[Attribution] = []
        for start in range(0, len(texts), batch_size):
            rows = slice(start, start + batch_size)
            batch, seconds = texts[rows], None if pairs is None else pairs[rows]
            check_pairs(model, seconds is not None)
            with eval_mode(model):
                own = (
                    ask_usual(model, Inputs.read(tokenizer, batch, seconds))
                    if encoded is None
                    else encoded.some(rows)
                )
                context = make_context(
                    model,
                    own,
                    tokenizer,
                    target=target,
                    target_fn=target_fn,
                    attention_selector=attention_selector,
                    progress=partial(count_on, progress, start, len(texts)),
                    reads_attention=self.reads_attention,
                    known=known,
                )
                if target is None and not self.mirrors_classes:
                    context = context.towards_predicted()
                if targets is not None:
                    context = targets.resolve(self.name, rows, context)
                shown = list(batch) if seconds is None else list(map(join_pair, batch, seconds))
                attributions = to_attributions(
                    self, context, shown, self.importance(context), self.contributions(context)
                )
            if attention_selector.level == "sentence":
                numbers = sentence_numbers(model, own)
                attributions = [
                    by_sentence(attribution, row[row >= 0].numpy())
                    for attribution, row in zip(attributions, numbers, strict=True)
                ]
            results += attributions
        return results


ELSEWHERE = {
    name: ours
    for ours, names in {
        "attention": ("attentions", "raw-attention", "attention-weights"),
        "attn-lrp": ("attnlrp", "layerwise-relevance-propagation", "lrp"),
        "captum:deep-lift": ("deep-lift", "deeplift"),
        "captum:integrated-gradients": ("ig", "integrated-gradients", "layer-integrated-gradients", "lig"),
        "captum:kernel-shap": ("kernel-shap", "kernelshap", "shap", "shapley"),
        "captum:lime": ("lime",),
        "erasure-delete": ("ablation", "feature-ablation", "leave-one-out", "loo", "occlusion"),
        "gradient": ("grad-x-input", "gradient-x-input", "input-x-gradient", "inputxgradient", "ixg"),
        "grad-cam": ("gradcam", "layer-grad-cam", "layergradcam"),
        "gradient-attention": ("attention-gradients", "chefer"),
        "gradient-l2": ("gradient-norm", "saliency", "vanilla-gradient"),
        "rollout": ("attention-rollout",),
    }.items()
    for name in names
}
"""What Captum, inseq, SHAP and papers call our methods; "did you mean" answers with ours."""
EXPLAINERS: Registry[Explainer] = Registry("explainer", "explainers", ELSEWHERE)


def find_explainer(name: str) -> Explainer:
    """The explainer of that name, with its options (``rollout+discard=0.9``), ready to use.

    Raises:
        InputError: if there is none, or if a package is missing that it needs.
    """
    base, *words = name.split("+")
    if "," in base:
        raise InputError(f"{base[:60]!r} is more than one method: name each separately")
    explainer = EXPLAINERS[base]
    check_installed(explainer)
    if words:
        explainer = explainer.with_options(dict(map(parse_option, words)))
        explainer.name = name
    return explainer


def check_installed(explainer: Explainer) -> None:
    """Raise InputError if the package is missing that an explainer comes from."""
    if explainer.package is not None and find_spec(explainer.package) is None:
        raise MissingExtra(f"the method {explainer.name!r}", explainer.package)


def register(name: str, explainer: Explainer) -> None:
    """File an explainer under its name, which its attributions carry as ``method``."""
    explainer.name = name
    EXPLAINERS.register(name)(explainer)


def check_heads(explainer: Explainer, selector: AttentionSelector) -> None:
    """Raise InputError if heads are combined in another way for a method that reads their mean."""
    if selector.combines_heads and not explainer.combines_heads:
        raise InputError(
            f"the method {explainer.name!r} does not combine heads: {spell('head')} "
            f"{selector.head!r} is for "
            "those that do, such as 'attention' and 'rollout'"
        )


def check_pairs(model: PreTrainedModel, pairs: bool) -> None:
    """Raise InputError for pairs with a model of single texts, or the reverse."""
    if not isinstance(model, TextClassifier) or (model.texts_per_example == 2) == pairs:
        return
    if pairs:
        raise InputError(
            "this model reads one text at a time, but these are pairs: leave the second text out"
        )
    raise InputError(f"this model compares two texts: give the second one, too ({spell('pairs')})")


def to_attributions(
    explainer: Explainer,
    context: ExplanationContext,
    texts: Sequence[Any],
    importance: Float[Tensor, "texts tokens"],
    contributions: Float[Tensor, "texts tokens"] | None,
) -> list[Attribution]:
    """Tensors → plain values, one Attribution per text, padding dropped."""
    values = context.logits if context.is_regression else context.logits.double().softmax(dim=-1)
    predicted = context.logits.argmax(dim=-1)
    mask = context.encoded.mask.numpy()
    signed = explainer.signed(context)
    reading = explainer.reading(context)
    caveat, settings = remarks_of(explainer, context)
    gaps = explainer.completeness_gaps(context)
    words = explainer.word_importance(context)
    halves = explainer.halves(context)
    sinks = image_sinks_of(explainer, context)
    results = []
    for index, text in enumerate(texts):
        keep = mask[index]
        target = int(context.target[index])
        names = answers_of(context.model, context.encoded, index)
        results.append(
            Attribution(
                **{
                    "text": str(text),
                    **token_fields(context.tokenizer, context.encoded, index),
                    **context.encoded.drawing(index, str(text)),
                },
                scores=_numbers(importance[index], keep),
                signed=signed,
                target=rated_name(context.model) if context.is_regression else names[target],
                predicted=f"{values[index, 0]:.2f}"
                if context.is_regression
                else names[int(predicted[index])],
                prediction=float(values[index, target]),
                method=explainer.name,
                asked=question_in_words(context.model, context.encoded, index, str(text)),
                contributions=None if contributions is None else _numbers(contributions[index], keep),
                rates=context.is_regression,
                reading=reading,
                caveat=caveat,
                settings=settings,
                completeness_gap=None if gaps is None else float(gaps[index]),
                word_scores=None if words is None else _numbers(words[index], keep),
                sink=sink_share(explainer, context, importance[index]),
                learned_sink=learned_sink_share(explainer, context, importance[index]),
                image_sinks=sinks[index],
                halves=None
                if halves is None
                else (_numbers(halves[0][index], keep), _numbers(halves[1][index], keep)),
            )
        )
    return results


def remarks_of(explainer: Explainer, context: ExplanationContext) -> tuple[str | None, str | None]:
    """Caveat and settings of a method, in words about inputs of that kind."""
    caveats = [explainer.caveat(context)]
    if explainer.reads_attention:
        caveats = [context.layer_note, row_caveat(context), *caveats]
    return "; ".join(words for words in caveats if words) or None, explainer.settings(context)


def sink_share(
    explainer: Explainer, context: ExplanationContext, weights: Float[Tensor, " tokens"]
) -> float | None:
    """The share of the weights of a text on its first token, where that is a sink of a model that reads from
    left to right."""
    if not explainer.reads_weights or context.site is None or not context.site.causal:
        return None
    return sink_of(weights.tolist())


def learned_sink_share(
    explainer: Explainer, context: ExplanationContext, weights: Float[Tensor, " tokens"]
) -> float | None:
    """What the weights of a text miss to one, where sinks have it: of a head, or the mean of all."""
    if not explainer.reads_weights or (site := context.site) is None:
        return None
    if not site.mechanism.activation.has_sinks:
        return None
    return missing_share(weights.tolist()) if site.head is not None or site.heads == "mean" else None


def image_sinks_of(explainer: Explainer, context: ExplanationContext) -> list[tuple[int, ...]]:
    """The attention sinks among the parts of the image of each text, where weights are shown."""
    from glasshead.explainers.image_sinks import image_sinks  # removals need explainers

    if explainer.reads_weights and isinstance(context.encoded, EncodedTextsWithImages):
        return image_sinks(context)
    return [()] * len(context.encoded.ids)


def token_fields(
    tokenizer: PreTrainedTokenizerBase | UnitReader, encoded: Encoded, index: int
) -> dict[str, Any]:
    """The tokens of a text and their places, as fields of its attribution; padding dropped."""
    keep = encoded.mask[index].numpy()
    ids = encoded.ids[index].numpy()[keep].tolist()
    return {
        "tokens": tuple(encoded.name_tokens(index, token_names(tokenizer, ids))),
        "ids": tuple(ids),
        "words": tuple(encoded.words[index][keep].tolist()),
        "offsets": tuple((int(a), int(b)) for a, b in encoded.offsets[index][keep]),
    }


def _numbers(values: Tensor, keep: np.ndarray) -> tuple[float, ...]:
    return tuple(values.detach().cpu().numpy()[keep].tolist())
