"""What prints an explanation names its numbers and says what full colour stands for."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from glasshead.report import attribution_page, draw_text, scale_words, terminal_view, tokens_document
from glasshead.results import Attribution, Attributions

WEAK = Attribution(
    text="a funny film", tokens=("a", "funny", "film"), ids=(1, 2, 3), words=(0, 1, 2),
    offsets=((0, 1), (2, 7), (8, 12)), scores=(0.2, 0.5, 0.3), signed=False, target="positive",
    predicted="positive", prediction=0.51, method="attention", contributions=(0.001, -0.033, 0.002),
)  # fmt: skip
STRONG = replace(WEAK, contributions=(0.1, -3.3, 0.2))


def printed(document):
    written = StringIO()
    Console(file=written, width=100).print(terminal_view(document))
    return written.getvalue()


def test_contributions_are_not_called_weights():
    assert "contributions of attention: funny -0.033" in repr(WEAK)
    weights = replace(WEAK, contributions=None)
    assert ", attention: funny +0.5" in repr(weights)


@pytest.mark.parametrize(("scale", "words"), [(0.033, "contribution 0.033"), (3.3, "contribution 3.300")])
def test_full_colour_has_a_number(scale, words):
    assert scale_words(WEAK, scale) == f"full colour: {words}"
    assert draw_text(WEAK, scale).scale == f"Full colour: {words}"


def test_several_texts_share_one_scale_and_the_page_says_which():
    page = attribution_page(Attributions((WEAK, STRONG)))
    assert "one scale holds for all texts on this page (full colour: contribution 3.300)" in page
    alone = attribution_page(WEAK)
    assert "(full colour: contribution 0.033)" in alone
    notebook = Attributions((WEAK, STRONG))._repr_html_()
    assert notebook.count("full colour: contribution 3.300") == 2


def test_bars_of_several_texts_share_one_scale():
    def longest(table):
        return max(len(part) for part in printed(table).replace("│", " ").split() if "█" in part)

    assert longest(tokens_document(WEAK)) == 2 * longest(tokens_document(WEAK, 0.066))
    assert printed(tokens_document(STRONG, 3.3)) == printed(tokens_document(STRONG))


@pytest.mark.parametrize(("target", "named"), [("positive", "“positive”"), ("“ '”", "“ '”")])
def test_a_class_has_quotes_once(target, named):
    """The name of a token has them already, so that its blank can be seen."""
    assert draw_text(replace(WEAK, target=target), 1.0).meaning.startswith(
        f"Red words speak for {named}, blue"
    )
