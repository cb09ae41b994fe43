"""Explanations whose products are of halves: how far their scores are from those in float32."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import glasshead
from classifier_families import FAMILIES, TEXTS, labelled_data, planted
from glasshead.cli.app import app
from glasshead.errors import InputError
from glasshead.explainers.explainer import ResolvedTargets
from glasshead.explainers.noise_floor import with_floor
from glasshead.huggingface import products_of
from writers import PROMPT, small_writer

pytestmark = pytest.mark.usefixtures("quiet")


def opened(name):
    return FAMILIES[name].build(), FAMILIES[name].tokenizer()


def floor_in(notes):
    """The number in the note on halves."""
    (note,) = (one for one in notes if one.startswith("products in "))
    return float(note.partition("float32 by up to ")[2].partition(",")[0])


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
@pytest.mark.parametrize("method", ["attention", "gradient-after-norm", "erasure-mean-embedding", "rollout"])
def test_scores_are_those_of_float32_but_for_the_floor(half, method):
    model, tokenizer = opened("Bert")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    options = {"tokenizer": tokenizer, "method": method, "target": 0}
    fine = glasshead.explain(model, TEXTS, dtype="float32", **options)
    coarse = glasshead.explain(model, TEXTS, dtype=half, **options)
    floor = floor_in(coarse.notes)
    assert floor > 0
    gaps = [
        np.abs(np.subtract(one.scores, other.scores)).max() for one, other in zip(fine, coarse, strict=True)
    ]
    assert max(gaps) <= 1.05 * floor  # the note has two digits
    assert all((weight == before[name]).all() for name, weight in model.state_dict().items())


def test_the_floor_of_eight_texts_is_about_that_of_all():
    """Beyond the texts on which it was measured most scores differ by less."""
    model, tokenizer = opened("Bert")
    texts = [f"{text} {word}" for word in ("film", "dull", "star", "good", "plot") for text in TEXTS]
    options = {"tokenizer": tokenizer, "method": "gradient-after-norm", "target": 0}
    fine = glasshead.explain(model, texts, dtype="float32", **options)
    coarse = glasshead.explain(model, texts, dtype="bfloat16", **options)
    floor = floor_in(coarse.notes)
    gaps = [np.abs(np.subtract(one.scores, other.scores)) for one, other in zip(fine, coarse, strict=True)]
    assert len(gaps) > 12
    assert np.mean(np.concatenate(gaps[8:]) <= floor) >= 0.95


def test_scores_stay_as_they_are():
    """Rounding them to a grid would make no ties: two scores on both sides of an edge stay apart."""
    model, tokenizer = opened("Bert")
    scores = glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="bfloat16", target=0)[0].scores
    assert len(set(scores)) == len(scores)


def test_float32_explains_the_classes_that_halves_predict(monkeypatch):
    """Where halves change a prediction, scores of two classes are not compared."""
    model, tokenizer = FAMILIES["Bert"].build(labels=3), FAMILIES["Bert"].tokenizer()
    resolved = []
    own = ResolvedTargets.resolve

    def resolve(self, method, rows, context):
        if products_of(context.model) is not None:  # as if halves had predicted another class
            context = context.towards((context.target + 1) % 3)
        context = own(self, method, rows, context)
        resolved.append(context.target.tolist())
        return context

    monkeypatch.setattr(ResolvedTargets, "resolve", resolve)
    glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="bfloat16", method="gradient")
    coarse, fine = resolved
    assert fine == coarse[: len(fine)]
    assert fine != glasshead_targets(model, tokenizer)


def glasshead_targets(model, tokenizer):
    """The classes that float32 predicts."""
    explained = glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="float32", method="gradient")
    return [model.config.label2id[one.target] for one in explained]


def overflowing():
    """A model whose logits go beyond 65,504."""
    model, tokenizer = FAMILIES["Bert"].build(labels=2), FAMILIES["Bert"].tokenizer()
    model.config.id2label = {0: "bad", 1: "good"}
    with torch.no_grad():
        model.classifier.weight.mul_(1e7)
    return model, tokenizer


def test_what_overflows_in_float16_says_so():
    model, tokenizer = overflowing()
    with pytest.raises(InputError, match="the model overflows in float16: use `dtype='bfloat16'`"):
        glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="float16")
    with pytest.raises(InputError, match="the model overflows in float16"):
        glasshead.audit(
            model, labelled_data(20), tokenizer=tokenizer, dtype="float16", audits=["performance"]
        )
    assert glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="bfloat16")


def test_the_first_texts_alone_are_computed_twice(monkeypatch):
    model, tokenizer = opened("Bert")
    texts = [f"{text} film" for text in TEXTS * 6]
    coarse = glasshead.explain(model, texts, tokenizer=tokenizer, dtype="bfloat16")
    assert len(coarse) == len(texts) > 8
    assert any("on 8 texts the scores differ" in note for note in coarse.notes)


def test_texts_that_cannot_be_read_are_not_those():
    model, tokenizer = opened("Bert")
    coarse = glasshead.explain(model, ["", *TEXTS], tokenizer=tokenizer, dtype="bfloat16")
    assert [number for number, _ in coarse.skipped] == [0]
    assert any(f"on {len(TEXTS)} texts" in note for note in coarse.notes)


def test_the_planted_token_stays_first():
    model, tokenizer = planted("funny")
    (one,) = glasshead.explain(
        model, ["a funny film of one star"], tokenizer=tokenizer, dtype="bfloat16", method="erasure-delete"
    )
    assert one.tokens[int(np.abs(one.scores).argmax())] == "funny"


def test_where_no_two_scores_are_distinguishable_a_note_says_so():
    model, tokenizer = opened("Bert")
    explained = glasshead.explain(model, TEXTS[:1], tokenizer=tokenizer, method="random")
    (exact,) = explained
    shifted = [replace(exact, scores=tuple(score + 10 for score in exact.scores))]
    noted = with_floor(explained, shifted, "bfloat16")
    assert noted[0].scores == exact.scores
    assert any(
        "the noise floor; differences below 20 are not distinguishable" in note for note in noted.notes
    )
    assert noted.notes[-1] == "no two scores of these are distinguishable in bfloat16"
    same = with_floor(explained, [exact], "bfloat16")
    assert same.notes[-1] == "products in bfloat16: on 1 text the scores are those of float32"


def test_a_next_token_and_a_given_answer_are_explained_in_halves():
    model, tokenizer = small_writer()
    for asked in ({}, {"answer": " of it"}):
        coarse = glasshead.explain(model, PROMPT, tokenizer=tokenizer, dtype="bfloat16", **asked)
        assert floor_in(coarse.notes) >= 0


def test_intervals_and_what_is_opened_need_finer_numbers():
    model, tokenizer = opened("Bert")
    with pytest.raises(InputError, match="intervals need more than half precision"):
        glasshead.explain(model, TEXTS, tokenizer=tokenizer, dtype="float16", intervals=True)
    with pytest.raises(InputError, match="`dtype` bfloat16 is not supported here: use float32 or float64"):
        glasshead.open(model, tokenizer, dtype="bfloat16")


def test_as_it_is_typed(tmp_path):
    model, tokenizer = opened("Bert")
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    result = CliRunner().invoke(app, ["explain", str(tmp_path / "model"), TEXTS[0], "--dtype", "bfloat16"])
    assert result.exit_code == 0, result.output
    assert "products in bfloat16: on 1 text the scores differ" in result.output
    refused = CliRunner().invoke(app, ["explain", str(tmp_path / "model"), TEXTS[0], "--dtype", "int8"])
    assert refused.exit_code == 2
    assert "--dtype knows no 'int8'" in refused.stderr
