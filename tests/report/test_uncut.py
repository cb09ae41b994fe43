"""No table of a terminal cuts a number, however narrow the terminal and however long the number."""

from dataclasses import replace

import fake_rankings
import pytest
from rich.table import Table
from test_comparison_page import group

import fake_cards
from glasshead.report import (
    audits_document,
    comparison_document,
    ranking_document,
    tokens_document,
)
from glasshead.report.documents.checkup import layer_table
from glasshead.report.terminal.wrapping_table import NAME, WrappingTable
from glasshead.results import Floor, RunComparison, RunDifference, SeedTest
from uncut import assert_uncut, printed

TINY = 1.2345e-7


def attribution(known=False):
    made = fake_cards.attribution(
        "a warm film of unfathomable length", True, fake_cards.np.random.default_rng(0), ("bad", "good")
    )
    made = replace(
        made,
        scores=tuple(score * TINY for score in made.scores),
        contributions=tuple(each * TINY for each in made.contributions),
    )
    return tokens_document(fake_cards.ranged(made) if known else made)


def card(activation):
    made = fake_cards.make(activation)
    small = [
        each
        if each.estimate is None
        else replace(
            each,
            estimate=each.estimate * TINY,
            interval=each.interval and tuple(end * TINY for end in each.interval),
            null={name: None if value is None else value * TINY for name, value in each.null.items()},
        )
        for each in made.findings
    ]
    return replace(made, findings=small)


def comparison():
    difference = RunDifference(
        "accuracy",
        1,
        0,
        TINY,
        (-6.2e-7, 8.4e-7),
        500,
        "no difference is shown",
        SeedTest(2.5, 1.0, 0.2422, True),
        "",
        0.031,
        "",
    )
    groups = [
        group("a-run-with-a-long-name", "softmax", [0.5, 0.75]),
        group("far", "distance-aware", [0.75, 0.8125]),
    ]
    part = {"accuracy": 0.4, "macro_f1": 0.2}
    floor = Floor("always guessing 'human'", {"test": part, "dev": part})
    return comparison_document(RunComparison("data/trec", "test", 500, groups, [difference], 2000, floor))


def layers():
    layer = {
        "modules": ["encoder.layer.0.attention"],
        "kind": "BertSelfAttention",
        "dispatched": True,
        "causal": False,
        "window": 1234567,
        "kernel": "blockwise",
        "training_kernel": "sdpa",
        "heads": 1234567890,
        "key_heads": 123456789,
        "head_dim": 1234567890123,
        "attention": "tanhmax+distance-aware",
        "weights": "recorded",
    }
    return [layer_table([layer])]


TABLES = {
    "attribution": attribution,
    "attribution with intervals": lambda: attribution(known=True),
    "card": lambda: audits_document([card("tanhmax")]),
    "two cards": lambda: audits_document([card("tanhmax"), card("softmax")]),
    "three cards": lambda: audits_document([card("tanhmax"), card("softmax"), card("softmax")]),
    "comparison": comparison,
    "methods": lambda: ranking_document(fake_rankings.make(factor=TINY)),
    "checkup": layers,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_number_is_whole(name):
    table = TABLES[name]()
    for width in (60, 80, 120):
        assert_uncut(table, width)


def test_names_fold_before_numbers_leave_their_columns():
    made = Table("name")
    made.add_column("number", justify="right", no_wrap=True)
    made.add_row("a-name-of-thirty-letters-or-so", "1.2·10⁻⁶")
    beside = printed(WrappingTable(made), 30)
    assert "1.2·10⁻⁶" in beside
    assert "number" in beside.splitlines()[1]
    below = printed(WrappingTable(made), NAME + 8)
    assert below.splitlines()[-1].split() == ["number", "1.2·10⁻⁶"]
    assert printed(WrappingTable(made), 100) == printed(made, 100)  # and the table itself is as it was


def test_an_ornament_goes_first():
    made = Table("name")
    made.add_column("number", no_wrap=True)
    made.add_column("", no_wrap=True, width=20)
    made.add_row("token", "1.2·10⁻⁶", "█" * 20)
    assert "█" * 20 in printed(WrappingTable(made, ornament=True), 50)
    narrow = printed(WrappingTable(made, ornament=True), 30)
    assert "█" not in narrow
    assert "number" in narrow.splitlines()[1]
