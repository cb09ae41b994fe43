"""Exchanges of activations: equal to plain hooks, right on planted circuits, silent on random models."""

import json
from copy import deepcopy

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS
from classifier_families import word_tokenizer as words
from glasshead.errors import InputError
from glasshead.inside.foreign import disturbed
from glasshead.inside.judge_patching import judge, sign_test
from glasshead.inside.pairs import make_pairs, read_rows
from glasshead.inside.patching import Effects, Exchange, exchange
from glasshead.results import PatchedPair
from induction import (
    HEADS,
    INDUCTION_HEAD,
    LAYERS,
    PREVIOUS_TOKEN_HEAD,
    WORDS,
    induction_model,
    word_tokenizer,
)
from text_pairs import SENTENCES, induction_rows, language_model, parts_of, random_model, rows_of

ASKED = Exchange("heads")
KINDS = ("residual", "heads", "attention", "mlp")


def plain_effects(kind, row, site, heads=3):
    """The same by one pass and one hook for each site, from the names of the parts."""
    model, tokenizer = language_model(kind)
    clean, corrupted = (torch.tensor([tokenizer(row[name])["input_ids"]]) for name in ("clean", "corrupted"))
    modules = dict(zip(("residual", "attention", "mlp"), parts_of(kind, model), strict=True))
    modules = modules["attention" if site == "heads" else site]
    kept = {}

    def run(ids, layer=None, change=None):
        def before(module, args, options):
            stream = args[0] if args else options["hidden_states"]
            kept[modules_number(module)] = stream
            if modules_number(module) != layer:
                return None
            return (
                ((change(stream), *args[1:]), options)
                if args
                else ((), {**options, "hidden_states": change(stream)})
            )

        def after(module, args, output):
            kept[modules_number(module)] = output
            return change(output) if modules_number(module) == layer else None

        def modules_number(module):
            return next(n for n, one in enumerate(modules) if one is module)

        handles = [
            one.register_forward_hook(after)
            if site == "mlp"
            else one.register_forward_pre_hook(before, with_kwargs=True)
            for one in modules
        ]
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0, -1].log_softmax(-1)
        for handle in handles:
            handle.remove()
        answer, against = (tokenizer.convert_tokens_to_ids(row[name]) for name in ("answer", "against"))
        return float(logits[answer] - logits[against])

    run(clean)
    source = {n: one.clone() for n, one in kept.items()}
    base, length = run(corrupted), clean.shape[1]
    columns = heads if site == "heads" else length
    effects = np.zeros((len(modules), columns))
    for layer in range(len(modules)):
        for column in range(columns):

            def change(now, layer=layer, column=column):
                new, other = now.clone(), source[layer]
                if site == "heads":
                    size = now.shape[-1] // heads
                    new[..., column * size : (column + 1) * size] = other[
                        ..., column * size : (column + 1) * size
                    ]
                else:
                    flat, given = new.view(-1, new.shape[-1]), other.reshape(-1, new.shape[-1])
                    flat[length - 1 - column] = given[length - 1 - column]
                return new

            effects[layer, column] = run(corrupted, layer, change) - base
    return effects


@pytest.mark.parametrize("site", KINDS)
@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox", "opt", "llama"])
def test_exchanges_equal_a_loop_of_plain_hooks(kind, site):
    model, tokenizer = language_model(kind)
    rows = rows_of(SENTENCES)
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites=site)
    for row, changes in zip(rows, found.changes, strict=True):
        expected = plain_effects(kind, row, site)
        own = np.array(changes, dtype=float)[:, : expected.shape[1]]
        np.testing.assert_allclose(own, expected, atol=2e-5)


@pytest.mark.parametrize("site", KINDS)
def test_many_steps_between_inputs_come_near_the_exchange_of_the_first_layer(site):
    """Σ over tokens of the integrated change of the first layer's stream is the whole difference."""
    model, tokenizer = language_model("llama")
    found = glasshead.patch(
        model, rows_of(SENTENCES), tokenizer=tokenizer, sites=site, method="attribution", n_steps=64
    )
    changes = np.array(found.changes, dtype=float)
    if site == "residual":
        totals = [pair.other - pair.score for pair in found.pairs]
        np.testing.assert_allclose(np.nansum(changes[:, 0], axis=1), totals, rtol=0.02, atol=0.02)
    assert np.isfinite(changes).any()


def test_first_order_is_the_slope_of_the_exchange():
    """A thousandth of the way has a thousandth of the first-order change."""
    model, tokenizer = language_model("gpt2")
    subject = glasshead.open(model, tokenizer)
    pairs = make_pairs(subject.model, subject.tokenizer, read_rows(rows_of(SENTENCES)))
    first = exchange(subject.model, pairs, Exchange("heads", steps=1))
    row, scale = rows_of(SENTENCES)[0], 1e-3
    with torch.no_grad():
        ids = [torch.tensor([tokenizer(row[name])["input_ids"]]) for name in ("clean", "corrupted")]
        read = []
        hook = model.transformer.h[1].attn.c_proj.register_forward_pre_hook(lambda m, a: read.append(a[0]))
        logits = [model(input_ids=one).logits[0, -1].log_softmax(-1) for one in ids]
        hook.remove()

        def change(module, args):
            new = args[0].clone()
            new[..., 8:16] += scale * (read[0] - read[1])[..., 8:16]
            return (new,)

        hook = model.transformer.h[1].attn.c_proj.register_forward_pre_hook(change)
        moved = model(input_ids=ids[1]).logits[0, -1].log_softmax(-1)
        hook.remove()
    answer, against = (tokenizer.convert_tokens_to_ids(row[name]) for name in ("answer", "against"))
    slope = ((moved - logits[1])[answer] - (moved - logits[1])[against]) / scale
    assert first.change[0, 1, 1] == pytest.approx(float(slope), rel=0.02, abs=1e-3)


@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_the_planted_heads_and_no_others_are_named(direction):
    model, tokenizer = induction_model()
    for cue, expected in ((False, {INDUCTION_HEAD}), (True, {INDUCTION_HEAD, PREVIOUS_TOKEN_HEAD})):
        found = glasshead.patch(model, induction_rows(cue=cue), tokenizer=tokenizer, direction=direction)
        assert {(site.layer, site.column) for site in found.shown} == expected
        assert f"{len(expected)} of {LAYERS * HEADS} heads" in found.conclusion[0]


@pytest.mark.parametrize("source", ["zero", "mean", "resample"])
def test_ablation_names_the_planted_heads(source):
    model, tokenizer = induction_model()
    found = glasshead.patch(model, induction_rows(20), tokenizer=tokenizer, source=source)
    shown = {(site.layer, site.column) for site in found.shown}
    assert INDUCTION_HEAD in shown
    assert shown <= {INDUCTION_HEAD, PREVIOUS_TOKEN_HEAD}
    planted = found.site(*INDUCTION_HEAD)
    assert abs(planted.null) < 0.3 * abs(planted.change)


def test_a_change_that_any_other_pair_makes_too_is_not_shown():
    """Any other pair takes the answer of the corrupted text away too."""
    model, tokenizer = induction_model()
    found = glasshead.patch(model, induction_rows(), tokenizer=tokenizer, sites="residual")
    last = found.site(1, 0)
    assert abs(last.null) > 1
    assert not last.is_shown


def test_a_change_of_this_size_in_any_direction_is_the_null_of_what_breaks_an_answer():
    base = [torch.randn(5, 2, 3, 8), torch.zeros(5, 2, 3, 8)]
    given = [torch.randn(5, 2, 3, 8), torch.zeros(5, 2, 3, 8)]
    given[0][:, 0, 1] = base[0][:, 0, 1]  # where both texts agree nothing changes
    first, second = (disturbed(base, given, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    for own, other, one in zip(base, given, first, strict=True):
        torch.testing.assert_close((one - own).norm(dim=-1), (other - own).norm(dim=-1))
    cosines = torch.cosine_similarity(first[0] - base[0], given[0] - base[0], dim=-1)
    assert abs(cosines.mean()) < 0.3
    assert not torch.allclose(first[0], second[0])
    assert torch.isfinite(first[1]).all()


def test_no_null_where_none_is_asked_for():
    model, tokenizer = induction_model()
    for direction in ("denoise", "noise"):
        found = glasshead.patch(
            model, induction_rows(), tokenizer=tokenizer, direction=direction, null=False, method="both"
        )
        assert all(site.null is None for site in found.sites)


def simulated(rng, pairs=12, sites=(2, 6), planted=0.0, null=True):
    """Effects of sites that change the score at random, beside a difference that the model does make."""
    change, other = rng.normal(0, 0.5, (2, pairs, *sites))
    total = rng.normal(2.0, 0.5, pairs)
    change[:, 1, 2] += planted * total
    return Effects(change, other if null else None, total, np.zeros(pairs), True, 0)


def judged(effects, asked=ASKED):
    pairs = [PatchedPair(["a"], ["b"], "yes", "no", 0.0, float(one)) for one in effects.total]
    facts = {
        "name": "simulated",
        "sites": "heads",
        "source": "pair",
        "direction": "denoise",
        "unit": "log-odds",
    }
    return judge(effects, asked, pairs, [str(head) for head in range(6)], facts)


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.slow
def test_sites_that_change_at_random_are_not_shown(null):
    """Of 300 models that tell the texts apart, whose sites mean nothing, 5 % may claim one."""
    rng = np.random.default_rng(0)
    claims = sum(bool(judged(simulated(rng, null=null)).shown) for _ in range(300))
    assert claims <= 15 + 3 * np.sqrt(15)
    assert (1, 2) in [(one.layer, one.column) for one in judged(simulated(rng, planted=0.8)).shown]


def test_a_site_of_which_another_pair_brings_back_more_is_not_shown():
    rng = np.random.default_rng(0)
    effects = simulated(rng, planted=0.2)
    effects.null[:, 1, 2] = effects.change[:, 1, 2] + effects.total
    assert not judged(effects).shown


def test_pairs_of_one_answer_have_no_other_pair_beside_them():
    """Another clean text with the same answer brings it back as well: that is no null."""
    model, tokenizer = induction_model()
    rows = []
    for number in range(10):
        generator = torch.Generator().manual_seed(number)
        order = [
            WORDS[k]
            for k in torch.randperm(len(WORDS), generator=generator)
            if WORDS[k] not in ("w03", "w07")
        ]
        first = [*order[:3], "w03", *order[3:7]]
        other = [*order[:3], "w07", *order[3:7]]
        rows.append({"clean": " ".join([*first, *first[:3]]), "corrupted": " ".join([*other, *first[:3]])})
        rows[-1] |= {"answer": "w03", "against": "w07"}
    found = glasshead.patch(model, rows, tokenizer=tokenizer)
    assert {(site.layer, site.column) for site in found.shown} == {INDUCTION_HEAD}
    assert any("another answer" in remark for remark in found.remarks)


def test_an_answer_that_is_lower_in_the_clean_texts_is_said_to_be():
    model, tokenizer = induction_model()
    rows = [row | {"clean": row["corrupted"], "corrupted": row["clean"]} for row in induction_rows()]
    found = glasshead.patch(model, rows, tokenizer=tokenizer)
    assert "is lower in the clean texts" in found.conclusion[0]
    assert not found.shown


def test_an_mlp_that_runs_in_chunks_is_left_alone():
    model = FAMILIES["Bert"].build()
    chunked = deepcopy(model)
    for layer in chunked.bert.encoder.layer:
        layer.chunk_size_feed_forward = 2
    rows = [{"clean": "a warm film was good and", "corrupted": "a bad film was good and", "answer": 1}]
    one, other = (glasshead.patch(own, rows, tokenizer=words()) for own in (model, chunked))
    np.testing.assert_allclose(np.array(one.changes, float), np.array(other.changes, float), atol=1e-5)
    with pytest.raises(InputError, match="no detectable mlp"):
        glasshead.patch(chunked, rows, tokenizer=words(), sites="mlp")


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{"direction": "denoise"}, {"direction": "noise"}, {"source": "zero"}], ids=str
)
def test_heads_of_random_models_are_not_named(asked):
    """Such a model seldom tells the texts apart (simulated ones above do); at most one in 20 gets a claim."""
    named = [
        seed
        for seed in range(40)
        if glasshead.patch(random_model(seed), induction_rows(), tokenizer=word_tokenizer(), **asked).shown
    ]
    assert len(named) <= 2


def test_signs_are_exchanged_as_by_hand():
    values = np.array([[1.0, 0.5], [2.0, -0.5], [1.5, 0.2], [0.5, np.nan]])
    scaled = np.nan_to_num(values) / np.sqrt(np.nansum(values**2, axis=0))
    largest = [
        np.abs(np.array(signs) @ scaled).max()
        for signs in np.ndindex(2, 2, 2, 2)
        for signs in [[1 - 2 * one for one in signs]]
    ]
    expected = [np.mean(np.array(largest) >= abs(own) - 1e-9) for own in scaled.sum(axis=0)]
    found = sign_test(values, 0)
    np.testing.assert_allclose(found.pvalues, expected)
    np.testing.assert_array_equal(found.n, [4, 3])


def test_a_classifier_is_patched_and_stays_as_it_is():
    family = FAMILIES["Bert"]
    model, tokenizer = family.build(), words()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    rows = [
        {"clean": text, "corrupted": " ".join([*text.split()[:-1], "bad"]), "answer": 1}
        for text in TEXTS
        if text and text.split()[-1] != "bad"
    ]
    rows = rows or [{"clean": "a warm film", "corrupted": "a warm bad", "answer": 1}]
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual")
    totals = [pair.other - pair.score for pair in found.pairs]
    assert np.abs(totals).max() > 0
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_halves_are_patched_as_their_copy():
    model, tokenizer = language_model("llama")
    half = hf.LlamaForCausalLM(model.config).eval()
    half.load_state_dict(model.state_dict())
    half = half.bfloat16()
    wide = deepcopy(half).float()
    one, other = (glasshead.patch(own, rows_of(SENTENCES), tokenizer=tokenizer) for own in (half, wide))
    np.testing.assert_allclose(np.array(one.changes, float), np.array(other.changes, float), atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corrupted": "the film was bad and"}, "does not align: clean has 6 tokens, corrupted 5"),
        ({"corrupted": "the film was good and warm"}, "are the same tokens"),
        ({"answer": "unheard"}, "is not a token of this model"),
        ({"answer": ""}, "row 1 has nothing in the column 'answer'"),
        ({"against": "good"}, "with itself"),
    ],
)
def test_what_cannot_be_exchanged_is_refused_in_a_sentence(change, message):
    model, tokenizer = language_model("gpt2")
    rows = [rows_of(SENTENCES)[0] | change]
    with pytest.raises(InputError, match=message):
        glasshead.patch(model, rows, tokenizer=tokenizer)


def test_few_pairs_are_said_to_be_few():
    model, tokenizer = language_model("gpt2")
    found = glasshead.patch(model, rows_of(SENTENCES), tokenizer=tokenizer)
    assert "at least 8" in found.conclusion[0]
    assert not found.shown


def test_a_file_is_read_and_a_page_is_written(tmp_path):
    model, tokenizer = induction_model()
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, induction_rows())))
    found = glasshead.patch(model, file, tokenizer=tokenizer, sites="residual", method="both")
    found.save(tmp_path / "patching.html")
    page = (tmp_path / "patching.html").read_text()
    assert found.conclusion[0] in page
    assert page.count("<button") == len(found.sites)
    assert "http" not in page.replace("http-equiv", "")
    stored = json.loads(found.to_json())
    assert len(stored["sites"]) == len(found.sites)
    assert any("Kendall" in remark for remark in found.remarks)
    assert list(found.to_pandas()["layer"].unique()) == [0, 1]
