"""Attention sinks in an image that is read with a text are found where they are planted, and marked."""

import copy

import pytest
import torch

import glasshead
from glasshead.report import sink_in_words, written_page
from glasshead.report.picture_panels import largest_in_image, read_pictures
from glasshead.report.written_words import facts_in_words
from image_text_families import build, photo
from planted_sink import with_image_sink

pytestmark = pytest.mark.usefixtures("quiet")
PLACE, QUESTION = 5, "what is the cat doing ?"
PROMPT = {"image": photo(), "text": QUESTION}


def planted(**options):
    model, processor = build("llava")
    return with_image_sink(copy.deepcopy(model), PLACE, **options), processor


def explained(method="attention", unit="word", **options):
    model, processor = planted(**options)
    (one,) = glasshead.explain(model, [PROMPT], tokenizer=processor, method=method, unit=unit)
    return one


@pytest.mark.parametrize("unit", ["word", "token"])
def test_what_every_head_looks_at_and_nothing_is_read_from_is_a_sink(unit):
    one = explained(unit=unit)
    assert one.image_sinks == (PLACE,)
    assert one.scores[PLACE] > 5 * max(one.scores[:PLACE])
    assert "on row 2, column 2, an attention sink in the image" in sink_in_words(one)


def test_what_every_head_looks_at_and_the_prediction_needs_is_none():
    one = explained(empty=False)
    assert one.scores[PLACE] > 5 * max(one.scores[:PLACE])
    assert one.image_sinks == ()
    assert sink_in_words(one) == ""


def test_models_with_random_weights_have_hardly_any():
    model, processor = build("llava")
    photos, found = [{"image": photo(seed=seed), "text": QUESTION} for seed in range(3)], []
    for seed in range(10):
        torch.manual_seed(seed)
        random = copy.deepcopy(model)
        with torch.no_grad():
            for weight in random.parameters():
                if weight.ndim > 1:
                    weight.normal_(0.0, 1.0 if seed % 2 else 0.2)
        found += [one.image_sinks for one in glasshead.explain(random, photos, tokenizer=processor)]
    assert sum(map(bool, found)) <= 1


def test_weights_of_other_methods_have_none():
    assert explained(method="gradient-l2").image_sinks == ()


def test_colours_of_weights_leave_it_out_and_a_mark_says_where_it_is():
    one = explained()
    weights = copy.copy(one)
    object.__setattr__(weights, "contributions", None)  # else these are the colours
    assert weights.off_scale == {PLACE}
    others = [score for place, score in enumerate(one.scores[:16]) if place != PLACE]
    assert largest_in_image(weights, weights.colours) == pytest.approx(max(others))
    ((panel,),) = (picture.panels for picture in read_pictures(weights, 1.0))
    assert panel.sinks == (PLACE,)
    assert panel.shares[PLACE] is None
    # A contribution shows what is read there: it keeps its colour.
    ((panel,),) = (picture.panels for picture in read_pictures(one, 1.0))
    assert panel.sinks == (PLACE,)
    assert panel.shares[PLACE] is not None


def test_pages_and_pictures_mark_it(tmp_path):
    model, processor = planted()
    attributions = glasshead.explain(model, [PROMPT], tokenizer=processor)
    attributions.save(tmp_path / "page.html")
    attributions.save(tmp_path / "picture.png")
    page = (tmp_path / "page.html").read_text()
    assert page.count('class="sink"') == 1
    assert "an attention sink in the image" in page


def test_a_sink_of_a_written_answer_is_apart_on_its_page():
    model, processor = planted()
    written = glasshead.generate(model, PROMPT, tokenizer=processor, tokens=3, strategy="greedy")
    whole = written.with_maps(["attention", "erasure-mean-embedding"], heads=True)
    assert whole.image_sinks == (PLACE,)
    assert written.explain("attention").row(0).sink is None
    assert written_page(whole).count('class="sink"') == 1
    assert "an attention sink in the image" in " ".join(facts_in_words(whole))
    other, processor = planted(empty=False)
    written = glasshead.generate(other, PROMPT, tokenizer=processor, tokens=3, strategy="greedy")
    assert written.with_maps(["attention"]).image_sinks == ()
    assert written.with_maps(["erasure-mean-embedding"]).image_sinks == ()
