"""`glasshead.explain`: any model, one line."""

import json

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS, planted
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, by_word, find_explainer
from glasshead.explainers.explainer import ELSEWHERE


@pytest.fixture(scope="module")
def bert():
    model = FAMILIES["Bert"].build(id2label={0: "bad", 1: "fair", 2: "good"})
    return model, FAMILIES["Bert"].tokenizer()


def test_a_model_in_memory_a_folder_and_a_pipeline_are_explained_alike(bert, tmp_path):
    model, tokenizer = bert
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    classify = hf.pipeline("text-classification", model=model, tokenizer=tokenizer)
    options = {"method": "gradient", "target": "good"}
    alike = [
        glasshead.explain(model, TEXTS, tokenizer=tokenizer, **options),
        glasshead.explain(str(tmp_path), TEXTS, **options),
        glasshead.explain(classify, TEXTS, **options),
        glasshead.explain(glasshead.open(tmp_path), TEXTS, **options),
    ]
    subject = glasshead.open(model, tokenizer)
    direct = EXPLAINERS["gradient"](subject.model, subject.tokenizer, TEXTS, target="good")
    for attributions in alike:
        assert len(attributions) == len(TEXTS)
        for attribution, expected in zip(attributions, map(by_word, direct), strict=True):
            assert attribution.target == "good"
            torch.testing.assert_close(attribution.scores, expected.scores, rtol=1e-4, atol=1e-6)


def test_options_say_what_is_read(bert):
    (attribution,) = glasshead.explain(
        *bert[:1],
        TEXTS[0],
        tokenizer=bert[1],
        layer=0,
        head=1,
        row="mean",
        labels={0: "negative"},
        target=0,
    )
    assert attribution.target == "negative"
    assert "layer 0" in attribution.reading
    assert "head 1" in attribution.reading
    (ranged,) = glasshead.explain(bert[0], TEXTS[0], tokenizer=bert[1], intervals=True)
    assert ranged.intervals is not None


def test_texts_without_words_are_left_out_and_said(bert):
    attributions = glasshead.explain(bert[0], ["", "a film", "zzz"], tokenizer=bert[1])
    assert [attribution.text for attribution in attributions] == ["a film"]
    assert attributions.skipped == ((0, "the text is empty"), (2, "the model knows no word of 'zzz'"))


def test_pairs_are_two_texts_of_one_model(bert):
    attributions = glasshead.explain(bert[0], "a film", pairs="a plot", tokenizer=bert[1])
    assert attributions[0].text == "a film\na plot"


def test_refusals_are_one_line(bert):
    model, tokenizer = bert
    refusals = {
        "has no option 'lyer'": {"lyer": 1},
        "unknown explainer": {"method": "attenton"},
        "no class 'great'": {"target": "great"},
        "needs its tokenizer": {"tokenizer": None},
        "2 texts need as many second texts": {"pairs": ["one"]},
        "there is nothing to explain": {"texts": []},
        "a text must be a string, not 3": {"texts": iter([3])},
        "a text must be a string, not b'a film'$": {"texts": b"a film"},
        "a text must be a string, not bytearray": {"texts": bytearray(b"a film")},
        "a text must be a string, not {'text': 'a film'}": {"texts": {"text": "a film"}},
        "`trust_remote_code` must be True or False": {"trust_remote_code": "no"},
        "`head` must be a number, mean, max, min or sum": {"head": "first"},
        "`labels` must be a mapping of names to values": {"labels": ["bad", "good"]},
    }
    for says, options in refusals.items():
        with pytest.raises(InputError, match=says) as refusal:
            glasshead.explain(model, **({"texts": ["a", "b"], "tokenizer": tokenizer} | options))
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("target", ["1", "3"])
def test_a_class_that_is_called_by_digits_is_meant_by_its_name(target):
    family = FAMILIES["Bert"]
    model, tokenizer = family.build(labels=3, id2label={0: "1", 1: "2", 2: "3"}), family.tokenizer()
    (one,) = glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, target=target)
    (other,) = glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, target=int(target) - 1)
    assert one.target == other.target == target
    torch.testing.assert_close(one.scores, other.scores)


def test_two_threads_explain_with_one_model(bert):
    from concurrent.futures import ThreadPoolExecutor

    model, tokenizer = bert
    alone = [glasshead.explain(model, text, tokenizer=tokenizer) for text in TEXTS]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda text: glasshead.explain(model, text, tokenizer=tokenizer), TEXTS * 3))
    for index, attributions in enumerate(together):
        torch.testing.assert_close(attributions[0].scores, alone[index % len(TEXTS)][0].scores)


def test_as_rows_and_as_json(bert, tmp_path):
    attributions = glasshead.explain(bert[0], TEXTS, tokenizer=bert[1], method="erasure-delete")
    table = attributions.to_pandas()
    assert len(table) == sum(len(each.tokens) for each in attributions)
    assert table[table.text == 0].token.tolist() == list(attributions[0].tokens)
    assert [each["text"] for each in json.loads(attributions.to_json())] == TEXTS
    attributions.save(tmp_path / "all.html")
    attributions[0].save(tmp_path / "one.json")
    assert "warm</mark>" in (tmp_path / "all.html").read_text()
    assert json.loads((tmp_path / "one.json").read_text())["text"] == TEXTS[0]
    with pytest.raises(InputError, match=r"ends with none of \.html, \.json"):
        attributions.save(tmp_path / "all.txt")
    with pytest.raises(InputError, match="exists"):
        attributions.save(tmp_path / "all.html")
    assert len(repr(attributions)) < 150 * len(TEXTS)
    assert attributions[1:][0] is attributions[1]


def strongest(attribution):
    sizes = [abs(score) for score in attribution.scores]
    return attribution.tokens[sizes.index(max(sizes))]


FAITHFUL = [
    "attention",
    "contribution",
    "gradient",
    "gradient-after-norm",
    "erasure",
    "erasure-renormalise",
    "erasure-delete",
    "erasure-mask-token",
]


def test_a_planted_token_is_found_by_every_faithful_method_and_not_by_chance():
    model, tokenizer = planted("funny")
    texts = ["the film was funny and not bad", "a funny plot , a dull film", "very good is not funny"]

    def found(method):
        attributions = glasshead.explain(model, texts, tokenizer=tokenizer, method=method, target=1)
        return [strongest(attribution) for attribution in attributions]

    for method in FAITHFUL:
        assert found(method) == ["funny"] * 3, method
    assert found("random") != ["funny"] * 3


def test_a_row_that_nothing_reads_is_said_and_not_silently_zero(bert):
    bart = FAMILIES["Bart"].build(), FAMILIES["Bart"].tokenizer()
    for (model, tokenizer), unread, read in ((bart, "first", "last"), (bert, "last", "first")):
        said = {
            row: glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="contribution", row=row)
            for row in (unread, read)
        }
        assert not any(map(any, (each.scores for each in said[unread])))
        assert "does not use the row you chose" in said[unread].notes[-1]
        assert not any("does not depend" in note for note in said[read].notes)


@pytest.mark.parametrize("method", ["attention", "contribution", "effective-attention", "random"])
def test_a_target_function_that_changes_nothing_is_refused(bert, method):
    with pytest.raises(InputError, match="leave `target_fn` out"):
        glasshead.explain(bert[0], TEXTS, tokenizer=bert[1], method=method, target_fn="logit")


def test_names_of_other_libraries_lead_to_methods():
    assert {*ELSEWHERE.values()} <= {*EXPLAINERS}
    assert not {*ELSEWHERE} & {*EXPLAINERS}
    with pytest.raises(InputError, match="did you mean 'captum:integrated-gradients'"):
        find_explainer("IG")
    with pytest.raises(InputError, match="did you mean 'gradient'"):
        find_explainer("input_x_gradient")


@pytest.mark.parametrize("name", ["Bert", "GPT2"])
def test_layers_are_counted_from_the_last_one_too(name):
    family = FAMILIES[name]
    model, tokenizer = family.build(), family.tokenizer()

    def scores(layer):
        (own,) = glasshead.explain(model, TEXTS[:1], tokenizer=tokenizer, method="attention", layer=layer)
        return own.scores

    count = model.config.num_hidden_layers
    assert count > 1
    for layer in range(count):
        assert scores(layer - count) == pytest.approx(scores(layer))
    assert scores(-1) != pytest.approx(scores(0))
    with pytest.raises(InputError, match=f"there is no attention layer {-count - 1}"):
        scores(-count - 1)
