"""What holds for a classifier of any family: every method and audit, in a batch as alone, and untouched."""

import inspect

import pytest
import torch
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES, TEXTS, labelled_data
from family_table import METHODS, YES, read_exceptions, row_of, without_names
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, explain_texts
from glasshead.opening import open_subject
from glasshead.requests import MethodRequest
from glasshead.trace import record
from model_state import model_state
from tolerances import ALL_LAYERS, EXACT_MATHS

TABLE = read_exceptions()


def of_families(*quick):
    """Every family; all but some are slow."""
    families = pytest.mark.parametrize(
        "family",
        [
            pytest.param(family, id=name, marks=() if name in quick else pytest.mark.slow)
            for name, family in FAMILIES.items()
        ],
    )
    return lambda test: pytest.mark.grid(8)(families(test))


each_family = of_families("Bert", "GPT2", "DebertaV2")


def row(family):
    return TABLE[family.config.model_type]


def is_open(family):
    """Whether a family is read at all, in whatever way."""
    return row(family)["random"] == YES


def test_the_page_has_every_family_and_every_capability():
    assert list(TABLE) == [family.config.model_type for family in FAMILIES.values()]
    # The rules of DeepLift know no attention; four methods are for one stack of layers, three for post-norm.
    of_one_stack = ("layer-chosen", "alti", "value-norm-residual", "value-zeroing")
    partial = dict.fromkeys(("captum:deep-lift", *of_one_stack), YES)
    complete = [name for name, row in TABLE.items() if set((row | partial).values()) == {YES}]
    assert YES not in {row["captum:deep-lift"] for row in TABLE.values()}
    post_norm = {name for name, row in TABLE.items() if row["alti"] == YES}
    assert post_norm == {"bert", "roberta", "distilbert", "albert", "electra", "xlm-roberta", "camembert"}
    assert {"bert", "roberta", "distilbert", "albert", "electra", "modernbert", "bart", "gpt2"} < {*complete}
    assert {"llama", "qwen3", "xlm-roberta", "camembert", "t5", "gpt_neox", "opt", "mistral"} < {*complete}


@pytest.mark.slow
@of_families("MPNet")
def test_the_page_says_what_the_family_can_do(family):
    """But for the methods of a family that is open: below, each of them has to keep more promises."""
    told = row_of(family, () if is_open(family) else METHODS)
    assert set(row(family)) - set(told) == (set(METHODS) if is_open(family) else set())
    assert {name: row(family)[name] for name in told} == told


@pytest.mark.slow
@of_families("Bert")
def test_every_method_explains_a_batch_as_each_text_and_leaves_the_model_as_it_was(family):
    model, tokenizer = family.build().train(), family.tokenizer()
    before = model_state(model, tokenizer)
    if is_open(family):
        subject = open_subject(model, tokenizer)
        for method in METHODS:
            check_method(method, subject, row(family)[method])
    else:
        with pytest.raises(InputError):
            open_subject(model, tokenizer)
    assert model_state(model, tokenizer) == before


def check_method(method, subject, expected):
    """Refused for the reason that the table gives, else the same for a batch as for each text."""
    request = MethodRequest(method=method)
    if expected != YES:
        with pytest.raises(InputError) as refused:
            explain_texts(subject, TEXTS, None, request)
        assert without_names(str(refused.value)) == expected
        return
    for text, attribution in zip(TEXTS, explain_texts(subject, TEXTS, None, request), strict=True):
        (alone,) = EXPLAINERS[method](subject.model, subject.tokenizer, [text])
        assert attribution.tokens == alone.tokens
        torch.testing.assert_close(attribution.scores, alone.scores, **ALL_LAYERS, msg=method)


@pytest.mark.slow
@of_families("Bert")
def test_audits_read_a_batch_as_each_text_whichever_side_is_padded(family):
    if row(family)["agreement"] != YES:
        pytest.skip(row(family)["agreement"])
    model, tokenizer = family.build(labels=2, id2label={0: "bad", 1: "good"}), family.tokenizer()
    inputs = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(inputs).logits
    before = model_state(model, tokenizer)
    data = labelled_data(3)

    def columns(some: Dataset):
        """What is known of each text; nulls are drawn, each text has draws of its own."""
        names = ["agreement", *(["identifiability"] if row(family)["identifiability"] == YES else [])]
        card = glasshead.audit(model, some, tokenizer=tokenizer, audits=names)
        kept = ("tau.", "focus.", "maps.", "probability", "max_weight")
        return {
            name: torch.tensor([float("nan") if value is None else value for value in values])
            for name, values in card.examples.items()
            if name.startswith(kept) and ".null." not in name
        }

    together = columns(data)
    assert len(together) > 10
    alone = [columns(data.select([index])) for index in range(3)]
    for name, values in together.items():
        expected = torch.cat([text[name] for text in alone])
        torch.testing.assert_close(values, expected, **ALL_LAYERS, equal_nan=True, msg=name)
    tokenizer.padding_side = "left"
    for name, values in columns(data).items():
        torch.testing.assert_close(values, together[name], **EXACT_MATHS, equal_nan=True, msg=name)
    tokenizer.padding_side = "right"
    assert model_state(model, tokenizer) == before
    with torch.no_grad():
        assert torch.equal(model(inputs).logits, logits)


@each_family
def test_what_is_predicted_is_what_the_model_predicts(family):
    if not is_open(family):
        pytest.skip(row(family)["random"])
    model, tokenizer = family.build(), family.tokenizer()
    subject = open_subject(model, tokenizer)
    for text in TEXTS:
        inputs = tokenizer(text, return_tensors="pt")
        if family.marks == "":
            del inputs["token_type_ids"]  # which these models would take for words
        known = inspect.signature(model.forward).parameters
        with torch.no_grad():
            logits = model(**{key: value for key, value in inputs.items() if key in known}).logits
        method = EXPLAINERS["gradient" if row(family)["gradient"] == YES else "erasure-delete"]
        (attribution,) = method(subject.model, subject.tokenizer, [text], target=2)
        torch.testing.assert_close(attribution.prediction, float(logits.softmax(dim=-1)[0, 2]), **ALL_LAYERS)


@pytest.mark.parametrize("cap", [0.5, 5.0])
def test_capped_scores_are_read_as_the_model_caps_them(cap):
    """Gemma-2: softcap · tanh(s / softcap) before softmax, and a window in every other layer."""
    family = FAMILIES["Gemma2"]
    model, tokenizer = family.build(attn_logit_softcapping=cap), family.tokenizer()
    uncapped = family.build(attn_logit_softcapping=None)
    inputs = tokenizer(TEXTS[1], return_tensors="pt")["input_ids"]
    readable = open_subject(model, tokenizer).model
    with torch.no_grad(), record(readable) as trace:
        readable(inputs)
    expected, without = (maps_of(which, inputs) for which in (model, uncapped))
    assert len(expected) == 2
    for layer, weights in enumerate(expected):
        torch.testing.assert_close(trace[layer].weights, weights, **ALL_LAYERS)
        assert not torch.allclose(weights, without[layer], atol=1e-2)


def maps_of(model, inputs):
    """The weights that the model itself gives, layer by layer."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(inputs, output_attentions=True).attentions
