"""Slices on the page and in the terminal: the findings of each, their level, and what differs."""

import re
from dataclasses import replace

import pytest
from markupsafe import escape
from rich.console import Console

import fake_cards
from glasshead.escaping import visible
from glasshead.report import audit_page, audits_document, terminal_view
from glasshead.report.slice_tables import slice_tables
from glasshead.results import AuditCard, Difference, SliceTest
from pages import Page

pytestmark = pytest.mark.usefixtures("undrawn")

GRADIENT = ("agreement", "attention-absolute", "gradient")
ERASURE = ("agreement", "attention-absolute", "erasure-renormalise")
BY = "<b>ki\x1b[31mnd\u202e</b>"


@pytest.fixture(scope="module")
def sliced(tanhmax: AuditCard) -> AuditCard:
    """Two key findings in two slices, one of which differs."""
    findings = [
        replace(fake_cards.finding(*name, f"{BY}: {value}", [mean, mean + 0.1] * 30), by=BY, level=0.975)
        for name in (GRADIENT, ERASURE)
        for value, mean in (("a", 0.61), ("\x1b[31mb", -0.41))
    ]
    tests = [
        SliceTest(*GRADIENT, BY, 60, 2, 0.0001, 0.002, "evidence", f"differs between slices by {BY}"),
        SliceTest(*ERASURE, BY, 60, 2, 0.4, 0.8, "evidence", "no difference between slices"),
    ]
    return replace(tanhmax, findings=[*tanhmax.findings, *findings], slice_tests=tests)


def test_what_differs_is_told_apart_from_what_does_not(sliced: AuditCard) -> None:
    (table,) = slice_tables(sliced)
    assert (table.by, table.level, table.tested, table.differing) == (BY, 0.975, 2, 1)
    (row,) = table.differing_rows
    assert row.title == "Is attention large where the gradient is?"
    assert [finding.group for finding in row.findings] == [f"{BY}: a", f"{BY}: \x1b[31mb"]
    assert "0.002" in row.answer
    (other,) = table.other_rows
    assert "0.800" in other.answer


def test_what_differs_is_not_read_out_of_words(sliced: AuditCard) -> None:
    reworded = [replace(test, verdict=f"differs by {test.corrected}"[::-1]) for test in sliced.slice_tests]
    (table,) = slice_tables(replace(sliced, slice_tests=reworded))
    assert (table.differing, len(table.differing_rows), len(table.other_rows)) == (1, 1, 1)
    reworded = [replace(test, verdict="differs", corrected=0.8) for test in sliced.slice_tests]
    (table,) = slice_tables(replace(sliced, slice_tests=reworded))
    assert (table.differing, table.differing_rows) == (0, [])


def test_no_slices_no_section(tanhmax: AuditCard) -> None:
    assert slice_tables(tanhmax) == []
    assert 'id="slices"' not in audit_page([tanhmax])


def test_the_page_and_the_terminal_have_the_slices_and_escape_them(sliced: AuditCard) -> None:
    page = audit_page([sliced])
    assert BY not in page
    assert not {"\x1b", "\u202e"} & set(page)
    section = page.split('id="slices"')[1].split("</section>")[0]
    assert "97.5\u00a0%" in section
    assert "0.660" in section
    assert "−0.360" in section
    assert "97.5 % interval 0." in section  # said to those who do not see the mark
    Page(page)
    console = Console(width=80, record=True)
    with console.capture() as captured:
        console.print(terminal_view(audits_document([sliced])))
    printed = captured.get()
    assert "1 of 2 findings differ" in printed
    assert "0.660" in printed
    assert "\x1b[31m" not in printed
    assert "\u202e" not in printed


def test_findings_of_slices_are_folded_with_the_level_of_every_column(sliced: AuditCard) -> None:
    finer = replace(
        sliced, findings=[replace(each, level=0.99) if each.by else each for each in sliced.findings]
    )
    name = next(finding.name for finding in sliced.findings if finding.by)
    paired = Difference(name, 1, 0, 0.1, (0.05, 0.15), 60, "higher", level=0.99)
    page = audit_page([sliced, finer], [paired])
    assert not {"\x1b", "\u202e"} & set(page)
    (caption,) = [each for each in Page(page).all("caption") if f": By {visible(BY)}" in each.text]
    heading = page.split(str(escape(caption.text)))[-1].split("</thead>")[0]
    levels = re.findall(r'class="range">(.*?) interval', heading)
    assert levels == ["97.5\u00a0%", "99\u00a0%", "99\u00a0%"]


def test_slices_of_several_audits_stand_under_their_names(sliced: AuditCard) -> None:
    other = replace(sliced, facts=sliced.facts | {"name": "another"}, slice_tests=[])
    console = Console(width=200)
    with console.capture() as captured:
        console.print(terminal_view(audits_document([sliced, other])))
    _, *named = captured.get().split(f"By {visible(BY)}, ")
    assert named[0].startswith("sst2")
    assert named[1].startswith("another")


def test_all_that_differs_is_listed_whether_the_front_page_asks_for_it_or_not(sliced: AuditCard) -> None:
    """A finding of the contributions' sizes is no key finding."""
    name = ("agreement", "contribution-absolute", "gradient-l2")
    more = [
        replace(fake_cards.finding(*name, f"{BY}: {value}", [mean, mean + 0.1] * 30), by=BY, level=0.975)
        for value, mean in (("a", 0.61), ("\x1b[31mb", -0.41))
    ]
    tests = [*sliced.slice_tests, SliceTest(*name, BY, 60, 2, 0.0001, 0.003, "evidence", "differs")]
    card = replace(sliced, findings=[*sliced.findings, *more], slice_tests=tests)
    (table,) = slice_tables(card)
    assert table.differing == len(table.differing_rows) == 2
    asks = table.differing_rows[-1].title
    assert asks.startswith("Agreement: ")
    assert escape(asks) in audit_page([card])


def test_why_nothing_could_be_tested(sliced: AuditCard) -> None:
    few = [replace(test, p=None, corrected=None, status="undecided") for test in sliced.slice_tests]
    (table,) = slice_tables(replace(sliced, slice_tests=few))
    assert "fewer than two slices have 20 texts" in table.summary
    (table,) = slice_tables(replace(sliced, slice_tests=[]))
    assert "single texts" in table.summary
