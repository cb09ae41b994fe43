"""A section of a model card: what may be said of the attention of a model, in Markdown."""

import re

from glasshead.nouns import nouns_of
from glasshead.report.document import Block, Heading, Sentence
from glasshead.report.documents.audits import claims_blocks
from glasshead.report.key_findings import cautions, intro_sentence
from glasshead.report.markdown_view import markdown_view
from glasshead.report.run_facts import origin
from glasshead.results import AuditCard, method_words
from glasshead.wording import capitalise

FOLDERS = re.compile(r"^.*[/\\](?=.)")


def model_card(card: AuditCard) -> str:
    """The section for the ``README.md`` of a model: the result of the audit, what you can claim and what
    you cannot, each with its finding, and how it was measured.

    Source: Mitchell et al. (2019), section 4.7.
    """
    blocks: list[Block] = [Heading(f"{capitalise(method_words(card.method))} as an explanation")]
    blocks += [Sentence(words) for words in (card.conclusion.verdict, intro_sentence(card)) if words]
    blocks += [Sentence(caution, "caution") for caution in cautions([card], ["This model"])]
    return markdown_view([*blocks, *claims_blocks(card), Sentence(origin_sentence(card))])


def origin_sentence(card: AuditCard) -> str:
    """How it was measured; of paths the last part, since a model card travels."""
    facts = ", ".join(f"{name} {FOLDERS.sub('', value)}" for name, value in origin(card))
    inputs = nouns_of(card.facts).texts
    return (
        f"Each sentence is judged by its own numbers, with {100 * card.level:.4g} % intervals over {inputs}. "
        f"It is about this model and these {inputs}. {facts}."
    )
