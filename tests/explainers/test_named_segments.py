"""Parts of a text that somebody marks or names are units, as words are."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import glasshead
from classifier_families import FAMILIES
from glasshead.cli.app import app
from glasshead.data import encode, find_segments, strip_marks, with_segments
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from planted_answers import planted

TEXT = "the plot is not very good here"
MARKED = "the <<plot is>> not <<very good>> here"
UNITS = ["the", "plot is", "not", "very good", "here"]
PARTS = ["plot is", "very good"]
ADD_UP = ("attention", "gradient", "rollout")


def classifier():
    return FAMILIES["Bert"].build(labels=2), FAMILIES["Bert"].tokenizer()


def units_of(one):
    """The tokens of a text, without those around it."""
    return [token for token, word in zip(one.tokens, one.words, strict=True) if word >= 0]


def numbers_of(one):
    """Their numbers."""
    return [score for score, word in zip(one.scores, one.words, strict=True) if word >= 0]


@pytest.mark.parametrize("method", sorted(set(EXPLAINERS) - {"captum:deep-lift"}))
def test_every_method_has_a_number_for_each_segment(method):
    model, tokenizer = classifier()
    options = {"tokenizer": tokenizer, "method": method, "target": 1}
    try:
        (words,) = glasshead.explain(model, TEXT, **options)
    except InputError:  # not for this model
        with pytest.raises(InputError):
            glasshead.explain(model, TEXT, segments=PARTS, **options)
        return
    (named,) = glasshead.explain(model, TEXT, segments=PARTS, **options)
    (marked,) = glasshead.explain(model, MARKED, unit="segment", **options)
    assert units_of(named) == UNITS
    assert (named.text, named.prediction) == (TEXT, words.prediction)
    assert named == marked
    assert [TEXT[start:end] for start, end in marked.offsets if end > start] == UNITS
    if method in ADD_UP:
        the, plot, is_, not_, very, good, here = numbers_of(words)
        sums = [the, plot + is_, not_, very + good, here]
        assert numbers_of(named) == pytest.approx(sums, abs=1e-6)


def test_a_segment_is_erased_at_once():
    model, tokenizer = classifier()
    (one,) = glasshead.explain(
        model, TEXT, tokenizer=tokenizer, segments=PARTS, method="erasure-delete", target=1
    )

    def probability(text):
        with torch.no_grad():
            return model(**tokenizer(text, return_tensors="pt")).logits.softmax(dim=-1)[0, 1].item()

    without = [" ".join(UNITS[:place] + UNITS[place + 1 :]) for place in range(len(UNITS))]
    expected = [probability(TEXT) - probability(text) for text in without]
    assert numbers_of(one) == pytest.approx(expected, abs=1e-6)


def test_segments_of_a_prompt_and_tokens_of_its_answer():
    model, tokenizer, _ = planted()
    options = {"tokenizer": tokenizer, "answer": " so warm", "method": "erasure-mean-embedding"}
    found = glasshead.explain(model, ["the <<good plot>> here", "a <<film>>"], unit="segment", **options)
    assert [one.text for one in found] == [
        "the good plot here so warm", "the good plot here so", "the good plot here so warm",
        "a film so warm", "a film so", "a film so warm",
    ]  # fmt: skip
    assert [one.tokens[:3] for one in found[:3]] == [("the", "good plot", "here")] * 3
    assert all(one.tokens[:2] == ("a", "film") for one in found[3:])
    assert abs(found[0].scores[1]) > 1 > max(map(abs, found[0].scores[3:]))


def test_the_second_text_of_a_pair_has_segments_too():
    model, tokenizer = classifier()
    (one,) = glasshead.explain(
        model, "the <<plot is>> good", pairs=["<<very good>> here"], tokenizer=tokenizer, unit="segment"
    )
    assert units_of(one) == ["the", "plot is", "good", "very good", "here"]
    assert one.text == "the plot is good\nvery good here"
    (named,) = glasshead.explain(
        model, "the plot is good", pairs=["very good here"], tokenizer=tokenizer, segments=PARTS
    )
    assert named == one


class TestPlantedTruth:
    @staticmethod
    def share_found(method):
        """How often the segment with the deciding word, of three, has the largest number."""
        model, tokenizer, (prompts, answers, deciding) = planted()
        found = []
        for prompt, answer, word in zip(prompts, answers, deciding, strict=True):
            if word not in ("good", "bad"):
                continue
            words = prompt.split()
            parts = [" ".join(words[start : start + 2]) for start in (0, 2, 4)]
            (one, *_) = glasshead.explain(
                model,
                " ".join(f"<<{part}>>" for part in parts),
                tokenizer=tokenizer,
                answer=answer,
                unit="segment",
                method=method,
            )
            assert list(one.tokens[:3]) == parts
            found.append(word in parts[int(np.argmax(one.scores[:3]))].split())
        assert len(found) > 30
        return np.mean(found)

    def test_erasure_finds_the_segment_that_decides(self):
        assert self.share_found("erasure-mean-embedding") > 0.95

    def test_random_numbers_do_not(self):
        assert self.share_found("random") < 0.6

    def test_words_that_matter_only_together_are_found_as_a_segment(self):
        model, tokenizer, _ = planted()
        options = {"tokenizer": tokenizer, "answer": " so warm", "method": "erasure-mean-embedding"}
        (words, *_) = glasshead.explain(model, "a film good good the plot", **options)
        (whole, *_) = glasshead.explain(model, "a film good good the plot", segments="good good", **options)
        assert max(map(abs, words.scores)) < 0.1  # one is enough
        assert whole.tokens[2] == "good good"
        assert whole.scores[2] > 3
        assert max(map(abs, (*whole.scores[:2], *whole.scores[3:]))) < 0.1


class TestMarks:
    @given(parts=st.lists(st.text("ab ", min_size=1).filter(str.strip), min_size=1, max_size=4))
    def test_marks_are_taken_out_and_the_rest_stays(self, parts):
        text = "x ".join(f"<<{part}>>" for part in parts)
        plain, spans = strip_marks(text)
        assert plain == "x ".join(parts)
        assert [plain[start:end] for start, end in spans] == parts

    @pytest.mark.parametrize("text", ["a <<b", "a b>>", "a <<b <<c>> d>>", "a >>b<<"])
    def test_a_mark_alone_is_refused(self, text):
        with pytest.raises(InputError, match="is not closed"):
            strip_marks(text)

    @pytest.mark.parametrize("text", ["a <<>> b", "a << >> b"])
    def test_nothing_is_no_segment(self, text):
        with pytest.raises(InputError, match="is empty"):
            strip_marks(text)

    def test_marks_are_text_unless_segments_are_asked_for(self):
        model, tokenizer = classifier()
        (one,) = glasshead.explain(model, MARKED, tokenizer=tokenizer)
        assert one.text == MARKED


def test_a_token_of_a_segment_and_of_what_is_around_it_is_the_segments():
    tokenizer = FAMILIES["Bert"].tokenizer()
    text = "the plot is good"
    encoded = with_segments(encode(tokenizer, [text]), [text], [[(6, 11)]])  # "ot is"
    assert encoded.words[0].tolist() == [-1, 0, 1, 1, 2, -1]


def test_every_place_of_a_named_part_is_a_segment():
    text = "the plot is the plot"
    assert find_segments(text, ["the plot"]) == [(0, 8), (12, 20)]
    model, tokenizer = classifier()
    (one,) = glasshead.explain(model, text, tokenizer=tokenizer, segments="the plot")
    assert units_of(one) == ["the plot", "is", "the plot"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segments": ["plot is", "is not"]}, "share letters"),
        ({"segments": "music"}, "not in any text"),
        ({"segments": " "}, "empty part"),
        ({"segments": PARTS, "unit": "token"}, "leave `unit` out"),
        ({"unit": "segment", "level": "sentence"}, "leave `level` out"),
        ({"unit": "segment"}, "mark a part"),
    ],
)
def test_what_cannot_be_a_segment(options, message):
    model, tokenizer = classifier()
    with pytest.raises(InputError, match=message):
        glasshead.explain(model, TEXT, tokenizer=tokenizer, **options)


def test_a_segment_that_is_cut_off_is_refused():
    model, tokenizer = classifier()
    tokenizer.model_max_length = 6
    with pytest.raises(InputError, match="no token of its own"):
        glasshead.explain(model, TEXT, tokenizer=tokenizer, segments="good here")


def test_two_texts_that_differ_in_their_marks_are_told_from_each_other_or_refused():
    model, tokenizer = classifier()
    with pytest.raises(InputError, match="one at a time"):
        glasshead.explain(
            model, [MARKED, "<<the plot>> is not very good here"], tokenizer=tokenizer, unit="segment"
        )
    own, reader, _ = planted()
    with pytest.raises(InputError, match="one at a time"):
        glasshead.explain(
            own, ["a <<film>>", "<<a film>> so"], tokenizer=reader, unit="segment", answer=" so warm"
        )


def test_segments_on_the_command_line(tmp_path):
    model, tokenizer, _ = planted()
    model.save_pretrained(tmp_path / "planted")
    tokenizer.save_pretrained(tmp_path / "planted")
    asked = ["explain", str(tmp_path / "planted"), "--answer", " so warm", "--method", "gradient"]
    for typed in (
        ["the plot is good here", "--segment", "plot is", "--segment", "good here"],
        ["the <<plot is>> <<good here>>", "--unit", "segment"],
    ):
        printed = CliRunner().invoke(app, [*asked, *typed])
        assert printed.exit_code == 0, printed.output
        assert "plot is" in printed.output.split("log p")[-1]
