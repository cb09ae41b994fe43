"""The page and the table of a comparison say what was found, and escape what they were given."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from glasshead.report import audit_page, audits_document, comparison_document, comparison_page, terminal_view
from glasshead.report.comparison_rows import compared_settings, round_limits
from glasshead.results import Difference, Floor, RunComparison, RunDifference, RunGroup, SeedTest
from pages import Page

pytestmark = pytest.mark.usefixtures("undrawn")

NASTY = "<script>alert(1)</script>"


def group(name, attention, values, seeds=(0, 1)):
    part = {"accuracy": values, "macro_f1": values}
    return RunGroup(
        name, {"recipe": {"attention": attention, "layers": 1}}, seeds, {"test": part, "dev": part}
    )


def test_a_single_seed_is_said_to_tell_nothing_of_others(comparison):
    one = replace(comparison.groups[0], seeds=(0,), metrics={"test": {"accuracy": [0.5]}})
    alone = replace(comparison, groups=[one, comparison.groups[1]])
    assert "One seed does not show how much seeds differ: train five of each model" in text(
        comparison_page(alone)
    )
    assert "five seeds" not in text(comparison_page(comparison))


@pytest.fixture
def comparison():
    difference = RunDifference(
        name="accuracy",
        one=1,
        other=0,
        estimate=0.125,
        interval=(0.0625, 0.1875),
        n=500,
        verdict="better",
        seed_test=SeedTest(2.5, 1.0, 0.2422, True),
        untested="",
        exchange=None,
        unexchanged="groups of different size cannot be exchanged",
    )
    groups = [group(NASTY, "softmax", [0.5, 0.75]), group("far", "distance-aware", [0.75, 0.8125])]
    part = {"accuracy": 0.4, "macro_f1": 0.2}
    floor = Floor("always guessing 'human', the commonest class of train", {"test": part, "dev": part})
    return RunComparison("data/trec", "test", 500, groups, [difference], 2000, floor)


def text(page):
    return " ".join(Page(page).all("body")[0].text.split()).replace("\u00a0", " ")


def test_the_page_says_it_all(comparison):
    page = comparison_page(comparison)
    said = text(page)
    assert NASTY not in page
    for part in (
        "500 examples of trec (test split), 2 seeds each.",
        f"far minus {NASTY}",
        "+0.125",
        "[0.062, 0.188]",
        "t(1) = 2.50, p = 0.242",
        "paired by seed",
        "groups of different size cannot be exchanged",
        "Better.",
        "0.6250 ± 0.1768",
        "with 2,000 resamples",
    ):
        assert part in said, part
    assert "http" not in page.replace("http://www.w3.org/", "")


def terminal(comparison):
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(terminal_view(comparison_document(comparison)))
    return console.export_text().replace("\u00a0", " ")


def test_the_terminal_says_it_too(comparison):
    said = terminal(comparison)
    for part in (
        NASTY,
        "0.6250 ± 0.1768",
        "+0.125",
        "[0.062, 0.188]",
        "t(1) = 2.50, p = 0.242",
        "(paired by seed)",
        "Better.",
    ):
        assert part in said, part


def test_one_seed_has_no_deviation(comparison):
    alone = [group(name, "softmax", [0.5], (0,)) for name in ("a", "b")]
    untested = replace(comparison.differences[0], seed_test=None, untested="one seed")
    said = text(comparison_page(replace(comparison, groups=alone, differences=[untested])))
    assert "one seed each" in said
    assert "open circle" not in said
    assert "open circle" in text(comparison_page(comparison))
    assert "0.5000 ±" not in said


def test_the_floor_stands_beside_every_metric(comparison):
    page, drawn = text(comparison_page(comparison)), terminal(comparison)
    assert page.count("floor0.4000") == page.count("floor0.2000") == 2
    for said in (page, drawn):
        assert "always guessing 'human', the commonest class of train" in said
    assert drawn.count("0.4000") == drawn.count("0.2000") == 2


def test_a_model_of_one_class_is_named(comparison):
    far = replace(comparison.groups[1], only_class={1: "human"})
    page = text(comparison_page(replace(comparison, groups=[comparison.groups[0], far])))
    assert "far with seed 1 predicts one class only: 'human'." in page
    assert "one class only" not in text(comparison_page(comparison))


def test_settings_that_differ_come_first(comparison):
    differing, alike = compared_settings(comparison)
    assert differing == [("attention", ["softmax", "distance-aware"])]
    assert alike == [("layers", ["1", "1"]), ("seeds", ["0, 1", "0, 1"])]


def test_ends_of_a_strip_are_round():
    assert round_limits([0.7776, 0.84, 0.82]) == pytest.approx((0.76, 0.84))
    low, high = round_limits([0.5, 0.5])
    assert low <= 0.5 <= high
    assert low < high


def test_audits_show_paired_differences(softmax, tanhmax):
    name = "agreement.contribution.gradient.all"
    paired = Difference(name, 1, 0, 0.3125, (0.25, 0.375), 80, "higher")
    said = text(audit_page([softmax, tanhmax], [paired], ["Token groups are not paired."]))
    assert "minus softmax: +0.312 [0.250, 0.375] over 80 shared texts: higher." in said
    assert "Token groups are not paired." in said
    plain = audit_page([softmax, tanhmax])
    assert "shared texts" not in plain
    assert "intervals" in text(plain)
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(
        terminal_view(audits_document([softmax, tanhmax], [paired], ["Token groups are not paired."]))
    )
    assert "Token groups are not paired." in console.export_text()
