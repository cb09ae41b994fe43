"""What tokens were written from: everything that one pass gives, beside a slow way to the same number."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import glasshead
from classifier_families import FAMILIES
from glasshead.data import as_encoded
from glasshead.errors import InputError
from glasshead.explainers import TARGETS
from glasshead.generation import METHODS, generate
from glasshead.generation.erasure_rows import ErasureRows, SharedPrefix
from glasshead.generation.target import AnswerTarget
from glasshead.huggingface import isolated_copy, plug
from glasshead.identifiability import RowSelector, attention_rows
from glasshead.report import written_page
from glasshead.results import WrittenAttribution
from tolerances import ALL_LAYERS, ONE_MODEL, of_size
from writers import PROMPT, small_writer

FAMILIES_THAT_WRITE = ["GPT2", "GPTNeo", "GPTNeoX", "OPT", "Llama", "Mistral", "Qwen3", "Gemma", "Bloom"]


def write(**options):
    model, tokenizer = small_writer()
    return generate(model, PROMPT, tokenizer=tokenizer, **{"tokens": 6} | options)


def plugged():
    model, _ = small_writer()
    from glasshead.huggingface import isolated_copy

    return plug(isolated_copy(model), "softmax")


def used_rows(trace, chosen):
    """The row behind each token of an answer, layer by layer, from the passes that wrote it."""
    return [
        [one.weights[row, :, -1] for row, one in zip(chosen, layer, strict=True)]
        for layer in zip(*[list(one) for one in trace.passes], strict=True)
    ]


def check_rows(used, written, before=0):
    """What was used while writing, and what one pass afterwards says."""
    for layer, rows in enumerate(used):
        for head in range(2):
            again = written.explain("attention", layer=layer, head=head).map.scores
            for own, row in zip(again, rows, strict=True):
                np.testing.assert_allclose(own, row[head][before:], **ALL_LAYERS)
                assert not row[head][:before].any()


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("beams", [1, 3])
def test_attention_that_is_read_afterwards_is_that_which_was_used(use_cache, beams):
    model, tokenizer = plugged(), small_writer()[1]
    ids = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    options = {"num_beams": beams, "length_penalty": 0.0} if beams > 1 else {}
    with torch.no_grad(), glasshead.record(model) as trace:
        output = model.generate(
            ids, max_new_tokens=6, do_sample=False, use_cache=use_cache, pad_token_id=0,
            return_dict_in_generate=True, **options,
        )  # fmt: skip
    written = write(strategy=f"beam={beams}" if beams > 1 else "greedy", use_cache=use_cache)
    assert written.ids == tuple(output.sequences[0].tolist())
    chosen = output.beam_indices[0, :6].tolist() if beams > 1 else [0] * 6
    check_rows(used_rows(trace, chosen), written)


def test_the_same_of_texts_that_were_padded_on_the_left():
    model, tokenizer = plugged(), small_writer()[1]
    prompts = [PROMPT, "a dull"]
    ids = torch.zeros(2, 4, dtype=torch.long)
    mask = torch.zeros(2, 4, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        own = tokenizer(prompt)["input_ids"]
        ids[row, -len(own) :], mask[row, -len(own) :] = torch.tensor(own), 1
    with torch.no_grad(), glasshead.record(model) as trace:
        texts = model.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False, pad_token_id=0)
    own_model, tokenizer = small_writer()
    for row, prompt in enumerate(prompts):
        padding = int((mask[row] == 0).sum())
        written = generate(own_model, prompt, tokenizer=tokenizer, tokens=6)
        assert written.ids == tuple(texts[row, padding:].tolist())
        check_rows(used_rows(trace, [row] * 6), written, padding)


def without(model, ids, place, method, tokenizer):
    """The logits behind a text of which one token is erased, by hand."""
    embeddings = model.transformer.wte(ids)
    if method == "erasure-mean-embedding":
        embeddings[:, place] = model.transformer.wte.weight.mean(dim=0)
        return model(inputs_embeds=embeddings).logits[0, -1]
    if method == "erasure-unknown-token":
        changed = ids.clone()
        changed[0, place] = tokenizer.unk_token_id
        return model(changed).logits[0, -1]

    def edit(layer, weights, call):
        weights = weights.clone()
        weights[:, :, place + 1 :, place] = 0.0
        return weights

    with glasshead.intervene(model, edit):
        return model(ids).logits[0, -1]


@pytest.mark.parametrize("method", ["erasure-mean-embedding", "erasure-unknown-token", "erasure-all-layers"])
@pytest.mark.parametrize(
    ("target", "against"), [("log-probability", "film"), ("entropy", None), ("logit", None)]
)
@torch.no_grad()
def test_erasure_of_all_targets_at_once_is_that_of_one_target_at_a_time(method, target, against):
    model, tokenizer = plugged(), small_writer()[1]
    written = write()
    matrix = written.explain(method, target=target, against=against).matrix
    other = None if against is None else tokenizer.convert_tokens_to_ids(against)

    def value(logits, token):
        if other is not None:
            logs = logits.log_softmax(dim=-1)
            return float(logs[token] - logs[other])
        return float(TARGETS[target](logits[None], torch.tensor([token]))[0])

    expected = np.full_like(matrix, np.nan)
    for number, place in enumerate(range(written.start, len(written.ids))):
        ids, token = torch.tensor([written.ids[:place]]), written.ids[place]
        own = value(model(ids).logits[0, -1], token)
        for gone in range(place):
            expected[number, gone] = own - value(without(model, ids, gone, method, tokenizer), token)
    np.testing.assert_allclose(matrix, expected, **of_size(expected, 1e-4))


@pytest.mark.parametrize("method", ["gradient", "gradient-l1", "gradient-l2"])
def test_gradients_are_those_of_one_target_at_a_time(method):
    model, _ = small_writer()
    written = write()
    matrix = written.explain(method).matrix
    for number, place in enumerate(range(written.start, len(written.ids))):
        vectors = model.transformer.wte(torch.tensor([written.ids[:place]])).detach().requires_grad_()
        logs = model(inputs_embeds=vectors).logits[0, -1].log_softmax(dim=-1)
        (gradient,) = torch.autograd.grad(logs[written.ids[place]], vectors)
        expected = {
            "gradient": (gradient * vectors).sum(dim=-1),
            "gradient-l1": gradient.abs().mean(dim=-1),
            "gradient-l2": gradient.norm(dim=-1),
        }[method][0].detach()
        np.testing.assert_allclose(matrix[number, :place], expected, **of_size(expected, 1e-4))
        assert np.isnan(matrix[number, place:]).all()


@pytest.mark.parametrize("method", ["erasure-mean-embedding", "gradient"])
def test_the_whole_answer_is_the_sum_over_its_tokens(method):
    written = write()
    rows, whole = written.explain(method), written.explain(method, whole=True)
    np.testing.assert_allclose(
        whole.matrix[0], np.nansum(rows.matrix, axis=0), **of_size(rows.matrix[~np.isnan(rows.matrix)], 1e-4)
    )
    assert whole.map.values[0] == pytest.approx(written.log_probability, rel=1e-4)
    assert whole.row(0).prediction == pytest.approx(np.exp(written.log_probability))


def test_rollout_is_the_product_of_the_maps_with_the_residual_path():
    reader, written = plugged(), write()
    with torch.no_grad(), glasshead.record(reader) as trace:
        reader(torch.tensor([written.ids[:-1]]))
    rows = [layer.weights[0].mean(dim=0) for layer in trace]
    maps = [0.5 * own + 0.5 * torch.eye(len(own)) for own in rows]
    expected = (maps[1] @ maps[0])[written.start - 1 :]
    matrix = written.explain("rollout").matrix
    np.testing.assert_allclose(np.nan_to_num(matrix), expected, **ONE_MODEL)


def test_a_row_is_the_explanation_of_the_text_before_it():
    written = write()
    explained = written.explain("erasure-mean-embedding")
    row = explained.row(2)
    end = written.start + 2
    assert row.text == written.text[: written.offsets[end - 1][1]]
    assert row.scores == explained.map.scores[2]
    assert (row.target, row.position) == (written.tokens[end], end)
    assert row.prediction == pytest.approx(np.exp(written.answer_tokens[2].log_probability))
    assert explained.row(-1).tokens == written.tokens[:-1]
    with pytest.raises(IndexError):
        explained.row(6)


def test_tables_have_a_row_for_each_pair_and_each_token():
    written = write()
    frame = written.explain("attention").to_pandas()
    assert len(frame) == sum(range(written.start, len(written.ids)))
    sums = frame.groupby("target_place").score.sum()
    np.testing.assert_allclose(sums, 1.0, **ONE_MODEL)
    assert list(written.to_pandas().token) == list(written.tokens[written.start :])


def test_maps_for_a_page_have_every_layer_and_head():
    with_maps = write().with_maps(["attention", "erasure-mean-embedding"], heads=True)
    places = [(one.method, one.layer, one.head) for one in with_maps.maps]
    assert {("attention", layer, head) for layer in (0, 1) for head in (0, 1, "mean")} <= set(places)
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "GPT2" else pytest.mark.slow) for name in FAMILIES_THAT_WRITE],
)
@pytest.mark.parametrize("removal", ["mean-embedding", "unknown-token"])
def test_a_prefix_that_is_read_once_changes_no_number(name, removal, monkeypatch):
    family = FAMILIES[name]
    prompt = "a warm film and a dull plot, bad, not good"
    written = generate(family.language_model(), prompt, tokenizer=family.tokenizer(), tokens=5)
    text = written.read_text()
    target = AnswerTarget("log-probability", text.answer)
    monkeypatch.setattr(ErasureRows, "step", lambda *of: 3)  # several batches, the last within the answer
    alone, _ = ErasureRows(removal, shares_prefix=False).changes(text, target)
    shared, _ = ErasureRows(removal).changes(text, target)
    np.testing.assert_allclose(shared, alone, **of_size(alone, 1e-4))


def test_a_model_that_forgets_has_no_prefix_to_share():
    family = FAMILIES["Mistral"]
    model = family.language_model(sliding_window=4)
    written = generate(model, "a warm film and a dull plot, bad", tokenizer=family.tokenizer(), tokens=3)
    prefix = SharedPrefix(written.read_text())
    assert (prefix.read(5), prefix.repeat(2), prefix.read(6)) == (0, None, 0)
    assert SharedPrefix(write().read_text()).read(3) == 3


def test_heads_that_are_too_many_for_a_page_are_left_out_and_it_says_so(monkeypatch):
    monkeypatch.setattr("glasshead.generation.explain.STORED_NUMBERS", 155)
    few = write().with_maps(["attention"], heads=True)
    assert [one.reading for one in few.maps] == ["layer 1, mean of 2 heads"]
    assert few.notes == ("single heads are left out: they have 156 weights",)
    monkeypatch.setattr("glasshead.generation.explain.STORED_NUMBERS", 156)
    assert len(write().with_maps(["attention"], heads=True).maps) == 6


def test_progress_is_told_to_the_end():
    told = []
    methods = ["erasure-mean-embedding", "gradient"]
    write().with_maps(methods, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6)
    assert (9, 9) in told


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GPTNeo", "GPTNeoX", "OPT", "Llama", "Mistral", "Qwen3", "Gemma", "Bloom"])
def test_every_method_explains_what_every_family_writes(name):
    family = FAMILIES[name]
    written = generate(family.language_model(), "a warm film", tokenizer=family.tokenizer(), tokens=4)
    for method in METHODS:
        matrix = written.explain(method).matrix
        assert np.isfinite(matrix[np.tril_indices(len(matrix), written.start - 1, matrix.shape[1])]).all()
        assert np.isnan(matrix[0, written.start :]).all()
    np.testing.assert_allclose(np.nansum(written.explain("attention").matrix, axis=1), 1.0, **ALL_LAYERS)


def pieces_of_words(matrix, words, start, adds):
    """The same sums and means, one pair of words at a time."""
    groups, last = [], None
    for token, word in enumerate(words):
        if word == -1 or word != last:
            groups.append([])
        groups[-1].append(token)
        last = word
    rows = [group for group in groups if group[0] >= start]
    table = np.full((len(rows), len(groups)), np.nan)
    for r, row in enumerate(rows):
        for c, column in enumerate(groups):
            cells = [matrix[q - start, k] for q in row for k in column if k < q]
            if column[0] <= row[0]:
                table[r, c] = sum(cells) if adds else sum(cells) / len(row)
    return table


@pytest.mark.parametrize("method", ["attention", "erasure-mean-embedding"])
def test_words_are_written_from_words(method):
    written = write(tokens=7)
    whole = replace(written.plain_value(), words=(0, 0, 1, 2, 3, 3, 4, -1, 5, 5, 5))
    explained = WrittenAttribution(whole, written.explain(method).map)
    table = explained.by_word()
    expected = pieces_of_words(explained.matrix, whole.words, 4, method == "erasure-mean-embedding")
    np.testing.assert_allclose(table.to_numpy(), expected, atol=1e-9)
    assert table.shape == (4, 7)
    if method == "attention":
        np.testing.assert_allclose(table.sum(axis=1), 1.0, **ONE_MODEL)
    assert list(table.columns) == [one.strip() for one in (
        "".join(whole.tokens[:2]), *whole.tokens[2:4], "".join(whole.tokens[4:6]), *whole.tokens[6:8],
        "".join(whole.tokens[8:]),
    )]  # fmt: skip


def test_the_whole_answer_is_explained_by_words():
    written = write()
    table = written.explain("erasure-mean-embedding", whole=True).by_word()
    assert table.shape[0] == 1
    assert float(table.sum(axis=1).iloc[0]) == pytest.approx(
        float(written.explain("erasure-mean-embedding", whole=True).matrix.sum()), rel=1e-6
    )


@pytest.mark.parametrize("head", [0, None])
def test_intervals_are_those_of_the_rows_one_by_one(head):
    """Heads of four dimensions before five tokens and more: some weights are free."""
    model, tokenizer = small_writer(width=8)
    written = generate(model, PROMPT, tokenizer=tokenizer, tokens=5)
    found = written.explain("attention", layer=1, head=head, intervals=True).map
    reader = plug(isolated_copy(model), "softmax")
    for number, place in enumerate(range(written.start, len(written.ids))):
        ids = as_encoded(torch.tensor([written.ids[:place]]))
        (rows,) = attention_rows(reader, ids, RowSelector((1,), None if head is None else (head,), "last"))
        ends = np.mean([[row.intervals().low, row.intervals().high] for row in rows], axis=0)
        np.testing.assert_allclose(np.array(found.intervals[number]).T, ends, atol=1e-5)
        low, high = ends
        scores = np.array(found.scores[number])
        assert (low - 1e-6 <= scores).all()
        assert (scores <= high + 1e-6).all()
    assert max(high - low for low, high in found.intervals[-1]) > 0.01
    row = written.explain("attention", layer=1, head=head, intervals=True).row(-1)
    assert row.intervals == found.intervals[-1]
    assert row.conditioning == found.conditioning


def test_a_page_has_the_intervals_of_every_head():
    with_maps = write().with_maps(["attention", "erasure-mean-embedding"], heads=True, intervals=True)
    assert {one.method for one in with_maps.maps if one.intervals is not None} == {"attention"}
    assert all(one.intervals for one in with_maps.maps if one.method == "attention")
    assert "certain" in written_page(with_maps)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "erasure-mean-embedding", "intervals": True}, "are not attention weights"),
        ({"method": "attention", "head": "max", "intervals": True}, "not for their max"),
        ({"method": "erasure-mean"}, "did you mean 'erasure-mean-embedding'"),
        ({"method": "erasure-mean-embedding", "layer": 0}, "reads no single attention"),
        ({"method": "attention", "target": "entropy"}, "does not depend on the target"),
        ({"method": "attention", "layer": 7}, "no attention layer 7"),
        ({"method": "attention", "layer": 0, "head": 9}, "no head 9"),
        ({"method": "erasure-mean-embedding", "against": "the film"}, "2 tokens"),
        (
            {"method": "erasure-mean-embedding", "against": "the", "target": "entropy"},
            "contrast always compares",
        ),
        ({"method": "erasure-mean-embedding", "target": "rating"}, "gives no rating"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_sentence(options, words):
    with pytest.raises(InputError, match=words):
        write().explain(**options)
