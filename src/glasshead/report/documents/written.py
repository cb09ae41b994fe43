"""A written text: the answer in its prompt, and what every token was chosen from."""

from glasshead.report.document import Column, Document, Facts, Passage, Piece, Row, columns, table
from glasshead.report.number_format import number
from glasshead.report.written_words import alternatives_in_words, facts_in_words, map_title, strongest_before
from glasshead.results import Written


def written_document(written: Written) -> Document:
    """Prompt and answer, how it was written, and a row for each token of the answer: its log-probability,
    its rank, its probability under the strategy, the most probable alternatives and, for every explanation,
    the tokens that it depended on most."""
    by_token = any(token.chance is not None for token in written.answer_tokens)
    maps = [one for one in written.maps if not one.whole]
    titles = columns(("token",), ("log p", "rank", *["chance"] * by_token))
    titles += [Column("most probable here"), *(Column(f"from, by {map_title(one)}") for one in maps)]
    rows: list[Row] = [
        (
            written.tokens[written.start + place],
            number(token.log_probability, 2),
            str(token.rank),
            *[number(token.chance)] * by_token,
            alternatives_in_words(token),
            *(strongest_before(written, one, place) for one in maps),
        )
        for place, token in enumerate(written.answer_tokens)
    ]
    text = [Piece(written.prompt + written.joint, "quiet"), Piece(written.answer, "strong")]
    return [Passage(text), Facts(facts_in_words(written)), table(titles, rows)]
