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
from glasshead.audits.judging.reference_facts import Reference
from glasshead.audits.judging.settings import Settings, entropy
from glasshead.audits.judging.slices import COLUMN, IDENTIFIABILITY
from glasshead.audits.judging.table import Table, among_first, same_numbers
from glasshead.audits.measuring.answers import VALUE_RESOLUTION
from glasshead.audits.measuring.map_intervals import intervals_per_text
from glasshead.audits.measuring.reference import measure_reference
from glasshead.audits.measuring.unit_weights import draw_units, uniform_weights
from glasshead.data import EncodedTextsWithImages, Marks
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
from glasshead.huggingface import NextTokenClassifier, arithmetic_of, isolated_copy, products_of
from glasshead.models import HierarchicalClassifier
from glasshead.nouns import Nouns
from glasshead.results import ATTENTION, ON_IMAGE, WITHOUT_FIRST
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
    """Texts [N] with their labels (class or rating), and a view of the model on them, in float64 unless
    float32 was requested.

    ``ids`` [N] are digests of the inputs and their places in the data: all random numbers of a row follow
    from the ``seed``, the audit and its id. ``ranks`` [N] are the places of the inputs in a random order of
    the data; an audit that needs only some takes the first. ``reference`` is what is measured once, on the
    first of them, for all texts (None: these are all texts).

    Everything has one number for each unit [N, n]: a token or, at the level of sentences, a sentence.
    ``explanation`` is the model with the texts and the selected attention. ``counts`` [K, V] are the train
    occurrences of every vocabulary id in every class, None if unknown. ``gauge_kind`` says where the sign of
    the selected heads was found there, ``gauge_margin`` how clearly (`glasshead.trace.Gauge`);
    None: no sign was fixed. ``label_note`` says how the classes of the data were matched to the model's.
    ``texts`` holds both texts of a pair, with a line break between them, and the name of an image;
    ``inputs_read`` are the inputs of the model. ``trained_model`` is the model as it was trained, in its
    own precision. Texts are sliced ``by`` class, length, correct, confidence, identifiability, unit, or a
    column, whose values are in ``columns``. ``method`` is the explanation that is audited, and
    ``references`` are those that `agreement` compares it with besides `IMPORTANCE`. ``marks`` are what people
    have marked in each text, None where the data have no marks. With a ``part`` (`glasshead.results.PARTS`)
    the questions are about some units alone: all tokens but the first, which may be an attention sink, parts
    of images, or words. The others keep their weights and their places.
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
    part: str = ""
    ids: NDArray[np.int64] = field(kw_only=True)
    ranks: NDArray[np.int64] = field(kw_only=True)
    seed: int = 0
    reference: Reference | None = None

    def with_seed(self, seed: int) -> ModelView:
        """The same view, with other random numbers."""
        return self if seed == self.seed else self.but(seed=seed)

    def but(self, **changes: Any) -> ModelView:
        """The view with other fields; what has been computed stays valid."""
        view = replace(self, **changes)
        known = {name: value for name, value in vars(self).items() if name not in vars(view)}
        vars(view).update({name: value for name, value in known.items() if name not in ("settings", "known")})
        return view

    def watched(self, progress: OnTexts) -> ModelView:
        """The view, with reports of progress."""
        return replace(self, explanation=replace(self.explanation, progress=progress))

    def rng(self, audit: str, row: int) -> np.random.Generator:
        """The random numbers of an audit for one text, independent of the other texts."""
        return np.random.default_rng(entropy(self.seed, audit, int(self.ids[row])))

    def seeds(self, audit: str) -> NDArray[np.int64]:
        """A seed [N] for each text."""
        sequences = [
            np.random.SeedSequence(entropy(self.seed, audit, number)) for number in self.ids.tolist()
        ]
        states = [one.generate_state(1, np.uint64)[0] >> np.uint64(1) for one in sequences]
        return np.array(states, dtype=np.int64)

    def asked(self, most: int | None) -> NDArray[np.bool_]:
        """Which texts [N] are among the first ``n`` of the data in random order; None: all."""
        return among_first(self.ranks, most)

    @cached_property
    def known(self) -> Reference:
        """The measurements for all inputs of the data."""
        return self.reference or measure_reference(self)

    def draw(self, audit: str, signed: bool) -> AnyFloats:
        """U(0, 1), or U(−1, 1) where ``signed``, for every unit [N, n]; each text is drawn as if it were
        alone."""
        return draw_units(self.mask, signed, partial(self.rng, audit))

    def draw_scores(self, audit: str, signed: bool) -> AnyFloats:
        """Random scores of tokens [N, n], added up where a unit has several, as explanations are: a larger
        unit gets a larger sum."""
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
        """The nouns for the inputs and their units."""
        return self.explanation.encoded.nouns

    @property
    def has_gauge(self) -> bool:
        """Whether the sign of the weights has a meaning: weights cannot be negative, or the sign was
        fixed."""
        return not self.signed or (self.gauge_kind is not None and self.explanation.observation.has_gauge)

    @property
    def mixes_heads(self) -> bool:
        """Whether weights of several heads were added up, so that their signs decide the sizes too."""
        sites = [self.explanation.site, self.explanation.site.above] if self.explanation.site else []
        many = (site.head is None and site.num_heads > 1 for site in sites if site is not None)
        return self.signed and any(many)

    @cached_property
    def settings(self) -> Settings:
        """The facts about this model and explanation that judges need."""
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
            own_removal=explainer.own_removal(self.explanation),
            part=self.part,
            seed=self.seed,
        )

    @cached_property
    def reads_attention(self) -> bool:
        """Whether this model shows an attention that can be read."""
        return self.explanation.unreadable_reason is None

    @cached_property
    def head_signs(self) -> NDArray[np.float64]:
        """The canonical sign of each head of the selected attention; 1 where none was fixed."""
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
        """Whether the number is the log-probability of an answer in the data."""
        return isinstance(self.explanation.model, LikelihoodModel)

    @property
    def binary(self) -> bool:
        return len(self.label_names) == 2 and not self.is_regression

    @property
    def exact(self) -> bool:
        """Whether the outputs are linear in the selected weights."""
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
        """The sentence of each token, at the level of sentences; None at that of tokens."""
        if self.explanation.attention_selector.level == "word":
            return None
        return sentence_numbers(self.explanation.model, self.explanation.encoded).numpy()

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Where there are units."""
        return self.sum_by_unit(self.token_mask) > 0

    def sum_by_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of tokens [N, n], added up for each sentence (at the level of sentences) or for each
        unit, at its first token; nothing for a token that is not in the part."""
        if self.part:  # and what goes with it
            values = np.where(self.in_part, values, 0)
        if self.sentence_of_token is None:
            return self.explanation.encoded.sum_units(values)
        num_sentences = max(int(self.sentence_of_token.max(initial=0)) + 1, 1)
        sums = np.zeros((len(values), num_sentences), dtype=float)
        text, token = np.nonzero(self.token_mask)
        np.add.at(sums, (text, self.sentence_of_token[text, token]), values[text, token])
        return sums

    @cached_property
    def in_part(self) -> NDArray[np.bool_]:
        """Which tokens [N, n] belong to the part of the units that the questions are about."""
        encoded = self.explanation.encoded
        if not self.part:
            return np.ones(self.token_mask.shape, dtype=bool)
        if self.part == WITHOUT_FIRST:
            return np.asarray(encoded.owner.numpy() > 0)
        assert isinstance(encoded, EncodedTextsWithImages)
        on_image = [encoded.in_image(row) for row in range(len(encoded.ids))]
        return np.array(on_image).reshape(self.token_mask.shape) == (self.part == ON_IMAGE)

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
        """One canonical weight for all tokens that share a row. A unit of several tokens gets their sum;
        words in sentences are multiplied by the weight of the sentence."""
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

    @property
    def half(self) -> torch.dtype | None:
        """The half precision of products; None: full precision."""
        return products_of(self.explanation.model)

    @property
    def resolution(self) -> float:
        """The smallest change of ŷ that counts: that of rounding in float32, or the noise floor."""
        return max(VALUE_RESOLUTION, self.known.floor)

    def importance_by(self, method: str) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards the target; changes of ŷ rounded to multiples of
        the noise floor, where there is one.

        With two classes, an explainer that does not mirror them explains the predicted class, since support
        for one class is opposition to the other.
        """
        explainer = find_explainer(method)
        if explainer.mirrors_classes or not self.binary:
            return self.above_floor(explainer, self.numbers_of(method))
        scores = self.above_floor(explainer, self.scores_towards(method, self.predicted))
        against = self.predicted != self.explanation.target.numpy()
        flips = explainer.signed(self.explanation) & against
        return np.where(flips[:, None], -scores, scores)

    def above_floor(self, explainer: Explainer, values: AnyFloats) -> AnyFloats:
        """Changes of ŷ by deletion, rounded to multiples of the noise floor; other numbers as they are."""
        floor = self.known.floor if explainer.own_removal(self.explanation) else 0.0
        return np.round(values / floor) * floor if floor else values

    def scores_towards(self, method: str, classes: NDArray[np.int64]) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards a class of each text."""
        towards = self.explanation.towards(torch.from_numpy(classes))
        return self.sum_by_unit(find_explainer(method).importance(towards).numpy())

    @cached_property
    def importance(self) -> dict[str, AnyFloats]:
        """The importance of every unit by gradient, erasure and each reference, by finding name, without
        the audited explanation itself."""
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
        """Whether the sign of a measure says which class a unit supports. References may have no signs."""
        if against in IMPORTANCE:
            return True
        explainer = find_explainer(against)
        return explainer.signed(self.explanation) and not explainer.sign_is_gauge

    def same_as_scores(self, importance: AnyFloats) -> AnyFloats:
        """In which texts a measure is the audited explanation itself (`same_numbers`)."""
        return same_numbers(self.scores, importance)

    def numbers_of(self, method: str) -> AnyFloats:
        """What an explainer gives each unit [N, n] towards the target, for any handling of classes."""
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
        """The range of possible predictions; one nat for a log-probability, which has no range."""
        return self.known.span if self.is_regression and not self.rates_answers else 1.0

    @cached_property
    def confidence(self) -> AnyFloats:
        """The probability of the class that is predicted [N]."""
        return self.explanation.logits.softmax(dim=-1).amax(dim=-1).double().numpy()

    def only(self, part: str, reference: Reference | None = None) -> ModelView:
        """The texts, with every question about a part of their units."""
        rest = replace(self, part=part, reference=reference)
        if "importance" in vars(self):  # erasure of every token, which nobody needs twice
            vars(rest)["importance"] = {name: rest.sum_by_unit(v) for name, v in self.importance.items()}
        return rest

    @property
    def knows_nothing(self) -> NDArray[np.bool_]:
        """The texts [N] that have tokens, all of them unknown to the model."""
        unknown_id = getattr(self.explanation.tokenizer, "unk_token_id", None)
        if unknown_id is None or not self.explanation.encoded.in_line:
            return np.zeros(len(self.labels), dtype=bool)
        known = (self.explanation.encoded.ids != unknown_id).numpy() & self.token_mask
        return np.asarray(~known.any(axis=1) & self.token_mask.any(axis=1))

    def some(self, places: NDArray[np.int64]) -> ModelView:
        """Some of the texts; only predictions are kept of what was computed."""
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
        """The columns that every row has, for any audit."""
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
        """How certain the weights are, if texts are sliced by it, which takes linear programs."""
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
        return words & self.mask if self.part else words
