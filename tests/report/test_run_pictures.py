"""Bars of w and heat maps of heads show what they were given, in order, and nothing runs over."""

import numpy as np
import pytest

from glasshead.report import PLOTS, image_file
from glasshead.report.figure_file import freeze_layout, to_matplotlib
from glasshead.results import HeadMap, HeadMaps, LearnedParameter

W = np.array([[0.5, -1.0, 0.25], [0.75, 0.5, -0.5]])
START = np.array([-0.05, 0.0, 0.05])


def positions_figure(layers):
    return to_matplotlib(PLOTS["positions"].draw(layers))


def heads(maps, rows, columns, layer, *, signed):
    return PLOTS["heads"].draw(HeadMaps(layer, maps, rows, columns, signed))


def heads_figure(*maps, **more):
    return to_matplotlib(heads(*maps, **more))


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def caption(axes):
    return axes.texts[0]


def marks(axes):
    return axes.collections[-1].get_segments()


def test_one_seed_is_sorted_and_keeps_its_head_numbers():
    (axes,) = positions_figure([[LearnedParameter("encoder.layers.0", "w", W[:1], START)]]).axes
    assert heights(axes) == [-1.0, 0.25, 0.5]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["1", "2", "0"]
    assert [segment[0][1] for segment in marks(axes)] == [0.0, 0.05, -0.05]  # where each of these heads began
    assert axes.get_title(loc="left") == "encoder.layers.0"
    assert caption(axes).get_text() == "2 of 3 heads w > 0"


def test_seeds_are_sorted_before_they_are_averaged():
    (axes,) = positions_figure([[LearnedParameter("a", "w", W, START)]]).axes
    assert heights(axes) == pytest.approx([-0.75, 0.375, 0.625])
    whiskers = axes.collections[0].get_segments()
    ends = [(segment[:, 1].max() - segment[:, 1].min()) / 2 for segment in whiskers]
    assert ends == pytest.approx(np.sort(W, axis=1).std(axis=0, ddof=1))
    assert [segment[0][1] for segment in marks(axes)] == START.tolist()
    assert caption(axes).get_text() == "2 of 3 heads w > 0 on average"


def test_colours_follow_the_sign_of_w_alone():
    w, v = positions_figure(
        [[LearnedParameter("a", "w", W[:1], START), LearnedParameter("a", "v", W[:1], START)]]
    ).axes
    assert len({bar.get_facecolor() for bar in w.patches}) == 2
    assert len({bar.get_facecolor() for bar in v.patches}) == 1


def test_layers_without_a_parameter_leave_a_gap():
    made = positions_figure(
        [
            [LearnedParameter("a", "w", W[:1], START), LearnedParameter("a", "v", W[:1], START)],
            [LearnedParameter("b", "w", W[:1], START)],
        ]
    )
    assert [axes.get_title(loc="left") for axes in made.axes] == ["a", "", "b"]


@pytest.mark.parametrize(
    "name", ["a", "words.layers.0", "a.very.long.name.of.a.layer.in.some.model.layers.11"]
)
@pytest.mark.parametrize("heads", [1, 3, 16])
def test_titles_do_not_run_into_each_other(name, heads):
    values = np.linspace(-1, 1, heads)
    made = positions_figure(
        [[LearnedParameter(name, each, np.stack([values] * 2), values) for each in ("w", "v")]]
    )
    made.canvas.draw()
    first, second = made.axes
    name_box, caption_box = (each.get_window_extent() for each in (first._left_title, caption(first)))
    assert name_box.y0 > caption_box.y1
    assert caption_box.x0 > first.get_window_extent().x0
    assert max(name_box.x1, caption_box.x1) < caption(second).get_window_extent().x0


def maps(n, signed=False):
    weights = np.random.default_rng(0).random((3, n, n)) - (0.5 if signed else 0.0)
    return [HeadMap(f"head {rank}", each) for rank, each in enumerate(weights)]


def images(figure):
    return [axes for axes in figure.axes if axes.images]


@pytest.mark.parametrize("signed", [False, True])
def test_maps_are_those_given_on_one_scale(signed):
    given, tokens = maps(4, signed), ["a", "$b$", "\u202ec", "d"]
    shown = images(heads_figure(given, tokens, tokens, "layers.0", signed=signed))
    for axes, each in zip(shown, given, strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), each.weights)
        assert axes.get_title(loc="left") == each.title
    highest = max(np.abs(each.weights).max() for each in given)
    assert {(axes.images[0].norm.vmin, axes.images[0].norm.vmax) for axes in shown} == {
        (-highest if signed else 0.0, highest)
    }
    assert len({axes.images[0].get_cmap().name for axes in shown}) == 1
    labels = [[each.get_text() for each in axes.get_yticklabels()] for axes in shown]
    assert labels == [["a", "$b$", "\ufffdc", "d"], [], []]


def test_where_nothing_can_look_nothing_is_drawn():
    blocks = np.full((3, 3), np.nan)
    blocks[:2, :2], blocks[2:, 2:] = 0.5, 1.0
    (axes,) = images(heads_figure([HeadMap("head 0", blocks)], "abc", "abc", "a", signed=False))
    assert axes.images[0].get_array().mask.sum() == 4


def test_a_nearly_uniform_map_says_so_in_the_picture():
    given = [HeadMap("head 0", np.full((2, 2), 0.5), uniform=True), HeadMap("head 1", np.eye(2))]
    shown = images(heads_figure(given, "ab", "ab", "a", signed=False))
    assert [[text.get_text() for text in axes.texts] for axes in shown] == [["nearly uniform"], []]


def test_the_same_picture_is_the_same_file():
    made = [image_file(heads(maps(5), "abcde", "abcde", "a", signed=False), "svg") for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize("maps", [2, 4, 6])
def test_all_maps_are_equally_large_whichever_have_names_beside_them(maps):
    words = [f"a long word {number}" for number in range(10)]
    given = [HeadMap(f"head {number}", np.eye(10)) for number in range(maps)]
    figure = heads_figure(given, words, words, "layer", signed=False)
    freeze_layout(figure)
    figure.draw_without_rendering()
    boxes = [axes.get_position().bounds for axes in figure.axes[:maps]]
    assert np.ptp([box[2:] for box in boxes], axis=0).max() < 1e-3
    assert np.ptp([box[1] for box in boxes[: min(maps, 4)]]) < 1e-3
