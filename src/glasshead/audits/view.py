"""What every audit asks: one model before one batch of inputs, with what audits share computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.arrays import AnyFloats
from glasshead.audits.map_intervals import intervals_per_text
from glasshead.audits.reference import measure_reference
from glasshead.audits.reference_facts import Reference
from glasshead.audits.settings import Settings, entropy
from glasshead.audits.slices import COLUMN, IDENTIFIABILITY
from glasshead.audits.table import Table, among_first, same_numbers
from glasshead.audits.unit_weights import draw_units, uniform_weights
from glasshead.data import Marks
from glasshead.explainers import (
    TARGETS,
    Explainer,
    ExplanationContext,
    LinearReadout,
    OnTexts,
    SentenceReadout,
    find_explainer,
    head_signs,
    removable,
    sentence_numbers,
)
from glasshead.huggingface import NextTokenClassifier, arithmetic_of, isolated_copy
from glasshead.models import HierarchicalClassifier
from glasshead.nouns import Nouns
from glasshead.results import ATTENTION
from glasshead.tasks import LikelihoodModel

COPIES: WeakKeyDictionary[PreTrainedModel, dict[torch.dtype, PreTrainedModel]] = WeakKeyDictionary()
"""Models in other precisions, as long as they live themselves."""


def share_copy(model: PreTrainedModel, trained: PreTrainedModel) -> None:
    """Let the model as it was trained be the copy in its own precision, so that nobody makes another."""
    if arithmetic_of(trained) != arithmetic_of(model):
        COPIES.setdefault(model, {})[arithmetic_of(trained)] = isolated_copy(trained)


# The measures that an explanation is held against; by a finding's `against`: an explainer.
IMPORTANCE = {
    "gradient": "gradient-after-norm",
    "erasure-zero-weight": "erasure",
    "erasure-renormalise": "erasure-renormalise",
}


@dataclass(frozen=True)
class ModelView:
    """Texts [N], what is true of each (its class, or its rating), and a view of the model on them, in float64
    unless float32 was asked for.

    ``ids`` [N] are digests of the inputs and their places in the data: all random numbers of a row follow
    from the ``seed``, the audit and its id. ``ranks`` [N] are the places of the inputs in a random order of
    the data, whose first ones are asked where an audit asks only some. ``reference`` is what is measured on
    the first of them for all (None: these texts are all).

    Everything has one number for each unit [N, n]: a token or, where sentences are read, a sentence.
    ``explanation`` is the model before the texts, and which of its attention is read. ``counts``
    [K, V] are the train occurrences of every vocabulary id in every class, None where nobody knows them.
    ``gauge_kind`` says where the sign of the heads that are read was found there, ``gauge_margin`` how
    clearly (`glasshead.trace.Gauge`); None: no sign was fixed. ``label_note`` says how the classes of the
    data were matched to the model's. Of a pair both texts stand in ``texts``, with a line between, and of an
    image its name; ``inputs_read`` are what the model was given.
    ``trained_model`` is the model as it was trained, in its own precision. ``by`` is what texts are sliced
    by: class, length, correct, confidence, identifiability, or the name of a column, whose values stand in
    ``columns``. ``method`` is the explanation that is audited, and ``references`` are those that
    `agreement` compares it with besides `IMPORTANCE`. ``marks`` are what people have marked in each
    text, None where the data have no marks. ``spares_first`` leaves the first token of every text out of
    the units: an attention sink, which keeps its weight and its place.
    """

    explanation: ExplanationContext
    texts: Sequence[str]
    indices: NDArray[np.int64]
    labels: NDArray[Any]
    label_names: Sequence[str]
    counts: NDArray[np.int64] | None
    gauge_kind: str | None
    gauge_margin: float | None
    trained_model: PreTrainedModel
    label_note: str | None = None
    inputs_read: tuple[Sequence[Any], Sequence[str] | None] | None = None
    by: tuple[str, ...] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    method: str = ATTENTION
    references: tuple[str, ...] = ()
    marks: Sequence[Marks] | None = None
    spares_first: bool = False
    ids: NDArray[np.int64] = field(kw_only=True)
    ranks: NDArray[np.int64] = field(kw_only=True)
    seed: int = 0
    reference: Reference | None = None

    def with_seed(self, seed: int) -> ModelView:
        """The same view, with other random numbers."""
        return self if seed == self.seed else self.but(seed=seed)

    def but(self, **changes: Any) -> ModelView:
        """The view with other fields that change nothing of what was computed already."""
        view = replace(self, **changes)
        known = {name: value for name, value in vars(self).items() if name not in vars(view)}
        vars(view).update({name: value for name, value in known.items() if name not in ("settings", "known")})
        return view

    def watched(self, progress: OnTexts) -> ModelView:
        """The view, which tells how far it is."""
        return replace(self, explanation=replace(self.explanation, progress=progress))

    def rng(self, audit: str, row: int) -> np.random.Generator:
        """The random numbers of an audit for one text, whatever texts are beside it."""
        return np.random.default_rng(entropy(self.seed, audit, int(self.ids[row])))

    def seeds(self, audit: str) -> NDArray[np.int64]:
        """One number for each text from which others follow [N]."""
        sequences = [
            np.random.SeedSequence(entropy(self.seed, audit, number)) for number in self.ids.tolist()
        ]
        states = [one.generate_state(1, np.uint64)[0] >> np.uint64(1) for one in sequences]
        return np.array(states, dtype=np.int64)

    def asked(self, most: int | None) -> NDArray[np.bool_]:
        """Which texts [N] are among the first so many of the data in random order; None: all."""
        return among_first(self.ranks, most)

    @cached_property
    def known(self) -> Reference:
        """What was measured for all inputs of the data."""
        return self.reference or measure_reference(self)

    def draw(self, audit: str, signed: bool) -> AnyFloats:
        """U(0, 1), or U(−1, 1) where ``signed``, for every unit [N, n]; of a text as if alone."""
        return draw_units(self.mask, signed, partial(self.rng, audit))

    def draw_scores(self, audit: str, signed: bool) -> AnyFloats:
        """Random scores of tokens [N, n], added up where a unit has several, as are all explanations of such
        a unit: of a larger one the sum is larger."""
        mask = self.explanation.encoded.mask.numpy()
        return self.explanation.encoded.sum_units(draw_units(mask, signed, partial(self.rng, audit)))

    def model_in(self, dtype: torch.dtype) -> PreTrainedModel:
        """The model in another precision; the copy serves all views of it."""
        model = self.explanation.model
        if arithmetic_of(model) == dtype:
            return model
        copies: dict[torch.dtype, PreTrainedModel] = COPIES.setdefault(model, {})
        if dtype not in copies:
            copies[dtype] = isolated_copy(model, dtype)
        return copies[dtype]

    @property
    def nouns(self) -> Nouns:
        """What the inputs and their units are called."""
        return self.explanation.encoded.nouns

    @property
    def has_gauge(self) -> bool:
        """Whether the sign of the weights says anything: it cannot be negative, or was fixed."""
        return not self.signed or (self.gauge_kind is not None and self.explanation.observation.has_gauge)

    @property
    def mixes_heads(self) -> bool:
        """Whether weights of several heads were added up, so that their signs decide the sizes too."""
        sites = [self.explanation.site, self.explanation.site.above] if self.explanation.site else []
        many = (site.head is None and site.num_heads > 1 for site in sites if site is not None)
        return self.signed and any(many)

    @cached_property
    def settings(self) -> Settings:
        """What judges are told of this model and explanation."""
        explainer, weights = self.explainer, self.explainer.reads_weights
        reads = self.reads_attention or not explainer.reads_attention
        return Settings(
            nouns=self.nouns,
            method=self.method,
            label_names=tuple(self.label_names),
            is_regression=self.is_regression,
            predicts_tokens=self.predicts_tokens,
            reads_weights=weights,
            sign_is_gauge=explainer.sign_is_gauge,
            scores_signed=self.scores_signed if reads else False,
            mirrors_classes=explainer.mirrors_classes,
            signed=self.reads_attention and self.signed,
            has_gauge=self.reads_attention and self.has_gauge,
            gauge_kind=self.gauge_kind,
            mixes_heads=self.reads_attention and self.mixes_heads,
            exact=self.reads_attention and self.exact,
            of_tokens=self.reads_attention and isinstance(self.explanation.observation, LinearReadout),
            by_sentence=self.sentence_of_token is not None,
            prediction_range=self.prediction_range,
            rates_answers=self.rates_answers,
            spares_first=self.spares_first,
            seed=self.seed,
        )

    @cached_property
    def reads_attention(self) -> bool:
        """Whether this model shows an attention that can be read."""
        return self.explanation.unreadable_reason is None

    @cached_property
    def head_signs(self) -> NDArray[np.float64]:
        """The canonical sign of each head of the attention that is read; 1 where none was fixed."""
        if self.readout is not None:
            return np.array([self.readout.gauge], dtype=float)
        assert self.explanation.site is not None
        sign = head_signs(self.explanation.model, self.explanation.site)
        return np.ones(self.explanation.site.num_heads) if sign is None else sign.double().cpu().numpy()

    @property
    def readout(self) -> LinearReadout | None:
        """The linear readout of tokens, or of sentences, where the outputs are linear in their weights."""
        observation = self.explanation.observation
        if isinstance(observation, SentenceReadout):
            return observation.sentences
        return observation if isinstance(observation, LinearReadout) else None

    @property
    def is_regression(self) -> bool:
        """Whether a rating is predicted, and no class."""
        return self.explanation.is_regression

    @property
    def predicts_tokens(self) -> bool:
        """Whether the model is a language model, whose classes are tokens."""
        return isinstance(self.explanation.model, NextTokenClassifier)

    @property
    def rates_answers(self) -> bool:
        """Whether the number is the log-probability of an answer that the data give."""
        return isinstance(self.explanation.model, LikelihoodModel)

    @property
    def binary(self) -> bool:
        return len(self.label_names) == 2 and not self.is_regression

    @property
    def exact(self) -> bool:
        """Whether the outputs are linear in the weights that are read."""
        return self.explanation.observation.exact

    @property
    def signed(self) -> bool:
        """Whether the activation gives signed weights."""
        return self.explanation.observation.signed

    @cached_property
    def token_mask(self) -> NDArray[np.bool_]:
        """Where there are tokens."""
        return self.explanation.encoded.mask.numpy()

    @cached_property
    def sentence_of_token(self) -> NDArray[np.int64] | None:
        """The sentence of each token, where sentences are read; None where tokens are."""
        if self.explanation.attention_selector.level == "word":
            return None
        return sentence_numbers(self.explanation.model, self.explanation.encoded).numpy()

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Where there are units."""
        return self.sum_by_unit(self.token_mask) > 0

    def sum_by_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of tokens [N, n], added up for each sentence where sentences are read, and for each unit of
        several tokens where its first one stands; none for a first token that is spared."""
        if self.spares_first:  # and what goes with it
            values = np.where(self.explanation.encoded.owner.numpy() > 0, values, 0)
        if self.sentence_of_token is None:
            return self.explanation.encoded.sum_units(values)
        num_sentences = max(int(self.sentence_of_token.max(initial=0)) + 1, 1)
        sums = np.zeros((len(values), num_sentences), dtype=float)
        text, token = np.nonzero(self.token_mask)
        np.add.at(sums, (text, self.sentence_of_token[text, token]), values[text, token])
        return sums

    @cached_property
    def weights(self) -> AnyFloats:
        """a_i as the model computes them: the raw gauge."""
        return self.sum_by_unit(self.explanation.observation.weights.numpy())

    @cached_property
    def canonical(self) -> AnyFloats:
        """a_i in the gauge that was fixed on the train split."""
        return self.sum_by_unit(self.explanation.observation.canonical.numpy())

    @cached_property
    def polarity(self) -> AnyFloats:
        """o_i towards each text's target: what a unit would add at weight 1 in the canonical gauge; to first
        order, unless exact."""
        observation = self.explanation.observation
        slopes = observation.slopes(self.explanation.target) * observation.shares()
        return self.sum_by_unit((slopes * self.explanation.encoded.shares).numpy())

    @cached_property
    def contributions(self) -> AnyFloats:
        """What each unit adds to the score of the target; to first order, unless exact."""
        return self.sum_by_unit(self.explanation.observation.contributions(self.explanation.target).numpy())

    @cached_property
    def uniform(self) -> AnyFloats:
        """One canonical weight for all tokens that share a row, of a unit of several their sum; of words
        in sentences, times that of the sentence."""
        of_tokens = self.sentence_of_token is None
        weights = uniform_weights(self.sum_by_unit(self.token_mask) if of_tokens else self.mask, self.parts)
        if self.sentence_of_token is None and isinstance(self.explanation.model, HierarchicalClassifier):
            weights /= np.maximum(self.parts.max(axis=1, initial=0, keepdims=True) + 1, 1)
        return weights

    @cached_property
    def parts(self) -> NDArray[np.int64]:
        """Which units share a row of weights: texts of a pair, and the words of each sentence."""
        model, encoded = self.explanation.model, self.explanation.encoded
        if self.sentence_of_token is None and isinstance(model, HierarchicalClassifier):
            return sentence_numbers(model, encoded).clamp(min=0).numpy()
        if encoded.types is not None and getattr(model, "packs_segments", False):
            return encoded.types.numpy()
        return np.zeros(self.mask.shape, dtype=np.int64)

    @property
    def explainer(self) -> Explainer:
        """The explanation that is audited."""
        return find_explainer(self.method)

    @cached_property
    def scores(self) -> AnyFloats:
        """What the audited explanation gives each unit [N, n], of attention the canonical weights."""
        return self.importance_by(self.method)

    @cached_property
    def scores_signed(self) -> bool:
        """Whether these can be negative, with a meaning."""
        return self.explainer.signed(self.explanation)

    def importance_by(self, method: str) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards the target.

        Of two classes one that does not mirror them is asked about the predicted one, whose support is
        opposition to the other.
        """
        explainer = find_explainer(method)
        if explainer.mirrors_classes or not self.binary:
            return self.numbers_of(method)
        scores = self.scores_towards(method, self.predicted)
        against = self.predicted != self.explanation.target.numpy()
        flips = explainer.signed(self.explanation) & against
        return np.where(flips[:, None], -scores, scores)

    def scores_towards(self, method: str, classes: NDArray[np.int64]) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards a class of each text."""
        towards = self.explanation.towards(torch.from_numpy(classes))
        return self.sum_by_unit(find_explainer(method).importance(towards).numpy())

    @cached_property
    def importance(self) -> dict[str, AnyFloats]:
        """Gradient and erasure importance of every unit, and that of each reference, by finding name; without
        the measure that the audited explanation is by its name."""
        measures = self.measures | {name: name for name in self.references}
        return {
            name: self.importance_by(method) for name, method in measures.items() if method != self.method
        }

    @property
    def measures(self) -> dict[str, str]:
        """Those of `IMPORTANCE` that the model allows: some edit its attention."""
        return {
            name: method
            for name, method in IMPORTANCE.items()
            if self.reads_attention or not find_explainer(method).reads_attention
        }

    def has_sides(self, against: str) -> bool:
        """Whether the signs of a measure say for which class a unit speaks: those of references may not."""
        if against in IMPORTANCE:
            return True
        explainer = find_explainer(against)
        return explainer.signed(self.explanation) and not explainer.sign_is_gauge

    def same_as_scores(self, importance: AnyFloats) -> AnyFloats:
        """In which texts a measure is the audited explanation itself (`same_numbers`)."""
        return same_numbers(self.scores, importance)

    def numbers_of(self, method: str) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards the target, however it takes classes."""
        return self.sum_by_unit(find_explainer(method).importance(self.explanation).numpy())

    @cached_property
    def prediction(self) -> AnyFloats:
        """ŷ, the probability of the target class, or the rating."""
        return self.explanation.sized_fn(self.explanation.logits, self.explanation.target).numpy()

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """The predicted class, or rating."""
        return self.prediction if self.is_regression else self.explanation.logits.argmax(dim=-1).numpy()

    @property
    def classes_predicted(self) -> NDArray[np.int64]:
        """The predicted class; one for all ratings."""
        return np.zeros(len(self.labels), dtype=np.int64) if self.is_regression else self.predicted

    @cached_property
    def surprisal(self) -> AnyFloats:
        """−log ŷ of the true class of each text, in nats."""
        labels = torch.from_numpy(self.labels).long()
        return -TARGETS["log-probability"](self.explanation.logits.double(), labels).numpy()

    @property
    def prediction_range(self) -> float:
        """How far apart the ends of what can be predicted are; one nat of a log-probability, which has
        none."""
        return self.known.span if self.is_regression and not self.rates_answers else 1.0

    @cached_property
    def confidence(self) -> AnyFloats:
        """The probability of the class that is predicted [N]."""
        return self.explanation.logits.softmax(dim=-1).amax(dim=-1).double().numpy()

    def without_first(self, reference: Reference | None = None) -> ModelView:
        """The texts with their first token left out of every question."""
        rest = replace(self, spares_first=True, reference=reference)
        if "importance" in vars(self):  # erasure of every token, which nobody needs twice
            vars(rest)["importance"] = {name: rest.sum_by_unit(v) for name, v in self.importance.items()}
        return rest

    @property
    def knows_nothing(self) -> NDArray[np.bool_]:
        """The texts [N] of which every token is unknown to the model, and there are some."""
        unknown_id = getattr(self.explanation.tokenizer, "unk_token_id", None)
        if unknown_id is None or not self.explanation.encoded.in_line:
            return np.zeros(len(self.labels), dtype=bool)
        known = (self.explanation.encoded.ids != unknown_id).numpy() & self.token_mask
        return np.asarray(~known.any(axis=1) & self.token_mask.any(axis=1))

    def some(self, places: NDArray[np.int64]) -> ModelView:
        """Some of the texts before the model; of what was computed only predictions are kept."""
        firsts, seconds = self.inputs_read or (self.texts, None)
        return replace(
            self,
            explanation=self.explanation.some(torch.from_numpy(places)),
            texts=[self.texts[place] for place in places],
            indices=self.indices[places],
            labels=self.labels[places],
            inputs_read=(
                [firsts[place] for place in places],
                None if seconds is None else [seconds[place] for place in places],
            ),
            columns={name: [values[place] for place in places] for name, values in self.columns.items()},
            marks=None if self.marks is None else [self.marks[place] for place in places],
            ids=self.ids[places],
            ranks=self.ranks[places],
            reference=self.known,
        )

    @cached_property
    def inputs(self) -> Table:
        """What every row has, whatever is asked."""
        columns: dict[str, NDArray[Any]] = {
            "id": self.ids,
            "label": self.labels,
            "predicted": self.predicted,
            "tokens": self.token_mask.sum(axis=1),
            "units": self.mask.sum(axis=1),
            "unknown": self.knows_nothing,
        }
        if not self.is_regression:
            columns |= {
                "target": self.explanation.target.numpy(),
                "probability": self.prediction,
                "confidence": self.confidence,
            }
        if self.predicts_tokens:
            columns["surprisal"] = self.surprisal
        for name, values in self.columns.items():
            columns[COLUMN + name] = np.array(values, dtype=object)
        if self.explainer.reads_weights and self.reads_attention:
            columns["max_weight"] = np.abs(self.canonical).max(axis=1, initial=0.0)
        return columns

    @cached_property
    def certainty(self) -> Table:
        """How certain the weights are, where texts are sliced by it: what takes linear programs."""
        if IDENTIFIABILITY not in self.by:
            return {}
        explanation = self.explanation
        alone, width = intervals_per_text(
            self.trained_model, explanation.tokenizer, explanation.encoded, explanation.site
        )
        return {"alone": alone, "width": width}

    @cached_property
    def words(self) -> NDArray[np.bool_]:
        """Which tokens belong to the text itself, and can be taken out of it."""
        words = removable(self.explanation).numpy()
        return words & self.mask if self.spares_first else words
