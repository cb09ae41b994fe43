"""How one number per token is taken from a map: by hand, through models, and as the authors' code does."""

import numpy as np
import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS
from closed_forms import TEXT, closed_form_bert
from glasshead.errors import InputError
from glasshead.explainers.explainer import find_explainer
from glasshead.explainers.readings import FROM, READINGS
from glasshead.huggingface import plug
from glasshead.trace import AttentionSelector
from optimus import MEAN_OF_HEADS, maps_of_a_formula
from planted_layers import KEYS, PlantedCase, layered_model, layered_texts
from readable import KINDS
from small import planted_model
from small import tokenizer as small_tokenizer
from tolerances import EXACT_MATHS, ONE_MODEL

COLUMNS = [name for name in READINGS if name != FROM]


@pytest.mark.parametrize("name", READINGS)
def test_it_is_read_as_the_authors_read_it(name):
    maps = maps_of_a_formula().mean(dim=(0, 1))[None]
    rows, real = torch.eye(6, dtype=maps.dtype)[:1], torch.ones(1, 6, dtype=torch.bool)
    ours = READINGS[name].read(maps, rows, real)[0, 1:-1]
    np.testing.assert_allclose(ours, MEAN_OF_HEADS[name], atol=1e-8)


@pytest.fixture(scope="module")
def closed_form():
    """A BERT, its tokenizer, and the maps [layer, head, n, n] of its text."""
    model, tokenizer = closed_form_bert()
    with torch.no_grad():
        maps = model(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions
    return plug(model, "softmax"), tokenizer, torch.cat(maps)


BY_HAND = {
    "from": lambda a: a[0],
    "to": lambda a: a[:, 0],
    "mean-columns": lambda a: a.mean(0),
    "mean-rows": lambda a: a.mean(1),
    "max-columns": lambda a: a.amax(0),
    "max-rows": lambda a: a.amax(1),
}


@pytest.mark.parametrize("name", READINGS)
def test_a_model_is_read_as_by_hand(closed_form, name):
    model, tokenizer, maps = closed_form
    combined = maps.mean(1)
    for operation, one in (("mean", combined.mean(0)), ("max", combined.amax(0)), ("min", combined.amin(0))):
        explainer = find_explainer(f"layer-{operation}+reading={name}")
        (own,) = explainer(model, tokenizer, [TEXT], attention_selector=AttentionSelector(row="first"))
        np.testing.assert_allclose(own.scores, BY_HAND[name](one), **EXACT_MATHS)
        assert own.method == f"layer-{operation}+reading={name}"


def test_from_is_what_is_read_without_an_option(closed_form):
    model, tokenizer, _ = closed_form
    names = "layer-mean", "layer-mean+reading=from"
    plain, named = (find_explainer(name)(model, tokenizer, [TEXT])[0] for name in names)
    assert plain.scores == named.scores
    assert plain.reading == named.reading


def test_several_rows_are_read_by_their_shares(closed_form):
    model, tokenizer, maps = closed_form
    (own,) = find_explainer("layer-mean+reading=to")(
        model, tokenizer, [TEXT], attention_selector=AttentionSelector(row="mean")
    )
    np.testing.assert_allclose(own.scores, maps.mean(dim=(0, 1)).mean(1), **EXACT_MATHS)
    assert "columns instead of rows (mean of all rows)" in own.reading


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("family", ["Bert", "GPT2"])
def test_padding_has_no_row_and_no_column(family, name):
    family = FAMILIES[family]
    options = {"tokenizer": family.tokenizer(), "method": f"layer-mean+reading={name}"}
    model = family.build()
    for own in glasshead.explain(model, [TEXTS[0], "good"], **options):
        (alone,) = glasshead.explain(model, own.text, **options)
        np.testing.assert_allclose(own.scores, alone.scores, **ONE_MODEL)


def test_a_mean_of_rows_that_sum_to_one_says_nothing():
    softmax, tanhmax = KINDS["bert"](), KINDS["encoder first"]()
    (own,) = find_explainer("layer-mean+reading=mean-rows")(
        softmax.model, softmax.tokenizer, softmax.texts[:1]
    )
    assert np.ptp(own.scores) < 1e-6
    assert "its mean orders nothing" in own.caveat
    signed = find_explainer("layer-mean+reading=mean-rows")(tanhmax.model, tanhmax.tokenizer, tanhmax.texts)
    assert max(np.ptp(one.scores) for one in signed) > 1e-3
    assert all(one.caveat is None for one in signed)


def test_columns_show_the_word_that_only_another_token_looks_at():
    """[SEP] looks at it and hands it on; neither the row that is read nor random numbers have it."""
    case = PlantedCase(*layered_model("[SEP]"), layered_texts(20))
    found = {
        name: case.ranks(name, KEYS)
        for name in (*(f"layer-mean+reading={name}" for name in READINGS), "random")
    }
    assert found["layer-mean+reading=max-columns"] == found["layer-mean+reading=mean-columns"] == [0] * 20
    for name in ("layer-mean+reading=from", "layer-mean+reading=mean-rows", "random"):
        assert sum(rank == 0 for rank in found[name]) < 10, name


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("family", ["Bart", "T5"])
def test_a_decoder_has_no_square_map(family, name):
    family = FAMILIES[family]
    with pytest.raises(
        InputError, match=rf"'layer-max\+reading={name}' reads self-attention only: use 'attention'"
    ):
        glasshead.explain(
            family.build(), TEXTS[0], tokenizer=family.tokenizer(), method=f"layer-max+reading={name}"
        )


def test_a_learned_query_is_no_token():
    with pytest.raises(InputError, match="use 'attention'"):
        find_explainer("layer-mean+reading=to")(planted_model("softmax"), small_tokenizer(), ["good film"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("layer-mean+reading=columns", "unknown reading 'columns': did you mean 'max-columns'"),
        ("layer-mean+reading=1", "unknown reading 1.0: choose from"),
        ("layer-mean+depth=to", "'layer-mean' has no option 'depth': it has 'reading'"),
        ("layer-mean+reading", "has the form name=value"),
        ("rollout+discard=to", "discard must be a share from 0 to below 1, not to"),
    ],
)
def test_options_that_mean_nothing_are_refused(name, said):
    with pytest.raises(InputError) as refused:
        find_explainer(name)
    assert said in str(refused.value)
