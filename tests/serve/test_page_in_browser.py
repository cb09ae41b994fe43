"""The page as a person uses it: texts are typed, words erased, models compared, heads and audits opened."""

import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, Route, expect
from processes import serving
from served_models import HEBREW, LABELS, TEXT
from watched_pages import link, watched

import glasshead
from hostile import NASTY

pytestmark = pytest.mark.slow

# Elements that a string could have made, had it been taken for markup.
MADE = """() => [...document.querySelectorAll(
  "main script, main img, main b[onclick], main [onerror], main svg, main iframe:not([src^='/view/'])"
)].length"""
SPLIT = "unaffordable and heartwarmingly bad"


@pytest.fixture(scope="module")
def address(models: Path, audits: Path):
    """Where everything is served."""
    names = ("planted", "signed", "pieces", "writer", "watched", "pairs", "bare", "damaged")
    with serving(*(models / name for name in names), "--audits", audits) as server:
        server.wait_until_open()
        yield server.address


def part(page: Page, view: str) -> Locator:
    """What is seen of a view."""
    return page.locator(f"section[data-view={view}]")


def marks(page: Page) -> Locator:
    """The coloured words of the explained text."""
    return part(page, "explain").locator(".shown > .text mark")


def words(found: Locator) -> list[str]:
    """What they say."""
    return found.all_inner_texts()


def choose(page: Page, view: str, side: int = 0, **values: str) -> None:
    """Choose in the fields that say how."""
    fields = part(page, view).locator("fieldset").nth(side)
    for name, value in values.items():
        fields.locator(f"select[name={name}]").select_option(value)


def strengths(page: Page) -> list[float]:
    """How strongly each word is coloured, as it is drawn."""
    return marks(page).evaluate_all(
        """all => all.map(mark => {
          const style = getComputedStyle(mark), parts = style.backgroundColor.match(/[\\d.]+/g).map(Number);
          return parts.length < 4 ? 1 : parts[3];
        })"""
    )


def as_number(words: str) -> float:
    """A number as the page writes it, such as −7.6·10⁻⁴."""
    plain = words.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    return float(plain.replace("·10", "e"))


def rested(page: Page) -> None:
    """Until the answer has been read for a while: what is changed then is compared with it."""
    expect(part(page, "explain").locator(".answer")).to_have_attribute("aria-busy", "false")
    page.wait_for_timeout(1500)


class TestExplain:
    def test_a_text_that_is_typed_is_coloured_as_the_library_says(
        self, browser: Browser, address: str, models: Path
    ) -> None:
        with watched(browser, address) as page:
            choose(page, "explain", model="planted")
            page.locator("#explain-text").press_sequentially(TEXT)
            expect(marks(page)).to_have_text(TEXT.split())
            (own,) = glasshead.explain(str(models / "planted"), TEXT)
            largest = max(map(abs, own.contributions or own.scores))
            for mark, token in zip(marks(page).all(), range(len(own.tokens)), strict=True):
                value = (own.contributions or own.scores)[token]
                shown = float(mark.evaluate("mark => mark.style.getPropertyValue('--a')"))
                assert shown == pytest.approx(abs(value) / largest, abs=0.006)
                if shown > 0.01:
                    assert mark.evaluate("mark => mark.classList[0]") == ("p" if value > 0 else "n")
            assert (
                f"{own.prediction:.2f}"[1:] in part(page, "explain").locator(".predicted").first.inner_text()
            )

    @pytest.mark.parametrize("by", ["click", "keyboard"])
    def test_a_word_is_erased_and_put_back(self, browser: Browser, address: str, by: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            bad = TEXT.split().index("bad")
            asked = part(page, "explain").locator(".erased")

            def erase() -> None:
                if by == "click":
                    marks(page).nth(bad).click()
                    return
                marks(page).nth(0).focus()
                for _ in range(bad):
                    page.keyboard.press("ArrowRight")
                assert page.evaluate("document.activeElement.textContent") == "bad"
                page.keyboard.press("Enter")

            erase()
            expect(asked).to_be_visible()
            expect(asked.locator(".struck")).to_have_text("erased: bad")
            # Planted: "good" alone decides now.
            expect(asked.locator(".predicted")).to_contain_text(re.compile(r"(0\.99|1\.0|100|99)"))
            expect(asked.locator(".predicted")).to_contain_text("With all words")
            expect(marks(page).nth(bad)).to_have_attribute("aria-pressed", "true")
            erase() if by == "click" else page.keyboard.press("Enter")
            expect(asked).to_be_hidden()
            erase()
            asked.locator("[data-restore]").click()
            expect(asked).to_be_hidden()
            expect(marks(page).nth(bad)).to_have_attribute("aria-pressed", "false")

    def test_erased_words_are_in_the_link_and_in_the_python_line(
        self, browser: Browser, address: str, models: Path
    ) -> None:
        with watched(browser, address, link("explain", model="planted", text=f"🎬 {TEXT}")) as page:
            expect(marks(page).first).to_be_visible()
            said, code = (
                part(page, "explain").locator(one) for one in (".erased .predicted", ".python code")
            )
            for word in ("bad", "the"):
                marks(page).get_by_text(word, exact=True).first.click()
            expect(said).to_contain_text("With all words")
            expect(code).to_contain_text("# without the erased words")
            left = f"🎬 {TEXT}".replace("bad ", "").replace("the ", "", 1)
            *_, line = code.inner_text().splitlines()
            (own,) = eval(line, {"glasshead": glasshead})
            assert own.text == left
            shown = said.inner_text()
            assert f"(p = {own.prediction:.3f})" in shown
            first = marks(page).evaluate_all("all => all.map(one => one.getAttribute('aria-pressed'))")
            assert first.count("true") == 2
            other = page.context.new_page()
            other.goto(page.url)
            expect(part(other, "explain").locator(".erased .predicted")).to_have_text(shown)
            assert first == marks(other).evaluate_all(
                "all => all.map(one => one.getAttribute('aria-pressed'))"
            )
            part(other, "explain").locator("[data-restore]").click()
            assert "without" not in other.url
            expect(part(other, "explain").locator(".python code")).not_to_contain_text("without the erased")

    def test_stretches_in_a_link_that_are_none_of_the_text_are_left(
        self, browser: Browser, address: str
    ) -> None:
        for stretches in ("0-3.900-1000", "3-0.-1-2.x-y.0-3", "0-3.1"):
            values = {"model": "planted", "text": TEXT, "without": stretches}
            with watched(browser, address, link("explain", **values)) as page:
                struck = part(page, "explain").locator(".erased .struck")
                expect(struck).to_have_text("erased: the")

    def test_an_edited_word_shows_what_changed(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            changed = part(page, "explain").locator(".changed")
            expect(changed).to_be_hidden()
            rested(page)
            page.locator("#explain-text").fill(TEXT.replace("bad", "good"))
            expect(changed).to_be_visible()
            framed = changed.locator(".differs")
            expect(framed).to_have_count(1)
            expect(framed.locator(".upper mark")).to_have_text("bad")
            expect(framed.locator(".lower mark")).to_have_text("good")
            expect(changed.locator(".two-predictions p")).to_have_count(2)
            # A version is kept until it is let go.
            page.locator("#explain-text").fill(TEXT.replace("bad", "long"))
            expect(framed.locator(".lower mark")).to_have_text("long")
            expect(framed.locator(".upper mark")).to_have_text("bad")
            changed.locator("[data-forget]").click()
            expect(changed).to_be_hidden()

    def test_doubt_is_shown_and_only_what_is_certain_stays(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            before = strengths(page)
            part(page, "explain").get_by_label("what else each weight could be").check()
            switch = part(page, "explain").get_by_label("only what is certain")
            expect(switch).to_be_visible()
            least = marks(page).evaluate_all(
                "all => all.map(one => one.matches('.maybe, .unknown')"
                " ? 0 : +one.style.getPropertyValue('--least'))"
            )
            assert any(low < full - 0.01 for low, full in zip(least, before, strict=True))
            switch.check()
            assert strengths(page) == pytest.approx(least, abs=0.02)
            part(page, "explain").locator(".all-numbers summary").click()
            expect(part(page, "explain").locator(".all-numbers th", has_text="could be")).to_be_visible()
            # Another method has no intervals, and says so.
            choose(page, "explain", method="gradient")
            expect(switch).to_be_hidden()
            expect(part(page, "explain").get_by_label("what else each weight could be")).to_be_disabled()

    def test_one_quantity_colours_both_panes_and_the_caption_says_which(
        self, browser: Browser, address: str, models: Path
    ) -> None:
        # Planted: the weight of "bad" is above zero, its contribution below.
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            view = part(page, "explain")
            rested(page)
            page.locator("#explain-text").fill(TEXT.replace("film", "plot"))
            expect(view.locator(".changed")).to_be_visible()

            def colours(found: Locator) -> list[tuple[str, float]]:
                return found.evaluate_all(
                    "all => all.map(one => [one.classList[0], +one.style.getPropertyValue('--a')])"
                )

            for intervals, quantity in ((False, "contribution"), (True, "weight")):
                view.get_by_label("what else each weight could be").set_checked(intervals)
                expect(view.locator(".key")).to_contain_text(f"Coloured by {quantity}.")
                expect(view.locator("[data-both]")).to_contain_text(f"coloured by {quantity}, on one scale")
                rested(page)
                above, below = colours(marks(page)), colours(view.locator(".changed .lower mark"))
                assert [kind for kind, _ in above] == [kind for kind, _ in below]
                (own,) = glasshead.explain(
                    str(models / "planted"), TEXT.replace("film", "plot"), intervals=intervals
                )
                numbers = own.scores if intervals else own.contributions
                signs = ["s" if intervals else "p" if value > 0 else "n" for value in numbers]
                assert [kind for kind, share in above if share] == [
                    sign for sign, (_, share) in zip(signs, above, strict=True) if share
                ]
            assert "by contribution" not in view.locator(".about-method").inner_text()

    def test_what_certain_means_stands_under_its_switch(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            view = part(page, "explain")
            said = view.locator("#about-certain")
            expect(marks(page)).to_have_text(TEXT.split())
            expect(said).to_be_hidden()
            view.get_by_label("what else each weight could be").check()
            expect(said).to_have_text(
                "Certain: no other weight gives this model the same output. It does not say that the word "
                "caused the prediction; erase it to see."
            )
            switch = view.locator("#only-certain")
            expect(switch).to_have_attribute("aria-describedby", "about-certain")
            expect(view.locator("label:has(#only-certain)")).to_have_attribute(
                "title", re.compile("not its effect.*erasing it shows")
            )

    def test_tokens_method_layer_head_and_class(self, browser: Browser, address: str, models: Path) -> None:
        source = str(models / "pieces")
        with watched(browser, address, link("explain", model="pieces", text=SPLIT)) as page:
            expect(marks(page)).to_have_text(SPLIT.split())
            choose(page, "explain", unit="token")
            (own,) = glasshead.explain(source, SPLIT, unit="token")
            inner = [SPLIT[start:end] for start, end in own.offsets if end > start]
            assert len(inner) > len(SPLIT.split())
            expect(marks(page)).to_have_text(inner)
            code = part(page, "explain").locator(".python code")
            for chosen, said in (
                ({"layer": "0"}, "layer=0"), ({"head": "1"}, "head=1"), ({"method": "gradient"}, "gradient"),
                ({"target": LABELS[0]}, "target='negative'"),
            ):  # fmt: skip
                choose(page, "explain", **chosen)
                expect(code).to_contain_text(said)
            facts = part(page, "explain").locator(".facts-line")
            expect(facts).to_contain_text("method gradient")
            # What a method does not read is not offered.
            expect(part(page, "explain").locator("select[name=layer]")).to_be_hidden()

    def test_a_pair_of_texts(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="pairs", text="the film")) as page:
            second = part(page, "explain").get_by_label("Second text")
            expect(second).to_be_visible()
            second.fill("the plot was bad")
            expect(part(page, "explain").locator(".shown > .text")).to_contain_text("the plot was bad")
            said, struck = (
                part(page, "explain").locator(f".erased {one}") for one in (".predicted", ".struck")
            )
            marks(page).get_by_text("bad", exact=True).click()
            expect(struck).to_have_text("erased: bad")
            expect(said).to_contain_text("With all words")
            marks(page).first.click()
            expect(struck).to_have_text("erased: the · bad")
            expect(said).to_contain_text("With all words")
            other = page.context.new_page()
            other.goto(page.url)
            expect(part(other, "explain").locator(".erased .struck")).to_have_text("erased: the · bad")
            expect(part(other, "explain").locator(".erased .predicted")).to_have_text(said.inner_text())

    def test_a_language_model_says_its_next_token(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="writer", text="the film was")) as page:
            expect(marks(page)).to_have_text(["the", "film", "was"])
            predicted = part(page, "explain").locator(".shown > .predicted")
            before = predicted.inner_text()
            part(page, "explain").get_by_label("Next token").fill("good")
            part(page, "explain").get_by_label("Next token").press("Tab")
            expect(predicted).to_contain_text("good")
            assert predicted.inner_text() != before

    def test_a_given_answer_and_one_against_another(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="writer", text="the film was")) as page:
            view = part(page, "explain")
            predicted = view.locator(".shown > .predicted")
            view.get_by_label("Answer").fill(" good film")
            expect(marks(page)).to_have_text(["the", "film", "was", "good", "film"])
            expect(predicted).to_contain_text("good film")
            expect(view.get_by_label("Next token")).to_be_hidden()
            expect(view.locator(".python")).to_contain_text("answer=' good film'")
            marks(page).nth(4).click()  # of an answer nothing is erased
            expect(view.locator(".erased")).to_be_hidden()
            choose(page, "explain", method="gradient")
            view.get_by_label("and not").fill(" bad film")
            expect(predicted).to_contain_text("rather than")
            with browser.new_context() as context:
                other = context.new_page()
                other.goto(page.url)
                expect(part(other, "explain").locator(".shown > .predicted")).to_have_text(
                    predicted.inner_text()
                )

    def test_an_example_of_the_models_data_is_read(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="watched", text="a")) as page:
            chooser = part(page, "explain").locator("select[name=example]")
            expect(chooser).to_be_visible()
            chooser.select_option(index=3)
            text = page.locator("#explain-text").input_value()
            assert len(text.split()) > 1
            expect(part(page, "explain").locator(".shown > .text")).to_have_text(text)

    @pytest.mark.parametrize("model", ["pieces", "watched", "writer"])
    def test_at_first_a_sentence_is_there_to_be_tried(
        self, browser: Browser, address: str, model: str
    ) -> None:
        with watched(browser, address, link("explain", model=model)) as page:
            offered = part(page, "explain").locator("[data-try]")
            expect(offered).to_be_visible()
            page.keyboard.press("Tab")  # the link that skips shifts nothing away under a click
            offered.get_by_role("button").click()
            expect(marks(page).nth(1)).to_be_visible()
            expect(offered).to_be_hidden()
            text = page.locator("#explain-text").input_value()
            assert len(text.split()) > 3
            if model == "watched":  # a text that its words know
                first = part(page, "explain").locator("select[name=example] option").nth(1).inner_text()
                assert text.startswith(first.rstrip("…"))
            page.locator("#explain-text").fill("")
            expect(offered).to_be_visible()

    def test_six_methods_come_first_and_the_usual_class_has_its_name(
        self, browser: Browser, address: str
    ) -> None:
        with watched(browser, address, link("explain", model="pieces", text=SPLIT)) as page:
            methods = part(page, "explain").locator("select[name=method]")
            expect(methods).to_have_value("attention")
            first = methods.locator("> option").all_inner_texts()
            assert first[:3] == ["attention", "contribution", "gradient"]
            assert len(first) <= 6
            groups = methods.locator("optgroup")
            expect(groups.first).to_have_attribute("label", "more: attention of one layer")
            assert groups.count() > 3
            assert "erasure-blur" not in methods.locator("option").all_inner_texts()  # of images alone
            usual = part(page, "explain").locator("select[name=target] option").first
            expect(usual).to_have_text(f"usual ({LABELS[1]})")

    def test_a_link_that_asks_for_what_is_not_there_says_so(self, browser: Browser, address: str) -> None:
        asked = link("explain", model="pieces", text=SPLIT, method="no such", layer="99", target="nobody")
        with watched(browser, address, asked) as page:
            notice = part(page, "explain").locator(".reading .notice").last
            expect(notice).to_contain_text("method “no such”")
            expect(notice).to_contain_text("layer “99”")
            expect(notice).to_contain_text("class “nobody”")
            part(page, "explain").locator("select[name=method]").select_option("gradient")
            expect(notice).to_be_hidden()

    def test_what_is_worked_on_is_said_while_the_old_colours_fade(
        self, browser: Browser, address: str
    ) -> None:
        with watched(browser, address, link("explain", model="pieces", text=SPLIT)) as page:
            expect(marks(page).first).to_be_visible()
            held: list[Route] = []
            page.route("**/api/explain", lambda route: held.append(route))
            part(page, "explain").locator("select[name=method]").select_option("gradient")
            working = part(page, "explain").locator("[data-working]")
            expect(working).to_contain_text("Working: gradient of pieces")
            expect(part(page, "explain").locator(".answer")).to_have_attribute("aria-busy", "true")
            for route in held:
                route.continue_()
            expect(working).to_be_hidden()

    @pytest.mark.parametrize("width", [1280, 390])
    def test_the_numbers_of_a_word_hide_no_legend(self, browser: Browser, address: str, width: int) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT), width=width) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            marks(page).last.hover()
            above, below = marks(page).last.evaluate(
                """mark => {
                  const style = getComputedStyle(mark, "::after"), box = mark.getBoundingClientRect();
                  const bottom = box.bottom - parseFloat(style.bottom);
                  return [bottom - parseFloat(style.height), bottom];
                }"""
            )
            word = marks(page).last.bounding_box()
            key = part(page, "explain").locator(".key").bounding_box()
            said = part(page, "explain").locator(".shown > .predicted").bounding_box()
            assert below <= word["y"] + 1
            assert below < key["y"]
            first = marks(page).first.bounding_box()
            if word["y"] == first["y"]:  # on the first line it leaves the prediction free, too
                assert above >= said["y"] + said["height"] - 1
            # Nothing of the scale is torn from the rest.
            scale = part(page, "explain").locator(".key .scale")
            assert scale.evaluate("e => e.scrollWidth <= e.clientWidth")
            heights = scale.locator("> *").evaluate_all(
                "all => all.map(one => Math.round(one.getBoundingClientRect().top / 10))"
            )
            assert len(set(heights)) <= 2

    def test_from_right_to_left(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="pieces", text=HEBREW)) as page:
            shown = part(page, "explain").locator(".shown > .text")
            expect(shown).to_have_text(HEBREW)
            assert shown.evaluate("e => getComputedStyle(e).direction") == "rtl"
            places = marks(page).evaluate_all("all => all.map(one => one.getBoundingClientRect().x)")
            assert places[0] == max(places)  # it begins at the right
            assert page.locator("#explain-text").evaluate("e => e.matches(':dir(rtl)')")

    def test_only_typing_forgets_the_erased_words(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            marks(page).get_by_text("bad", exact=True).click()
            said = part(page, "explain").locator(".erased .struck")
            expect(said).to_have_text("erased: bad")
            choose(page, "explain", method="gradient")
            expect(part(page, "explain").locator(".facts-line")).to_contain_text("method gradient")
            expect(said).to_have_text("erased: bad")
            expect(marks(page).get_by_text("bad", exact=True)).to_have_attribute("aria-pressed", "true")
            page.locator("#explain-text").press_sequentially(" ")
            expect(part(page, "explain").locator(".erased")).to_be_hidden()

    def test_a_text_that_is_cleared_while_it_is_explained_stays_away(
        self, browser: Browser, address: str
    ) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            for view, asked in (("explain", "**/api/explain"), ("compare", "**/api/compare")):
                page.get_by_role("link", name=view.capitalize(), exact=True).click()
                shown, answer = (part(page, view).locator(one) for one in (".shown", ".answer"))
                expect(shown).to_be_visible()
                expect(answer).to_have_attribute("aria-busy", "false")
                page.route(asked, lambda route: (page.wait_for_timeout(600), route.continue_()))
                with page.expect_request(asked):
                    page.locator(f"#{view}-text").fill(TEXT + " film")
                expect(answer).to_have_attribute("aria-busy", "true")
                page.locator(f"#{view}-text").fill("")
                expect(shown).to_be_hidden()
                page.wait_for_timeout(1000)
                expect(shown).to_be_hidden()
                expect(answer).to_have_attribute("aria-busy", "false")
                page.unroute(asked)
                page.locator(f"#{view}-text").fill(TEXT)
                expect(shown).to_be_visible()

    def test_intervals_are_drawn_before_the_earlier_version_is_read_again(
        self, browser: Browser, address: str
    ) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT, intervals="true")) as page:
            view, held = part(page, "explain"), []
            expect(view.get_by_label("only what is certain")).to_be_visible()
            rested(page)
            page.route("**/api/compare", lambda route: held.append(route))
            page.locator("#explain-text").fill(TEXT.replace("bad", "good"))
            expect(marks(page)).to_have_text(TEXT.replace("bad", "good").split())
            expect(view.locator(".key")).to_contain_text("Coloured by weight.")
            expect(view.locator(".changed")).to_be_hidden()  # two quantities do not stand side by side
            (route,) = held
            assert route.request.post_data_json["first"]["intervals"] is True
            route.continue_()
            expect(view.locator("[data-both]")).to_contain_text("coloured by weight, on one scale")


class TestCompare:
    def test_two_models_and_two_methods(self, browser: Browser, address: str, models: Path) -> None:
        with watched(browser, address, link("compare", text=SPLIT)) as page:
            view = part(page, "compare")
            choose(page, "compare", 0, model="planted")
            choose(page, "compare", 1, model="pieces")
            expect(view.locator(".two-predictions p").nth(1)).to_contain_text("below: pieces, attention")
            expect(view.locator(".aligned")).to_contain_text("unaffordable")
            assert view.locator(".aligned .differs").count() == 0
            expect(view.locator("[data-scales]")).to_contain_text("Each row has its own scale")
            legends = view.locator(".legends li")
            for legend, model, target in zip(
                legends.all(), ("planted", "pieces"), ("positive", LABELS[1]), strict=True
            ):
                (own,) = glasshead.explain(str(models / model), SPLIT)
                assert own.target == target
                expect(legend).to_contain_text(
                    f"red: for {target}, blue: against it; largest contribution"
                    if own.contributions
                    else "the stronger the colour, the larger the weight; largest weight"
                )
            choose(page, "compare", 0, model="pieces", target=LABELS[0], method="gradient")
            choose(page, "compare", 1, method="gradient")
            expect(view.locator("[data-caution]")).to_contain_text(
                f"red supports “{LABELS[0]}” above and “{LABELS[1]}” below: choose one class for both"
            )
            expect(legends.first).to_contain_text(f"red: for {LABELS[0]}, blue: against it; largest score")
            choose(page, "compare", 0, target="", method="attention")
            expect(view.locator("[data-caution]")).to_be_hidden()
            expect(view.locator(".two-predictions p").nth(1)).to_contain_text("below: pieces, gradient")
            rows = view.locator(".differences tbody tr")
            expect(rows).to_have_count(len(SPLIT.split()))
            sizes = [abs(float(row.locator("td").last.inner_text().replace("−", "-"))) for row in rows.all()]
            assert sizes == sorted(sizes, reverse=True)
            assert not [cell for cell in rows.locator("td").all_inner_texts() if cell in ("−0.00", "+0.00")]
            for name, kind in (("Save HTML", "html"), ("JSON", "json")):
                with page.expect_download() as download:
                    view.get_by_role("button", name=name, exact=True).click()
                assert download.value.suggested_filename == f"comparison.{kind}"


class TestHeads:
    def test_a_head_is_opened_in_the_frame(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("heads", model="pieces", text=SPLIT)) as page:
            frame = page.frame_locator("section[data-view=heads] iframe")
            frame.locator("button[data-head='0-1']").click()
            expect(frame.locator("#head-title")).to_have_text("Layer 0, head 1")
            expect(frame.locator(".lines .queries button").first).to_be_visible()
            frame.locator("#tab-matrix").click()
            expect(frame.locator("#view-matrix .matrix")).to_be_visible()
            # The frame has room for all of it.
            page.frames[-1].wait_for_function("document.documentElement.scrollHeight <= innerHeight + 2")

    def test_lines_are_texts_of_a_model_without_its_own(self, browser: Browser, address: str) -> None:
        lines = "\n".join(f"{TEXT} {word}" for word in "abcdefghijklmnopqrst")
        with watched(browser, address, "/#heads") as page:
            view = part(page, "heads")
            view.locator("select[name=model]").select_option("pieces")
            expect(view.locator("[name=examples]")).to_be_hidden()
            expect(view.get_by_text("paste 20 lines, one text each")).to_be_visible()
            view.get_by_label("each line is a text of its own").check()
            page.locator("#heads-text").fill(lines)
            waiting, release = [], []

            def hold(route) -> None:
                waiting.append(route)
                if release:
                    route.continue_()

            page.route("**/view/heads*", hold)
            view.get_by_role("button", name="Show the heads").click()
            expect(view.locator(".framed [role=status]")).to_contain_text("about half a minute for 20 texts")
            assert view.locator(".framed").bounding_box()["height"] < 100  # and no empty box
            release.append(True)
            waiting[0].continue_()
            frame = page.frame_locator("section[data-view=heads] iframe")
            expect(frame.locator(".masthead")).to_contain_text("over 20 texts")
            expect(view.locator(".framed [role=status]")).to_have_count(0)
            assert view.locator("iframe").bounding_box()["height"] > 300
            assert "lines=true" in page.url

    def test_how_far_it_is_is_shown_and_it_can_be_cancelled(self, browser: Browser, address: str) -> None:
        with watched(browser, address, "/#heads") as page:
            view = part(page, "heads")
            view.locator("select[name=model]").select_option("pieces")
            page.locator("#heads-text").fill(TEXT)
            held = []
            page.route("**/view/heads*", lambda route: held.append(route))
            far = {"stage": "predictions without each head: 25%", "share": 0.25}
            page.route("**/api/progress*", lambda route: route.fulfill(json=far))
            view.get_by_role("button", name="Show the heads").click()
            status = view.locator(".framed [role=status]")
            expect(status).to_contain_text("predictions without each head: 25%")
            view.get_by_role("button", name="Cancel").click()
            expect(status).to_have_text("Cancelled.")
            expect(view.locator("iframe")).to_have_count(0)
            page.unroute("**/view/heads*")
            view.get_by_role("button", name="Show the heads").click()
            frame = page.frame_locator("section[data-view=heads] iframe")
            expect(frame.locator("button[data-head='0-1']")).to_be_visible()

    def test_by_typing(self, browser: Browser, address: str) -> None:
        with watched(browser, address, "/#heads") as page:
            part(page, "heads").locator("select[name=model]").select_option("bare")
            page.locator("#heads-text").fill(TEXT)
            part(page, "heads").get_by_role("button", name="Show the heads").click()
            frame = page.frame_locator("section[data-view=heads] iframe")
            expect(frame.locator("button[data-head='1-1']")).to_be_visible()


class TestWrite:
    def test_a_written_token_is_chosen(self, browser: Browser, address: str) -> None:
        with watched(browser, address, "/#write") as page:
            view = part(page, "write")
            page.locator("#write-prompt").fill("the film was")
            view.get_by_label("Tokens").fill("5")
            view.get_by_role("button", name="Write").click()
            frame = page.frame_locator("section[data-view=write] iframe")
            written = frame.locator("mark.written")
            expect(written).to_have_count(5)
            written.nth(2).click()
            expect(written.nth(2)).to_have_attribute("aria-pressed", "true")
            expect(frame.locator(".alternatives tbody tr").first).to_be_visible()
            page.keyboard.press("ArrowRight")
            expect(written.nth(3)).to_have_attribute("aria-pressed", "true")


class TestAudits:
    def test_one_is_opened_its_texts_filtered_and_one_explained(self, browser: Browser, address: str) -> None:
        with watched(browser, address, "/#audits") as page:
            view = part(page, "audits")
            expect(view.locator(".audit-list > li")).to_have_count(3)
            expect(view.locator("[data-audit=damaged]")).to_be_disabled()
            view.locator("[data-audit=tanhmax]").click()
            expect(view.locator(".one-audit h2")).to_have_text("tanhmax")
            count = view.locator(".filters output")
            expect(count).to_have_text("872 texts")
            view.locator("select[name=label]").select_option("negative")
            expect(count).not_to_have_text("872 texts")
            view.locator("select[name=predicted]").select_option("positive")
            texts = view.locator(".audited > li")
            expect(texts.first).to_contain_text("class negative, predicted positive (wrong)")
            before = texts.count()
            view.get_by_role("button", name="More texts").click()
            expect(texts).not_to_have_count(before)
            view.get_by_label("with the words").fill("film")
            expect(texts.first.locator(".text")).to_contain_text(re.compile("film", re.IGNORECASE))
            text = texts.first.locator(".text").inner_text()
            texts.first.get_by_role("link", name="Explain").click()
            expect(page.locator("#explain-text")).to_have_value(text)
            expect(marks(page).first).to_be_visible()

    def test_its_report_is_shown_once(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("audits", audit="tanhmax")) as page:
            view = part(page, "audits")
            asked: list[str] = []
            page.on("request", lambda one: asked.append(one.url) if "/view/audit" in one.url else None)
            view.get_by_label("with the words").fill("film")
            view.get_by_label("with the words").fill("")
            view.locator(".report > summary").click()
            frame = page.frame_locator("section[data-view=audits] iframe")
            expect(frame.locator("h1").first).to_be_visible()
            page.wait_for_timeout(300)
            assert len(asked) == 1


class TestTrainings:
    def test_the_ledger_is_scrubbed(self, browser: Browser, address: str) -> None:
        with watched(browser, address, "/#trainings") as page:
            view = part(page, "trainings")
            said = view.locator(".ledger-shown .predicted")
            expect(said).to_contain_text("has changed by")
            last = said.inner_text()
            rows = view.locator(".ledger-table tbody tr td.num")

            def total() -> float:
                return sum(map(as_number, rows.all_inner_texts()))

            measured = as_number(re.search(r"changed by (\S+?)\.?$", last)[1])
            assert total() == pytest.approx(measured, abs=0.0005 * rows.count() + 0.001)
            step = view.locator("[name=step]")
            step.focus()
            page.keyboard.press("Home")
            expect(said).to_contain_text("Up to step 0 ")
            assert {cell.replace("−", "+") for cell in rows.all_inner_texts()} == {"+0.000"}
            page.keyboard.press("End")
            expect(said).to_have_text(last)
            for name in ("of", "quantity"):
                view.locator(f"select[name={name}]").select_option(index=1)
                expect(said).not_to_have_text(last)
                last = said.inner_text()
            frame = page.frame_locator("section[data-view=trainings] iframe")
            expect(frame.locator("h1").first).to_be_visible()

    def test_a_link_to_what_is_not_served_says_so(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("trainings", run="nope")) as page:
            alert = part(page, "trainings").get_by_role("alert")
            expect(alert).to_have_text(
                "The link asks for the training “nope”, which is not served here. This is watched."
            )
            expect(part(page, "trainings").locator(".ledger-shown .predicted")).to_contain_text("has changed")
            page.goto(address + link("audits", audit="nope"))
            expect(part(page, "audits").get_by_role("alert")).to_have_text(
                "The link asks for the audit “nope”, which is not served here."
            )
            page.goto(address + link("explain", model="nope", text=TEXT))
            expect(part(page, "explain").locator(".notice").first).to_have_text(
                "The link asks for the model “nope”, which is not served here. This is planted."
            )
            choose(page, "explain", model="pieces")
            expect(part(page, "explain").locator(".notice").first).to_be_hidden()
            page.goto(address + link("write", model="planted", prompt="a film"))
            expect(part(page, "write").locator(".notice")).to_contain_text(
                "which predicts classes and writes no text"
            )

    @pytest.mark.parametrize(("view", "asked"), [("audits", "/api/audits"), ("trainings", "/api/runs")])
    def test_a_list_that_does_not_come_is_a_sentence(
        self, browser: Browser, address: str, view: str, asked: str
    ) -> None:
        with browser.new_context() as context:
            page = context.new_page()
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.route(f"**{asked}", lambda route: route.fulfill(status=500, json={"error": "It broke."}))
            page.goto(f"{address}/#{view}")
            expect(part(page, view).get_by_role("alert")).to_have_text("It broke.")
            page.unroute(f"**{asked}")
            page.get_by_role("link", name="Explain", exact=True).click()
            page.go_back()  # it is asked for again
            shown = part(page, view).locator(".audit-list > li, .ledger-table td")
            expect(shown.first).to_be_visible()
            assert wrong == []

    def test_a_number_that_is_none_is_a_dash(self, browser: Browser, address: str) -> None:
        def diverged(route) -> None:
            answer = route.fetch().json()
            answer["measured"][-1] = answer["rest"][-1] = None
            route.fulfill(json=answer)

        with watched(browser, address) as page:
            page.route("**/api/runs/ledger*", diverged)
            page.goto(address + link("trainings", run="watched"))
            view = part(page, "trainings")
            expect(view.locator(".ledger-shown .predicted")).to_contain_text("has changed by –")
            cells = view.locator(".ledger-table tbody td.num").all_inner_texts()
            assert cells[-1] == "–"
            assert all(as_number(cell) is not None for cell in cells[:-1])


class TestShare:
    def test_a_link_waits_for_its_model(self, browser: Browser, address: str) -> None:
        asked = link("explain", model="pieces", text=SPLIT, layer=0, method="rollout", unit="token")
        late: list[bool] = []

        def still_loading(route) -> None:
            models = route.fetch().json()
            for model in models:
                if model["name"] == "pieces" and not late:
                    model.clear()
                    model.update(name="pieces", source="pieces", state="loading", message="it is opened")
            route.fulfill(json=models)

        for path in (asked.replace("rollout", "attention"), asked):
            late.clear()
            with watched(browser, address) as page:
                page.route("**/api/models", still_loading)
                page.goto("about:blank")
                page.goto(address + path)
                chosen = part(page, "explain").locator("select[name=model]")
                expect(chosen).to_have_value("pieces")
                expect(chosen.locator("option").first).to_have_text("pieces (being opened)")
                page.wait_for_timeout(500)
                assert page.url == address + path
                expect(marks(page)).to_have_count(0)
                late.append(True)
                expect(marks(page).first).to_be_visible()
                expect(part(page, "explain").locator("select[name=unit]")).to_have_value("token")
                if "rollout" not in path:
                    expect(part(page, "explain").locator("select[name=layer]")).to_have_value("0")
                    assert "layer=0" in page.url
                assert "model=pieces" in page.url

    @pytest.mark.parametrize("view", ["compare", "heads", "write"])
    def test_links_of_other_views_wait_for_their_model(
        self, browser: Browser, address: str, view: str
    ) -> None:
        values = {
            "compare": {"text": TEXT, "1-model": "signed", "2-model": "pieces", "2-method": "gradient"},
            "heads": {"model": "pieces", "text": TEXT},
            "write": {"model": "writer", "prompt": "the film", "tokens": "3"},
        }[view]
        late: list[bool] = []

        def still_loading(route) -> None:
            models = route.fetch().json()
            for model in [] if late else models:
                model.clear()
                model.update(name="pieces", source="pieces", state="loading", message="it is opened")
            names = ["signed", "pieces", "writer"]
            for model, name in zip([] if late else models, names, strict=False):
                model["name"] = name
            route.fulfill(json=models if late else models[:3])

        with watched(browser, address) as page:
            page.route("**/api/models", still_loading)
            page.goto("about:blank")
            path = link(view, **values)
            page.goto(address + path)
            expect(part(page, view).locator("select[name=model]").first).not_to_have_value("")
            page.wait_for_timeout(300)
            assert page.url == address + path
            late.append(True)
            expect(part(page, view).locator("iframe:not(.empty), .aligned .pair").first).to_be_visible()
            for name, value in values.items():
                side, _, field = name.rpartition("-")
                inside = part(page, view).locator("fieldset").nth(int(side) - 1 if side else 0)
                box = inside if side else part(page, view)
                expect(box.locator(f"[name={field}]")).to_have_value(value)

    def test_the_link_that_skips_leaves_the_view(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("audits", audit="tanhmax")) as page:
            expect(part(page, "audits").locator(".one-audit h2")).to_have_text("tanhmax")
            before = page.url
            page.locator(".skip").focus()
            page.keyboard.press("Enter")
            assert page.evaluate("document.activeElement.id") == "view"
            assert page.url == before
            expect(part(page, "audits")).to_be_visible()

    def test_another_view_has_its_title_and_the_focus(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            heading = "document.activeElement.closest('section')?.dataset.view"
            for name in ("Audits", "Explain", "Audits"):
                page.get_by_role("link", name=name, exact=True).click()
                expect(page).to_have_title(f"{name} – Glasshead")
                assert page.evaluate(heading) == name.lower()
            with page.context.expect_page() as opened:
                page.get_by_role("link", name="Compare", exact=True).click(modifiers=["Control"])
            expect(part(opened.value, "compare")).to_be_visible()
            expect(part(page, "audits")).to_be_visible()

    def test_the_address_is_not_written_at_every_key(self, browser: Browser, address: str) -> None:
        count = "const old = history.replaceState.bind(history); window.written = 0;"
        count += "history.replaceState = (...all) => { window.written += 1; old(...all); }"
        with watched(browser, address, link("explain", model="planted", text="the")) as page:
            expect(marks(page)).to_have_text(["the"])
            page.evaluate(f"() => {{ {count} }}")
            page.locator("#explain-text").press_sequentially(" film was bad" * 3)
            expect(marks(page)).to_have_count(10)
            assert page.evaluate("window.written") < 15
            # Safari refuses what comes too often: the page goes on.
            refuse = "() => { throw new DOMException('often', 'SecurityError'); }"
            page.evaluate(f"() => {{ history.replaceState = {refuse}; }}")
            page.locator("#explain-text").fill("the music")
            expect(marks(page)).to_have_text(["the", "music"])

    def test_a_drawn_text_is_written_again_by_its_link_and_its_python(
        self, browser: Browser, address: str
    ) -> None:
        values = {"model": "writer", "prompt": "the film", "tokens": 6, "strategy": "temperature=1.5"}
        with watched(browser, address) as page:
            page.context.add_init_script("let n = 0; Math.random = () => [0.5, 0.25][n++ % 2];")
            page.goto("about:blank")
            page.goto(address + link("write", **values))
            written = page.frame_locator("section[data-view=write] iframe").locator("mark.written")
            expect(written.first).to_be_visible()
            first = words(written)
            part(page, "write").get_by_role("button", name="Copy link").click()
            expect(part(page, "write").locator(".share [role=status]")).to_have_text("Link copied.")
            copied = page.evaluate("navigator.clipboard.readText()")
            assert "seed=" in copied
            other = page.context.new_page()
            other.goto(copied)
            again = other.frame_locator("section[data-view=write] iframe").locator("mark.written")
            expect(again).to_have_text(first)
            with page.expect_download() as download:
                part(page, "write").get_by_role("link", name="Save HTML").click()
            saved = Path(download.value.path()).read_text()
            assert all(word.strip() in saved for word in first)
            part(page, "write").get_by_role("button", name="Copy Python").click()
            expect(part(page, "write").locator(".share [role=status]")).to_have_text("Python copied.")
            *_, line = page.evaluate("navigator.clipboard.readText()").splitlines()
            own = eval(line, {"glasshead": glasshead})
            assert own.text.split()[-len(first) :] == [word.strip() for word in first]
            # Written again, another text is drawn.
            seed = re.search(r"seed=(\d+)", copied)[1]
            part(page, "write").get_by_role("button", name="Write").click()
            expect(page).not_to_have_url(re.compile(rf"seed={seed}(&|$)"))

    def test_the_python_of_heads(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("heads", model="pieces", text=SPLIT)) as page:
            part(page, "heads").get_by_role("button", name="Copy Python").click()
            expect(part(page, "heads").locator(".share [role=status]")).to_have_text("Python copied.")
            *_, line = page.evaluate("navigator.clipboard.readText()").splitlines()
            report = eval(line, {"glasshead": glasshead})
            assert SPLIT in [text.text for text in report.texts]

    @pytest.mark.parametrize(
        ("view", "values"), [("audits", {"audit": "tanhmax"}), ("trainings", {"run": "watched", "step": 1})]
    )
    def test_audits_and_trainings_have_a_link(
        self, browser: Browser, address: str, view: str, values: dict
    ) -> None:
        with watched(browser, address, link(view, **values)) as page:
            part(page, view).get_by_role("button", name="Copy link").click()
            expect(part(page, view).locator(".share [role=status]")).to_have_text("Link copied.")
            copied = page.evaluate("navigator.clipboard.readText()")
            assert all(f"{name}={value}" in copied for name, value in values.items())

    def test_a_link_restores_the_view_in_another_tab(self, browser: Browser, address: str) -> None:
        with watched(browser, address) as page:
            choose(page, "explain", model="pieces")
            page.locator("#explain-text").fill(SPLIT)
            expect(marks(page).first).to_be_visible()
            choose(page, "explain", unit="token", layer="0", head="1")
            part(page, "explain").get_by_label("what else each weight could be").check()
            expect(part(page, "explain").get_by_label("only what is certain")).to_be_visible()
            part(page, "explain").get_by_role("button", name="Copy link").click()
            expect(part(page, "explain").locator(".share [role=status]")).to_have_text("Link copied.")
            copied = page.evaluate("navigator.clipboard.readText()")
            assert copied == page.url
            first = words(marks(page)), strengths(page)
            other = page.context.new_page()
            other.goto(copied)
            expect(part(other, "explain").get_by_label("only what is certain")).to_be_visible()
            assert (words(marks(other)), strengths(other)) == first
            assert part(other, "explain").locator("select[name=head]").input_value() == "1"

    @pytest.mark.parametrize("view", ["compare", "audits", "trainings", "heads", "write"])
    def test_links_of_the_other_views(self, browser: Browser, address: str, view: str) -> None:
        values = {
            "compare": {"text": TEXT, "1-model": "pieces", "2-model": "planted"},
            "audits": {"audit": "tanhmax", "label": "negative", "words": "film"},
            "trainings": {"run": "watched", "step": "1", "quantity": "polarity"},
            "heads": {"model": "bare", "text": TEXT},
            "write": {"model": "writer", "prompt": "the film", "tokens": "3"},
        }[view]
        with watched(browser, address, link(view, **values)) as page:
            first = part(page, view)
            expect(first).to_be_visible()
            for name, value in values.items():
                side, _, field = name.rpartition("-")
                inside = first.locator("fieldset").nth(int(side) - 1) if side else first
                if field != "audit":
                    expect(inside.locator(f"[name={field}]")).to_have_value(value)
            if view == "audits":
                expect(first.locator(".one-audit h2")).to_have_text("tanhmax")
            expect(page.locator("nav a[aria-current]")).to_have_attribute("data-view", view)
            for name, value in values.items():
                assert f"{name}=" in page.url, (name, value)

    def test_what_was_typed_goes_along_to_another_view_and_back(self, browser: Browser, address: str) -> None:
        with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
            expect(marks(page)).to_have_text(TEXT.split())
            page.get_by_role("link", name="Compare").click()
            expect(page.locator("#compare-text")).to_have_value(TEXT)
            expect(part(page, "compare").locator(".aligned .pair").first).to_be_visible()
            page.get_by_role("link", name="Explain", exact=True).click()
            expect(marks(page)).to_have_text(TEXT.split())
            page.go_back()
            expect(part(page, "compare")).to_be_visible()

    def test_saved_files_open(self, browser: Browser, address: str, models: Path, tmp_path: Path) -> None:
        with watched(browser, address, link("explain", model="pieces", text=SPLIT)) as page:
            expect(marks(page).first).to_be_visible()
            found: dict[str, bytes] = {}
            for name, kind in (("Save HTML", "html"), ("SVG", "svg"), ("PNG", "png"), ("JSON", "json")):
                with page.expect_download() as download:
                    part(page, "explain").get_by_role("button", name=name, exact=True).click()
                assert download.value.suggested_filename == f"explanation.{kind}"
                path = tmp_path / f"explanation.{kind}"
                download.value.save_as(path)
                found[kind] = path.read_bytes()
            (value,) = json.loads(found["json"])
            assert value["tokens"][1] == "unaffordable"
            with Image.open(io.BytesIO(found["png"])) as image:
                assert min(image.size) > 50
            assert b"unaffordable" in found["html"]
            with browser.new_context() as context:  # where files may be opened
                for kind in ("html", "svg"):
                    context.new_page().goto((tmp_path / f"explanation.{kind}").as_uri())
            part(page, "explain").get_by_role("button", name="Copy Python").click()
            expect(part(page, "explain").locator(".share [role=status]")).to_have_text("Python copied.")
            line = page.evaluate("navigator.clipboard.readText()")
            assert "import glasshead" in line
            (again,) = eval(line.splitlines()[-1], {"glasshead": glasshead})
            assert again.scores == pytest.approx(value["scores"], rel=1e-4, abs=1e-5)


class TestHostile:
    def test_texts_and_labels_make_no_markup(self, browser: Browser, address: str) -> None:
        text = " ".join(NASTY)
        with watched(browser, address, link("explain", model="pieces", text=text)) as page:
            expect(marks(page).first).to_be_visible()
            part(page, "explain").locator(".all-numbers summary").click()
            assert page.evaluate(MADE) == 0
            shown = part(page, "explain").locator(".shown > .text").inner_text()
            for nasty in NASTY[:7]:
                assert nasty in shown
            choose(page, "explain", target=LABELS[1])
            expect(part(page, "explain").locator(".key")).to_contain_text(LABELS[1])
            marks(page).first.click()
            expect(part(page, "explain").locator(".erased")).to_be_visible()
            rested(page)
            page.locator("#explain-text").fill(f"{NASTY[1]} {text}")
            expect(part(page, "explain").locator(".changed")).to_be_visible()
            assert page.evaluate(MADE) == 0
            page.goto(
                address
                + link(
                    "compare", text=text, **{"1-model": "pieces", "2-model": "pieces", "2-method": "gradient"}
                )
            )
            expect(part(page, "compare").locator(".aligned mark").first).to_be_visible()
            assert page.evaluate(MADE) == 0

    def test_names_and_texts_of_audits_and_heads_make_no_markup(
        self, browser: Browser, address: str, audits: Path
    ) -> None:
        (name,) = [path.name for path in audits.iterdir() if "<img" in path.name]
        with watched(browser, address, link("audits", audit=name)) as page:
            view = part(page, "audits")
            expect(view.locator(".one-audit h2")).to_have_text(name)
            expect(view.locator(".audited > li").first).to_be_visible()
            view.locator(".report > summary").click()
            frame = page.frame_locator("section[data-view=audits] iframe")
            expect(frame.locator("h1").first).to_be_visible()
            assert frame.locator("img").count() == 0
            assert page.evaluate(MADE) == 0
            page.goto(address + link("heads", model="pieces", text=" ".join(NASTY)))
            inner = page.frame_locator("section[data-view=heads] iframe")
            expect(inner.locator("button[data-head]").first).to_be_visible()
            assert inner.locator("img, iframe").count() == 0
            assert page.evaluate(MADE) == 0

    def test_links_with_hostile_values_make_no_markup(self, browser: Browser, address: str) -> None:
        for nasty in NASTY:
            values = {"model": nasty, "method": nasty, "text": "a film", "layer": nasty}
            with watched(browser, address, link("explain", **values)) as page:
                expect(marks(page).first).to_be_visible()  # what is unknown is left
                assert page.evaluate(MADE) == 0


def test_a_model_that_cannot_be_opened_is_a_line_that_unfolds(
    browser: Browser, address: str, models: Path
) -> None:
    with watched(browser, address) as page:
        failed = page.locator("#models details")
        expect(failed.locator("summary")).to_have_text(f"{models / 'damaged'} cannot be opened")
        sentence = failed.locator("p")
        expect(sentence).to_be_hidden()
        assert page.locator("#models").bounding_box()["height"] < 60
        failed.locator("summary").click()
        expect(sentence).to_be_visible()
        assert sentence.inner_text().count("damaged") == sentence.inner_text().count(str(models / "damaged"))
        assert "damaged" not in words(part(page, "explain").locator("select[name=model] option"))


def test_a_server_that_has_ended_is_a_sentence(browser: Browser, models: Path) -> None:
    with serving(models / "planted") as server:
        server.wait_until_open()
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.address + link("explain", model="planted", text=TEXT))
        expect(marks(page).first).to_be_visible()
        server.process.kill()
        server.process.wait()
        page.locator("#explain-text").fill("the film")
        alert = part(page, "explain").get_by_role("alert")
        expect(alert).to_have_text("The server does not answer: it has stopped, or the network is down.")
        context.close()


def test_the_page_of_the_api_lists_every_address(browser: Browser, address: str) -> None:
    with watched(browser, address, "/api") as page:
        expect(page.locator("h2", has_text="POST /api/explain")).to_be_visible()
        expect(page.locator("h2", has_text="GET /api/models")).to_be_visible()
        assert "curl" in page.locator("pre").first.inner_text()
