"""Imposed attention: the weights of another run, in training, after saving, and in what reads them."""

import json

import pytest
import torch
from transformers import AutoModelForSequenceClassification

import glasshead
from glasshead.data import LoadOptions, encode, load
from glasshead.errors import InputError
from glasshead.opening import load_run
from glasshead.training import TRAINING_PRESETS, TrainingConfig, train

PLANTED = LoadOptions(generator={"instances": 300})
RECIPE = TRAINING_PRESETS["s0-paper"].with_settings(
    {"embedding_size": 12, "hidden_size": 12, "head_dim": 12, "value_dim": 12, "temperature": 1.0,
     "learning_rate": 0.02, "epochs": 4, "dropout": 0.0}
)  # fmt: skip
TEXTS = ["", "a", "w1 w2 w3 never seen words", "w5 " * 40]


def frozen(run, **settings) -> TrainingConfig:
    return RECIPE.with_settings({"attention": f"frozen:{run}"} | settings)


def weights(run, texts):
    """The weights of texts in one padded batch."""
    encoded = encode(run.tokenizer, texts)
    with torch.inference_mode():
        return run.model(**encoded.inputs(), output_attentions=True).weights


@pytest.fixture(scope="module")
def data():
    return load("synthetic", PLANTED)


@pytest.fixture(scope="module")
def lstm(data, tmp_path_factory):
    """The run whose weights are imposed."""
    out = tmp_path_factory.mktemp("frozen") / "lstm"
    return train(data, RECIPE.with_settings({"encoder": "lstm"}), out)


@pytest.fixture(scope="module")
def imposed(data, lstm):
    """A model without an encoder, that has these weights."""
    return train(data, frozen(lstm), lstm.parent / "imposed", seed=1)


def test_every_text_has_the_weights_of_the_other_run(data, lstm, imposed):
    first, second = load_run(lstm), load_run(imposed)
    texts = [*TEXTS, *(text for split in data for text in data[split]["text"][:])]
    expected = weights(first, texts)
    assert expected.std() > 0.01  # they are not uniform
    torch.testing.assert_close(weights(second, texts), expected, rtol=0, atol=1e-6)
    for text, row in zip(TEXTS, expected, strict=False):  # without padding
        (alone,) = weights(second, [text])
        torch.testing.assert_close(alone, row[: len(alone)], rtol=0, atol=1e-6)


def test_the_rest_is_trained(data, lstm, imposed):
    first, second = load_run(lstm), load_run(imposed)
    assert second.model.config.encoder == "none"
    assert second.model.pooling.score is None
    second.model(**encode(second.tokenizer, TEXTS).inputs()).logits.sum().backward()
    assert all(parameter.grad is None for parameter in second.model.imposed.parameters())
    assert second.model.embedding.weight.grad is not None
    for name, parameter in second.model.imposed.encoder.named_parameters():
        torch.testing.assert_close(parameter, first.model.get_parameter(f"encoder.{name}"), rtol=0, atol=0)
    assert second.record["recipe"]["attention_run"] == f"frozen:{lstm}"
    assert not torch.allclose(second.model.embedding.weight, second.model.imposed.embedding.weight)
    measured = json.loads((imposed / "metrics.json").read_text())
    assert measured["test"]["accuracy"] > 0.8


def test_it_survives_saving_outside_of_a_run(data, lstm, imposed, tmp_path):
    run = load_run(imposed)
    run.model.save_pretrained(tmp_path)
    run.tokenizer.save_pretrained(tmp_path)
    inputs = encode(run.tokenizer, TEXTS).inputs()
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    opened = glasshead.open(tmp_path).model
    for model in (again, opened):
        with torch.inference_mode():
            torch.testing.assert_close(model(**inputs).logits, run.model(**inputs).logits)


def test_what_reads_attention_reads_it(data, lstm, imposed):
    text = data["test"]["text"][0]
    own = glasshead.explain(imposed, [text], method="attention")[0]
    other = glasshead.explain(lstm, [text], method="attention")[0]
    assert own.scores == pytest.approx(other.scores, abs=1e-6)
    for method in ("gradient", "erasure-delete", "erasure-renormalise", "erasure-mean-embedding"):
        assert len(glasshead.explain(imposed, [text], method=method)[0].scores) == len(own.scores)
    card = glasshead.audit(imposed, data["test"])
    assert card.facts["attention"].startswith("frozen")
    assert "encoder lstm" in card.facts["attention"]


def test_the_weights_of_weights_that_were_imposed(data, lstm, imposed, tmp_path):
    third = load_run(train(data, frozen(imposed, encoder="affine"), tmp_path / "third"))
    torch.testing.assert_close(weights(third, TEXTS), weights(load_run(lstm), TEXTS), rtol=0, atol=1e-6)


def test_vectors_alone_have_no_imposed_weights(imposed):
    run = load_run(imposed)
    ones = torch.ones(1, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="input_ids"):
        run.model(inputs_embeds=run.model.embedding(ones), attention_mask=ones)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_length": 64}, "reads 128 tokens of a text, this training 64: take `max_length=128`"),
        ({"min_freq": 4}, "the same `vocab_size` and `min_freq`"),
    ],
)
def test_another_tokenizer_is_refused(data, lstm, tmp_path, settings, says):
    with pytest.raises(InputError, match=says):
        train(data, frozen(lstm, **settings), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_another_kind_of_model_is_refused(data, lstm, tmp_path):
    encoder = TRAINING_PRESETS["da-transformer-small"].with_settings({"epochs": 1})
    other = train(data, encoder, tmp_path / "encoder")
    with pytest.raises(InputError, match="only a pooled classifier has a single weight per token"):
        train(data, frozen(other), tmp_path / "out")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"attention": "frozen:"}, "names no run"),
        ({"attention": "frozen:x", "score": "context"}, "leave `score` out"),
        ({"attention": "frozen:x", "adversary_weight": 0.1}, "name the run, or leave it out"),
        ({"attention": "frozen:x", "penalties": {"context-output": 1}}, "leave the penalty"),
        ({"attention": "freezing:x"}, "unknown attention mechanism 'freezing:x': .*; did you mean 'frozen'"),
        ({"adversary_weight": 0.1}, "name the run, or leave it out"),
    ],
)
def test_what_cannot_be_meant(settings, says):
    with pytest.raises(InputError, match=says):
        TRAINING_PRESETS["s4"].with_settings(settings)


def test_models_of_many_layers_have_none_of_it():
    with pytest.raises(InputError, match="are for the model 'pooled', not 'encoder'"):
        TRAINING_PRESETS["da-transformer-small"].with_settings({"attention": "frozen:x"})


def test_records_of_other_trainings_stay_as_they_were():
    assert not {"attention_run", "adversary_weight"} & set(RECIPE.as_dict())
