"""What every part adds to a logit: by a slow decomposition, of a planted circuit, of many architectures."""

import numpy as np
import pytest
import torch
import transformers as hf

from classifier_families import FAMILIES, word_tokenizer
from glasshead import InputError, logit_attribution
from induction import INDUCTION_HEAD, induction_model, repeated_text

TEXT = "the film was not very good"
SMALL = {
    "vocab_size": 60, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "head_dim": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 1,
}  # fmt: skip
WRITERS = {
    "Llama": hf.LlamaConfig(**SMALL),
    "Granite": hf.GraniteConfig(
        **SMALL, residual_multiplier=0.7, logits_scaling=2.0, embedding_multiplier=3.0
    ),
    "Cohere": hf.CohereConfig(**SMALL),
    "Gemma3": hf.Gemma3TextConfig(**SMALL, sliding_window=4),
    "Mixtral": hf.MixtralConfig(**SMALL, num_local_experts=4),
    "GptOss": hf.GptOssConfig(**SMALL, num_local_experts=4, rope_parameters={"rope_type": "default"}),
    "CTRL": hf.CTRLConfig(vocab_size=60, n_embd=16, n_layer=2, n_head=4, dff=32, n_positions=64),
}
OF_FAMILIES = ["GPT2", "GPTNeoX", "GPTJ", "Gemma2", "Bloom", "Falcon"]
CLASSIFIERS = ["Bert", "Roberta", "DistilBert", "Albert", "ModernBert", "Deberta", "T5", "Bart"]


def drawn(model):
    """A model whose weights all matter, biases and scales of norms included."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.3 * torch.randn_like(weight) + (1 if weight.ndim == 1 else 0))
    return model.eval()


def writer(name):
    family = FAMILIES.get(name)
    config = WRITERS[name] if name in WRITERS else family.config(**family.options)
    return drawn(hf.AutoModelForCausalLM.from_config(config))


def slow_heads(model, projections, ids, direction):
    """What each head adds, token by token, from the maps of attention and the weights of the projections: the
    output of a head is Σ_j a_ij v_j, and ``direction`` what the logit makes of a vector."""
    seen = {}
    handles = [
        one.register_forward_pre_hook(lambda module, args, number=number: seen.update({number: args[0]}))
        for number, one in enumerate(projections)
    ]
    model(ids)
    for handle in handles:
        handle.remove()
    effects = []
    for number, one in enumerate(projections):
        weight = one.weight if isinstance(one, hf.pytorch_utils.Conv1D) else one.weight.T
        last = seen[number][0, -1].unflatten(0, (4, -1))  # [h, d]
        effects.append(torch.einsum("hd,hde,e->h", last, weight.unflatten(0, (4, -1)), direction))
    return torch.stack(effects).detach()


@torch.no_grad()
def test_gpt2_by_its_residual_stream():
    model = drawn(hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=60, n_embd=16, n_layer=3, n_head=4))).double()
    tokenizer = word_tokenizer("")
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    target, blocks = tokenizer("bad")["input_ids"][0], model.transformer.h
    stream, written = {}, {}
    blocks[0].register_forward_pre_hook(lambda module, args: stream.update(start=args[0][0, -1]))
    blocks[-1].register_forward_hook(lambda module, args, output: stream.update(end=output[0, -1]))
    for number, block in enumerate(blocks):
        block.mlp.register_forward_hook(lambda m, args, output, n=number: written.update({n: output[0, -1]}))
    expected = model(ids).logits[0, -1, target]
    norm = model.transformer.ln_f
    scale = (stream["end"].var(correction=0) + norm.eps).sqrt()
    gain = norm.weight * model.lm_head.weight[target] / scale
    direction = gain - gain.mean()  # the norm takes the mean of a vector from it
    found = logit_attribution(model, TEXT, tokenizer=tokenizer, target="bad")
    start = model.transformer.wte.weight[ids[0, -1]] @ direction
    assert found.embeddings == pytest.approx(float(start))
    assert found.positions == pytest.approx(float(stream["start"] @ direction - start))
    slow = slow_heads(model, [block.attn.c_proj for block in blocks], ids, direction)
    np.testing.assert_allclose([one.effects.sum(axis=1) for one in found.heads], slow, atol=1e-6)
    mlps = [float((written[n] - block.mlp.c_proj.bias) @ direction) for n, block in enumerate(blocks)]
    np.testing.assert_allclose(found.mlps, mlps, atol=1e-10)
    biases = [float((one.attn.c_proj.bias + one.mlp.c_proj.bias) @ direction) for one in blocks]
    np.testing.assert_allclose(found.biases, [*biases, 0.0], atol=1e-10)
    assert found.norms == pytest.approx(float(norm.bias @ model.lm_head.weight[target]))
    assert found.logit == pytest.approx(float(expected))
    assert abs(found.residual) < 1e-10


@torch.no_grad()
def test_llama_by_its_residual_stream():
    model, tokenizer = writer("Llama").double(), word_tokenizer("")
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    good, bad = (tokenizer(word)["input_ids"][0] for word in ("good", "bad"))
    stream, written = {}, {}
    model.model.layers[-1].register_forward_hook(lambda m, args, output: stream.update(end=output[0, -1]))
    for number, layer in enumerate(model.model.layers):
        layer.mlp.register_forward_hook(lambda m, args, output, n=number: written.update({n: output[0, -1]}))
    logits = model(ids).logits[0, -1]
    norm = model.model.norm
    difference = model.lm_head.weight[good] - model.lm_head.weight[bad]
    direction = norm.weight * difference / (stream["end"].square().mean() + norm.variance_epsilon).sqrt()
    found = logit_attribution(model, TEXT, tokenizer=tokenizer, target="good", against="bad")
    slow = slow_heads(model, [layer.self_attn.o_proj for layer in model.model.layers], ids, direction)
    np.testing.assert_allclose([one.effects.sum(axis=1) for one in found.heads], slow, atol=1e-6)
    np.testing.assert_allclose(found.mlps, [float(one @ direction) for one in written.values()], atol=1e-6)
    assert found.embeddings == pytest.approx(
        float(model.model.embed_tokens.weight[ids[0, -1]] @ direction), rel=1e-5
    )
    assert found.logit == pytest.approx(float(logits[good] - logits[bad]))
    assert found.positions == found.norms == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_planted_induction_head_and_its_source(seed):
    model, tokenizer = induction_model(seed=seed)
    text, answer = repeated_text(seed=seed)
    found = logit_attribution(model, text, tokenizer=tokenizer, target=answer)
    largest = max(found.parts(), key=lambda part: abs(part.effect))
    assert (largest.layer, largest.head) == INDUCTION_HEAD
    assert largest.effect > 0.8 * found.logit
    sources = found.tokens_to_pandas().query("layer == 1 and head == 2").set_index("position")["effect"]
    assert found.tokens[sources.idxmax()] == answer
    assert sources.max() > 0.9 * largest.effect


@pytest.mark.parametrize("name", [*WRITERS, *OF_FAMILIES])
def test_parts_of_language_models_add_up(name):
    model, tokenizer = writer(name), word_tokenizer("")
    found = logit_attribution(model, TEXT, tokenizer=tokenizer, target="bad")
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    expected = model(ids).logits[0, -1, tokenizer("bad")["input_ids"][0]].detach()
    assert found.logit == pytest.approx(float(expected), abs=1e-4)
    assert abs(found.residual) < 1e-4 * found.spread
    assert found.caveat is None
    kinds = {"head": 0, "mlp": 0}
    for part in found.parts():
        if part.kind in kinds:
            kinds[part.kind] += 1
            assert abs(part.effect) > 1e-7
    assert kinds["mlp"] == 2
    assert kinds["head"] >= 4


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_parts_of_classifiers_add_up(name):
    family = FAMILIES[name]
    config = family.config(**family.options)
    model = drawn(hf.AutoModelForSequenceClassification.from_config(config))
    found = logit_attribution(
        model, TEXT, tokenizer=word_tokenizer(family.marks), target="LABEL_1", against=0
    )
    assert abs(found.residual) < 1e-4 * found.spread
    assert found.against == "LABEL_0"
    assert np.abs(found.heads[-1].effects).max() > 1e-4


def test_hidden_word_is_asked_about():
    family = FAMILIES["Bert"]
    model = drawn(hf.AutoModelForMaskedLM.from_config(family.config(**family.options)))
    tokenizer = word_tokenizer("bert")
    found = logit_attribution(model, "the film was [MASK]", tokenizer=tokenizer, target="good")
    assert abs(found.residual) < 1e-4 * found.spread
    with pytest.raises(InputError, match="choose one"):
        logit_attribution(model, "the film was good", tokenizer=tokenizer, target="good")


def test_what_is_missed_is_said():
    class Gated(torch.nn.Module):
        """What a layer hands on, squared entry by entry: no sum of parts."""

        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) ** 2 + self.inner(x).exp()

    model = writer("Llama")
    model.model.layers[1].mlp.down_proj = Gated(model.model.layers[1].mlp.down_proj)
    found = logit_attribution(model, TEXT, tokenizer=word_tokenizer(""), target="bad")
    assert abs(found.residual) > 1e-2
    assert not found.is_complete
    assert f"{found.residual:+.3g}" in found.caveat


def test_halves_are_taken_apart_in_float32():
    model = writer("Llama").bfloat16()
    found = logit_attribution(model, TEXT, tokenizer=word_tokenizer(""), target="bad")
    assert abs(found.residual) < 1e-4 * found.spread
    exact = logit_attribution(model.float(), TEXT, tokenizer=word_tokenizer(""), target="bad")
    np.testing.assert_allclose(found.heads[1].effects, exact.heads[1].effects, atol=1e-5)


def test_model_stays_as_it_was():
    model, tokenizer = writer("GPT2"), word_tokenizer("")
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    before = model(ids).logits.detach()
    logit_attribution(model, TEXT, tokenizer=tokenizer)
    assert torch.equal(model(ids).logits, before)
    assert all(one.grad is None and one.requires_grad for one in model.parameters())


def test_bad_questions():
    model, tokenizer = writer("GPT2"), word_tokenizer("")
    with pytest.raises(InputError, match="not a token of this model"):
        logit_attribution(model, TEXT, tokenizer=tokenizer, target="unheard")
    with pytest.raises(InputError, match="contrasted with itself"):
        logit_attribution(model, TEXT, tokenizer=tokenizer, target="good", against="good")
    with pytest.raises(InputError, match="one text at a time"):
        logit_attribution(model, [TEXT], tokenizer=tokenizer)
    with pytest.raises(InputError, match="empty"):
        logit_attribution(model, "", tokenizer=tokenizer)


def test_table_and_json():
    model, tokenizer = induction_model()
    found = logit_attribution(model, repeated_text()[0], tokenizer=tokenizer)
    table = found.to_pandas()
    assert table["effect"].sum() == pytest.approx(found.logit, abs=1e-6)
    assert list(table["name"])[-1] == "residual"
    assert '"residual"' in found.to_json()
