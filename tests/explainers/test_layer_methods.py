"""What follows attention through the layers: which models it takes, and formulas written out."""

import threading

import networkx as nx
import numpy as np
import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS
from closed_forms import TEXT, closed_form_bert
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.explainers.attention_flow import FlowNetwork
from glasshead.explainers.explainer import find_explainer
from glasshead.explainers.rollout import discard_smallest, drift_in_words
from glasshead.huggingface import plug
from glasshead.trace import AttentionSelector
from readable import bert, turn
from small import planted_model
from small import tokenizer as small_tokenizer
from tolerances import ALL_LAYERS, EXACT_MATHS, ONE_MODEL

SHARES = ["rollout", "attention-flow"]
SIZES = ["rollout-absolute", "attention-flow-absolute"]
GRADIENTS = ["gradient-attention", "gradient-attention-signed"]
METHODS = [*SHARES, *GRADIENTS, "layer-max", "value-norm", "value-zeroing", "alti"]
POST_NORM = ["Bert", "Roberta", "DistilBert", "Albert", "Electra"]


def explained(name, method, texts=TEXTS, **options):
    family = FAMILIES[name]
    return glasshead.explain(family.build(), texts, tokenizer=family.tokenizer(), method=method, **options)


@pytest.mark.parametrize("name", ["Bert", "DebertaV2", "Bloom"])
def test_a_batch_is_its_texts_one_by_one(name):
    """DeBERTa hands each block what is of all texts, Bloom what is of each head of each."""
    for method in ["value-zeroing", "alti"] if name in POST_NORM else ["value-zeroing", "rollout"]:
        together = explained(name, method, [*TEXTS[:2], "the film is good"])
        for own in together:
            (alone,) = explained(name, method, own.text)
            np.testing.assert_allclose(own.scores, alone.scores, **ONE_MODEL)
            assert sum(own.scores) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["GPT2", "Llama", "ModernBert"])
@pytest.mark.parametrize("method", ["alti", "value-norm-residual"])
def test_models_that_normalise_before_are_refused_by_name(name, method):
    with pytest.raises(InputError, match=rf"post-norm.*{FAMILIES[name].build().__class__.__name__}"):
        explained(name, method)


@pytest.mark.parametrize("method", METHODS)
def test_the_model_stays_as_it_was(method):
    """No hook and no gradient is left, after an error too, and two threads do not meet."""
    kind = bert()
    before = {name: value.clone() for name, value in kind.model.state_dict().items()}

    def hooks():
        return sum(
            len(module._forward_hooks) + len(module._forward_pre_hooks) for module in kind.model.modules()
        )

    own_hooks = hooks()
    call = EXPLAINERS[method]
    (first,) = call(kind.model, kind.tokenizer, kind.texts[:1])
    results = {}

    def work(index):
        results[index] = call(kind.model, kind.tokenizer, kind.texts[: index + 1])[0].scores

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for scores in results.values():
        np.testing.assert_allclose(scores, first.scores, **ONE_MODEL)
    assert len(results) == 2
    broken = kind.model.classifier.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call(kind.model, kind.tokenizer, kind.texts[:1])
    broken.remove()
    assert hooks() == own_hooks
    assert all(parameter.grad is None for parameter in kind.model.parameters())
    for name, value in kind.model.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize(
    "method",
    ["alti", "value-norm-residual", "value-zeroing", "rollout", "gradient", "gradient-after-norm",
     "erasure-mean-embedding", "attn-lrp"],
)  # fmt: skip
def test_a_pass_of_another_thread_in_the_middle_of_one_is_not_seen(method):
    kind, call, own = bert(), EXPLAINERS[method], threading.get_ident()
    (expected,) = call(kind.model, kind.tokenizer, kind.texts[:1])
    others = kind.tokenizer(list(kind.texts[:3]), padding=True, return_tensors="pt")
    passes = []

    def run():
        with torch.no_grad():
            passes.append(kind.model(**others).logits)

    def meanwhile(*_):
        if threading.get_ident() == own:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()

    handle = kind.model.bert.encoder.layer[0].attention.self.register_forward_hook(meanwhile)
    (scores,) = call(kind.model, kind.tokenizer, kind.texts[:1])
    handle.remove()
    assert passes
    np.testing.assert_allclose(scores.scores, expected.scores, **ONE_MODEL)


def test_a_learned_query_that_pools_has_no_residual_and_discards_as_is_asked():
    def rolled(name):
        (own,) = find_explainer(name)(planted_model("softmax"), small_tokenizer(), ["good film, the end"])
        return own

    whole, most = rolled("rollout"), rolled("rollout+discard=0.8+residual=0.3")
    assert whole.scores[0] > 2 * whole.scores[1] > 0
    np.testing.assert_allclose(most.scores, [1, 0, 0, 0, 0], **ONE_MODEL)
    alike = rolled("rollout+discard=0.6")  # the other four weigh the same: all stay
    np.testing.assert_allclose(alike.scores, whole.scores, **ONE_MODEL)
    assert whole.settings is None
    assert most.settings == "smallest 80% of each row discarded"


@pytest.mark.parametrize("activation", ["tanhmax", "relu", "dot-product"])
def test_weights_that_are_no_shares_are_refused_and_their_sizes_taken(activation):
    kind = bert(activation)
    for shares, sizes in zip(SHARES, SIZES, strict=True):
        with pytest.raises(InputError, match=sizes):
            EXPLAINERS[shares](kind.model, kind.tokenizer, kind.texts[:2])
        for own in EXPLAINERS[sizes](kind.model, kind.tokenizer, kind.texts[:2]):
            assert sum(own.scores) == pytest.approx(1.0, abs=1e-5)
            assert min(own.scores) >= 0


def test_sizes_are_the_shares_of_weights_that_are_shares():
    kind = bert()
    for shares, sizes in zip(SHARES, SIZES, strict=True):
        for own, other in zip(
            *(EXPLAINERS[name](kind.model, kind.tokenizer, kind.texts[:2]) for name in (shares, sizes)),
            strict=True,
        ):
            np.testing.assert_allclose(own.scores, other.scores, **ONE_MODEL)


@pytest.mark.parametrize("method", [*GRADIENTS, *SIZES, "value-norm", "alti"])
def test_the_sign_gauge_of_a_head_changes_nothing(method):
    def scores(turned):
        kind = bert("tanhmax")
        if turned:
            turn(kind.model.bert.encoder.layer[0].attention.self, 1)
        return EXPLAINERS[method](kind.model, kind.tokenizer, kind.texts[:1], target=1)[0].scores

    np.testing.assert_allclose(scores(False), scores(True), **ALL_LAYERS)


@pytest.mark.parametrize(("n", "layers", "seed"), [(2, 1, 1), (3, 2, 2), (4, 3, 3), (5, 2, 4)])
def test_flow_is_that_of_networkx(n, layers, seed):
    """From one node and from the mean of several, in graphs with edges left out."""
    network, graph = FlowNetwork(np.arange(n, dtype=np.int32)), nx.DiGraph()
    nodes, number = network.tokens, 0
    for layer in range(layers + 1):
        rows = n if layer < layers else 1
        entries = np.sin(1.7 * (np.arange(rows * n) + number) + seed)
        number += rows * n
        capacities = np.where(entries > -0.4, np.abs(entries), 0.0).reshape(rows, n)
        above = network.add_layer((capacities, nodes))
        for i, j in zip(*capacities.nonzero(), strict=True):
            graph.add_edge(int(above[i]), int(nodes[j]), capacity=capacities[i, j])
        nodes = above
    expected = [
        nx.maximum_flow_value(graph, int(nodes[0]), token) if token in graph else 0.0 for token in range(n)
    ]
    np.testing.assert_allclose(network.flows(int(nodes[0])), expected, atol=1e-7)
    assert max(expected) > 0.1


def test_the_flow_to_a_word_is_that_to_all_of_its_tokens_together():
    """Two pieces share a pipe of ½ above them: each alone has ½, and so have both."""
    network = FlowNetwork(np.arange(3, dtype=np.int32))
    above = network.add_layer((np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]), network.tokens))
    (source,) = network.add_layer((np.array([[0.5, 0.5]]), above))
    flows = network.flows(int(source))
    np.testing.assert_allclose(flows, [0.5, 0.5, 0.5], atol=1e-8)
    np.testing.assert_allclose(network.join_flows(int(source), flows, [0, 1]), [0.5, 0.5, 0.0], atol=1e-8)
    np.testing.assert_allclose(network.join_flows(int(source), flows, [0, 2]), [1.0, 0.0, 0.5], atol=1e-8)
    np.testing.assert_allclose(network.flows(int(source)), flows, atol=1e-8)


def attentions(name, text, *, graph=False):
    """What transformers records, of all heads of each layer."""
    family = FAMILIES[name]
    model, tokenizer = family.build(), family.tokenizer()
    model.set_attn_implementation("eager")
    with torch.set_grad_enabled(graph):
        return model(input_ids=tokenizer(text, return_tensors="pt").input_ids, output_attentions=True)


def test_rollout_of_an_encoder_decoder():
    """Two steps in each layer of the decoder; what it reads there is the token before, at first nothing."""
    output = attentions("Bart", TEXTS[0])
    n = output.encoder_attentions[0].shape[-1]
    text, decoder = np.eye(n), np.eye(n, k=-1)
    for layer in output.encoder_attentions:
        text = (layer[0].mean(0).numpy() @ text + text) / 2
    for own, cross in zip(output.decoder_attentions, output.cross_attentions, strict=True):
        decoder = (own[0].mean(0).numpy() @ decoder + decoder) / 2
        decoder = (cross[0].mean(0).numpy() @ text + decoder) / 2
    (ours,) = explained("Bart", "rollout", TEXTS[0])
    np.testing.assert_allclose(ours.scores, decoder[-1], **ALL_LAYERS)


@pytest.mark.parametrize("method", GRADIENTS)
def test_gradients_of_an_encoder_decoder(method):
    """The decoder adds Ā_cross R_encoder to what it knows, which is not rule 10 of Chefer et al."""
    output = attentions("Bart", TEXTS[0], graph=True)
    (ours,) = explained("Bart", method, TEXTS[0], target=1)
    logits = output.logits[0]
    score = logits[1] - logits.mean()
    parts = [output.encoder_attentions, output.decoder_attentions, output.cross_attentions]

    def combined(maps):
        products = maps * torch.autograd.grad(score, maps, retain_graph=True)[0]
        return (products if method.endswith("signed") else products.clamp(min=0))[0].mean(0).detach().numpy()

    encoder, own, cross = ([combined(maps) for maps in part] for part in parts)
    n = len(encoder[0])
    text, decoder = np.eye(n), np.eye(n, k=-1)
    for maps in encoder:
        text = text + maps @ text
    for maps, above in zip(own, cross, strict=True):
        decoder = decoder + maps @ decoder
        decoder = decoder + above @ text
    np.testing.assert_allclose(ours.scores, (decoder - np.eye(n, k=-1))[-1], **ALL_LAYERS)


def test_bimodal_rules_of_an_encoder_decoder():
    """By loops: what a decoder knows of its own tokens and, apart, of those of an encoder (rules 6 to 11)."""
    output = attentions("Bart", TEXTS[0], graph=True)
    (ours,) = explained("Bart", "gradient-attention+rules=bimodal", TEXTS[0], target=1)
    score = output.logits[0, 1] - output.logits[0].mean()
    parts = [output.encoder_attentions, output.decoder_attentions, output.cross_attentions]

    def combined(maps):
        products = maps * torch.autograd.grad(score, maps, retain_graph=True)[0]
        return products.clamp(min=0)[0].mean(0).detach().numpy()

    encoder, own, cross = ([combined(maps) for maps in part] for part in parts)
    n = len(encoder[0])
    text, decoder, between = np.eye(n), np.eye(n), np.zeros((n, n))

    def normalised(known):
        rows = (known - np.eye(n)).sum(axis=1, keepdims=True)
        return (known - np.eye(n)) / np.where(rows == 0, 1, rows) + np.eye(n)

    for maps in encoder:
        text = text + maps @ text
    for maps, above in zip(own, cross, strict=True):
        decoder, between = decoder + maps @ decoder, between + maps @ between
        between = between + normalised(decoder).T @ above @ normalised(text)
    expected = between + (decoder - np.eye(n)) @ np.eye(n, k=-1)  # it reads the token before
    np.testing.assert_allclose(ours.scores, expected[-1], **ALL_LAYERS)


@pytest.mark.parametrize("name", ["Bert", "GPT2"])
def test_bimodal_rules_of_one_stream_are_the_others(name):
    plain, bimodal = (
        explained(name, f"gradient-attention{option}", TEXTS[0], target=1)[0].scores
        for option in ("", "+rules=bimodal")
    )
    np.testing.assert_allclose(plain, bimodal, atol=1e-8)


@pytest.mark.parametrize("option", ["rules=other", "rule=bimodal"])
def test_gradient_attention_has_no_other_rules(option):
    with pytest.raises(InputError, match="rule"):
        explained("Bert", f"gradient-attention+{option}", TEXTS[0])


def test_the_null_of_causal_models_is_the_rollout_of_uniform_attention():
    output = attentions("GPT2", TEXTS[0])
    n = len(output.attentions[0][0, 0])
    uniform = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    step = (uniform + np.eye(n)) / 2
    null = np.linalg.matrix_power(step, len(output.attentions))[-1, 0]
    own = np.eye(n)
    for layer in output.attentions:
        own = (layer[0].mean(0).numpy() @ own + own) / 2
    (ours,) = explained("GPT2", "rollout", TEXTS[0])
    np.testing.assert_allclose(ours.scores, own[-1], **ALL_LAYERS)
    assert f"{own[-1, 0]:.0%} of these numbers" in ours.caveat
    uniform = f"{null:.0%} that causal layers would leave there if all attention were uniform"
    assert f"to be compared with the {uniform} (one text)" in ours.caveat
    for discard in (0.5, 0.9):
        (ours,) = explained("GPT2", f"rollout+discard={discard}", TEXTS[0])
        assert uniform in ours.caveat


def test_uniform_causal_attention_is_not_shown_to_differ_from_its_null():
    """Whatever is discarded: equal weights are not told apart by where they stand."""
    family = FAMILIES["GPT2"]
    model = family.build()
    for block in model.transformer.h:
        width = block.attn.split_size
        block.attn.c_attn.weight.data[:, : 2 * width] = 0
        block.attn.c_attn.bias.data[: 2 * width] = 0
    for method in ("rollout", "rollout+discard=0.5"):
        ours = glasshead.explain(model, TEXTS, tokenizer=family.tokenizer(), method=method)
        assert "not shown to differ" in ours[0].caveat
        assert "2 texts" in ours[0].caveat
        assert min(ours[0].scores) > 0


def test_the_first_token_has_more_or_less_than_its_null_with_an_interval():
    null, noise = np.full(30, 0.18), 0.01 * np.sin(np.arange(30))
    more, less = drift_in_words(null + 0.1 + noise, null), drift_in_words(null - 0.06 + noise, null)
    assert "28% of these numbers, more than the 18%" in more
    assert "difference 10.0 points [9." in more
    assert "30 texts" in more
    assert "12% of these numbers, less than the 18%" in less
    assert "difference −6.0 points [−6." in less
    assert "not shown to differ" in drift_in_words(null + noise, null)
    assert drift_in_words(np.array([]), np.array([])) is None


@pytest.fixture(scope="module")
def closed_form():
    model, tokenizer = closed_form_bert()
    with torch.no_grad():
        maps = model(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions
    return plug(model, "softmax"), tokenizer, [one[0].numpy() for one in maps]


def rolled(closed_form, method, **reading):
    model, tokenizer, _ = closed_form
    (own,) = find_explainer(method)(model, tokenizer, [TEXT], attention_selector=AttentionSelector(**reading))
    return np.array(own.scores)


@pytest.mark.parametrize("head", ["max", "min", "sum", 1])
def test_heads_become_one_map_as_is_asked(closed_form, head):
    first, last = closed_form[2]
    one = {"max": lambda a: a.max(0), "min": lambda a: a.min(0), "sum": lambda a: a.sum(0)}.get(
        head, lambda a: a[1]
    )

    def step(maps):
        return (one(maps) / one(maps).sum(-1, keepdims=True) + np.eye(maps.shape[-1])) / 2

    np.testing.assert_allclose(
        rolled(closed_form, "rollout", head=head), (step(last) @ step(first))[0], **EXACT_MATHS
    )
    np.testing.assert_allclose(
        rolled(closed_form, "layer-sum", head=head), (one(first) + one(last))[0], **EXACT_MATHS
    )


def test_one_layer_is_its_map_with_the_residual(closed_form):
    first = closed_form[2][0].mean(0)
    expected = (first + np.eye(len(first))) / 2
    for row, own in (("first", expected[0]), ("mean", expected.mean(0))):
        np.testing.assert_allclose(rolled(closed_form, "rollout", layer=0, row=row), own, **EXACT_MATHS)
    np.testing.assert_allclose(
        rolled(closed_form, "layer-max", layer=0, row="first"), first[0], **EXACT_MATHS
    )


def test_residual_and_discard(closed_form):
    n = closed_form[2][0].shape[-1]

    def step(maps, residual, discard):
        weights = maps.mean(0).copy()
        for row in weights:
            row[np.argsort(row)[: int(discard * n)]] = 0.0
        return (1 - residual) * weights / weights.sum(-1, keepdims=True) + residual * np.eye(n)

    for residual, discard in ((0.5, 0.9), (0.0, 0.5), (0.2, 0.0)):
        first, last = (step(maps, residual, discard) for maps in closed_form[2])
        scores = rolled(closed_form, f"rollout+residual={residual}+discard={discard}")
        np.testing.assert_allclose(scores, (last @ first)[0], **EXACT_MATHS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_share_of_keys_is_no_key_short_of_it(dtype):
    """0.53 · 100 is less than 53 in floating point, as are 25 other such products up to 512."""
    for percent in range(1, 100):
        for n in (7, 50, 100, 150, 300, 475):
            weights = torch.arange(1, n + 1, dtype=dtype)
            assert int((discard_smallest(weights, percent / 100) == 0).sum()) == percent * n // 100


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_weights_stay_or_go_together(dtype):
    """Wherever they stand in the text, also if heads that were added up differ in the last digits."""
    equal = torch.full((10,), 0.1, dtype=dtype)
    np.testing.assert_allclose(discard_smallest(equal, 0.5), equal, **ONE_MODEL)
    weights = torch.tensor([0.1, 0.2, 0.4, 0.2, 0.1], dtype=dtype)
    for share, kept in (
        (0.2, [1, 2, 4, 2, 1]),
        (0.4, [0, 2, 4, 2, 0]),
        (0.6, [0, 2, 4, 2, 0]),
        (0.8, [0, 0, 1, 0, 0]),
    ):
        expected = np.array(kept) / sum(kept)
        np.testing.assert_allclose(discard_smallest(weights, share), expected, **ONE_MODEL)
    thirds = torch.stack([equal[:3] / 3 + equal[:3] / 3 + equal[:3] / 3, equal[:3]]).mT.flatten()
    assert (discard_smallest(thirds, 0.5) > 0).all()


def test_keys_without_weight_are_none_to_discard():
    kept = discard_smallest(torch.tensor([0.0, 0.4, 0.1, 0.0, 0.2, 0.3]), 0.5)
    np.testing.assert_allclose(kept, np.array([0, 4, 0, 0, 0, 3]) / 7, **ONE_MODEL)


@pytest.mark.parametrize(
    "method",
    ["rollout+discard=1", "rollout+residual=-0.1", "rollout+depth=2", "rollout+discard", "alti+discard=0.5"],
)
def test_options_that_mean_nothing_are_refused_in_one_line(method):
    with pytest.raises(InputError) as caught:
        find_explainer(method)
    assert "\n" not in str(caught.value)
