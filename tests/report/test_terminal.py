"""Explanations and cards in the terminal: coloured, harmless, and at home in 80 columns."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import fake_cards
from glasshead.escaping import visible
from glasshead.report import Document, audits_document, terminal_view, text_heatmap, tokens_document
from glasshead.report.colours import TERMINAL
from glasshead.report.key_findings import titled_quantities
from glasshead.report.number_format import interval, number
from glasshead.results import Attribution, AuditCard
from glasshead.wording import sentence


def printed(shown: Text | Document, width: int = 80) -> str:
    console = Console(
        record=True, width=width, force_terminal=True, color_system="truecolor", file=StringIO()
    )
    console.print(shown if isinstance(shown, Text) else terminal_view(shown))
    return console.export_text()


def made(text: str, tokens: list[tuple[str, int, int, float]], **more: object) -> Attribution:
    told = Attribution(
        text=text,
        tokens=tuple(t[0] for t in tokens),
        ids=tuple(range(len(tokens))),
        words=tuple(range(len(tokens))),
        offsets=tuple((t[1], t[2]) for t in tokens),
        scores=tuple(t[3] for t in tokens),
        signed=True,
        target="positive",
        predicted="positive",
        prediction=0.7,
        method="gradient",
    )
    return replace(told, **more)  # type: ignore[arg-type]


def test_red_is_positive_blue_is_negative_and_the_rest_is_plain() -> None:
    told = made("good, but bad it", [("good", 0, 4, 0.3), ("bad", 10, 13, -1.0), ("it", 14, 16, 0.01)])
    text = text_heatmap(told)
    assert text.plain == told.text
    styles = {told.text[span.start : span.end]: str(span.style) for span in text.spans if span.style}
    assert styles == {"good": TERMINAL["for"][1], "bad": TERMINAL["against"][3]}
    assert not any(span.style for span in text_heatmap(told, scale=100.0).spans)


def test_contributions_colour_where_there_are_any() -> None:
    told = made("bad", [("bad", 0, 3, 1.0)], contributions=(-0.5,))
    assert "#1b5fc4" in str(text_heatmap(told).spans[0].style)


@pytest.mark.parametrize(
    ("method", "name"),
    [("attention", "weight"), ("layer-max", "weight"), ("layer-sum", "sum of weights"), ("rollout", "score"),
     ("attention-flow", "flow"), ("attention-flow-absolute", "flow"), ("value-norm", "norm"),
     ("attn-lrp", "relevance"), ("cp-lrp", "relevance"), ("rollout+discard=0.5", "score"),
     ("gradient-attention", "score")],
)  # fmt: skip
def test_numbers_have_the_name_of_what_they_are(method: str, name: str) -> None:
    told = made("bad", [("bad", 0, 3, 0.25)], method=method)
    heading = next(line for line in printed(tokens_document(told)).splitlines() if "token" in line)
    assert heading.split("token")[1].strip() == name


def test_control_characters_and_markup_are_harmless() -> None:
    text = "[bold red]x[/] \x1b[31m\x07 [link=file:///etc]y \u202e"
    told = made(text, [("[bold", 0, 5, 1.0)])
    assert text_heatmap(told).plain == visible(text)
    assert len(visible(text)) == len(text)
    out = printed(text_heatmap(told), 200)
    assert "[bold red]x[/] ␛[31m␇ [link=file:///etc]y" in out
    assert "\x07" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_a_text_without_tokens(text: str) -> None:
    told = made(text, [])
    assert text_heatmap(told).plain == text
    assert "token" in printed(tokens_document(told))


def test_overlapping_and_missing_offsets_colour_each_character_once() -> None:
    told = made("🎬ab", [("[CLS]", 0, 0, 1.0), ("x", 0, 1, 1.0), ("y", 0, 1, -1.0), ("z", 0, 9, 0.5)])
    spans = [(span.start, span.end) for span in text_heatmap(told).spans]
    assert spans == [(0, 1), (1, 3)]


def test_the_table_shows_numbers_words_and_bars() -> None:
    told = made("unhappy [red]", [("un", 0, 2, -0.25), ("##happy", 2, 7, 0.5), ("[red]", 8, 13, 0.0)])
    told = replace(told, words=(0, 0, 1))
    lines = printed(tokens_document(told)).splitlines()
    assert "word" in lines[1]
    (un,) = [line for line in lines if " un " in f" {line} " and "−0.250" in line]
    assert "unhappy" in un
    assert "█████│" in un
    (happy,) = [line for line in lines if "##happy" in line]
    assert "│██████████" in happy
    assert any("[red]" in line and "0.000" in line for line in lines)


def test_the_card_in_eighty_columns(tanhmax: AuditCard) -> None:
    out = printed(audits_document([tanhmax]))
    assert max(map(cell_len, out.splitlines())) <= 80
    for name in titled_quantities([tanhmax]):
        finding = tanhmax.finding(name)
        assert finding is not None
        assert finding.estimate is not None
        assert number(finding.estimate) in out
        assert interval(finding.interval) in out
        assert sentence(finding.verdict) in " ".join(out.split())
    assert "by construction" not in out


def test_two_cards_stand_side_by_side(softmax: AuditCard, tanhmax: AuditCard) -> None:
    out = printed(audits_document([softmax, tanhmax]))
    assert max(map(cell_len, out.splitlines())) <= 80
    for name in titled_quantities([tanhmax]):
        one, other = (card.finding(name) for card in (softmax, tanhmax))
        assert one is not None
        assert other is not None
        if name not in titled_quantities([softmax]):
            assert "not applicable" in out
            continue
        rows = [line.split() for line in out.splitlines() if number(other.estimate) in line.split()]
        assert any(row[-2:] == [number(one.estimate), number(other.estimate)] for row in rows), name
    assert "Larger for tanhmax than for" in out


def test_paired_differences_stand_beside_their_verdict(tanhmax: AuditCard) -> None:
    card = fake_cards.with_differences(tanhmax)
    for cards in ([card], [card, card]):
        said = printed(audits_document(cards), width=400 if len(cards) > 1 else 80)
        assert fake_cards.DIFFERENCES in " ".join(said.split())


def test_empty_and_undefined_cards_print() -> None:
    assert "No key finding" in printed(audits_document([AuditCard({}, [])]))
    nothing = fake_cards.finding("agreement", "attention-absolute", "gradient", "all", [float("nan")])
    out = printed(audits_document([AuditCard({"name": "[red]\x1b[0m"}, [nothing])]))
    assert "No key finding" in out  # what has no number is no headline
    assert "[red]␛[0m" in out
    assert "nan" not in out.replace("mean None", "")
