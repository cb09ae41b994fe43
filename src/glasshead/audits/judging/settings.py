"""What a judge is told besides the rows: which model and explanation, which groups of inputs, which level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from zlib import crc32

import numpy as np

from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Shifts
from glasshead.audits.judging.table import Column
from glasshead.nouns import INPUTS, Nouns, nouns_of
from glasshead.results import (
    GIVEN_ANSWER,
    ONE_SIGN,
    RAW_SIGN,
    REGRESSION,
    TOKEN,
    UNDECIDED,
    WEAK_GAUGE,
    Verdict,
)
from glasshead.statistics import LEVEL

INPUT_COLUMNS = (
    Column("label", "number", "class or rating", "what is true of the input"),
    Column("predicted", "number", "class or rating", "what is predicted"),
    Column("target", "int", "class", "the class behind signed numbers"),
    Column("tokens", "int", "tokens", "how many tokens the model reads"),
    Column("units", "int", "units", "how many units there are: tokens, words, patches, or sentences"),
    Column("probability", "float", "probability", "ŷ, that of the target"),
    Column("confidence", "float", "probability", "that of the class that is predicted"),
    Column("surprisal", "float", "nats", "−log p of the target token"),
    Column("max_weight", "float", "weight", "the largest |weight| of a unit"),
    Column("unknown", "bool", "", "whether every token is unknown to the model"),
    Column("alone", "float", "share", "maps that are the only one"),
    Column("width", "float", "weight", "the mean width of their intervals"),
    Column("column.*", "text", "", "a column of the data"),
)
"""The columns that every row has, for any audit."""


def entropy(seed: int, audit: str, *number: int) -> list[int]:
    """What the random numbers of an audit follow from, and those for the input of that id."""
    return [seed, crc32(audit.encode()), *number]


@dataclass(frozen=True)
class Settings:
    """Plain facts of an audited explanation; all but the ``groups`` can be written down.

    ``level`` is that of intervals and verdicts about all inputs.

    ``reads_weights`` says whether it reads attention weights, and ``sign_is_gauge`` that their sign is an
    accident of training until ``gauge_kind`` fixes it (None: nobody did). ``signed`` is about the weights,
    ``scores_signed`` about the explanation; it ``mirrors_classes`` where what speaks against one of two
    speaks for the other. Outputs are ``exact`` where they are linear in the weights, and ``of_tokens`` where
    these are weights of tokens; ``mixes_heads`` where weights of several heads were added up.
    ``prediction_range`` is how far apart the ends of what can be predicted are: 1 for a probability or the
    log-probability of an answer (``rates_answers``), the range of the labels, but for strays, for a rating.
    ``own_removal`` is the type of deletion by which the explanation scores units (None: none), and ``facts``
    what audits measured once for all inputs. Where products are of
    halves, ``shifts`` are by how much float32 moves what each audit finds in some inputs; ``audit`` is the
    one that judges.
    """

    nouns: Nouns
    method: str
    label_names: Sequence[str]
    is_regression: bool
    predicts_tokens: bool
    reads_weights: bool
    sign_is_gauge: bool
    scores_signed: bool
    mirrors_classes: bool
    signed: bool
    has_gauge: bool
    gauge_kind: str | None
    mixes_heads: bool
    exact: bool
    of_tokens: bool
    by_sentence: bool
    prediction_range: float
    rates_answers: bool = False
    own_removal: str | None = None
    part: str = ""
    seed: int = 0
    level: float = LEVEL
    shifts: Mapping[str, Shifts] | None = None
    audit: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    groups: Sequence[Group] = ()

    @property
    def task(self) -> str | None:
        """What is predicted, as cards have it; None: a class."""
        if self.rates_answers:
            return GIVEN_ANSWER
        return REGRESSION if self.is_regression else TOKEN if self.predicts_tokens else None

    @property
    def binary(self) -> bool:
        """Whether one of two classes is predicted."""
        return len(self.label_names) == 2 and not self.is_regression

    @property
    def one_sided(self) -> bool:
        """Whether canonical weights are positive, by their activation or as training left them: sizes, which
        say for no side."""
        return not self.signed or (self.has_gauge and self.gauge_kind == ONE_SIGN)

    def sign_no_evidence_reason(self, size: bool = False) -> Verdict | None:
        """Why the signs of canonical weights, or their ``size`` alone, say nothing; None: they do."""
        if size and not self.mixes_heads:
            return None
        if not self.has_gauge:
            return RAW_SIGN
        return WEAK_GAUGE if self.signed and self.gauge_kind == UNDECIDED else None

    @property
    def has_sides(self) -> bool:
        """Whether the signs of the scores say for which class a token speaks."""
        if self.sign_is_gauge and (self.one_sided or self.sign_no_evidence_reason()):
            return False
        return self.scores_signed

    @property
    def order_no_evidence_reason(self) -> Verdict | None:
        """Why the order in which the explanation puts tokens says nothing; None: it does."""
        if (self.binary and not self.mirrors_classes) or self.has_sides or not self.sign_is_gauge:
            return None
        return self.sign_no_evidence_reason(size=True)

    def to_json(self) -> dict[str, Any]:
        """All but what somebody asks of the judge and the facts of audits, as JSON holds it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        left = {
            name: value for name, value in values.items() if name not in ("groups", "facts", "level", "audit")
        }
        return left | {"nouns": self.nouns.texts, "label_names": list(self.label_names)}

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Settings:
        """Read back."""
        return cls(**{**values, "nouns": nouns_of({INPUTS: values["nouns"]})})

    def rng(self, audit: str) -> np.random.Generator:
        """The random numbers of an audit's intervals."""
        return np.random.default_rng(entropy(self.seed, audit))

    def rng_of(self, audit: str, number: int) -> np.random.Generator:
        """The random numbers of an audit for the input with that id."""
        return np.random.default_rng(entropy(self.seed, audit, number))

    def with_facts(self, facts: Mapping[str, Any]) -> Settings:
        """With what an audit measured once."""
        return replace(self, facts={**self.facts, **facts})
