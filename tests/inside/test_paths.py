"""Path patching, from a head into what a later one reads: as by plain hooks, right on a planted circuit."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import glasshead
from glasshead.attention import AttentionInputs, mechanism
from glasshead.errors import InputError
from glasshead.inside.paths import Receiver
from induction import INDUCTION_HEAD, PREVIOUS_TOKEN_HEAD, induction_model, word_tokenizer
from text_pairs import SENTENCES, induction_rows, language_model, parts_of, random_model, rows_of


def maps_of(kind, block):
    """The linear maps whose outputs are queries, keys and values, with the columns of each head."""
    if kind == "gpt2":
        inner = block.attn.c_attn
        return {name: (inner, 24 * number) for number, name in enumerate("qkv")}
    attention = block.self_attn
    return {name: (getattr(attention, f"{name}_proj"), 0) for name in "qkv"}


def plain_path(kind, row, sender, receiver, reads):
    """Two passes with hooks at the named parts of a model: what the exchange of the sender's activation does
    by what the receiver reads."""
    model, tokenizer = language_model(kind)
    blocks, projections, _ = parts_of(kind, model)
    clean, corrupted = (torch.tensor([tokenizer(row[name])["input_ids"]]) for name in ("clean", "corrupted"))
    maps = maps_of(kind, blocks[receiver[0]])

    def run(ids, hooks):
        handles = [
            module.register_forward_pre_hook(hook) if before else module.register_forward_hook(hook)
            for module, before, hook in hooks
        ]
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0, -1].log_softmax(-1)
        for handle in handles:
            handle.remove()
        answer, against = (tokenizer.convert_tokens_to_ids(row[name]) for name in ("answer", "against"))
        return float(logits[answer] - logits[against])

    def heads_of(ids):
        kept = {}
        hooks = [
            (one, True, lambda module, args, number=number: kept.update({number: args[0].clone()}))
            for number, one in enumerate(projections)
        ]
        return run(ids, hooks), kept

    (_, given), (base, held) = heads_of(clean), heads_of(corrupted)
    part = slice(8 * sender[1], 8 * sender[1] + 8)

    def hold(number):
        heads = held[number].clone()
        if number == sender[0]:
            heads[..., part] = given[number][..., part]
        return lambda module, args: (heads, *args[1:])

    read = {}
    hooks = [(projections[number], True, hold(number)) for number in range(receiver[0])]
    for name in "qkv":
        inner, _ = maps[name]
        hooks.append((inner, False, lambda module, args, out, name=name: read.update({name: out.clone()})))
    run(corrupted, hooks)

    def change(name, first):
        def hook(module, args, out):
            out = out.clone()
            # The Llama has one head of keys and values, which its three heads share.
            head = 0 if kind == "llama" and name != "q" else receiver[1]
            own = slice(first + 8 * head, first + 8 * head + 8)
            out[..., own] = read[name][..., own]
            return out

        return hook

    return run(corrupted, [(maps[name][0], False, change(name, maps[name][1])) for name in reads]) - base


@pytest.mark.parametrize("reads", ["q", "k", "v", "qkv"])
@pytest.mark.parametrize("receiver", [(1, 0), (2, 1)])
def test_paths_equal_two_passes_with_plain_hooks(receiver, reads):
    model, tokenizer = language_model("gpt2")
    into = f"{receiver[0]}-{receiver[1]}" + ("" if len(reads) > 1 else f":{reads}")
    found = glasshead.patch(model, rows_of(SENTENCES), tokenizer=tokenizer, into=into)
    for row, changes in zip(rows_of(SENTENCES), found.changes, strict=True):
        own = np.array(changes, dtype=float)
        for layer in range(receiver[0]):
            for head in range(3):
                expected = plain_path("gpt2", row, (layer, head), receiver, reads)
                assert own[layer, head] == pytest.approx(expected, abs=2e-5)
        assert np.isnan(own[receiver[0] :]).all()
    assert {site.layer for site in found.sites} == {*range(receiver[0])}


def test_queries_of_heads_that_share_keys():
    model, tokenizer = language_model("llama")
    found = glasshead.patch(model, rows_of(SENTENCES), tokenizer=tokenizer, into="2-1:q")
    expected = plain_path("llama", rows_of(SENTENCES)[0], (0, 2), (2, 1), "q")
    assert found.changes[0][0][2] == pytest.approx(expected, abs=2e-5)


def test_heads_that_share_keys_keep_theirs():
    call, other = (
        AttentionInputs.of(mechanism("softmax"), *(torch.randn(2, heads, 5, 8) for heads in (4, 2, 2)))
        for _ in range(2)
    )
    put = Receiver(1, 3, "k").put(call, other)
    outputs = [one.mechanism(one)[0] for one in (put, call, replace(call, k=other.k))]
    torch.testing.assert_close(outputs[0][:, :3], outputs[1][:, :3])
    torch.testing.assert_close(outputs[0][:, 3], outputs[2][:, 3])


@pytest.mark.parametrize("direction", ["denoise", "noise"])
@pytest.mark.parametrize(("reads", "named"), [("k", True), ("q", False), ("v", False)])
def test_the_planted_path_goes_through_the_keys_alone(direction, reads, named):
    model, tokenizer = induction_model()
    into = f"{INDUCTION_HEAD[0]}-{INDUCTION_HEAD[1]}:{reads}"
    found = glasshead.patch(
        model, induction_rows(cue=True), tokenizer=tokenizer, direction=direction, into=into
    )
    expected = [PREVIOUS_TOKEN_HEAD] if named else []
    assert [(site.layer, site.column) for site in found.shown] == expected
    assert (
        f"through the {'queries' if reads == 'q' else 'keys' if named else 'values'}" in found.conclusion[0]
    )
    assert all(site.null is not None for site in found.sites)


def test_no_path_into_other_heads():
    model, tokenizer = induction_model()
    for other in ("1-0", "1-1"):
        assert not glasshead.patch(model, induction_rows(cue=True), tokenizer=tokenizer, into=other).shown


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_paths_of_random_models_are_not_named(direction):
    named = 0
    for seed in range(40):
        asked = {"into": f"1-{seed % 4}", "direction": direction}
        found = glasshead.patch(random_model(seed), induction_rows(), tokenizer=word_tokenizer(), **asked)
        named += bool(found.shown)
    assert named <= 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"into": "1.2"}, "write layer-head and q, k or v"),
        ({"into": "1-9:k"}, "which this model does not have"),
        ({"into": "0-1"}, "before which there are no heads"),
        ({"into": "1-2", "sites": "mlp"}, "exact exchanges of heads"),
        ({"into": "1-2", "method": "both"}, "exact exchanges of heads"),
    ],
)
def test_what_is_no_path_is_said(asked, message):
    model, tokenizer = induction_model()
    with pytest.raises(InputError, match=message):
        glasshead.patch(model, induction_rows(), tokenizer=tokenizer, **asked)
