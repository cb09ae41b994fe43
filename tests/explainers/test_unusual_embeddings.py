"""Models that look up, or compute, in a way of their own: explained, or refused in a line."""

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS, VOCABULARY, widened, word_tokenizer
from glasshead.errors import InputError

BERT = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "pad_token_id": 0,
    "intermediate_size": 24, "max_position_embeddings": 64,
}  # fmt: skip
XLM = {
    "vocab_size": 60,
    "emb_dim": 16,
    "n_layers": 2,
    "n_heads": 2,
    "max_position_embeddings": 64,
    "pad_index": 0,
    "pad_token_id": 0,
}
CTRL = {"vocab_size": 60, "n_positions": 64, "n_embd": 16, "dff": 24, "n_layer": 2, "n_head": 2}
REFORMER = {
    "vocab_size": 60, "hidden_size": 16, "attention_head_size": 8, "num_attention_heads": 2,
    "pad_token_id": 0, "feed_forward_size": 24, "attn_layers": ["local"], "axial_pos_embds": False,
    "max_position_embeddings": 64, "local_attn_chunk_length": 8, "is_decoder": False,
}  # fmt: skip
MODELS = {
    "ibert": (hf.IBertForSequenceClassification, lambda: hf.IBertConfig(**BERT), "bert"),
    "ctrl": (hf.CTRLForSequenceClassification, lambda: hf.CTRLConfig(**CTRL, pad_token_id=0), ""),
    "flaubert": (
        hf.FlaubertForSequenceClassification,
        lambda: hf.FlaubertConfig(**XLM),
        "bert",
    ),
    "xlm": (hf.XLMForSequenceClassification, lambda: hf.XLMConfig(**XLM), "bert"),
}
ROWS = [{"text": text, "label": f"LABEL_{number % 2}"} for number, text in enumerate(TEXTS * 2)]


def built(name):
    cls, config, marks = MODELS[name]
    return widened(cls, config()).double(), word_tokenizer(marks)


@pytest.mark.parametrize("name", MODELS)
def test_the_derivative_along_a_word_is_the_change_when_its_vector_grows(name):
    model, tokenizer = built(name)
    options = {"tokenizer": tokenizer, "target": 1, "dtype": "float64"}
    (attribution,) = glasshead.explain(model, TEXTS[0], method="gradient", **options)
    weight = model.get_input_embeddings().weight
    for word, score in zip(attribution.tokens, attribution.scores, strict=True):
        values = []
        for step in (1e-3, -1e-3):
            with torch.no_grad():
                before = weight[VOCABULARY[word]].clone()
                weight[VOCABULARY[word]] *= 1 + step
            values.append(glasshead.explain(model, TEXTS[0], method="random", **options)[0].prediction)
            with torch.no_grad():
                weight[VOCABULARY[word]] = before
        assert score == pytest.approx((values[0] - values[1]) / 2e-3, rel=1e-2, abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_other_methods_and_audits_read_them_too(name):
    model, tokenizer = built(name)
    for method in ("gradient-after-norm", "attn-lrp", "erasure-mean-embedding", "attention"):
        assert len(glasshead.explain(model, TEXTS, method=method, tokenizer=tokenizer)) == len(TEXTS)
    assert glasshead.audit(model, ROWS, audits=["agreement"], tokenizer=tokenizer).findings


def test_a_model_without_gradients_is_refused_in_a_line():
    model = widened(hf.ReformerForSequenceClassification, hf.ReformerConfig(**REFORMER))
    for method in ("gradient", "gradient-l2"):
        with pytest.raises(InputError, match=r"^no gradient passes through Reformer.*'erasure-delete'$"):
            glasshead.explain(model, TEXTS, tokenizer=word_tokenizer(), method=method)
    assert glasshead.explain(model, TEXTS, tokenizer=word_tokenizer(), method="erasure-delete")


def test_a_model_without_a_table_of_words_is_refused():
    config = {name: value for name, value in BERT.items() if name != "vocab_size"}
    model = hf.CanineForSequenceClassification(hf.CanineConfig(**config, num_hash_buckets=32))
    with pytest.raises(InputError, match="no single table of word vectors"):
        glasshead.explain(model, TEXTS, tokenizer=word_tokenizer())


class Stop(torch.autograd.Function):
    """Nothing changes; the way back fails."""

    @staticmethod
    def forward(context, values, error):
        context.error = error
        return values.clone()

    @staticmethod
    def backward(context, slope):
        raise context.error


@pytest.mark.parametrize("method", ["gradient", "gradient-l2", "captum:integrated-gradients"])
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RuntimeError("CUDA error: device-side assert triggered"), "device-side assert"),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), "mat1 and mat2"),
        (AssertionError("sizes differ"), "sizes differ"),
        (RuntimeError("derivative for aten::_grouped_mm is not implemented"), "^no gradient passes"),
        (NotImplementedError("the derivative for 'a' is not implemented."), "^no gradient passes"),
        (RuntimeError("element 0 of tensors does not require grad"), "^no gradient passes"),
    ],
)
def test_only_a_missing_derivative_is_called_one(method, error, says):
    if method.startswith("captum"):
        pytest.importorskip("captum")
    model = FAMILIES["Bert"].build()
    model.classifier.register_forward_hook(lambda _, args, logits: Stop.apply(logits, error))
    expected = InputError if says.startswith("^") else type(error)
    with pytest.raises(expected, match=says):
        glasshead.explain(model, TEXTS, tokenizer=FAMILIES["Bert"].tokenizer(), method=method)
