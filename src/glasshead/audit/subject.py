"""What is audited: one model before one split, with everything the audits share computed once."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from glasshead.data.encode import encode, joined
from glasshead.errors import InputError
from glasshead.explain import EXPLAINERS, Reading, View, look
from glasshead.explain.explainer import check_texts
from glasshead.explain.sentences import sentence_numbers
from glasshead.models import is_regression
from glasshead.results import WEAK_MARGIN
from glasshead.training import Run

Floats = NDArray[np.floating]

# The measures that attention is held against; each is the name of an explainer and of a finding's `against`.
IMPORTANCE = {
    "gradient": "gradient",
    "erasure-zero-weight": "erasure",
    "erasure-renormalise": "erasure-renormalise",
}

# Verdicts on signs that carry no meaning.
RAW_SIGN = "raw sign: an accident of the seed"
WEAK_GAUGE = "undecided: the gauge is weak"


@dataclass(frozen=True)
class Subject:
    """Texts [N], what is true of each (its class, or its rating), and a float64 view of the model on them.

    Everything has one number for each unit [N, n]: a token or, where sentences are read, a sentence.
    ``counts`` [K, V] are the train occurrences of every vocabulary id in every class; ``margin`` says how
    clearly the sign of signed weights was fixed there, None: not at all. Of a pair both texts stand in
    ``texts``, with a line between.
    """

    view: View
    texts: Sequence[str]
    indices: NDArray[np.int64]
    labels: NDArray[Any]
    label_names: Sequence[str]
    counts: NDArray[np.int64]
    margin: float | None
    pairs: tuple[Sequence[str], Sequence[str]] | None = None

    @property
    def weak_gauge(self) -> bool:
        """Signed weights whose canonical sign is close to a coin toss."""
        return self.signed and self.margin is not None and self.margin < WEAK_MARGIN

    @property
    def gauged(self) -> bool:
        """Whether the sign of the weights says anything: it cannot be negative, or was fixed."""
        return not self.signed or (self.margin is not None and self.view.observation.gauged)

    @property
    def rates(self) -> bool:
        """Whether a rating is predicted, and no class."""
        return self.view.rates

    @property
    def binary(self) -> bool:
        return len(self.label_names) == 2 and not self.rates

    @property
    def exact(self) -> bool:
        """Whether the outputs are linear in the weights that are read."""
        return self.view.observation.exact

    @property
    def signed(self) -> bool:
        """Whether the activation gives signed weights."""
        return self.view.observation.signed

    @cached_property
    def real(self) -> NDArray[np.bool_]:
        """Where there are tokens."""
        return self.view.encoded.mask.numpy()

    @cached_property
    def sentence(self) -> NDArray[np.int64] | None:
        """The sentence of each token, where sentences are read; None where tokens are."""
        if self.view.reading.level == "word":
            return None
        return sentence_numbers(self.view.model, self.view.encoded).numpy()

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        return self.folded(self.real) > 0

    def folded(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of tokens [N, n], added up for each sentence where sentences are read."""
        if self.sentence is None:
            return values
        width = max(int(self.sentence.max(initial=0)) + 1, 1)
        folded = np.zeros((len(values), width), dtype=float)
        text, token = np.nonzero(self.real)
        np.add.at(folded, (text, self.sentence[text, token]), values[text, token])
        return folded

    @cached_property
    def weights(self) -> Floats:
        """a_i as the model computes them: the raw gauge."""
        return self.folded(self.view.observation.weights.numpy())

    @cached_property
    def canonical(self) -> Floats:
        """a_i in the gauge that was fixed on the train split."""
        return self.folded(self.view.observation.canonical.numpy())

    @cached_property
    def polarity(self) -> Floats:
        """o_i towards each text's target: what a unit would add at weight 1; to first order, unless exact."""
        observation = self.view.observation
        return self.folded((observation.slopes(self.view.target) * observation.shares()).numpy())

    @cached_property
    def contributions(self) -> Floats:
        """What each unit adds to the score of the target; to first order, unless exact."""
        return self.folded(self.view.observation.contributions(self.view.target).numpy())

    @cached_property
    def uniform(self) -> Floats:
        """The same weight for all units that share a row."""
        if self.sentence is not None:
            return self.mask / np.maximum(self.mask.sum(axis=1, keepdims=True), 1)
        parts = self.parts
        counts = sum(
            (parts == k) * (self.mask & (parts == k)).sum(axis=1, keepdims=True)
            for k in range(int(parts.max(initial=0)) + 1)
        )
        return self.mask / np.maximum(counts, 1)

    @cached_property
    def parts(self) -> NDArray[np.int64]:
        """Which units share a row of weights: the texts of a pair each have their own."""
        types = self.view.encoded.types
        texts = getattr(self.view.model, "texts", 1)
        return types.numpy() if types is not None and texts > 1 else np.zeros(self.mask.shape, dtype=np.int64)

    @cached_property
    def importance(self) -> dict[str, Floats]:
        """Gradient and erasure importance of every unit, by finding name."""
        return {
            name: self.folded(EXPLAINERS[method].importance(self.view).numpy())
            for name, method in IMPORTANCE.items()
        }

    @cached_property
    def prediction(self) -> Floats:
        """ŷ, the probability of the target class, or the rating."""
        return self.view.value(self.view.logits).numpy()

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """The predicted class, or rating."""
        return self.prediction if self.rates else self.view.logits.argmax(dim=-1).numpy()

    @cached_property
    def unit(self) -> float:
        """From one end of the predictions to the other: 1 for a probability, for ratings what 95 % span."""
        if not self.rates:
            return 1.0
        low, high = np.quantile(self.prediction, [0.025, 0.975])
        return float(high - low)

    @cached_property
    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """All examples, then those of each true class, if there are classes."""
        groups = {"all": np.ones(len(self.labels), dtype=bool)}
        if self.rates:
            return groups
        return groups | {f"class {name}": self.labels == k for k, name in enumerate(self.label_names)}


def prepare(
    run: Run, split: Dataset, *, limit: int | None = None, seed: int = 0, reading: Reading | None = None
) -> Subject:
    """Put the model before (a random ``limit`` of) a split; float64, so that ties and tiny changes are real.

    Raises:
        InputError: if the split is empty, does not hold what the run was trained on (its classes, ratings,
            pairs of texts), or the model has no such reading.
    """
    check_labels(run, split)
    if limit is not None and limit < 1:
        raise InputError(f"--limit must be at least 1, not {limit}")
    indices = np.arange(len(split))
    if limit is not None and limit < len(split):
        indices = np.sort(np.random.default_rng(seed).choice(len(split), limit, replace=False))
        split = split.select(indices)
    if not len(split):
        raise InputError("there is no text to audit")
    paired = "text_pair" in split.column_names
    check_texts(run.model, paired)
    texts = list(split["text"][:])
    seconds = list(split["text_pair"][:]) if paired else None
    model = copy.deepcopy(run.model).cpu().double()
    encoded = encode(run.tokenizer, texts, seconds)
    view = look(model, encoded, run.tokenizer, reading=reading or Reading())
    labels = np.array(split["label"][:])
    return Subject(
        view,
        texts if seconds is None else list(map(joined, texts, seconds)),
        indices,
        labels.astype(float) if view.rates else labels,
        [] if view.rates else run.labels,
        run.counts,
        margin_of(run.record["gauge"], view),
        None if seconds is None else (texts, seconds),
    )


def check_labels(run: Run, split: Dataset) -> None:
    """Raise InputError unless the labels of the data are what the model predicts."""
    names = getattr(split.features["label"], "names", None)
    if is_regression(run.model.config):
        if names is not None:
            raise InputError(
                f"the run predicts ratings and the data have the classes {', '.join(names)}: read them with "
                "--task regression"
            )
    elif names is None:
        raise InputError(f"the run knows the classes {', '.join(run.labels)}; the data have ratings")
    elif list(names) != run.labels:
        raise InputError(
            f"the run knows the classes {', '.join(run.labels)}; the data have {', '.join(names)}"
        )


def margin_of(gauge: dict[str, Any] | None, view: View) -> float | None:
    """How clearly the signs of the heads that are read were fixed: Σ_h |Σ a ∂z/∂a| over Σ_h Σ |a| |∂z/∂a|."""
    if gauge is None:
        return None
    if "margin" in gauge:
        return float(gauge["margin"])
    if view.place is None:
        return None
    margins, masses = (np.array(gauge[name][view.place.layer]) for name in ("margins", "masses"))
    heads = slice(None) if view.place.head is None else slice(view.place.head, view.place.head + 1)
    total = masses[heads].sum()
    return float((margins[heads] * masses[heads]).sum() / total) if total > 0 else 0.0
