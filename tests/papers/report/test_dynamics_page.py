"""The page and the table of a history: whole, escaped, and with the numbers that were found."""

import io
import re
from collections import Counter

import fake_histories
import numpy as np
import pytest
from fake_histories import NASTY
from markupsafe import Markup, escape
from rich.console import Console

from glasshead.papers.dynamics.context_comparison import context_findings
from glasshead.papers.dynamics.findings import findings, gap_finding
from glasshead.papers.report import dynamics_document
from glasshead.papers.report.dynamics_page import dynamics_page
from glasshead.papers.report.dynamics_summary import (
    DynamicsSummary,
    group_changes,
    intro_sentence,
    rank_terms,
)
from glasshead.papers.report.interval_format import (
    finding_decimals,
    format_change,
    format_interval,
    format_number,
)
from glasshead.papers.results import History
from glasshead.report import terminal_view
from glasshead.results import NONE_LEADS, TOO_FEW_TOKENS, Verdict
from pages import Page


@pytest.fixture
def undrawn(monkeypatch):
    """Pages with the words of their pictures only: to draw them takes nearly all of the time."""
    monkeypatch.setattr(
        "glasshead.report.html.figure_page.panel_drawings",
        lambda figure, key: [(panel.title, Markup(escape(panel.description))) for panel in figure.panels],
    )


def told(history=None, tokens=("positive0", NASTY), **more):
    history = fake_histories.history() if history is None else history
    return DynamicsSummary("synthetic · softmax · seed 0", history, findings(history), tokens, **more)


def printed(told, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(terminal_view(dynamics_document(told)))
    return console.file.getvalue()


def plain(html):
    return " ".join(Page(html).all("body")[0].text.split())


def test_the_page_is_whole_and_needs_no_network():
    html = dynamics_page(told(remarks=[f"a remark on {NASTY}"]))
    page = Page(html)
    assert "<b onclick" not in html
    assert not [e for e in page.elements if (e.attributes.get("src") or "").startswith("http")]
    ids = [e.attributes["id"] for e in page.elements if e.attributes.get("id")]
    assert len(ids) == len(set(ids))
    links = {(e.attributes["href"] or "")[1:] for e in page.all("a")}
    assert links == {e.attributes["id"] for e in page.all("section")}
    assert [e.attributes["id"] for e in page.all("section")] == [
        "summary", "groups", "embeddings", "terms", "tokens", "facts", "reading",
    ]  # fmt: skip
    assert NASTY in plain(html)
    for e in page.all("figure"):
        assert "figcaption" in {inner.tag for inner in page.elements if "figure" in inner.above}
        assert e.text


@pytest.mark.usefixtures("undrawn")
def test_numbers_on_the_page_and_in_the_terminal():
    found = told()
    for said in (plain(dynamics_page(found)), " ".join(printed(found).split())):
        assert "VᵀW 0.000 → −1.000" in said
        assert "D: own labels" in said
        assert "Positive tokens have higher attention scores than negative ones" in said
        assert "+2.70" in said
        assert "risen" in said
        assert "fallen" in said
    assert "the largest part" in plain(dynamics_page(found))
    assert "positive: D is the largest part." in printed(found)
    assert "the model of step 20 was kept" in printed(found)


def undecided_ledger():
    """D has moved every second positive token, F the others, as much; of neutral tokens there are three."""
    history = fake_histories.history()
    table = history.tokens
    pairs = zip(table["token"].tolist(), table["group"].tolist(), strict=True)
    number = np.array([int(name.removeprefix(group)) if group else 0 for name, group in pairs])
    even = number % 2
    columns = table | {
        "added score D": table["added score D"] * even,
        "added score F": 2 * table["added score F"] * (1 - even),
    }
    few = (columns["group"] != "neutral") | (number < 3)
    columns = {name: column[few] for name, column in columns.items()}
    return History(history.facts, history.curves, history.products, columns)


@pytest.mark.usefixtures("undrawn")
def test_every_group_has_a_line_in_the_ledger():
    """Also where no part leads, or where there are too few tokens to tell."""
    found = told(undecided_ledger(), tokens=())
    said = " ".join(printed(found).split())
    for line in (
        "positive: no part leads: these tokens do not show which is the largest.",
        "negative: no part leads: these tokens do not show which is the largest.",
        "neutral: undecided: too few tokens to say which part is the largest.",
    ):
        assert line in said
    judged = [part for part in rank_terms(found, "score") if part.verdict]
    assert [part.group for part in judged] == ["positive", "negative", "neutral"]
    assert [part.verdict for part in judged] == [NONE_LEADS.words, NONE_LEADS.words, TOO_FEW_TOKENS.words]
    assert NONE_LEADS.words in plain(dynamics_page(found))


def test_shares_are_those_of_all_sizes():
    total = 1.0 + 0.25 + 0.5 + 0.1
    said = printed(told())
    for part in (1.0, 0.5, 0.25, 0.1):
        assert f"{100 * part / total:.0f}\u00a0%" in said


def test_no_verdict_without_an_interval():
    """One token of a group: a mean, but nothing that could be sure."""
    history = fake_histories.history()
    one = history.tokens["token"] == "positive0"
    here = (history.tokens["group"] != "positive") | one
    alone = {name: column[here] for name, column in history.tokens.items()}
    lonely = fake_histories.History(history.facts, history.curves, history.products, alone)
    said = printed(told(lonely, tokens=()))
    assert "Positive tokens" not in said
    assert "positive: D is" not in said
    assert "No verdict for fewer than 10 tokens: positive (1)." in said
    assert "Undecided" not in said
    assert "too few" in said
    assert "No verdict for fewer" not in printed(told())
    assert "Negative tokens have lower attention scores than neutral ones" in said


def test_groups_whose_names_look_like_a_comparison():
    history = fake_histories.history()
    names = {"positive": "cats vs dogs", "negative": "no pets", "neutral": "neutral"}
    tokens = history.tokens | {"group": np.array([names.get(g, g) for g in history.tokens["group"].tolist()])}
    facts = history.facts | {"groups": {names[g]: n for g, n in history.facts["groups"].items()}}
    curves = history.curves | {"group": np.array([names.get(g, g) for g in history.curves["group"].tolist()])}
    tokens["score"] = np.where(tokens["group"] == "neutral", tokens["score"], tokens["score"] * 0)
    renamed = fake_histories.History(facts, curves, {}, tokens)
    said = " ".join(printed(told(renamed, tokens=())).split())
    assert (
        "Undecided whether cats vs dogs or no pets tokens have the higher attention scores: 0.000 [" in said
    )


@pytest.mark.usefixtures("undrawn")
def test_no_terms_no_words_about_them():
    history = fake_histories.history(terms={}, exact=False, form=None, why_no_form="not for tanhmax")
    assert "Ledger. The difference between" in plain(dynamics_page(told()))
    assert "Ledger. The difference between" not in plain(dynamics_page(told(history)))


def test_tokens_from_start_to_the_chosen_step():
    said = " ".join(printed(told(step=20, tokens=("positive1",)), width=120).split())
    assert "0.000 → 1.675" in said  # half of the way
    assert "D +0.500 (own labels)" in said


@pytest.mark.usefixtures("undrawn")
def test_every_number_is_of_the_chosen_step():
    for step, head, numbers_ in ((19, "step 20", "VᵀW 0.000 → −0.500"), (40, "end", "VᵀW 0.000 → −1.000")):
        found = told(step=step, tokens=())
        said = " ".join(printed(found).split())
        assert f"group start {head} change" in said
        assert numbers_ in said
        html = dynamics_page(found)
        assert head.capitalize() in [e.text for e in Page(html).all("th")]
        assert numbers_ in plain(html)
    layers = " ".join(printed(told(fake_histories.layered(), tokens=(), step=20)).split())
    assert "layer 1 entropy 0.900 0.700 ± 0.100" in layers


@pytest.mark.usefixtures("undrawn")
def test_a_model_that_was_looked_at_once():
    found = told(fake_histories.history(steps=[40]), tokens=("positive0",))
    html = dynamics_page(found)
    headings = [e.text for e in Page(html).all("h3")]
    assert "Dot products of tokens of the trained model" in headings
    assert "What moves the trained model's scores" in headings
    assert "Polarity of tokens" not in headings
    assert "Not shown" not in plain(html)
    assert "→" not in printed(found)
    assert "one snapshot, after training" in " ".join(printed(found).split())


@pytest.mark.usefixtures("undrawn")
def test_what_is_missing_is_said_once():
    history = fake_histories.history(terms={}, exact=False, form=None, why_no_form="not for tanhmax")
    html = dynamics_page(told(history))
    assert plain(html).count("There are no terms of the flow: not for tanhmax.") == 1  # of two sections
    assert "No terms of the flow: not for tanhmax." in printed(told(history))
    inexact = fake_histories.history(exact=False, why_not_exact="adagrad rescales: so it is")
    assert "No ledger: adagrad rescales; so it is." in printed(told(inexact))
    said = plain(dynamics_page(told(inexact)))
    assert "What moves scores and polarities" in said
    assert said.count("There is no ledger: adagrad rescales; so it is.") == 1
    # Below what is shown, not above it.
    assert said.index("There is no ledger") > said.index("The broad grey line is the sum")


@pytest.mark.usefixtures("undrawn")
def test_a_token_in_no_group_is_explained():
    for grouped_by, why in (
        ("truth", "because it was not planted"),
        ("γ", "3 times as often as in all others"),
    ):
        history = fake_histories.history(grouped_by=grouped_by)
        for found, there in ((told(history), True), (told(history, tokens=("positive0",)), False)):
            for said in (plain(dynamics_page(found)), " ".join(printed(found).split())):
                assert ("–: in no group" in said) == there
                assert (why in said) == there


def with_weights(history, change, seen=None):
    """The history in whose texts neutral tokens end with a weight that is larger by ``change``, where only
    some of them are seen."""
    weight = history.tokens["weight"].copy()
    here = history.tokens["group"] == "neutral"
    weight[here] += change * history.tokens["step"][here] / 40
    if seen is not None:
        rank = np.array([int(name.removeprefix("neutral")) for name in history.tokens["token"][here]])
        weight[here] = np.where(rank < seen, weight[here], np.nan)
    score = history.tokens["score"].copy()
    score[here] -= 0.5 * history.tokens["step"][here] / 40
    tokens = history.tokens | {"weight": weight, "score": score}
    return fake_histories.History(history.facts, history.curves, history.products, tokens)


@pytest.mark.usefixtures("undrawn")
def test_scores_and_weights_that_go_opposite_ways_are_remarked_on():
    why = (
        "Scores and weights of neutral tokens moved in opposite directions: a weight depends on the scores of"
    )
    for change, activation, there in (
        (0.05, "softmax", True), (-0.05, "softmax", False), (0.0, "softmax", False), (0.05, "relu", False),
    ):  # fmt: skip
        found = told(with_weights(fake_histories.history(activation=activation), change))
        for said in (plain(dynamics_page(found)), " ".join(printed(found).split())):
            assert (why in said) == there
            assert "of positive tokens moved" not in said


@pytest.mark.usefixtures("undrawn")
def test_what_n_counts_is_said_where_it_differs():
    assert "Of 13 neutral tokens" not in printed(told())
    few = fake_histories.history(groups={"positive": 12, "negative": 12, "neutral": 31})
    for said in (
        printed(told(with_weights(few, 0.0, seen=7))),
        plain(dynamics_page(told(with_weights(few, 0.0, 7)))),
    ):
        said = " ".join(said.split())
        assert (
            "Of 31 neutral tokens the 13 most frequent are followed one by one, and 7 stand in the 100 texts "
            "that weights are taken from." in said
        )
        assert "positive tokens the" not in said


@pytest.mark.usefixtures("undrawn")
def test_a_line_of_a_table_has_one_number_of_decimals_and_no_powers_of_ten():
    """Two digits of the width of the interval, which the numbers beside it share."""
    history = fake_histories.history()
    step = history.tokens["step"] / 40
    tiny = history.tokens | {"weight": 0.1 + 4e-6 * step * (1 + np.arange(len(step)) % 3)}
    html = dynamics_page(told(fake_histories.History(history.facts, history.curves, history.products, tiny)))
    assert "·10" not in html
    rows = re.findall(r'<td class="num">([^<]*)</td><td class="num"><b>([^<]*)</b></td><td class="small">'
                      r"\[([^,]*), ([^\]]*)\]", html)  # fmt: skip
    assert len(rows) == 9
    for row in rows:
        assert len({len(each.partition(".")[2]) for each in row}) == 1, row
        width = float(row[3].replace("−", "-")) - float(row[2].replace("−", "-"))
        places = len(row[0].partition(".")[2])
        assert places in (3, 7) or 10 <= round(width * 10**places) < 110, row
    assert any(len(row[0].partition(".")[2]) == 7 for row in rows)


@pytest.mark.parametrize(
    ("value", "places", "written"),
    [
        (0.00004, 3, "0.000"), (-0.00004, 3, "0.000"), (0.00004, 5, "+0.00004"), (-12.857, 2, "−12.86"),
        (1234.5, 0, "+1,234"), (3.2e-6, 7, "+0.0000032"), (3.2e-9, 7, "0.0000000"), (0.0, 7, "0.0000000"),
        (3.2e-9, 10, "+3.2·10⁻⁹"), (-2.5e-8, 9, "−2.5·10⁻⁸"), (8.1e-9, 9, "+0.8·10⁻⁸"), (0.0, 9, "0.0·10⁻⁸"),
        (None, 3, "–"), (float("nan"), 3, "–"),
    ],
)  # fmt: skip
def test_just_so_many_decimals(value, places, written):
    assert format_number(value, places, plus=True) == written


@pytest.mark.parametrize(
    ("estimate", "interval", "number", "ends"),
    [
        # Two digits of the width, for the number as for its ends.
        (0.0123, (0.0101, 0.0152), "+0.0123", "[+0.0101, +0.0152]"),
        (-2.7e-8, (-6e-7, 6e-7), "0.0000000", "[−0.0000006, +0.0000006]"),
        # Too small for seven decimals: one power of ten for all of them.
        (1.6e-8, (8.1e-9, 2.5e-8), "+1.6·10⁻⁸", "[+0.8, +2.5]·10⁻⁸"),
        (-4.1e-7, (-4.7e-7, -3.4e-7), "−4.1·10⁻⁷", "[−4.7, −3.4]·10⁻⁷"),
        (-9.0e-8, (-9.4e-8, -8.9e-8), "−90.0·10⁻⁹", "[−94.0, −89.0]·10⁻⁹"),
        # Too large for a power that shows the width: as many decimals as there are.
        (0.0833321, (0.08333209, 0.08333211), "+0.0833321", "[+0.0833321, +0.0833321]"),
        # No interval: two digits of the number itself.
        (5.7e-6, None, "+0.0000057", "–"), (8.6e-8, None, "+8.6·10⁻⁸", "–"), (0.42, None, "+0.420", "–"),
        (0.0, None, "0.000", "–"), (None, None, "–", "–"),
    ],
)  # fmt: skip
def test_a_number_and_its_interval_are_written_alike(estimate, interval, number, ends):
    found = gap_finding("added to score", "D", "positive", estimate, interval, 12, Verdict(""))
    assert format_number(estimate, finding_decimals(found), plus=True) == number
    assert format_interval(interval, finding_decimals(found), plus=True) == ends


@pytest.mark.parametrize(
    ("first", "last", "most", "written"),
    [
        (0.01, 0.02, 7, "0.010 → 0.020"), (0.0833321, 0.08333211, 7, "0.0833321 → 0.0833321"),
        (3e-9, 2.4e-8, 7, "0.3·10⁻⁸ → 2.4·10⁻⁸"), (0.55012, 0.55008, 4, "0.5501 → 0.5501"),
    ],
)  # fmt: skip
def test_from_where_to_where(first, last, most, written):
    assert format_change(first, last, most) == written


def small(factor, **more):
    """The history with scores, and what terms have added to them, times a factor."""
    bare = fake_histories.history(**more)
    scaled = [name for name in bare.tokens if name == "score" or name.startswith("added score")]
    return History(
        bare.facts, bare.curves, bare.products,
        bare.tokens | {name: bare.tokens[name] * factor for name in scaled},
    )  # fmt: skip


@pytest.mark.usefixtures("undrawn")
def test_a_ledger_of_small_numbers_is_none_of_zeros():
    """Before the third look there are no intervals: digits follow from the numbers, and it is said why."""
    history = small(2.4e-7)
    found = DynamicsSummary("small", history, findings(history, step=10), step=10)
    for said in (" ".join(printed(found).split()), plain(dynamics_page(found))):
        assert "No intervals: with fewer than three snapshots the error" in said
    shown = {(part.group, part.term): (part.added, part.interval) for part in rank_terms(found, "score")}
    assert shown["positive", "D"] == ("+6.0·10⁻⁸", "–")
    assert shown["positive", "E"] == ("−1.5·10⁻⁸", "–")
    assert shown["negative", "F"] == ("−3.0·10⁻⁸", "–")
    later = told(small(1e-6))
    assert "No intervals" not in printed(later)


def named(groups):
    """The history with other names of its groups, and weights that differ in their seventh decimal."""
    bare = small(1e-4)
    rename = dict(zip(bare.groups, groups, strict=True))
    weight = 0.0227413 + 1e-6 * np.arange(len(bare.tokens["step"]))
    columns = bare.tokens | {
        "group": np.array([rename.get(each, each) for each in bare.tokens["group"].tolist()]),
        "weight": weight,
    }
    curves = bare.curves | {
        "group": np.array([rename.get(each, each) for each in bare.curves["group"].tolist()])
    }
    facts = bare.facts | {"groups": {rename[name]: n for name, n in bare.facts["groups"].items()}}
    return History(facts, curves, {}, columns)


@pytest.mark.parametrize("width", [*range(40, 100, 4), 69, 71])
@pytest.mark.parametrize(
    "names",
    [["class Business", "class " + "Entertainment" * 3, "neutral"], ["positive", "negative", "neutral"]],
)
def test_nothing_is_cut_where_there_is_no_room(width, names):
    """What is folded within its column is whole if that is read downwards."""
    history = fake_histories.history() if "positive" in names else named(names)
    found = told(history, tokens=("positive0",))
    said, whole = printed(found, width), printed(found, 400)
    assert "…" not in said
    assert any(len(row.now) > (6 if "positive" not in names else 4) for row in group_changes(found))

    def letters(text):
        return Counter(re.sub(r"[^\w]", "", text))

    assert not letters(whole) - letters(said)  # headings may be repeated
    if width >= 80:
        for row in group_changes(found):
            for each in (row.start, row.now, row.interval, row.verdict):
                assert each in said or "undecided" in each, each


@pytest.mark.usefixtures("undrawn")
def test_options_and_letters_with_an_index_on_the_page():
    html = dynamics_page(told(remarks=["train with --watch-every 5 & <b>", "1--a U_e h_eᵀh_j some_x"]))
    assert 'train with <span class="unbroken">--watch-every</span> 5 &amp; &lt;b&gt;' in html
    assert "U<sub>e</sub> h<sub>e</sub>ᵀh<sub>j</sub> some_x" in html


@pytest.mark.usefixtures("undrawn")
def test_how_to_read_says_what_the_rest_is_due_to():
    said = plain(dynamics_page(told(fake_histories.history(every=20))))
    assert "of one batch each, and from snapshots only every 20 steps. Trust the share" in said
    said = plain(dynamics_page(told(fake_histories.history(every=1))))
    assert "of one batch each. Trust the share" in said
    assert "before training it is about 1 / length" in said


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"form": "DP", "title": "scores", "score": "context", "encoder": "none"}, "DP, scores, softmax"),
        ({"form": None, "score": "context", "encoder": "lstm"},
         "DP-L, scaled dot-product attention over an LSTM, softmax"),
        ({"form": None, "title": "additive score", "score": "additive", "encoder": "lstm"},
         "additive score over the encoder lstm, softmax"),
        ({"form": None, "title": "context score", "score": "context", "encoder": "none"},
         "context score, softmax"),
    ],
)  # fmt: skip
def test_the_encoder_is_named(facts, words):
    assert intro_sentence(told(fake_histories.history(exact=False, terms={}, **facts))).startswith(words)


@pytest.mark.usefixtures("undrawn")
def test_an_auc_has_three_decimals_and_so_has_its_interval():
    said = plain(dynamics_page(in_context(local=9.0, alone=9.0)))
    assert re.search(r"AUC 1\.000 \[0\.\d{3}, 1\.000\]", said)
    assert "0.99990" not in said


def in_context(**planted):
    history = fake_histories.in_context(**planted)
    found = [*findings(history), *context_findings(history)]
    return DynamicsSummary("synthetic · softmax · seed 0", history, found)


@pytest.mark.usefixtures("undrawn")
def test_tokens_in_their_texts_and_alone():
    found = in_context(local=0.0, alone=3.0, flipped=0.25)
    html = dynamics_page(found)
    assert "<b onclick" not in html
    assert "contexts" in [e.attributes["id"] for e in Page(html).all("section")]
    (gain,) = (f for f in found.findings if (f.against, f.group) == ("gain", "polar vs neutral"))
    for said in (plain(html), " ".join(printed(found, width=160).split())):
        assert "Alone, polar tokens stand out more than in their texts: +0." in said
        assert "Alone, polar tokens get higher attention scores than neutral ones: AUC 0.9" in said
        assert "In their texts, polar" not in said  # nothing that its interval carries
        assert f"+{gain.estimate:.3f}" in said
        assert re.search("polar vs neutral ?180", said)
        assert "25 %" in said
    assert "In their texts and alone." in plain(html)


@pytest.mark.usefixtures("undrawn")
def test_no_contexts_no_section():
    html = dynamics_page(told())
    assert "their texts and alone" not in plain(html)
    assert "their texts and alone" not in printed(told())


def test_the_tables_of_contexts_fit_a_terminal():
    lines = printed(in_context()).splitlines()
    start = next(rank for rank, line in enumerate(lines) if line.startswith("Tokens in their texts"))
    rows = [
        line for line in lines[start:] if re.search(r"(score|polarity|in texts|alone|gain) +[−+\d]", line)
    ]
    assert len(rows) == 2 * 4 + 3 * 3
    for row in rows:
        assert len(row.rstrip()) <= 80
        assert re.search(r"\[[−+\d.]+, [−+\d.]+\]", row), row


@pytest.mark.usefixtures("undrawn")
def test_layers():
    found = told(fake_histories.layered(), tokens=())
    assert [e.attributes["id"] for e in Page(dynamics_page(found)).all("section")] == [
        "summary", "layers", "facts", "reading",
    ]  # fmt: skip
    said = " ".join(printed(found).split())
    assert "layer 1 entropy 0.900 0.500 ± 0.100" in said
    assert "all agreement with gradients 0.300" in said
    assert "No terms: several heads." in said
    assert "no distance from rank one" not in said


@pytest.mark.usefixtures("undrawn")
def test_a_layer_without_a_residual_has_a_reason():
    whole = fake_histories.layered()
    here = (whole.curves["quantity"] != "residual") | (whole.curves["group"] != "layer 1")
    found = told(
        fake_histories.History(
            whole.facts, {name: each[here] for name, each in whole.curves.items()}, {}, {}
        ),
        tokens=(),
    )
    for said in (" ".join(printed(found).split()), plain(dynamics_page(found))):
        assert (
            "Layer 1 has no distance from rank one: it compares rows, but only one is computed there." in said
        )


@pytest.mark.usefixtures("undrawn")
def test_looks_that_a_training_was_too_short_for_are_no_fact():
    short, long = (dynamics_page(told(fake_histories.history(every=every))) for every in (100, 10))
    assert "<dt>Snapshots</dt><dd>before the first step and after the last</dd>" in short
    assert "Steps between two snapshots" not in short
    assert "<dt>Steps between two snapshots</dt><dd>10</dd>" in long


@pytest.mark.usefixtures("undrawn")
def test_letters_with_a_prime_are_explained_where_they_stand():
    history = fake_histories.history()
    for name, said in (
        ("V′ᵀW", "V′ = MᵀV is V before the map M of"),
        ("V′ᵀW′", "W′ = MᵀW are V and W before"),
    ):
        renamed = np.where(history.curves["quantity"] == "VᵀW", name, history.curves["quantity"])
        curves = history.curves | {"quantity": renamed}
        found = told(fake_histories.History(history.facts, curves, history.products, history.tokens))
        assert plain(dynamics_page(found)).count(said) == 3  # at the numbers, the terms and the curve
        assert said in " ".join(printed(found).split())
    assert "V′" not in plain(dynamics_page(told()))


def test_the_tables_fit_a_terminal_with_whole_intervals():
    rows = [
        line
        for line in printed(told()).splitlines()
        if re.match(r" .*(polarity|score|weight|labels|lead) +[−+\d]", line)
    ]
    assert len(rows) > 12
    for row in rows:
        assert len(row.rstrip()) <= 80
        assert re.search(r"\[[−+\d.]+, [−+\d.]+\]", row), row


def test_many_digits_where_an_interval_is_narrow():
    history = fake_histories.history()
    narrow = history.tokens | {
        "weight": history.tokens["weight"] + 1e-5 * np.arange(len(history.tokens["weight"]))
    }
    said = printed(told(fake_histories.History(history.facts, history.curves, history.products, narrow)))
    assert "0.1003" in said
