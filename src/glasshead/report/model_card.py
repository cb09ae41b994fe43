"""A section of a model card: what may be said of the attention of a model, in Markdown."""

import re
from collections.abc import Iterator, Sequence

from glasshead.escaping import one_line
from glasshead.nouns import nouns_of
from glasshead.report.claims import claims_by_answer
from glasshead.report.conclusion import capitalise
from glasshead.report.headline import verdict
from glasshead.report.key_findings import cautions, intro_sentence
from glasshead.report.labels import method_words
from glasshead.report.run_facts import origin
from glasshead.results import AuditCard

FOLDERS = re.compile(r"^.*[/\\](?=.)")
MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~$"})


def model_card(card: AuditCard) -> str:
    """The section for the ``README.md`` of a model: what follows from the audit, what may be said and what
    may not, each with the finding that it rests on, and how it was measured.

    Source: Mitchell et al. (2019), section 4.7.
    """
    return "\n".join(card_lines(card)) + "\n"


def card_lines(card: AuditCard) -> Iterator[str]:
    """Line by line."""
    yield f"## {escape(capitalise(method_words(card.method)))} as an explanation"
    for words in (verdict(card), intro_sentence(card)):
        if words:
            yield from ("", escape(words))
    for caution in cautions([card], ["This model"]):
        yield from ("", f"> {escape(caution)}")
    for heading, claims in claims_by_answer(card).items():
        yield from ("", f"### {heading}", "")
        for claim in claims:
            name = f"`{one_line(claim.finding)}` " if claim.finding else ""
            yield f"- **{escape(claim.says)}.** {escape(claim.because)} ({name}{escape(claim.numbers)})"
    yield from ("", *origin_lines(card))


def origin_lines(card: AuditCard) -> Sequence[str]:
    """How it was measured; of paths the last part, since a model card travels."""
    facts = ", ".join(f"{name} {escape(FOLDERS.sub('', value))}" for name, value in origin(card))
    inputs = nouns_of(card.facts).texts
    return [
        f"Each sentence is judged by its own numbers, with 95 % intervals over {inputs}. It is about this "
        f"model and these {inputs}. {facts}."
    ]


def escape(text: str) -> str:
    """Text in which no character is taken for Markdown."""
    return one_line(text).translate(MARKS)
