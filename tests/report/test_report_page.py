"""The report: whole, safe, offline, the same every time, and true to the findings."""

import re
from collections import Counter
from dataclasses import replace

import pytest

import fake_cards
from glasshead.report import attribution_page, audit_page
from glasshead.report.html.examples import LEADING, examples, leading_examples
from glasshead.report.key_findings import titled_quantities
from glasshead.report.number_format import interval, number
from glasshead.results import ONE_SIGNED, UNDECIDED, Attribution, AuditCard, Highlight
from glasshead.wording import sentence
from pages import Page

pytestmark = pytest.mark.usefixtures("undrawn")

OURS = {"style", "data-tip", "tabindex", "aria-label", "class", "dir", "title"}


@pytest.fixture(scope="module")
def pages(tanhmax: AuditCard, softmax: AuditCard, four_classes: AuditCard) -> dict[str, str]:
    return {
        "one": audit_page([tanhmax]),
        "two": audit_page([softmax, tanhmax]),
        "four": audit_page([four_classes]),
        "texts": attribution_page([h.attribution for h in tanhmax.highlights]),
    }


@pytest.fixture(scope="module")
def read(pages: dict[str, str]) -> dict[str, Page]:
    return {name: Page(html) for name, html in pages.items()}


@pytest.mark.parametrize("name", ["one", "two", "four", "texts"])
def test_nothing_from_outside_becomes_markup(read: dict[str, Page], name: str) -> None:
    page = read[name]
    (script,) = page.all("script")
    assert "alert" not in script.text
    assert not [e for e in page.elements if e.tag in ("img", "iframe", "object", "form", "embed", "base")]
    handlers = {key for element in page.elements for key in element.attributes if key.startswith("on")}
    assert handlers == set()
    for mark in page.all("mark"):
        assert set(mark.attributes) <= OURS
    assert any("<script>alert(1)</script>" in text.text for text in page.all("p", "text"))


def test_nasty_labels_and_tokens_stay_text_inside_drawings(read: dict[str, Page]) -> None:
    label = "<b onclick=alert(3)>Sci/Tech</b>"
    page = read["four"]
    assert any(label[:13] in element.text for element in page.all("text"))
    assert not page.all("b", "onclick")
    titles = [element.text for element in page.all("title") if "circle" in element.above]
    assert titles
    assert all("{{ 7*7 }}" in title for title in titles if "7*7" in title)


def test_templates_do_not_read_tokens_as_templates(pages: dict[str, str], read: dict[str, Page]) -> None:
    assert "{{ 7*7 }}" in read["texts"].all("main")[0].text
    assert "\x1b" not in pages["one"]
    assert "\u202e" not in pages["one"]


@pytest.mark.parametrize("name", ["one", "two", "four", "texts"])
def test_the_page_needs_no_network(pages: dict[str, str], read: dict[str, Page], name: str) -> None:
    page = read[name]
    for element in page.elements:
        for key in ("src", "href", "xlink:href", "srcset", "action"):
            value = element.attributes.get(key)
            assert value is None or value.startswith(("#", "data:,"))
    assert re.findall(r"url\(\s*['\"]?(?!#)", pages[name]) == []
    assert "@import" not in pages[name]
    assert "http" not in pages[name]


def test_ids_are_unique_and_references_arrive(read: dict[str, Page]) -> None:
    for page in read.values():
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        # matplotlib names a clip path or marker by its content: a repeated id is a repeated shape.
        repeated = {key for key, times in Counter(ids).items() if times > 1}
        assert repeated == set()
        asked = {
            e.attributes["href"] for e in page.elements if (e.attributes.get("href") or "").startswith("#")
        }
        assert {reference[1:] for reference in asked if reference} <= set(ids)


def test_the_same_cards_give_the_same_page(tanhmax: AuditCard) -> None:

    assert audit_page([fake_cards.make("tanhmax")]) == audit_page([tanhmax])


def test_pages_stay_small(pages: dict[str, str]) -> None:
    assert {name: len(html) < 2_000_000 for name, html in pages.items()} == dict.fromkeys(pages, True)


def below_the_verdicts(page: str) -> Page:
    """What follows the table of verdicts, which says some of its numbers before."""
    return Page(page.split('<section id="findings">')[1].split("</section>")[0])


def test_every_finding_stands_in_the_tables(tanhmax: AuditCard, pages: dict[str, str]) -> None:
    page = below_the_verdicts(pages["one"])
    shown = Counter(b.text for b in page.all("b") if "table" in b.above and "tbody" in b.above)
    assert shown == Counter(number(finding.estimate) for finding in tanhmax.findings)
    bounds = Counter(span.text for span in page.all("span", "bounds"))
    assert bounds == Counter(interval(finding.interval) for finding in tanhmax.findings)
    assert "0.002" in page.all("table", "findings")[0].text
    main = Page(pages["one"]).all("main")[0].text
    for finding in tanhmax.findings:
        if finding.group == "all":
            assert sentence(finding.verdict) in main


def test_two_cards_fill_two_columns_and_say_how_they_differ(
    softmax: AuditCard, tanhmax: AuditCard, pages: dict[str, str], read: dict[str, Page]
) -> None:
    page = below_the_verdicts(pages["two"])
    shown = Counter(b.text for b in page.all("b") if "table" in b.above and "tbody" in b.above)
    assert shown == Counter(number(f.estimate) for card in (softmax, tanhmax) for f in card.findings)
    heads = [th.text for th in page.all("th", "card")]
    assert heads[:2] == ["softmax", "tanhmax"]
    asked = titled_quantities([softmax])
    rows = [row.text.replace("\xa0", " ") for row in read["two"].all("th") if "?" in row.text]
    told = (row for row in rows if "Larger for" in row or "intervals overlap" in row)
    pairs = [[card.finding(name) for card in (softmax, tanhmax)] for name in asked]
    for one, other in pairs:
        if one.interval is None:  # a share of meanings of deleting
            continue
        overlap = one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]
        larger = ("softmax", "tanhmax") if one.estimate > other.estimate else ("tanhmax", "softmax")
        gap = number(abs(one.estimate - other.estimate))
        expected = f"Larger for {larger[0]} than for {larger[1]} by {gap};"
        assert ("The 95 % intervals overlap" if overlap else expected) in next(told)


def test_the_same_text_is_read_by_every_model(
    softmax: AuditCard, tanhmax: AuditCard, read: dict[str, Page]
) -> None:
    page = read["two"]
    text = "an utterly charming , hilarious and moving film"
    readings = [p for p in page.all("p", "text") if p.text.startswith(text)]
    assert [("unread" in p.classes) for p in readings] == [True, False]
    assert len(page.all("p", "text")) == 2 * (LEADING + len(tanhmax.highlights))


def test_what_is_true_by_construction_is_shown_but_never_a_headline(read: dict[str, Page]) -> None:
    page = read["one"]
    rows = page.all("tr", "trivial")
    assert rows
    assert all("by construction" in row.text for row in rows)
    assert "by construction" not in page.all("table", "short")[0].text


def test_undefined_is_said_and_counted(tanhmax: AuditCard) -> None:
    nothing = fake_cards.finding("agreement", "attention-absolute", "gradient", "all", [float("nan")] * 3)
    html = audit_page([replace(tanhmax, findings=[nothing])])
    page = Page(html)
    assert page.all("table", "findings")[0].text.count("undefined") == 2  # the estimate and its plot
    assert not page.all("table", "short")  # what has no number is no headline
    assert any(span.text.strip() == "+3 a" for span in page.all("span", "pale"))
    assert "Left out of n as undefined: a: constant attention." in page.all("main")[0].text
    assert "nan" not in page.all("main")[0].text


@pytest.mark.parametrize("several", [1, 2, 3])
def test_a_card_with_nothing_in_it_still_makes_a_page(several: int) -> None:
    page = Page(audit_page([AuditCard({}, [])] * several))
    assert "This audit has no findings." in page.all("main")[0].text
    if several > 1:
        assert page.all("dt")[1].text == "audit 2"
        assert page.all("h1")[0].text.startswith("audit 1")


def test_partial_columns_are_left_out_without_a_word_too_much(tanhmax: AuditCard) -> None:
    examples = {"tau.attention.gradient": [0.5, None, float("nan")]}
    page = Page(audit_page([replace(tanhmax, examples=examples, tokens={"token": ["a"]}, highlights=[])]))
    assert [h3.text for h3 in page.all("h3") if "figure" in h3.above] == [
        "Agreement of attention with gradient"
    ]


def test_a_missing_card_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        audit_page([])


def test_a_weak_gauge_is_a_caution(tanhmax: AuditCard) -> None:
    fixed = tanhmax.facts["gauge"] | {"kind": UNDECIDED, "margin": 0.04}
    weak = replace(tanhmax, facts=tanhmax.facts | {"gauge": fixed})
    assert "trust contributions" in Page(audit_page([weak])).all("p", "caution")[0].text
    assert not Page(audit_page([tanhmax])).all("p", "caution")


@pytest.mark.parametrize(
    ("task", "guess"), [({}, "commonest class"), ({"task": "regression"}, "mean rating")]
)
def test_a_model_no_better_than_a_guess_is_a_caution_without_any_finding(
    tanhmax: AuditCard, task: dict[str, str], guess: str
) -> None:
    def caution(**facts: object) -> list[str]:
        card = replace(tanhmax, findings=[], facts=tanhmax.facts | task | facts)
        return [each.text for each in Page(audit_page([card])).all("p", "caution")]

    (poor,) = caution(against_guessing="not better")
    assert f"the model is not better than always guessing the {guess}." in poor
    (unsure,) = caution(against_guessing="undecided", examples=60)
    assert (
        f"these 60 texts do not show whether the model is better than always guessing the {guess}" in unsure
    )
    gap = {
        "score": "accuracy",
        "of_the_model": 0.8,
        "of_the_guess": 0.3,
        "difference": 0.5,
        "interval": [0.2, 0.8],
    }
    (few,) = caution(against_guessing="undecided", examples=12, guessing=gap | {"n": 12})
    assert "these 12 texts are too few to show whether" in few
    assert "at least 20 are needed" in few
    assert "+0.5" not in few
    (enough,) = caution(against_guessing="undecided", examples=20, guessing=gap | {"n": 20})
    assert "these 20 texts do not show whether" in enough
    assert caution(against_guessing="better") == []


def test_what_a_verdict_rests_on_stands_beside_it(tanhmax: AuditCard) -> None:
    page = Page(audit_page([fake_cards.with_differences(tanhmax)]))
    nulls = [td for td in page.all("td", "num") if "minus the null" in (td.attributes.get("title") or "")]
    for cell, ends, size in zip(
        nulls, ("−0.023 [−0.045, −0.002]", "+0.500 [+0.400, +0.600]"), (60, 58), strict=True
    ):
        assert cell.text.replace("\u00a0", " ").endswith(ends)
        assert cell.attributes["title"] == f"minus the null, paired, n = {size}"


def test_medians_of_signed_draws_are_said_to_be_noise(read: dict[str, Page], softmax: AuditCard) -> None:
    assert "mostly chance" in read["one"].all("main")[0].text
    assert "mostly chance" not in Page(audit_page([softmax])).all("main")[0].text


def test_cards_on_different_data_are_a_caution_and_not_compared(
    tanhmax: AuditCard, softmax: AuditCard
) -> None:
    other = replace(softmax, facts=softmax.facts | {"data": "imdb"})
    page = Page(audit_page([tanhmax, other]))
    assert "differ in their data" in page.all("p", "caution")[0].text
    assert "intervals overlap" not in page.all("table", "short")[0].text
    assert "intervals overlap" in Page(audit_page([tanhmax, softmax])).all("table", "short")[0].text


def test_weights_that_are_never_negative_have_no_gauge(tanhmax: AuditCard, softmax: AuditCard) -> None:
    def labels(*cards: AuditCard) -> set[str]:
        page = Page(audit_page(list(cards)))
        rows = {th.text.strip() for th in page.all("th") if "tbody" in th.above}
        legends = {span.text for p in page.all("p", "legend") for span in page.all("span")}
        return rows | {dt.text for dt in page.all("dt")} | legends

    softmax = replace(softmax, findings=[each for each in softmax.findings if not each.name.count("-raw")])
    assert {"attention", "weight a", "attention with gradient", "signed"} <= labels(softmax)
    assert not [each for each in labels(softmax) if "canonical" in each]
    assert {"attention, canonical gauge", "weight a, canonical gauge"} <= labels(tanhmax)
    both = labels(softmax, tanhmax)
    assert {"attention, canonical gauge", "weight a, canonical gauge"} <= both
    assert {"attention with gradient", "attention, canonical gauge with gradient"} <= both


def test_notes_and_unknown_facts_are_shown(tanhmax: AuditCard) -> None:
    more = {"weather": "<i>rain</i>", "recipe": {"optimizer": {"name": "sgd"}, "vectors": None}}
    page = Page(audit_page([replace(tanhmax, facts=tanhmax.facts | more)]))
    assert "(a < b & c)" in page.all("ul", "notes")[0].text
    assert "<i>rain</i>" in page.all("dl", "facts")[0].text
    (details,) = page.all("table", "facts")
    assert "recipe · optimizer · namesgd" in details.text
    assert "vectors" not in details.text


def test_tokens_sit_at_their_offsets_and_carry_their_numbers() -> None:
    told = Attribution(
        text="so  warm!",
        tokens=("[CLS]", "so", "warm"),
        ids=(1, 2, 3),
        words=(0, 1, 2),
        offsets=((0, 0), (0, 2), (4, 8)),
        scores=(0.9, -0.1, 0.4),
        signed=True,
        target="positive",
        predicted="positive",
        prediction=0.9,
        method="attention",
        contributions=(0.0, 0.05, -0.2),
    )
    page = Page(attribution_page([told]))
    so, warm = [mark for mark in page.all("mark") if "data-tip" in mark.attributes]
    assert (so.text, so.classes, so.attributes["style"]) == ("so", ["p"], "--a:0.25")
    assert (warm.text, warm.classes, warm.attributes["style"]) == ("warm", ["n"], "--a:1.00")
    assert warm.attributes["data-tip"] == "warm: weight +0.400, contribution −0.200"
    assert page.all("p", "text")[0].text.startswith("so  warm!")
    assert [cell.text for cell in page.all("td")][:2] == ["+0.900", "0.000"]
    assert "[CLS]" in [cell.text for cell in page.all("th")]


def test_featured_texts_have_own_scales_and_all_texts_of_a_card_one(tanhmax: AuditCard) -> None:
    pale = replace(tanhmax.highlights[0].attribution, contributions=(0.001,) * 11)
    strong = tanhmax.highlights[1]
    html = audit_page([replace(tanhmax, highlights=[Highlight("correct", "positive", pale, 0.5), strong])])
    marks = [mark for mark in Page(html).all("mark") if "data-tip" in mark.attributes]
    assert {mark.attributes["style"] for mark in marks[:11]} == {"--a:1.00"}
    assert {mark.attributes["style"] for mark in marks[len(marks) // 2 :][:11]} == {"--a:0.00"}
    assert "Each text has a scale of its own" in html
    assert "ll texts of a model share one scale" in html


def test_tables_are_tables(read: dict[str, Page]) -> None:
    for page in read.values():
        assert all(
            th.attributes.get("scope") in ("row", "col", "rowgroup", "colgroup") for th in page.all("th")
        )
        assert len(page.all("caption")) == len(page.all("table"))
        for drawing in page.all("svg"):
            assert drawing.attributes.get("aria-label") or drawing.attributes.get("aria-hidden")


def test_the_page_reads_from_the_top(tanhmax: AuditCard, read: dict[str, Page]) -> None:
    page = read["one"]
    (headline,) = page.all("h1")
    assert headline.text == tanhmax.conclusion.verdict
    said = page.all("main")[0].text
    order = [said.index(part) for part in ("speak for", "Predicted right", "Verdicts", "Everything else")]
    assert order == sorted(order)
    assert "“positive”" in page.all("h2")[0].text  # the class that colours speak for
    folded = [e for e in page.all("p", "text") if "details" not in e.above]
    assert len(folded) == LEADING
    assert all("details" in table.above for table in page.all("table") if "short" not in table.classes)


def test_each_audit_is_folded_under_its_answer(tanhmax: AuditCard, read: dict[str, Page]) -> None:
    summaries = {e.text.split()[0]: e.text for e in read["one"].all("summary")}
    assert "agrees moderately with gradients and weight removal" in summaries["Agreement"]
    assert "Shuffling the weights changes the answer" in summaries["Perturbation"]
    assert "Contributions distinguish positive from negative words" in summaries["Token"]


def test_first_texts_are_right_wrong_and_of_least_agreement(tanhmax: AuditCard) -> None:
    titles = [title for title, _ in leading_examples(examples([tanhmax]))]
    assert titles == ["Predicted right", "Predicted wrong", "Least agreement with weight removal"]
    right, wrong, least = [one for _, one in leading_examples(examples([tanhmax]))]
    assert (right.sides, wrong.sides) == (["right"], ["wrong"])
    known = [h.faithfulness for h in tanhmax.highlights if h.faithfulness is not None]
    assert least.faithfulness == min(known)
    always_right = [h for h in tanhmax.highlights if h.label == h.attribution.predicted]
    titles = [title for title, _ in leading_examples(examples([replace(tanhmax, highlights=always_right)]))]
    assert "Predicted wrong" not in titles
    assert len(titles) == len(set(titles)) == LEADING


def test_a_number_that_is_no_evidence_is_no_answer(tanhmax: AuditCard) -> None:
    name = "agreement.attention.erasure-renormalise.all"
    one_signed = [replace(f, **ONE_SIGNED.fields) if f.name == name else f for f in tanhmax.findings]
    card = replace(tanhmax, findings=one_signed, examples={}, tokens={})
    (row,) = [
        row for row in Page(audit_page([card])).all("tr") if "Does the sign of attention say" in row.text
    ]
    assert "all weights have one sign" in row.text
    assert number(card.finding(name).estimate) not in row.text
    assert "no evidence" in row.text
    fragment = card._repr_html_()
    assert number(card.finding(name).estimate) not in fragment[fragment.index("Does the sign of") :][:900]


def test_slices_of_one_kind_are_folded_together(tanhmax: AuditCard) -> None:
    whole = tanhmax.finding("perturbation.permutation.absolute.all")
    groups = ["all", "length 1-5", "length 6-10", "source New York", "1 to 16 tokens", "wrong"]
    sliced = replace(
        fake_cards.texts_alone(tanhmax), findings=[replace(whole, group=group) for group in groups]
    )
    page = Page(audit_page([sliced]))
    folds = [e.text for e in page.all("summary") if e.above.count("details") == 2]
    assert folds == ["By length", "By source", "By correctness", "Every verdict in words"]


def test_the_footer_says_what_made_the_page(tanhmax: AuditCard) -> None:
    dated = replace(fake_cards.texts_alone(tanhmax), facts=tanhmax.facts | {"date": "2026-11-22"})
    (footer,) = Page(audit_page([dated])).all("footer")
    for part in ("runs/sst2-tanhmax", "sst2 (test)", "0.1.0", "2026-11-22"):
        assert part in footer.text
