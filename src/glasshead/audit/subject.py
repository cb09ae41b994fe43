"""What is audited: one model before one split, with everything the audits share computed once."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from glasshead.data.encode import encode
from glasshead.errors import InputError
from glasshead.explain import EXPLAINERS, View, look
from glasshead.models import target_polarity
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
    """Texts [N], their true classes, and a float64 view of the model on them.

    ``counts`` [K, V] are the train occurrences of every vocabulary id in every class; ``margin`` says how
    clearly the sign of signed weights was fixed there.
    """

    view: View
    texts: Sequence[str]
    indices: NDArray[np.int64]
    labels: NDArray[np.int64]
    label_names: Sequence[str]
    counts: NDArray[np.int64]
    margin: float

    @property
    def weak_gauge(self) -> bool:
        """Signed weights whose canonical sign is close to a coin toss."""
        return self.signed and self.margin < WEAK_MARGIN

    @property
    def binary(self) -> bool:
        return len(self.label_names) == 2

    @property
    def signed(self) -> bool:
        """Whether the activation gives signed weights."""
        return self.view.observation.activation.signed

    @property
    def gauge(self) -> int:
        """The sign that makes signed weights canonical, fixed on the train split."""
        return int(self.view.model.config.gauge)

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        return self.view.encoded.mask.numpy()

    @cached_property
    def weights(self) -> Floats:
        """a_i as the model computes them: the raw gauge."""
        return self.view.observation.weights.numpy()

    @cached_property
    def polarity(self) -> Floats:
        """o_i towards each text's target class."""
        return target_polarity(self.view.observation.polarity, self.view.target).numpy()

    @cached_property
    def importance(self) -> dict[str, Floats]:
        """Gradient and erasure importance of every token, by finding name."""
        return {name: EXPLAINERS[method].importance(self.view).numpy() for name, method in IMPORTANCE.items()}

    @cached_property
    def prediction(self) -> Floats:
        """ŷ, the probability of the target class."""
        return self.view.value(self.view.logits).numpy()

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        return self.view.logits.argmax(dim=-1).numpy()

    @cached_property
    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """All examples, then those of each true class."""
        groups = {"all": np.ones(len(self.labels), dtype=bool)}
        return groups | {f"class {name}": self.labels == k for k, name in enumerate(self.label_names)}


def prepare(run: Run, split: Dataset, *, limit: int | None = None, seed: int = 0) -> Subject:
    """Put the model before (a random ``limit`` of) a split; float64, so that ties and tiny changes are real.

    Raises:
        InputError: if the split is empty, or its classes are not the run's.
    """
    names = split.features["label"].names
    if list(names) != run.labels:
        raise InputError(
            f"the run knows the classes {', '.join(run.labels)}; the data have {', '.join(names)}"
        )
    if limit is not None and limit < 1:
        raise InputError(f"--limit must be at least 1, not {limit}")
    indices = np.arange(len(split))
    if limit is not None and limit < len(split):
        indices = np.sort(np.random.default_rng(seed).choice(len(split), limit, replace=False))
        split = split.select(indices)
    if not len(split):
        raise InputError("there is no text to audit")
    texts = list(split["text"][:])
    model = copy.deepcopy(run.model).cpu().double()
    view = look(model, encode(run.tokenizer, texts), run.tokenizer)
    labels = np.array(split["label"][:])
    margin = float(run.record["gauge"]["margin"])
    return Subject(view, texts, indices, labels, run.labels, run.counts, margin)
