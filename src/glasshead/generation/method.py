"""What a method that explains written texts promises."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.huggingface import quote
from glasshead.results import WrittenMap
from glasshead.trace import AttentionSelector


class RowMethod(ABC):
    """A number for everything before each token of an answer.

    ``reads_attention`` says whether a layer and a head can be chosen, ``reads_target`` whether the numbers
    are about a target.
    """

    description: str
    citation: str
    reads_attention: bool = False
    reads_target: bool = True

    @abstractmethod
    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        """The matrix of one text."""

    def all_maps(self, text: ReadText) -> list[WrittenMap]:
        """The maps of every layer and head; none for a method that reads no attention."""
        return []


def target_map(
    text: ReadText,
    target: AnswerTarget,
    scores: Float[Tensor, "values read"],
    values: Float[Tensor, " values"],
    *,
    name: str,
    signed: bool,
    settings: str | None = None,
) -> WrittenMap:
    """The matrix of a method with a target."""
    other = None if target.other is None else quote(str(text.tokenizer.decode([target.other])))
    rows = (tuple(scores[0].tolist()),) if target.whole else text.triangle(scores)
    return WrittenMap(
        method=name,
        scores=rows,
        signed=signed,
        target=target.description(other),
        values=tuple(values.double().tolist()),
        settings=settings,
        whole=target.whole,
    )
