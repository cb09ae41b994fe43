"""A page of one picture: what the page of a history would show, alone and whole."""

import fake_histories
import pytest
from fake_histories import NASTY

from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.papers.commands.plot_dynamics import dynamics as plot_dynamics
from glasshead.papers.commands.plot_dynamics import ratios as plot_ratios
from glasshead.papers.dynamics import dynamics_callback
from glasshead.papers.report import DynamicsSummary, dynamics_page
from glasshead.papers.results import CouplingByRatio, RatioPoint, read_history
from glasshead.report import PLOTS, PlotOptions, figure_page
from glasshead.report.number_format import number
from glasshead.training import preset_config, train
from pages import Page


def plain(text):
    return " ".join(text.split())


def test_the_same_figure_as_on_the_page_of_the_history():
    history = fake_histories.history()
    whole = Page(dynamics_page(DynamicsSummary("run", history, [])))
    for name in ("terms", "boxes", "scores"):
        (figure,) = Page(figure_page(PLOTS[name].draw(history, PlotOptions()))).all("figure")
        assert plain(figure.text) in [
            plain(each.text.replace(heading.text, "", 1))
            for each, heading in zip(whole.all("figure"), whole.all("h3"), strict=True)
        ]


def test_it_is_whole_and_outside_words_are_words():
    points = [RatioPoint(ratio, ratio - 1 + shift) for ratio in (0.5, 2.0) for shift in (0, 0.1)]
    html = figure_page(PLOTS["ratios"].draw(CouplingByRatio(points, "VᵀW", ("negative", NASTY), "at step 9")))
    page = Page(html)
    assert "<b onclick" not in html
    (title,), (heading,), (drawing,) = page.all("title"), page.all("h1"), page.all("svg")
    assert title.text == heading.text == "VᵀW and the ratio of the classes"
    assert page.all("h3") == []
    assert "0.5: −0.450 ± 0.071 (2 trainings)" in drawing.attributes["aria-label"]
    assert [plain(each.text) for each in page.all("p", "legend")] == [
        "one training (of 4)mean ± standard deviation over seeds"
    ]
    (caption,) = page.all("figcaption")
    assert plain(caption.text).endswith("n = 2 of each ratio. Sun and Lu 2020, Fig. 7.")
    links = [e.attributes.get(name) or "" for e in page.elements for name in ("src", "href")]
    assert not [link for link in links if link.startswith(("http", "//"))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A watched training of each of two ratios."""
    folder = tmp_path_factory.mktemp("runs")
    recipe = preset_config("s4", None).with_changes(epochs=1, embedding_size=12, head_dim=12)
    return [
        train(
            load("synthetic", LoadOptions(generator={"instances": 200, "ratio": ratio})),
            recipe,
            folder / str(ratio),
            callbacks=[dynamics_callback(None, 2)],
        )
        for ratio in (0.5, 2.0)
    ]


def test_pictures_are_pages_where_the_name_of_the_file_says_so(runs, tmp_path):
    out = tmp_path / "ratios.html"
    plot_ratios(runs, out=out)
    (drawing,) = Page(out.read_text(encoding="utf-8")).all("svg")
    for run in runs:
        assert (
            f"{number(read_history(run).curve('VᵀW')['mean'][-1])} (1 training)"
            in (drawing.attributes["aria-label"])
        )
    one = tmp_path / "ledger.HTML"
    plot_dynamics(runs[0], what="ledger", out=one)
    assert one.read_text(encoding="utf-8") == figure_page(
        PLOTS["ledger"].draw(read_history(runs[0]), PlotOptions())
    )
    with pytest.raises(InputError, match=r"must end in \.png, \.svg, \.pdf or \.html$"):
        plot_ratios(runs, out=tmp_path / "ratios.htm")
