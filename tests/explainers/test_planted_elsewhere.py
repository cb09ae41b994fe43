"""The word whose sign two layers move to the prediction: in a causal model, and in a class of one's own."""

import numpy as np
import pytest
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

import glasshead
from glasshead.errors import InputError
from glasshead.huggingface import plug
from planted_layers import KEYS, MOVES, PlantedCase, causal_model, layered_model, layered_texts

ORIGIN = ["value-zeroing", "attn-lrp", "cp-lrp"]
FOLLOW = ["rollout", "attention-flow", "gradient-attention", "gradient-attention-signed", "alti"]
DO_NOT = ["attention", "contribution", "value-norm", "layer-mean"]


@pytest.fixture(scope="module")
def causal():
    """The word is in front of its carrier, and the carrier in front of the last token, which decides."""
    return PlantedCase(*causal_model("relay"), layered_texts(20, carrier="relay", in_order=True))


def test_the_causal_model_reads_the_word_at_every_place(causal):
    explained = causal.explained("attention")
    assert all(one.predicted == one.target and one.prediction > 0.99 for one in explained)
    assert len({one.tokens.index(one.target) for one in explained}) > 5


@pytest.mark.parametrize("method", ORIGIN)
def test_a_causal_model_shows_the_word(causal, method):
    assert causal.ranks(method, KEYS) == [0] * 20


@pytest.mark.parametrize("method", ["gradient-attention", "gradient-attention-signed"])
def test_in_a_causal_model_gradients_show_the_carrier_and_the_word(causal, method):
    assert causal.ranks(method, "relay") == [0] * 20
    assert causal.ranks(method, KEYS) == [1] * 20


@pytest.mark.parametrize("method", ["rollout", "attention-flow"])
def test_all_heads_of_a_causal_model_drift_to_the_first_words(causal, method):
    """Seven heads of each layer look at all tokens so far: what is in front has more than the word. The head
    that moves the word shows it."""
    assert np.mean(causal.ranks(method, KEYS)) > 1.5
    assert causal.ranks(method, KEYS, head=MOVES) == [0] * 20


@pytest.mark.parametrize("method", DO_NOT)
def test_the_last_layer_of_a_causal_model_shows_the_carrier_alone(causal, method):
    assert causal.ranks(method, "relay") == [0] * 20
    assert causal.ranks(method, KEYS) == [9] * 20


@pytest.mark.parametrize("method", ["alti", "value-norm-residual"])
def test_a_model_that_normalises_before_is_refused(causal, method):
    with pytest.raises(InputError, match=r"post-norm.*use 'value-norm'"):
        causal.explained(method)


class OwnForSequenceClassification(PreTrainedModel):
    """Somebody's class: a BERT of transformers, with a head of its own."""

    config_class = BertConfig
    base_model_prefix = "reader"
    _supports_sdpa = True

    def __init__(self, config):
        super().__init__(config)
        self.reader, self.head = BertModel(config), nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, **options):
        pooled = self.reader(input_ids, attention_mask, token_type_ids).pooler_output
        return SequenceClassifierOutput(logits=self.head(pooled))


class PlainClassifier(nn.Module):
    """The same without transformers around it."""

    def __init__(self, bert):
        super().__init__()
        self.reader, self.head = bert.bert, bert.classifier

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        return self.head(self.reader(input_ids, attention_mask, token_type_ids).pooler_output)


@pytest.fixture(scope="module")
def own():
    bert, tokenizer = layered_model("[SEP]")
    model = OwnForSequenceClassification(bert.config).eval()
    model.reader.load_state_dict(bert.bert.state_dict())
    model.head.load_state_dict(bert.classifier.state_dict())
    return PlantedCase(model, tokenizer, layered_texts(20))


@pytest.mark.parametrize("method", [*ORIGIN, *FOLLOW])
def test_a_class_of_ones_own_shows_the_word(own, method):
    assert own.ranks(method, KEYS) == [0] * 20


@pytest.mark.parametrize("method", DO_NOT)
def test_the_last_layer_of_it_does_not(own, method):
    assert all(rank > 0 for rank in own.ranks(method, KEYS))


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "plugged"])
def module(request):
    bert, tokenizer = layered_model("[SEP]")
    model = PlainClassifier(bert)
    read = glasshead.open(plug(model, "softmax") if request.param else model, tokenizer).model
    return PlantedCase(read, tokenizer, layered_texts(20))


@pytest.mark.parametrize("method", [*ORIGIN, *FOLLOW])
def test_a_module_without_transformers_shows_the_word(module, method):
    assert module.ranks(method, KEYS) == [0] * 20


@pytest.mark.parametrize("method", DO_NOT)
def test_the_last_layer_of_a_module_does_not(module, method):
    assert all(rank > 0 for rank in module.ranks(method, KEYS))
