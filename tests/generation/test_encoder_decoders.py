"""Encoder–decoders: what they answer, and what every token of it was written from, beside a slow way."""

import copy
import io
from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from rich.console import Console

import glasshead
from classifier_families import FAMILIES, word_tokenizer
from glasshead.errors import InputError
from glasshead.generation import METHODS, generate, open_writer
from glasshead.report import terminal_view, written_document, written_page
from model_state import model_state
from tolerances import ALL_LAYERS, ONE_MODEL, of_size

PROMPT = "a warm film and a dull plot"
KINDS = {"T5": hf.T5ForConditionalGeneration, "Bart": hf.BartForConditionalGeneration}
SMALL = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 32,
         "pad_token_id": 0, "bos_token_id": 3, "eos_token_id": 1, "decoder_start_token_id": 0,
         "forced_eos_token_id": None}  # fmt: skip
MORE = {
    "Marian": (hf.MarianMTModel, hf.MarianConfig),
    "MBart": (hf.MBartForConditionalGeneration, hf.MBartConfig),
    "Pegasus": (hf.PegasusForConditionalGeneration, hf.PegasusConfig),
}


@cache
def answerer(name):
    """A model that seldom ends an answer, and whose attention and answers depend on what it reads."""
    torch.manual_seed(0)
    if name in MORE:
        made, config = MORE[name]
        return spread(made(config(**SMALL)).eval()), word_tokenizer("end")
    return spread(KINDS[name](FAMILIES[name].build().config).eval()), FAMILIES[name].tokenizer()


def spread(model):
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.4)
        model.get_input_embeddings().weight[model.config.eos_token_id] = 0.0
    return model


def write(name, prompt=PROMPT, **options):
    model, tokenizer = answerer(name)
    return generate(model, prompt, tokenizer=tokenizer, **{"tokens": 6} | options)


def logits_behind(model, written, place, changed=None):
    """The logits before the token at a place, of a pass over source and answer."""
    ids = torch.tensor([written.ids if changed is None else changed])
    return model(input_ids=ids[:, : written.source], decoder_input_ids=ids[:, written.source : place]).logits[
        0, -1
    ]


every = pytest.mark.parametrize("name", list(KINDS))


@every
@pytest.mark.parametrize(
    ("strategy", "beams", "use_cache"), [("greedy", 1, True), ("greedy", 1, False), ("beam=3", 3, True)]
)
def test_it_answers_what_the_model_answers_and_attends_as_the_model_did(name, strategy, beams, use_cache):
    model, tokenizer = answerer(name)
    before = model_state(model, tokenizer)
    written = write(name, strategy=strategy, use_cache=use_cache)
    assert model_state(model, tokenizer) == before
    check_against_generate(model, tokenizer, [PROMPT], [written], beams, use_cache)


@pytest.mark.parametrize(("name", "side"), [("T5", "left"), ("T5", "right"), ("Bart", "right")])
def test_sources_that_were_padded_are_read_alike(name, side):
    """BART counts places from the first token, also of padding: on its left the model itself answers
    otherwise."""
    model, tokenizer = answerer(name)
    prompts = [PROMPT, "a dull plot"]
    written = [write(name, prompt) for prompt in prompts]
    check_against_generate(model, tokenizer, prompts, written, 1, True, side)


def check_against_generate(model, tokenizer, prompts, written, beams, use_cache, side="left"):
    """Answers, and the attention that Transformers says it used, step by step."""
    eager = copy.deepcopy(model)
    eager.set_attn_implementation("eager")
    own = copy.deepcopy(tokenizer)
    own.padding_side = side
    given = own(prompts, padding=True, return_tensors="pt", return_token_type_ids=False)
    output = eager.generate(
        **given, max_new_tokens=6, do_sample=False, num_beams=beams, use_cache=use_cache,
        output_attentions=True, return_dict_in_generate=True, forced_eos_token_id=None,
    )  # fmt: skip
    for row, text in enumerate(written):
        answer = output.sequences[row, 1:][: len(text.answer_tokens)]
        assert text.ids[text.start :] == tuple(answer.tolist())
        real = given["attention_mask"][row] == 1
        for layer in range(2):
            for head in range(2):
                matrix = text.explain("attention", layer=layer, head=head).matrix
                for step in range(len(answer)):
                    beam = int(output.beam_indices[row, step]) if beams > 1 else row
                    cross = output.cross_attentions[step][layer][beam, head, -1, real]
                    past = output.decoder_attentions[step][layer][beam, head, -1]
                    used = torch.cat([cross, past])
                    np.testing.assert_allclose(matrix[step, : len(used)], used, **ALL_LAYERS)
                    assert np.isnan(matrix[step, len(used) :]).all()


@every
def test_log_probabilities_are_those_of_the_model(name):
    model, _ = answerer(name)
    written = write(name, strategy="nucleus=0.9", seed=4)
    answer = torch.tensor([written.ids[written.start :]])
    with torch.no_grad():
        loss = model(input_ids=torch.tensor([written.ids[: written.source]]), labels=answer).loss
    assert written.perplexity == pytest.approx(float(loss.exp()), rel=1e-4)


def slow_erasure(model, tokenizer, written, method):
    """The change of log p of each token without each token before it, one pair at a time."""
    expected = np.full((len(written.answer_tokens), len(written.ids) - 1), np.nan)
    for number, place in enumerate(range(written.start, len(written.ids))):
        token = written.ids[place]
        own = logits_behind(model, written, place).log_softmax(-1)[token]
        for gone in range(place):
            without = erased(model, tokenizer, written, place, gone, method).log_softmax(-1)[token]
            expected[number, gone] = own - without
    return expected


def erased(model, tokenizer, written, place, gone, method):
    source = written.source
    if method == "erasure-unknown-token":
        changed = [*written.ids]
        changed[gone] = tokenizer.unk_token_id
        return logits_behind(model, written, place, changed)
    if method == "erasure-mean-embedding":
        scale = getattr(model.get_encoder().embed_tokens, "embed_scale", 1.0)
        table = model.get_input_embeddings().weight
        vectors = table[list(written.ids)] * scale
        vectors[gone] = table.mean(dim=0) * scale
        return model(
            inputs_embeds=vectors[None, :source], decoder_inputs_embeds=vectors[None, source:place]
        ).logits[0, -1]

    def edit(layer, weights, call):
        weights, queries = weights.clone(), weights.shape[2]
        if layer < 2 and gone < source:
            weights[:, :, [row for row in range(queries) if row != gone], gone] = 0.0
        elif layer in (3, 5) and gone < source:
            weights[:, :, :, gone] = 0.0
        elif layer in (2, 4) and gone >= source:
            weights[:, :, gone - source + 1 :, gone - source] = 0.0
        return weights

    plugged = glasshead.plug(copy.deepcopy(model), "softmax")
    with glasshead.intervene(plugged, edit):
        return logits_behind(plugged, written, place)


@every
@pytest.mark.parametrize("method", ["erasure-mean-embedding", "erasure-unknown-token", "erasure-all-layers"])
@torch.no_grad()
def test_erasure_of_all_targets_at_once_is_that_of_one_target_at_a_time(name, method):
    model, tokenizer = answerer(name)
    written = write(name, tokens=4)
    expected = slow_erasure(model, tokenizer, written, method)
    np.testing.assert_allclose(written.explain(method).matrix, expected, **of_size(expected, 1e-4))


@every
@pytest.mark.parametrize("method", ["gradient", "gradient-l2"])
def test_gradients_are_those_of_one_target_at_a_time(name, method):
    model, _ = answerer(name)
    written = write(name)
    scale = getattr(model.get_encoder().embed_tokens, "embed_scale", 1.0)
    matrix = written.explain(method).matrix
    for number, place in enumerate(range(written.start, len(written.ids))):
        table = model.get_input_embeddings().weight
        vectors = (table[list(written.ids[:place])] * scale).detach().requires_grad_()
        read = model(
            inputs_embeds=vectors[None, : written.source],
            decoder_inputs_embeds=vectors[None, written.source :],
        ).logits[0, -1]
        (gradient,) = torch.autograd.grad(read.log_softmax(-1)[written.ids[place]], vectors)
        expected = (gradient * vectors).sum(-1) if method == "gradient" else gradient.norm(dim=-1)
        np.testing.assert_allclose(
            matrix[number, :place], expected.detach(), **of_size(expected.detach(), 1e-4)
        )


@every
@torch.no_grad()
def test_rollout_follows_the_encoder_then_the_decoder(name):
    model, _ = answerer(name)
    written = write(name)
    ids = torch.tensor([written.ids[:-1]])
    source = written.source
    eager = copy.deepcopy(model)
    eager.set_attn_implementation("eager")
    read = eager(input_ids=ids[:, :source], decoder_input_ids=ids[:, source:], output_attentions=True)
    states = torch.eye(ids.shape[1])
    texts, answer = states[:source], states[source:]
    for maps in read.encoder_attentions:
        texts = 0.5 * maps[0].mean(dim=0) @ texts + 0.5 * texts
    for own, cross in zip(read.decoder_attentions, read.cross_attentions, strict=True):
        answer = 0.5 * own[0].mean(dim=0) @ answer + 0.5 * answer
        answer = 0.5 * cross[0].mean(dim=0) @ texts + 0.5 * answer
    matrix = np.nan_to_num(written.explain("rollout").matrix)
    np.testing.assert_allclose(matrix, answer, **ALL_LAYERS)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, **ONE_MODEL)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in MORE])
def test_every_method_explains_what_other_families_answer(name):
    written = write(name, tokens=4)
    model, tokenizer = answerer(name)
    check_against_generate(model, tokenizer, [PROMPT], [written], 1, True)
    for method in METHODS:
        matrix = written.explain(method).matrix
        assert np.isfinite(matrix[np.tril_indices(len(matrix), written.start - 1, matrix.shape[1])]).all()


def test_heads_bring_something_directly_from_the_source_and_from_the_answer():
    """The last layer's cross-attention reads the encoder, its own attention what was written: the target is
    linear in the weights of both."""
    written = write("Bart")
    matrix = written.explain("direct", target="logit").matrix
    assert np.abs(matrix[:, : written.source]).max() > 1e-3
    assert np.nanmax(np.abs(matrix[1:, written.source :])) > 1e-3
    whole = written.explain("direct", target="logit", whole=True).matrix
    np.testing.assert_allclose(whole[0], np.nansum(matrix, axis=0), **of_size(whole, 1e-4))


@every
def test_the_whole_answer_is_the_sum_over_its_tokens(name):
    written = write(name)
    rows, whole = (written.explain("erasure-mean-embedding", whole=one) for one in (False, True))
    expected = np.nansum(rows.matrix, axis=0)
    np.testing.assert_allclose(whole.matrix[0], expected, **of_size(expected, 1e-4))


def test_the_answer_is_a_text_of_its_own_behind_an_arrow():
    written = write("T5", strategy="nucleus=0.9", seed=4, tokens=12)
    assert written.text == f"{PROMPT} → {written.answer}"
    assert (written.source, written.start) == (8, 9)
    assert written.tokens[written.source] == "[PAD]"  # with which this decoder begins
    for token, (start, stop) in zip(written.tokens, written.offsets, strict=True):
        assert start == stop or written.text[start:stop] == token
    assert max(written.words[: written.source]) < min(
        word for word in written.words[written.start :] if word >= 0
    )
    row = written.explain("attention").row(2)
    assert row.tokens == written.tokens[: written.start + 2]


@pytest.mark.parametrize("method", ["attention", "rollout", "erasure-mean-embedding"])
def test_the_source_contributes_the_sum_of_its_numbers(method):
    explained = write("T5").explain(method)
    np.testing.assert_allclose(explained.source_sums, explained.matrix[:, :8].sum(axis=1), **ONE_MODEL)
    if method == "attention":
        np.testing.assert_allclose(explained.source_sums, 1.0, **ONE_MODEL)


def test_the_page_and_the_table_show_source_and_answer():
    with_maps = write("T5").with_maps(["attention", "erasure-mean-embedding"], heads=True)
    assert {(one.layer, one.head) for one in with_maps.maps if one.method == "attention"} == {
        (layer, head) for layer in (0, 1) for head in (0, 1, "mean")
    }
    page = written_page(with_maps)
    assert "cross-attention to the source and own attention to the answer, each summing to one" in page
    assert " → " in page
    console = Console(width=200, file=io.StringIO())
    console.print(terminal_view(written_document(with_maps)))
    assert f"{PROMPT} → " in console.file.getvalue()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layer": 2}, "no attention layer 2"),
        ({"head": 5}, "no head 5"),
        ({"intervals": True}, "not available for encoder–decoders"),
    ],
)
def test_layers_are_those_of_the_decoder(options, words):
    with pytest.raises(InputError, match=words):
        write("Bart").explain("attention", **options)


def test_weights_that_are_no_shares_are_not_multiplied():
    model, tokenizer = answerer("T5")
    signed = glasshead.plug(copy.deepcopy(model), "tanhmax")
    written = generate(signed, PROMPT, tokenizer=tokenizer, tokens=3)
    assert written.explain("attention").map.signed
    with pytest.raises(InputError, match="needs weights that sum to one"):
        written.explain("rollout")


def test_a_source_may_fill_all_positions_and_no_more():
    model, tokenizer = answerer("Marian")
    short = spread(type(model)(copy.deepcopy(model.config).__class__(**SMALL, max_position_embeddings=8)))
    written = generate(short, PROMPT, tokenizer=tokenizer, tokens=20)
    assert written.source == 8
    assert len(written.answer_tokens) <= 8
    with pytest.raises(InputError, match="9 tokens"):
        generate(short, f"{PROMPT} bad", tokenizer=tokenizer)


def test_a_model_that_does_not_say_how_answers_begin_is_refused():
    model, tokenizer = answerer("T5")
    silent = copy.deepcopy(model)
    for config in (silent.config, silent.generation_config):
        config.decoder_start_token_id, config.bos_token_id = None, 3
    assert generate(silent, PROMPT, tokenizer=tokenizer, tokens=1).ids[8] == 3
    for config in (silent.config, silent.generation_config):
        config.bos_token_id = None
    with pytest.raises(InputError, match="decoder_start_token_id"):
        generate(silent, PROMPT, tokenizer=tokenizer)


def test_what_needs_a_class_still_refuses_an_encoder_decoder():
    model, tokenizer = answerer("T5")
    with pytest.raises(InputError, match=r"glasshead\.generate"):
        glasshead.open(model, tokenizer)
    opened = open_writer(model, tokenizer)
    with pytest.raises(InputError, match=r"glasshead\.generate"):
        glasshead.explain(opened, PROMPT)
    report = glasshead.heads(opened, [{"text": PROMPT}], effects=False)
    assert len(report.heads) == len(
        glasshead.heads(model, [{"text": PROMPT}], tokenizer=tokenizer, effects=False).heads
    )


@cache
def reverser():
    """A T5 that has learned to turn five words round."""
    torch.manual_seed(0)
    tokenizer = word_tokenizer("end")
    config = hf.T5Config(
        vocab_size=32, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
        decoder_start_token_id=0, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    model = hf.T5ForConditionalGeneration(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    words = torch.tensor([number for number in range(32) if number not in tokenizer.all_special_ids])
    end = torch.full((64, 1), tokenizer.eos_token_id)
    for _ in range(900):
        ids = words[torch.randint(len(words), (64, 5))]
        loss = model(torch.cat([ids, end], 1), labels=torch.cat([ids.flip(1), end], 1)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval(), tokenizer, words


@pytest.mark.slow
def test_a_planted_answer_is_found_in_the_source():
    """Of each written word, the number of the word that it is a copy of is the largest of the source's five;
    drawn at random, that would be so in a fifth."""
    model, tokenizer, words = reverser()
    generator = torch.Generator().manual_seed(1)
    found = {method: [] for method in ("attention", "rollout", "erasure-mean-embedding", "gradient-l2")}
    for _ in range(12):
        ids = words[torch.randperm(len(words), generator=generator)[:5]].tolist()
        written = generate(model, tokenizer.decode(ids), tokenizer=tokenizer, tokens=6)
        assert written.ids[:5] == tuple(ids)
        if written.ids[written.start : written.start + 5] != tuple(reversed(ids)):
            continue  # it has not learned this one
        for method, own in found.items():
            matrix = np.abs(written.explain(method).matrix[:5, :5])
            own += (matrix.argmax(axis=1) == [4, 3, 2, 1, 0]).tolist()
    assert len(found["attention"]) >= 40
    for method, hits in found.items():
        assert np.mean(hits) > 0.6, (method, np.mean(hits), len(hits))
