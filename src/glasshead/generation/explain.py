"""What the tokens of an answer were written from, by every method that has something to say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import torch

from glasshead.data import TextImages
from glasshead.errors import InputError
from glasshead.explainers import TARGETS
from glasshead.generation.attention_rows import AttentionRows, RolloutRows
from glasshead.generation.direct_rows import DirectRows
from glasshead.generation.erasure_rows import ALL_LAYERS, ErasureRows
from glasshead.generation.gradient_rows import GradientRows
from glasshead.generation.image_sinks import image_sinks_of_text
from glasshead.generation.intervals import RowIntervals
from glasshead.generation.method import RowMethod
from glasshead.generation.relevance_rows import RelevanceRows
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import Progress, ReadText, no_progress
from glasshead.huggingface import NextTokenClassifier, isolated_copy, token_id, with_same_images
from glasshead.registry import Registry
from glasshead.requests import MethodRequest, RankRequest, check_values
from glasshead.results import ATTENTION, Written, WrittenAttribution, WrittenMap
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.trace import AttentionSelector, Subject

USUAL_TARGET = "log-probability"
ALL_HEADS = AttentionSelector()
STORED_NUMBERS, WITH_IMAGE = 500_000, 150_000
"""Weights of all heads that go with a text, and with one that has images, which take their own room."""

METHODS: Registry[RowMethod] = Registry("method")
"""What explains a text that was written, by the names that `glasshead.explain` has for it; where a token is
hidden in all layers, and for the direct path, which that does not do, by another one."""
METHODS.register("attention")(AttentionRows())
METHODS.register("rollout")(RolloutRows())
for removal in ("mean-embedding", "unknown-token", ALL_LAYERS):
    METHODS.register(f"erasure-{removal}")(ErasureRows(removal))
METHODS.register("gradient")(GradientRows(None))
for reduction in ("l1", "l2"):
    METHODS.register(f"gradient-{reduction}")(GradientRows(reduction))
METHODS.register("direct")(DirectRows())
METHODS.register("attn-lrp")(RelevanceRows(holds_attention=False))
METHODS.register("cp-lrp")(RelevanceRows(holds_attention=True))


@dataclass(frozen=True, repr=False, kw_only=True)
class WrittenWithModel(Written):
    """A `Written` together with the model that wrote it, and the images that it saw, so that it can be
    explained."""

    subject: Subject = field(compare=False)
    seen: TextImages | None = field(default=None, compare=False)

    def plain_value(self) -> Written:
        """What is drawn and saved."""
        return Written(**{own.name: getattr(self, own.name) for own in fields(Written)})

    @in_own_modes
    def explain(
        self,
        method: str = "attention",
        *,
        layer: int | str | None = None,
        head: int | str | None = None,
        target: str = USUAL_TARGET,
        against: str | None = None,
        whole: bool = False,
        intervals: bool = False,
    ) -> WrittenAttribution:
        """What every token of the answer was written from: a matrix with a row for each of them and a number
        for everything before it.

        ``method`` is one of `METHODS`; ``layer`` and ``head`` choose the selected attention (else the mean of
        the last layer's heads). ``target`` is what the methods other than attention explain about each token:
        log-probability, probability, logit, log-odds, or entropy; with ``against`` it is the contrast log
        p(x_t | x_<t) − log p(other | x_<t). For the ``whole`` answer there is one row, the sum over its
        tokens. ``intervals`` are those of attention weights: what else each could be with the same output
        of its head.

        Raises:
            InputError: on an unknown method, target, layer or head, on an ``against`` that is not exactly one
                token, on a target of a method that has none, and on intervals if there are none.
        """
        check_values(MethodRequest, method=method, layer=layer, head=head, against=against)
        request = MapRequest(method, AttentionSelector(layer, head), target, against, whole, intervals)
        plain = self.plain_value()
        return WrittenAttribution(plain, make_map(self.read_text(), request))

    @property
    def weights_of_heads(self) -> int:
        """The number of attention weights behind the answer, in all heads of all layers."""
        config = self.subject.model.config.get_text_config(decoder=True)
        layers = next(
            layers
            for name in ("decoder_layers", "num_decoder_layers", "num_hidden_layers")
            if (layers := getattr(config, name, None)) is not None
        )
        heads = int(getattr(config, "decoder_attention_heads", None) or config.num_attention_heads)
        return int(layers) * heads * sum(range(self.start, len(self.ids)))

    @in_own_modes
    def with_maps(
        self,
        methods: Sequence[str],
        *,
        target: str = USUAL_TARGET,
        heads: bool = False,
        intervals: bool = False,
        progress: Progress = no_progress,
    ) -> Written:
        """The text with explanations to choose from on its page; with ``heads`` also the attention of every
        layer and head, with ``intervals`` also those of all weights. ``progress`` is called as the work
        goes on.

        Raises:
            InputError: as `explain`.
        """
        methods = [methods] if isinstance(methods, str) else methods
        check_values(RankRequest, methods=methods)
        text = replace(self.read_text(), progress=progress)
        maps: list[WrittenMap] = []
        notes = self.notes
        if heads and self.weights_of_heads > (STORED_NUMBERS if self.seen is None else WITH_IMAGE):
            heads = False
            notes += (f"single heads are left out: they have {self.weights_of_heads:,} weights",)
        for method in methods:
            explained = METHODS[method]
            own = USUAL_TARGET if not explained.reads_target else target
            everywhere = explained.all_maps(text) if heads else []
            made = everywhere or [make_map(text, MapRequest(method, ALL_HEADS, own))]
            if intervals and method == ATTENTION:
                rows = RowIntervals(text)
                for done, one in enumerate(made, start=1):
                    made[done - 1] = rows.beside(one)
                    progress(done, len(made))
            maps += made
        sinks: tuple[int, ...] = ()
        if self.boxes is not None and ATTENTION in methods and self.answer_tokens:
            parts = np.array([place for place, box in enumerate(self.boxes) if box is not None])
            sinks = image_sinks_of_text(text, parts)
        return replace(self.plain_value(), maps=(*maps,), notes=notes, image_sinks=sinks)

    def read_text(self) -> ReadText:
        """The text before its model."""
        classifier = isolated_copy(self.subject.model)
        assert isinstance(classifier, NextTokenClassifier)
        if self.seen is not None:
            classifier = with_same_images(classifier, self.seen, self.start)
        ids = torch.tensor([self.ids], device=classifier.device)
        sees = self.seen is not None
        return ReadText(classifier, self.subject.tokenizer, ids, self.start, source=self.source, sees=sees)


@dataclass(frozen=True)
class MapRequest:
    """How a text is explained.

    Raises:
        InputError: on an unknown method or target, and if the method cannot read what you chose.
    """

    method: str
    selector: AttentionSelector = ALL_HEADS
    target: str = USUAL_TARGET
    against: str | None = None
    whole: bool = False
    intervals: bool = False

    def __post_init__(self) -> None:
        method = METHODS[self.method]
        TARGETS[self.target]
        if self.selector.is_customised and not method.reads_attention:
            raise InputError(
                f"{self.method!r} reads no single attention: leave {spell('layer')} and {spell('head')} out"
            )
        if not method.reads_target and (
            self.whole or self.against is not None or self.target != USUAL_TARGET
        ):
            raise InputError(
                f"{self.method!r} does not depend on the target: leave the target out, or use "
                "'erasure-mean-embedding' or 'gradient'"
            )
        if self.against is not None and self.target not in (USUAL_TARGET, "logit"):
            raise InputError(f"a contrast always compares log-probabilities: leave {spell('target')} out")
        if self.intervals and self.method != ATTENTION:
            raise InputError(
                f"the numbers of the method {self.method!r} are not attention weights, and only these have "
                "intervals: use the method 'attention'"
            )
        if self.target == "rating":
            raise InputError("a language model gives no rating: use the target 'log-probability'")


def check_methods(methods: Sequence[str], target: str = USUAL_TARGET) -> None:
    """Raise InputError unless there are such methods, and such a target."""
    TARGETS[target]
    for name in methods:
        MapRequest(name, target=target if METHODS[name].reads_target else USUAL_TARGET)


def make_map(text: ReadText, request: MapRequest) -> WrittenMap:
    """One explanation of a text."""
    other = None if request.against is None else token_id(text.tokenizer, request.against)
    target = AnswerTarget(request.target, text.answer, other, request.whole)
    made = METHODS[request.method].explain(text, target, request.selector, name=request.method)
    return RowIntervals(text).beside(made) if request.intervals else made
