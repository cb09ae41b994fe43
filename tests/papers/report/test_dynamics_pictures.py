"""Pictures of a history: what is drawn stands where the numbers say, and areas add up to the change."""

import re
from dataclasses import replace

import fake_histories
import numpy as np
import pytest
from fake_histories import NASTY, REST, SCORE, STEPS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex

from glasshead.errors import InputError
from glasshead.papers.report.plots.ledger import stack_areas
from glasshead.papers.report.plots.token_scatter import usable_by_group
from glasshead.papers.results import CouplingByRatio, History, RatioPoint, mean_ledger, token_ledger
from glasshead.report import PLOTS, PlotOptions, figure_page, image_file, page_part, plots_of
from glasshead.report.colours import FILE, INKS, LIGHT
from glasshead.report.figure_file import drawable, to_matplotlib
from glasshead.report.html.inline_svg import PLACEHOLDERS, panel_drawings, shorten
from glasshead.report.marks.limits import power_of_ten
from glasshead.report.number_format import number
from pages import Page

CHOSEN = PlotOptions(("positive0", NASTY))
OF_LAYERS = "layers"
IN_CONTEXT = "contexts"


def history_for(name):
    if name == IN_CONTEXT:
        return fake_histories.in_context()
    return fake_histories.layered() if name == OF_LAYERS else fake_histories.history()


def lines(axes):
    return [np.asarray(each.get_xydata()).tolist() for each in axes.get_lines()]


def ratios(points, name, when):
    return PLOTS["ratios"].draw(CouplingByRatio(points, name, ("negative", "positive"), when))


def panel(picture, at=0):
    return to_matplotlib(picture).axes[at]


@pytest.mark.parametrize("name", list(plots_of(History)))
def test_every_picture_on_paper_and_on_the_page(name):
    picture = PLOTS[name].draw(history_for(name), CHOSEN)
    assert image_file(picture, "svg").startswith(b"<?xml")
    found = panel_drawings(picture, name)
    assert len(found) == len(picture.panels)
    for _, svg in found:
        assert not any(colour in svg for colour in PLACEHOLDERS.values())
        assert not re.search(r"#[0-9a-f]{6}\b", svg), "a colour that does not follow the page"
        (element,) = Page(svg).all("svg")
        assert element.attributes["role"] == "img"
        assert len(element.attributes["aria-label"] or "") > 20


def test_a_picture_is_drawn_the_same_twice_and_in_pixels_too():
    picture = PLOTS["scores"].draw(fake_histories.history(), CHOSEN)
    assert image_file(picture, "svg") == image_file(picture, "svg")
    assert image_file(picture, "png").startswith(b"\x89PNG")


def test_means_and_bands():
    axes = panel(PLOTS["scores"].draw(fake_histories.history(), PlotOptions()))
    ends = {tuple(line[-1]) for line in lines(axes) if len(line) == len(STEPS)}
    assert ends == {(40.0, 1.25 + REST), (40.0, -1.25 - REST), (40.0, 0.0)}
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(1.25 + REST + 0.01)
    assert band[band[:, 0] == 40][:, 1].min() == pytest.approx(1.25 + REST - 0.01)


def test_the_kept_step_is_marked_unless_it_is_the_last():
    for best, marked in ((20, True), (40, False), (None, False)):
        axes = panel(PLOTS["polarity"].draw(fake_histories.history(best_step=best), PlotOptions()))
        assert ("kept" in [each.get_text() for each in axes.texts]) == marked
        assert ([[20.0, 0.0], [20.0, 1.0]] in lines(axes)) == marked


def test_zero_is_left_out_where_it_would_squeeze_the_curves():
    low, high = panel(PLOTS["weights"].draw(fake_histories.history(), PlotOptions())).get_ylim()
    assert 0.08 < low < 0.09
    assert 0.11 < high < 0.12


def test_boxes_stand_at_the_quartiles_of_a_step():
    axes = panel(PLOTS["boxes"].draw(fake_histories.history(), PlotOptions(step=20)))
    assert [each.get_text() for each in axes.get_yticklabels()][-1] == "positive × positive"
    (box,) = [each for each in axes.patches if each.get_y() > 4]
    assert (box.get_x(), box.get_width()) == pytest.approx((0.5, 1.0))
    assert "at step 20" in PLOTS["boxes"].draw(fake_histories.history(), PlotOptions(step=20)).title


@pytest.mark.parametrize(("step", "look"), [(11, 10), (15, 10), (29, 20), (31, 40), (None, 40)])
def test_what_stands_at_one_step_is_told_of_the_look_nearest_to_it(step, look):
    history = fake_histories.history()
    assert history.nearest(step) == look
    for name in ("boxes", "scatter"):
        asked, exact = (PLOTS[name].draw(history, PlotOptions(step=each)) for each in (step, look))
        assert asked.title.endswith(f"at step {look}")
        assert asked.panels[0].description == exact.panels[0].description
        if step == 11:
            assert image_file(asked, "svg") == image_file(exact, "svg")


def test_pairs_of_groups_have_lines_of_their_own():
    picture = PLOTS["products"].draw(fake_histories.history(), PlotOptions())
    assert [(key.words, key.colour, key.kind) for key in picture.legend] == [
        ("positive × positive", "--for", "line"),
        ("positive × negative", "--ink", "line"),
        ("positive × neutral", "--for", "dashed"),
        ("negative × negative", "--against", "line"),
        ("negative × neutral", "--against", "dashed"),
        ("neutral × neutral", "--neutral", "line"),
    ]
    assert [0.0, 0.0] in lines(panel(picture))[1]
    assert [40.0, -2.0] in lines(panel(picture))[2]


def test_rates_of_pairs_and_their_sum_on_one_scale():
    picture = PLOTS["product-rates"].draw(fake_histories.history(), PlotOptions())
    assert [each.title for each in picture.panels] == ["A: own lead", "B: own labels", "A + B = dΩ/dτ"]
    assert picture.legend == PLOTS["products"].draw(fake_histories.history(), PlotOptions()).legend
    figure = to_matplotlib(picture)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.axes[0].get_ylabel() == "dΩ/dτ"
    for axes, rate in zip(figure.axes, (0.1, 1.9, 2.0), strict=True):
        curves = [line for line in lines(axes) if len(line) == len(STEPS)]
        ends = [curve[-1] for curve in curves]
        assert ends == [[40.0, pytest.approx(rate * sign / 40)] for sign in (1, -1, 0, 1, 0, 0)]
    assert f"positive × negative {number(-2 / 40)}" in picture.panels[-1].description


def test_tokens_in_their_texts_and_alone():
    history = fake_histories.in_context(local=0.0, alone=2.0)
    picture = PLOTS["contexts"].draw(history, PlotOptions())
    assert [each.title for each in picture.panels] == ["in their texts", "alone"]
    assert [(key.words, key.colour) for key in picture.legend] == [
        ("positive", "--for"), ("negative", "--against"), ("neutral", "--neutral"),
    ]  # fmt: skip
    figure = to_matplotlib(picture)
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()  # one scale
    for axes, where in zip(figure.axes, ("local", "global"), strict=True):
        for drawn_as, group in zip(axes.collections, ("neutral", "negative", "positive"), strict=True):
            here = history.contexts["group"] == group
            expected = [history.contexts[f"{where} {name}"][here] for name in ("polarity", "score")]
            np.testing.assert_allclose(drawn_as.get_offsets(), np.stack(expected, axis=1))
    with pytest.raises(InputError, match="only if the encoder reads the words around"):
        PLOTS["contexts"].draw(fake_histories.history(), PlotOptions())


class TestLedger:
    def test_terms_and_rest_are_the_measured_change(self):
        history = fake_histories.history()
        found = token_ledger(history, "score", history.token("positive0"))
        assert {name: values[-1] for name, values in found.added.items()} == SCORE
        np.testing.assert_allclose(found.rest, REST * STEPS / 40, atol=1e-12)
        np.testing.assert_allclose(sum(found.added.values()) + found.rest, found.measured, atol=1e-15)

    def test_a_group_is_the_mean_of_its_tokens(self):
        history = fake_histories.history()
        each = [token_ledger(history, "polarity", history.token(f"negative{i}")) for i in range(3)]
        found = mean_ledger(history, "polarity", "negative")
        np.testing.assert_allclose(
            found.measured, np.mean([one.measured for one in each], axis=0), atol=1e-12
        )
        for name, values in found.added.items():
            np.testing.assert_allclose(values, np.mean([one.added[name] for one in each], axis=0), atol=1e-12)

    @settings(deadline=None, max_examples=60)
    @given(arrays(float, (4, 6), elements=st.floats(-10, 10, width=32)))
    def test_areas_above_less_those_below_are_the_sum_everywhere(self, parts):
        """By the areas, and by straight lines between the looks."""
        steps = np.array([0.0, 1.0, 3.0, 4.0, 8.0, 9.0])
        fine, areas = stack_areas(steps, {str(rank): each for rank, each in enumerate(parts)})
        above = sum(upper - lower for _, (lower, upper) in areas[::2])
        below = sum(upper - lower for _, (lower, upper) in areas[1::2])
        np.testing.assert_allclose(above - below, np.interp(fine, steps, parts.sum(axis=0)), atol=1e-9)
        for rank, each in enumerate(parts):  # every area is as high as its part, between the looks too
            (low_up, up), (low_down, down) = (areas[2 * rank + side][1] for side in (0, 1))
            dense = np.linspace(0, 9, 500)
            height = np.interp(dense, fine, up - low_up) - np.interp(dense, fine, down - low_down)
            np.testing.assert_allclose(height, np.interp(dense, steps, each), atol=1e-6)
        for (_, (_, upper)), (_, (lower, _)) in zip(areas[::2][:-1], areas[::2][1:], strict=True):
            np.testing.assert_array_equal(upper, lower)  # no gap, nothing hidden

    def test_the_line_is_the_measured_change(self):
        picture = PLOTS["ledger"].draw(fake_histories.history(), PlotOptions(("positive0",)))
        assert [each.title for each in picture.panels] == [
            "positive0: attention score a",
            "positive0: polarity s",
        ]
        assert [key.words for key in picture.legend if key.kind == "hatched"] == ["not explained"]
        ends = [line[-1] for line in lines(panel(picture)) if len(line) == len(STEPS)]
        assert ends == [[40.0, pytest.approx(1.25 + REST)]] * 2  # its halo and itself

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"exact": False, "why_not_exact": "adagrad rescales"}, "no ledger: adagrad rescales"),
            ({"terms": {}, "why_no_form": "tanhmax"}, "no terms of the flow: tanhmax"),
            ({"steps": [40]}, "was not recorded"),
        ],
    )
    def test_none(self, changes, why):
        with pytest.raises(InputError, match=why):
            PLOTS["ledger"].draw(fake_histories.history(**changes), PlotOptions())


def test_terms_fill_their_panels_and_lie_upon_their_sum():
    picture = PLOTS["terms"].draw(fake_histories.history(), PlotOptions())
    assert [each.title for each in picture.panels][:3] == [
        "score, positive",
        "polarity, positive",
        "score, negative",
    ]
    assert [key.words for key in picture.legend] == [
        "D, B: own labels", "E, A: own lead", "F, C: similar tokens", "sum of all terms",
    ]  # fmt: skip
    figure = to_matplotlib(picture)
    for rank, sign in ((0, 1), (2, -1)):
        axes = figure.axes[rank]
        ends = [line[-1][1] for line in lines(axes) if len(line) == len(STEPS)]
        # The sum first and below, broken lines last and on top.
        assert ends == pytest.approx([sign * each / 40 for each in (1.25, 1, -0.25, 0.5)])
        low, high = axes.get_ylim()
        assert (max(ends) - min(ends)) / (high - low) > 0.85
    below, *above = (line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == len(STEPS))
    assert below.get_linewidth() > 1.5 * max(line.get_linewidth() for line in above)
    assert below.get_alpha() < 0.5


def test_terms_of_neutral_tokens_have_a_scale_of_their_own():
    history = fake_histories.history()
    curves = history.curves
    small = np.char.startswith(curves["quantity"], "score ") & (curves["group"] == "neutral")
    mean = np.where(small, 1e-6 * curves["step"], curves["mean"])
    axes = panel(PLOTS["terms"].draw(replace(history, curves=curves | {"mean": mean}), PlotOptions()), 4)
    assert axes.get_ylabel() == "da/dτ · 10⁴"
    ends = [line[-1][1] for line in lines(axes) if len(line) == len(STEPS)]
    assert ends == pytest.approx([1.2, 0.4, 0.4, 0.4])
    assert axes.get_ylim()[1] < 1.3


def test_no_axis_has_an_offset_or_a_power_of_ten_above_it():
    history = fake_histories.history()
    for quantity, scale in (("entropy", 3e-6), ("loss", 1e-6)):
        here = history.curves["quantity"] == quantity
        mean = np.where(
            here, (quantity == "entropy") - scale * history.curves["step"] / 40, history.curves["mean"]
        )
        history = replace(history, curves=history.curves | {"mean": mean, "std": mean * 0})
    figure = to_matplotlib(PLOTS["training"].draw(history, PlotOptions()))
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert axes.yaxis.get_offset_text().get_text() == ""
    written = [each.get_text() for each in figure.axes[2].get_yticklabels()]
    assert written[-1].startswith("1.000") or written[-2].startswith("1.000")
    low, high = figure.axes[2].get_ylim()
    assert high < 1.0001  # nobody is more alike than all
    assert high - low == pytest.approx(0.001)
    assert float(figure.axes[0].get_yticklabels()[0].get_text().replace("−", "-")) <= -1e-6


def test_a_picture_says_what_is_drawn_below_it_and_nothing_lies_upon_another():
    for name in plots_of(History):
        picture = PLOTS[name].draw(history_for(name), PlotOptions(("positive0",)))
        figure = to_matplotlib(picture)
        figure.draw_without_rendering()
        (below,) = [each for each in figure.texts if each is not figure._suptitle]
        said = " ".join(below.get_text().split())
        assert said.startswith(drawable(picture.caption)), name
        boxes = [below.get_window_extent(), *(each.get_window_extent() for each in figure.legends)]
        boxes += [each.get_tightbbox() for each in figure.axes if each.get_visible()]
        for rank, one in enumerate(boxes):
            assert one.x0 >= 0, name
            assert one.x1 <= figure.bbox.x1 + 1, name
            for other in boxes[rank + 1 :]:
                shared = one.intersection(one, other)
                assert shared is None or min(shared.width, shared.height) <= 1, name


def test_pairs_of_different_classes_are_one_entry():
    history = fake_histories.history()
    groups = {"a": 9, "b": 9, "c": 9, "neutral": 9}
    pairs = [f"{one} × {other}" for at, one in enumerate(groups) for other in list(groups)[at:]]
    old = list(dict.fromkeys(history.products["pair"].tolist()))
    first = history.products["pair"] == old[0]
    rows = {name: np.concatenate([column[first]] * len(pairs)) for name, column in history.products.items()}
    rows["pair"] = np.repeat(pairs, first.sum())
    picture = PLOTS["products"].draw(
        replace(history, facts=history.facts | {"groups": groups}, products=rows), PlotOptions()
    )
    assert [key.words for key in picture.legend if key.colour == "--ink"] == ["different classes"]


@pytest.mark.parametrize(
    ("form", "labels", "equations"),
    [
        ("DP", 2, "eq. 47, and eqs. 63–64 without the map M"),
        ("DP", 3, "eqs. 82–83"),
        ("DP-A", 2, "eqs. 63–64"),
        ("AD", 2, "eqs. 69–70"),
        ("AD", 3, "eqs. 69–70, for many classes with the derivatives of eqs. 75–76"),
    ],
)
def test_a_picture_names_the_equations_of_its_model_alone(form, labels, equations):
    history = fake_histories.history(form=form, labels=[f"class {rank}" for rank in range(labels)])
    for name, before in (("terms", ""), ("ledger", "terms: ")):
        assert PLOTS[name].draw(history, PlotOptions()).source == f"{before}Sun and Lu 2020, {equations}"


def test_score_and_polarity_of_a_group_stand_in_one_row():
    for name in ("terms", "ledger"):
        picture = PLOTS[name].draw(fake_histories.history(), PlotOptions())
        assert picture.columns == 2
        places = [axes.get_subplotspec() for axes in to_matplotlib(picture).axes]
        assert [(each.rowspan.start, each.colspan.start) for each in places] == [
            (row, column) for row in range(3) for column in range(2)
        ]


def test_both_names_of_a_pair_can_be_read_beside_its_row():
    long = [
        f"class {name} × class {other}"
        for name in ("abbreviation", "location")
        for other in ("description", "location")
    ]
    cut = [shorten(name, 34) for name in long]
    assert len(set(cut)) == len(long)
    assert cut[0] == "class abbrevia… × class descript…"
    assert all(len(each) <= 34 for each in cut)
    assert shorten("neutral × neutral", 34) == "neutral × neutral"
    assert len(shorten("x" * 99, 34)) == 34


def test_terms_of_a_single_look_are_bars_with_intervals():
    picture = PLOTS["terms"].draw(fake_histories.history(steps=[40]), PlotOptions())
    axes = panel(picture)
    assert [each.get_text() for each in axes.get_yticklabels()][-1] == "positive: D"
    assert max(each.get_width() for each in axes.patches) == pytest.approx(1 / 40)
    (whisker,) = axes.collections[-1].get_segments()
    assert (whisker[:, 0] - 1 / 40).tolist() == pytest.approx([-1.96e-3 / 12**0.5, 1.96e-3 / 12**0.5])


def test_scatter_holds_every_token_and_names_the_chosen():
    picture = PLOTS["scatter"].draw(fake_histories.history(), CHOSEN)
    (page,) = [svg for _, svg in panel_drawings(picture, "k")]
    assert len(Page(page).all("circle")) == len(fake_histories.token_names())
    assert {each.text for each in Page(page).all("text") if "halo" in each.classes} <= {
        "positive0",
        NASTY[:15] + "…",
    }
    axes = panel(picture)
    names = fake_histories.token_names()
    *_, ring, other = axes.collections
    assert sum(len(each.get_offsets()) for each in axes.collections) == len(names)
    history = fake_histories.history()
    for points, token in ((ring, NASTY), (other, "positive0")):
        last = {
            name: float(column[-1])
            for name, column in history.token(token).items()
            if name in ("polarity", "score")
        }
        assert points.get_offsets().tolist() == [
            [pytest.approx(last["polarity"]), pytest.approx(last["score"])]
        ]
        assert to_hex(points.get_edgecolor()[0]) == FILE["--ink"]
    for each in axes.texts:
        assert [effect._gc["foreground"] for effect in each.get_path_effects()] == [FILE["--paper"]]
    ringed = re.search(r'<g [^>]*stroke="var\(--ink\)"[^>]*>(<circle.*?)</g>', page)
    assert ringed is not None
    assert len(Page(ringed[0]).all("circle")) == 1
    assert "have a ring" in picture.caption
    plain = PLOTS["scatter"].draw(history, PlotOptions())
    assert "have a ring" not in plain.caption
    assert sum(len(each.get_offsets()) for each in panel(plain).collections) == len(names)
    assert [key.words for key in picture.legend] == ["positive", "negative", "no group", "neutral"]


def test_a_part_of_many_tokens_keeps_the_chosen_ones():
    n = 3000
    x = np.arange(n, dtype=float)
    x[0] = np.nan
    tokens = np.array([f"t{i}" for i in range(n)])
    found = usable_by_group(np.full(n, "neutral"), x, x, tokens, ["t0", "t1", "t2", "t2999"])
    kept = set(np.concatenate(list(found.values())).tolist())
    assert {1, 2, 2999} <= kept
    assert 0 not in kept
    assert 1200 <= len(kept) <= 1203


def test_as_many_tokens_as_can_be_told_apart():
    history = fake_histories.history()
    names = [f"positive{rank}" for rank in range(10)]
    picture = PLOTS["tokens"].draw(history, PlotOptions((*names[:8], names[0])))
    tokens = [key for key in picture.legend if key.kind == "line"]
    assert [key.words for key in tokens] == names[:8]
    assert len({key.colour for key in tokens}) == 8
    for axes in to_matplotlib(picture).axes:
        assert len([line for line in lines(axes) if len(line) == len(STEPS)]) == 8
    with pytest.raises(InputError, match=r"^the plot of tokens takes at most 8 tokens, not 10$"):
        PLOTS["tokens"].draw(history, PlotOptions(tuple(names)))
    with pytest.raises(InputError, match="name one"):
        PLOTS["tokens"].draw(history, PlotOptions())


def test_layers_by_quantity():
    figure = to_matplotlib(PLOTS["layers"].draw(fake_histories.layered(), PlotOptions()))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Entropy of attention", "Distance from rank one", "Agreement with gradients",
    ]  # fmt: skip
    assert [40.0, pytest.approx(0.5)] in lines(figure.axes[0])[2]
    with pytest.raises(InputError, match="models with several layers"):
        PLOTS["layers"].draw(fake_histories.history(), PlotOptions())


@pytest.mark.parametrize(
    "name",
    ["polarity", "scores", "weights", "training", "coupling", "norms", "products", "product-rates", "tokens"],
)
def test_a_single_look_has_no_curves(name):
    with pytest.raises(InputError, match="train with `DynamicsCallback`"):
        PLOTS[name].draw(fake_histories.history(steps=[40]), CHOSEN)


@pytest.mark.parametrize(
    "name",
    ["scores", "products", "boxes", "product-rates", "scatter", "terms", "ledger", "coupling", "norms"],
)
def test_layers_have_no_tokens(name):
    with pytest.raises(InputError):
        PLOTS[name].draw(fake_histories.layered(), PlotOptions())


@pytest.mark.parametrize("name", ["polarity", "scores", "weights", "coupling"])
def test_the_reason_why_layers_have_no_scores_is_theirs(name):
    with pytest.raises(InputError, match=r"no separate numbers in a model with layers .* `what='layers'`$"):
        PLOTS[name].draw(fake_histories.layered(), PlotOptions())


@pytest.mark.parametrize(
    ("every", "words"), [(1, "single batches."), (20, "snapshots that are 20 steps apart.")]
)
def test_a_ledger_says_what_its_rest_is_due_to(every, words):
    history = fake_histories.history(every=every)
    for asked in (PlotOptions(), CHOSEN):
        caption = PLOTS["ledger"].draw(history, asked).caption
        assert "finite steps on single batches" in caption
        assert words in caption


def test_vtw_pulls_only_where_a_closed_form_says_so():
    known = PLOTS["coupling"].draw(fake_histories.history(), PlotOptions()).caption
    assert "positive tokens gain attention through it" in known
    why = "there is no closed form for this"
    bare = fake_histories.history(form=None, why_no_form=why, terms={}, exact=False)
    unknown = PLOTS["coupling"].draw(bare, PlotOptions()).caption
    assert "gain attention" not in unknown
    assert f"Its effect on scores is not known here: {why}." in unknown


def test_what_a_print_cannot_do_is_said_on_the_page_alone():
    picture = PLOTS["scatter"].draw(fake_histories.history(), PlotOptions())
    assert "Point at one" in figure_page(picture)
    assert "oint at" not in "".join(each.get_text() for each in to_matplotlib(picture).texts)


def test_weights_differ_from_the_start():
    assert (
        "Before training it is about 1 / length"
        in PLOTS["weights"].draw(fake_histories.history(), PlotOptions()).caption
    )


@pytest.mark.parametrize(
    ("largest", "told"),
    [
        (0.0, (1.0, "")),
        (0.5, (1.0, "")),
        (3e-5, (1e-5, " · 10⁵")),
        (4.5e6, (1e6, " · 10⁻⁶")),
        (np.nan, (1.0, "")),
    ],
)
def test_powers_of_ten(largest, told):
    """A value times the power that stands behind the name is what the axis shows."""
    size, words = power_of_ten([np.array([-largest / 2, largest])])
    assert (size, words) == (pytest.approx(told[0]), told[1])


def test_ink_is_the_page_in_daylight():
    style = page_part("style.css")
    light = dict(re.findall(r"(--[\w]+): (#[0-9a-f]{6})", style[: style.index("@media")]))
    assert light.items() <= LIGHT.items()
    assert {name: light[name] for name in FILE if name not in INKS} | INKS == FILE
    assert set(PLACEHOLDERS) == set(FILE) <= set(light)


def test_letters_that_the_font_lacks_are_replaced():
    assert drawable("a🎬b\x07") == "a\ufffdb\ufffd" or drawable("a🎬b\x07").startswith("a\ufffdb")


def test_a_picture_of_ratios_says_at_which_step_and_of_how_many():
    points = [RatioPoint(ratio, coupling) for ratio in (0.5, 2.0) for coupling in (1.0, 2.0, 4.0)]
    picture = ratios(points, "V′ᵀW′", "at step 2,640")
    assert "at step 2,640" in picture.caption
    assert "n = 3 of each ratio." in picture.caption
    assert picture.legend[0].words == "one training (of 6)"
    assert panel(picture).get_ylabel() == "V′\u2009ᵀW′"
    uneven = ratios(points[1:], "VᵀW", "at step 9")
    assert "n by ratio: 2 at 0.5, 3 at 2." in uneven.caption
