"""Sinks are no tokens, wherever a model puts their scores; keys whose scores are joined are no sinks."""

import pytest
import torch
from torch import nn
from transformers import BertConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

import glasshead
from classifier_families import widened, word_tokenizer
from glasshead.errors import InputError
from glasshead.huggingface import readable_copy
from glasshead.trace import record
from tolerances import EXACT_MATHS

WIDTH, HEADS = 16, 2
TEXTS = ["a warm , funny film", "bad"]


def behind(module, scores, keys):
    sinks = module.sinks.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    both = torch.cat([scores, sinks], dim=-1)
    return (both - both.amax(dim=-1, keepdim=True)).softmax(dim=-1)[..., :-1]


def before(module, scores, keys):
    sinks = module.sinks.view(1, -1, 1, 1).repeat(scores.shape[0], 1, scores.shape[2], 2)
    return torch.softmax(torch.concatenate((sinks, scores), -1), dim=-1)[..., 2:]


def around(module, scores, keys):
    sinks = module.sinks.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    return torch.cat(tensors=[sinks, scores, sinks], dim=-1).softmax(dim=-1)[..., 1:-1]


def of_the_states(module, scores, keys):
    sinks = module.sink_map(module.states).transpose(1, 2)[..., None]
    return torch.cat([scores, sinks], dim=-1).softmax(dim=-1)[..., :-1]


def zero(module, scores, keys):
    return torch.cat([scores.new_zeros(*scores.shape[:3], 1), scores], dim=3).softmax(dim=-1)[..., 1:]


def padded(module, scores, keys):
    return nn.functional.pad(scores, (1, 0)).softmax(dim=-1)[..., 1:]


def halves(module, scores, keys):
    half = max(scores.shape[-1] // 2, 1)
    return torch.cat([scores[..., :half], scores[..., half:]], dim=-1).softmax(dim=-1)


def of_the_query(module, scores, keys):
    return torch.cat([scores[..., :1] / 2, scores], dim=-1).softmax(dim=-1)[..., 1:]


def in_the_middle(module, scores, keys):
    sinks = module.sinks.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    weights = torch.cat([scores[..., :1], sinks, scores[..., 1:]], dim=-1).softmax(dim=-1)
    return torch.cat([weights[..., :1], weights[..., 2:]], dim=-1)


class SinkAttention(nn.Module):
    """Attention in one's own code, whose ``weigh`` makes weights of scores."""

    weigh = None

    def __init__(self):
        super().__init__()
        self.num_heads = HEADS
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.sink_map = nn.Linear(WIDTH, HEADS)
        self.sinks = nn.Parameter(torch.tensor([0.5, 1.5]))

    def forward(self, states, mask):
        texts, length, _ = states.shape
        self.states = states
        q, k, v = self.queries_keys_values(states).view(texts, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.mT / 3).masked_fill(mask[:, None, None] == 0, -1e9)
        weights = type(self).weigh(self, scores, k)
        self.seen = weights.detach()
        return (weights @ v).transpose(1, 2).reshape(texts, length, WIDTH)


class SinkForSequenceClassification(PreTrainedModel):
    config_class = BertConfig

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, WIDTH)
        self.attention, self.head = config.attention_class(), nn.Linear(WIDTH, 2)
        self.post_init()

    def get_input_embeddings(self):
        return self.embeddings

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, **options):
        states = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        mask = torch.ones(states.shape[:2]) if attention_mask is None else attention_mask
        states = states + self.attention(states, mask)
        pooled = (states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return SequenceClassifierOutput(logits=self.head(pooled))


def model_with(weigh):
    attention = type("SinkAttention", (SinkAttention,), {"weigh": weigh})
    cls = type("SinkForSequenceClassification", (SinkForSequenceClassification,), {})

    def build(config):
        config.attention_class = attention
        model = cls(config)
        del config.attention_class
        return model

    return widened(build, BertConfig(vocab_size=60, hidden_size=WIDTH, num_labels=2))


SINKS = [behind, before, around, of_the_states, zero, padded]


@pytest.mark.parametrize("texts", [TEXTS, ["bad"]])
@pytest.mark.parametrize("weigh", [*SINKS, halves])
def test_the_weights_are_those_of_the_tokens(weigh, texts):
    model, tokenizer = model_with(weigh).double(), word_tokenizer("")
    inputs = tokenizer(texts, return_tensors="pt", padding=True)
    inputs.pop("token_type_ids")
    with torch.no_grad(), record(readable := readable_copy(model)) as trace:
        logits = readable(**inputs).logits
        expected = model(**inputs).logits
    torch.testing.assert_close(logits, expected)
    weights = trace.only[0].weights
    torch.testing.assert_close(weights, model.attention.seen, **EXACT_MATHS)
    again = trace.only[0].call.mechanism.weights(trace.only[0].call, trace.only[0].scores)
    torch.testing.assert_close(again, weights, **EXACT_MATHS)
    assert (float(weights.sum(dim=-1).max()) < 0.95) == (weigh is not halves)


@pytest.mark.parametrize("weigh", [*SINKS, halves])
def test_such_a_model_is_explained(weigh):
    tokens = glasshead.explain(model_with(weigh), TEXTS, tokenizer=word_tokenizer(""), method="attention")
    assert len({round(value, 4) for value in tokens[0].scores}) > 3


@pytest.mark.parametrize("weigh", [of_the_query, in_the_middle])
def test_columns_that_nobody_can_assign_are_refused(weigh):
    with pytest.raises(InputError, match="6 scores for 5 tokens"):
        glasshead.explain(model_with(weigh), TEXTS, tokenizer=word_tokenizer(""), method="attention")
