"""What every audit is given: one model before one split, with what audits share computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.arrays import AnyFloats
from glasshead.audits.map_statistics import intervals_per_text
from glasshead.audits.slices import (
    CLASS,
    CONFIDENCE,
    CORRECT,
    IDENTIFIABILITY,
    LENGTH,
    Group,
    Slicing,
    common_level,
    slice_by_class,
    slice_by_column,
    slice_by_confidence,
    slice_by_correctness,
    slice_by_identifiability,
    slice_by_length,
)
from glasshead.data import Coverage, Marks, coverage
from glasshead.explainers import (
    TARGETS,
    Explainer,
    ExplanationContext,
    LinearReadout,
    SentenceReadout,
    find_explainer,
    head_signs,
    removable,
    sentence_numbers,
)
from glasshead.huggingface import NextTokenClassifier
from glasshead.models import HierarchicalClassifier
from glasshead.nouns import Nouns
from glasshead.results import (
    ATTENTION,
    ONE_SIGN,
    RAW_SIGN,
    UNDECIDED,
    WEAK_GAUGE,
    WITHOUT_FIRST,
    Verdict,
)
from glasshead.statistics import LEVEL, typical_range

SAME_NUMBERS = 1e-6
"""Numbers this close to a measure in every text, relative to its largest there, are that measure."""
# The measures that an explanation is held against; by a finding's `against`: an explainer.
IMPORTANCE = {
    "gradient": "gradient-after-norm",
    "erasure-zero-weight": "erasure",
    "erasure-renormalise": "erasure-renormalise",
}


@dataclass(frozen=True)
class AuditContext:
    """Texts [N], what is true of each (its class, or its rating), and a view of the model on them, in float64
    unless float32 was asked for.

    Everything has one number for each unit [N, n]: a token or, where sentences are read, a sentence.
    ``explanation`` is the model before the texts, and which of its attention is read. ``counts``
    [K, V] are the train occurrences of every vocabulary id in every class, None where nobody knows them.
    ``gauge_kind`` says where the sign of the heads that are read was found there, ``gauge_margin`` how
    clearly (`glasshead.trace.Gauge`); None: no sign was fixed. ``label_note`` says how the classes of the
    data were matched to the model's. Of a pair both texts stand in ``texts``, with a line between, and of an
    image its name; ``inputs`` are what the model was given.
    ``trained_model`` is the model as it was trained, in its own precision. ``by`` is what texts are sliced
    by: class, length, correct, confidence, identifiability, or the name of a column, whose values stand in
    ``columns``. ``method`` is the explanation that is audited. ``marks`` are what people have marked in each
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
    inputs: tuple[Sequence[Any], Sequence[str] | None] | None = None
    by: tuple[str, ...] = ()
    columns: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    method: str = ATTENTION
    marks: Sequence[Marks] | None = None
    spares_first: bool = False

    @property
    def nouns(self) -> Nouns:
        """What the inputs and their units are called."""
        return self.explanation.encoded.nouns

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the texts is read."""
        firsts, seconds = self.inputs or (self.texts, None)
        return coverage(self.explanation.tokenizer, firsts, seconds, self.explanation.encoded)

    @property
    def has_gauge(self) -> bool:
        """Whether the sign of the weights says anything: it cannot be negative, or was fixed."""
        return not self.signed or (self.gauge_kind is not None and self.explanation.observation.has_gauge)

    @property
    def one_sided(self) -> bool:
        """Whether canonical weights are positive, by their activation or as training left them: sizes, which
        say for no side."""
        return not self.signed or (self.has_gauge and self.gauge_kind == ONE_SIGN)

    @property
    def mixes_heads(self) -> bool:
        """Whether weights of several heads were added up, so that their signs decide the sizes too."""
        sites = [self.explanation.site, self.explanation.site.above] if self.explanation.site else []
        many = (site.head is None and site.num_heads > 1 for site in sites if site is not None)
        return self.signed and any(many)

    def sign_no_evidence_reason(self, size: bool = False) -> Verdict | None:
        """Why the signs of canonical weights, or their ``size`` alone, say nothing; None: they do."""
        if size and not self.mixes_heads:
            return None
        if not self.has_gauge:
            return RAW_SIGN
        return WEAK_GAUGE if self.signed and self.gauge_kind == UNDECIDED else None

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
        if self.spares_first:
            values = np.where(np.arange(values.shape[1]) > 0, values, 0)
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
            return self.sum_by_unit(explainer.importance(self.explanation).numpy())
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
        """Gradient and erasure importance of every unit, by finding name; a measure that is the audited
        explanation itself is left out."""
        measures = {
            name: self.importance_by(method) for name, method in IMPORTANCE.items() if method != self.method
        }
        if self.explainer.reads_weights:
            return measures
        return {name: values for name, values in measures.items() if not same_numbers(self.scores, values)}

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

    @cached_property
    def prediction_range(self) -> float:
        """How far apart the ends of what can be predicted are: 1 for a probability, the range of the labels,
        but for strays, for a rating."""
        return typical_range(self.labels) if self.is_regression else 1.0

    @cached_property
    def slicings(self) -> list[Slicing]:
        """How the texts are cut, in the order in which it was asked."""
        return [self._slicing(by) for by in self.by]

    def _slicing(self, by: str) -> Slicing:
        if by == CLASS:
            return slice_by_class(self.labels, self.label_names)
        if by == LENGTH:
            return slice_by_length(self.token_mask.sum(axis=1))
        if by == CORRECT:
            return slice_by_correctness(self.predicted == self.labels)
        if by == CONFIDENCE:
            return slice_by_confidence(self.explanation.logits.softmax(dim=-1).amax(dim=-1).numpy())
        if by == IDENTIFIABILITY:
            explanation = self.explanation
            intervals = intervals_per_text(
                self.trained_model, explanation.tokenizer, explanation.encoded, explanation.site
            )
            return slice_by_identifiability(*intervals, self.token_mask.sum(axis=1))
        return slice_by_column(by, self.columns[by])

    @cached_property
    def slices(self) -> list[Group]:
        """The slices of all cuts, with simultaneous intervals."""
        level = common_level(self.slicings)
        return [group for slicing in self.slicings for group in slicing.groups(level)]

    @cached_property
    def words(self) -> NDArray[np.bool_]:
        """Which tokens belong to the text itself, and can be taken out of it."""
        words = removable(self.explanation).numpy()
        return words & self.mask if self.spares_first else words

    @cached_property
    def groups(self) -> list[Group]:
        """All examples, those of each true class, if there are classes, and the slices."""
        if self.spares_first:
            return [Group(WITHOUT_FIRST, np.ones(len(self.labels), dtype=bool))]
        every = [Group("all", np.ones(len(self.labels), dtype=bool))]
        if not (self.is_regression or self.predicts_tokens or CLASS in self.by):
            classes = slice_by_class(self.labels, self.label_names).groups(LEVEL)
            every += [group._replace(by="") for group in classes]
        return every + self.slices


def uniform_weights(counts: NDArray[Any], parts: NDArray[np.int64]) -> AnyFloats:
    """The share of each unit in its part, by how many tokens count in it; of a mask, one or none."""
    weights = np.zeros(counts.shape)
    for part in range(int(parts.max(initial=0)) + 1):
        in_part = np.where(parts == part, counts, 0)
        weights += in_part / np.maximum(in_part.sum(axis=1, keepdims=True), 1)
    return weights


def same_numbers(values: AnyFloats, others: AnyFloats) -> bool:
    """Whether two explanations [N, n] are one, such as two names of the gradient where no layer norm parts
    them."""
    size = np.abs(others).max(axis=1, initial=0.0, keepdims=True)
    return bool(size.any()) and bool((np.abs(values - others) <= SAME_NUMBERS * size).all())
