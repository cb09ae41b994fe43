"""What can be asked, and what is answered: the schemas of the API."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from glasshead.escaping import sendable
from glasshead.requests import MethodRequest, WritingRequest
from glasshead.serve.derive import asks
from glasshead.serve.fields import Images, Kind, Text, Word, word_or_nothing

MOST_NEW_TOKENS = 200
"""Tokens that a model may be asked to write."""
MOST_BEAMS = 16
"""Texts that beam search may follow at once: each takes as much memory as one."""


def number_or_nothing(value: Any) -> Any:
    """JSON knows neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


Measured = Annotated[float | None, BeforeValidator(number_or_nothing)]


class Strict(BaseModel):
    """A schema that refuses what it does not know."""

    model_config = ConfigDict(extra="forbid")


class Answer(Strict):
    """An answer that can always be sent as UTF-8: invalid characters in names are escaped."""

    @field_validator("*", mode="before")
    @classmethod
    def send(cls, value: Any) -> Any:
        return sendable(value)


class Reading(asks(MethodRequest, Strict, without=("choices", "template", "segments"))):  # type: ignore[misc]
    """Which model explains, and how, as in `glasshead.explain`; choices are lines of a second text."""

    model: Word
    unit: Literal["word", "token"] = "word"  # letters of a text are those that are typed: no marks among them
    answer: Word | None = None  # what is empty is refused, as in Python: it does not mean the next token


class ExplainQuestion(Reading):
    """A text, or a pair of texts, to be explained. ``without`` are stretches [start, end), in characters,
    that are cut out before the model reads them; of a pair they count in both texts,
    between which is a line feed."""

    text: Text
    pair: Text | None = None
    without: list[tuple[int, int]] = Field([], max_length=1000)


class CompareQuestion(Strict):
    """Two readings, of one text or of two versions of it."""

    text: Text
    pair: Text | None = None
    other_text: Text | None = None
    first: Reading
    second: Reading

    @property
    def second_text(self) -> str:
        """What the second reading reads."""
        return self.text if self.other_text is None else self.other_text


GENERATE_FIELDS = ("strategy", "alternatives", "use_cache")
"""What a page does not ask, or in a way of its own."""


class GenerateQuestion(asks(WritingRequest, Strict, GENERATE_FIELDS, {"tokens": MOST_NEW_TOKENS})):  # type: ignore[misc]
    """A prompt to go on with: the options of `glasshead.generate`."""

    model: Word
    prompt: Text
    strategy: Word = "greedy"
    methods: list[Word] = Field(["attention", "erasure-mean-embedding"], max_length=4)
    target: Word = "log-probability"


class HeadsQuestion(Strict):
    """A text whose maps are drawn. ``examples`` is how many texts of the model's own are asked, too; where
    ``lines`` is set each line is a text of its own, and the first is drawn; with ``effects`` the predictions
    without each head are computed, which takes longer."""

    model: Word
    text: Text
    pair: Annotated[Text | None, BeforeValidator(word_or_nothing)] = None
    examples: Annotated[int, Field(ge=0, le=100)] = 0
    lines: bool = False
    effects: bool = False


class CharacterSpan(Answer):
    """Letters [start, end) of the text with the colour of their ``tokens``, of which ``token`` is the first:
    ``number`` is the sum that is coloured, ``certain`` whether no other gives the same output, ``share`` its
    share of full strength in [−1, 1], ``least`` that of the least weight they can have."""

    start: int
    end: int
    text: str
    token: int | None
    tokens: list[int]
    number: str | None
    certain: bool
    share: float
    least: float
    doubt: Literal["", "maybe", "unknown"]
    description: str


class NumberList(Answer):
    """The numbers of one token in letters."""

    token: str
    score: str
    contribution: str | None
    could_be: str | None
    doubt: str


class Drawing(Answer):
    """What is drawn of a text and said next to it."""

    spans: list[CharacterSpan]
    prediction: str
    meaning: str
    facts: list[str]
    caution: str | None
    spoken: str
    legend: str
    scale: str
    largest: str
    quantity: str
    diverging: bool
    ranged: bool
    score: str
    numbers: list[NumberList]


class OtherDrawing(Answer):
    """What is drawn below: another question about the same text, on the same scale."""

    spans: list[CharacterSpan]
    prediction: str
    spoken: str
    diverging: bool


class ExplainAnswer(Answer):
    """``attributions`` are those of ``glasshead explain --format json``, ``drawing`` is how the first one
    looks, ``others`` how those look that are drawn below it, called by their ``others_title``; ``python`` is
    the line that computes them."""

    text: str
    attributions: list[dict[str, Any]]
    drawing: Drawing
    others: list[OtherDrawing] = []
    others_title: str = ""
    remarks: list[str]
    python: str


class Piece(Answer):
    """Letters [start, end) of both texts that share a column."""

    before: tuple[int, int]
    after: tuple[int, int]
    same: bool


class SharedWord(Answer):
    """A word that both explanations have, with its share of the strongest colour in each and their
    difference, the second minus the first."""

    word: str
    first: str
    second: str
    difference: float


class CompareAnswer(Answer):
    """Two explanations, how their texts is next to each other, whether one scale holds for both, and why a
    colour does not mean the same in both (None: it does)."""

    first: ExplainAnswer
    second: ExplainAnswer
    pieces: list[Piece]
    words: list[SharedWord]
    one_scale: bool
    caution: str | None


class GenerateAnswer(Answer):
    """``written`` is that of ``glasshead generate --format json``."""

    written: dict[str, Any]
    python: str


class ModelFacts(Answer):
    """A model that is served by its ``name``, opened from a ``source`` as that was typed: loading, ready or
    failed, with a ``message`` that says why or what goes on. The rest is known once it is ready; ``kind``
    says what can be asked of it, ``second_text`` what goes into a second text, ``usual_class`` which class
    is explained unless one is chosen, ``asks_words`` whether it is asked about one word of a text,
    ``reads_images`` whether it reads images, and with which texts."""

    name: str
    source: str
    state: Literal["loading", "ready", "failed"]
    message: str
    kind: Kind | Literal[""] = ""
    reads_images: Images = ""
    pairs: Literal["none", "possible", "needed"] = "none"
    second_text: str = "Second text"
    labels: list[str] = []
    usual_class: str = ""
    asks_words: bool = False
    layers: int = 0
    heads: int = 0
    methods: list[MethodFacts] = []
    examples: list[str] = []


class MethodFacts(Answer):
    """A method that explains, its kind (``family``), and what may be chosen with it."""

    name: str
    family: str
    description: str
    reads_attention: bool
    has_intervals: bool


class AuditFacts(Answer):
    """An audit folder: what was audited, on which data, and what it comes to; or why it cannot be read."""

    name: str
    model: str
    data: str
    date: str
    texts: int
    conclusion: str
    claims: list[AuditClaim]
    problem: str = ""


class AuditClaim(Answer):
    """What you can claim about the attention that was audited, or not, and why."""

    says: str
    holds: Literal["yes", "in part", "no", "undecided"]
    because: str


class AuditedText(Answer):
    """A text of an audit with its class and the predicted one."""

    text: str
    label: str
    predicted: str
    agreement: float | None


class AuditTexts(Answer):
    """Some texts of an audit, and how many there are that fit the filters."""

    texts: list[AuditedText]
    found: int
    labels: list[str]


class ProgressFacts(Answer):
    """How far the question is that a model answers now: its stage, and which share of that is done."""

    stage: str = ""
    share: float | None = None


class PythonLine(Answer):
    """The line of Python that computes what is seen."""

    python: str


class Problem(Answer):
    """Why something could not be answered, in one sentence."""

    error: str
