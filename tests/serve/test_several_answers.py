"""What a text is asked about is drawn one below the other: each choice, each token of an answer."""

import pytest
import transformers as hf
from playwright.sync_api import Browser, expect
from processes import serving
from served_models import served
from watched_pages import SIZES, link, watched

import glasshead
from classifier_families import FAMILIES
from glasshead.report import shared_scale
from glasshead.serve import answers

CHOICES = "a warm film\na dull plot\nthe music"


@pytest.fixture(scope="module")
def chooser(tmp_path_factory):
    """A random model of multiple choice."""
    folder = tmp_path_factory.mktemp("several") / "chooser"
    own = FAMILIES["Bert"]
    hf.set_seed(0)
    hf.BertForMultipleChoice(own.config(**own.options)).save_pretrained(folder)
    own.tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def client(chooser, models):
    with served([chooser, models / "writer", models / "planted"]) as client:
        yield client


def explained(client, **question):
    found = client.post("/api/explain", json={"method": "gradient", **question})
    assert found.status_code == 200, found.text
    return found.json()


def words(drawing):
    return "".join(span["text"] for span in drawing["spans"])


@pytest.mark.slow
def test_every_choice_is_drawn(client, chooser):
    found = explained(client, model="chooser", text="the plot is", pair=CHOICES)
    own = glasshead.explain(chooser, "the plot is", pairs=CHOICES, method="gradient")
    lines = CHOICES.splitlines()
    assert words(found["drawing"]).splitlines() == ["the plot is", lines[0]]
    assert [words(one).splitlines() for one in found["others"]] == [
        ["the plot is", line] for line in lines[1:]
    ]
    assert all(line in one["prediction"] for line, one in zip(lines[1:], found["others"], strict=True))
    assert found["others_title"] == "The others"
    full = shared_scale(own)
    shares = [
        max(abs(span["share"]) for span in one["spans"]) for one in (found["drawing"], *found["others"])
    ]
    assert shares == pytest.approx([shared_scale([one]) / full for one in own], abs=1e-3)
    assert max(shares) == pytest.approx(1)
    assert not any("is shown" in remark for remark in found["remarks"])


def test_each_token_of_an_answer_is_drawn_below_the_whole(client):
    found = explained(client, model="writer", text="the film was", answer=" good film")
    assert words(found["drawing"]) == "the film was good film"
    assert [words(one) for one in found["others"]] == ["the film was good", "the film was good film"]
    assert found["others_title"] == "Token by token"


def test_one_answer_has_nothing_below_it(client):
    found = explained(client, model="planted", text="the film was good")
    assert (found["others"], found["others_title"]) == ([], "")


def test_what_is_not_drawn_is_said(client, monkeypatch):
    monkeypatch.setattr(answers, "MOST_DRAWN", 2)
    found = explained(client, model="chooser", text="the plot is", pair=CHOICES)
    assert len(found["others"]) == 1
    assert any("the first 2 are shown" in remark for remark in found["remarks"])


def test_the_second_text_is_called_what_it_is(client):
    called = {one["name"]: one["second_text"] for one in client.get("/api/models").json()}
    assert called == {
        "chooser": "Choices, one on each line",
        "writer": "Second text",
        "planted": "Second text",
    }


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), SIZES)
def test_all_are_seen_on_the_page(browser: Browser, chooser, models, scheme: str, width: int) -> None:
    with serving(chooser, models / "writer") as server:
        server.wait_until_open()
        address = link("explain", model="chooser", text="the plot is", pair=CHOICES, method="gradient")
        with watched(browser, server.address, address, scheme, width) as page:
            view = page.locator("section[data-view=explain]")
            below = view.locator(".others li")
            expect(below).to_have_count(2)
            expect(view.get_by_label("Choices, one on each line")).to_have_value(CHOICES)
            expect(below.nth(0).locator(".predicted")).to_contain_text("a dull plot")
            expect(below.nth(1).locator(".text mark").last).to_have_text("music")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            tops = [
                view.locator(".shown > .text").bounding_box(),
                *(one.bounding_box() for one in below.all()),
            ]
            assert [box["y"] for box in tops] == sorted(box["y"] for box in tops)
            view.locator("[name=pair]").fill("a warm film\nthe music")
            expect(below).to_have_count(1)
