"""The image of a card, and of a comparison: estimates with intervals, hollow where nothing is decided."""

from dataclasses import replace

import pytest

from glasshead.errors import InputError
from glasshead.report import PLOTS
from glasshead.report.figure_file import to_matplotlib
from glasshead.report.key_findings import answers
from glasshead.results import AuditComparison, Difference

NAME = "agreement.contribution.gradient.all"


def dots(axes):
    """Estimate → whether it is filled, of the panel's dots."""
    paper = "#ffffff"
    return {
        round(float(line.get_xdata()[0]), 6): line.get_markerfacecolor() != paper
        for line in axes.lines
        if line.get_marker() == "o"
    }


def test_every_key_finding_has_its_row_and_its_verdict(tanhmax):
    figure = PLOTS["key-findings"].draw([tanhmax], ["one"])
    found = answers([tanhmax], ["one"])
    (panel,) = figure.panels
    assert list(reversed(panel.rows)) == [answer.title for answer in found]
    assert all(
        f"n = {answer.findings[0].n}" in note
        for answer, note in zip(reversed(found), panel.row_notes, strict=True)
    )
    drawn = dots(to_matplotlib(figure).axes[0])
    assert set(drawn) == {round(answer.findings[0].estimate, 6) for answer in found}
    assert all(drawn.values())


def test_what_is_no_evidence_is_hollow(tanhmax):
    findings = [replace(each, status="undecided") if each.name == NAME else each for each in tanhmax.findings]
    card = replace(tanhmax, findings=findings)
    figure = PLOTS["key-findings"].draw([card], ["one"])
    drawn = dots(to_matplotlib(figure).axes[0])
    estimate = round(card.finding(NAME).estimate, 6)
    assert [value for value, filled in drawn.items() if not filled] == [estimate]
    assert "decides nothing" in [entry.words for entry in figure.legend]


def test_paired_differences_stand_beside_the_findings(softmax, tanhmax):
    clear = Difference(NAME, 1, 0, 0.3125, (0.25, 0.375), 80, "higher")
    open_ = Difference("agreement.attention-absolute.gradient.all", 1, 0, 0.125, (-0.1, 0.35), 80, "none")
    figure = PLOTS["audit-differences"].draw(AuditComparison([softmax, tanhmax], [clear, open_], []))
    assert figure.panels[1].title == "tanhmax minus softmax"
    assert dots(to_matplotlib(figure).axes[1]) == {0.3125: True, 0.125: False}
    assert len(PLOTS["audit-differences"].draw(AuditComparison([softmax, tanhmax], [], [])).panels) == 1


@pytest.mark.slow
def test_a_card_without_a_key_finding_has_no_image(tanhmax, tmp_path):
    with pytest.raises(InputError, match="no key finding"):
        replace(tanhmax, findings=[]).save(tmp_path / "card.png")
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        tanhmax.save(tmp_path / f"card.{ending}")
        assert (tmp_path / f"card.{ending}").read_bytes().startswith(start)
