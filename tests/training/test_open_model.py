"""A run, a saved model of Hugging Face, or one line that says why the folder cannot be opened."""

import json

import pytest
import torch
import transformers as hf

import glasshead
from fake_models import TEXT, write_model
from families import FAMILIES
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules, mechanism_of
from glasshead.trace import record
from glasshead.training.open_model import open_model
from kinds import saved
from tolerances import ALL_LAYERS


def refused(folder, says):
    with pytest.raises(InputError, match=says) as told:
        open_model(folder)
    assert "\n" not in str(told.value)


pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "gpt2", "llama"])
def test_a_saved_classifier_is_plugged_with_softmax(family, tmp_path):
    saved(tmp_path, family)
    plain = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    model, tokenizer = open_model(tmp_path)
    assert type(model) is type(plain)
    assert {mechanism_of(module).name for _, module in attention_modules(model)} == {"softmax"}
    assert not model.training
    plain.config.pad_token_id = tokenizer.pad_token_id
    inputs = encode(tokenizer, ["the film was good ."]).inputs()
    with torch.no_grad(), record(model) as trace:
        logits = model(**inputs).logits
        torch.testing.assert_close(logits, plain(**inputs).logits, **ALL_LAYERS)
    assert trace[0].projection is not None


def test_a_bare_model(tmp_path):
    saved(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    model = FAMILIES["bert"].build(vocab_size=len(tokenizer), max_position_embeddings=17)
    model.half().save_pretrained(tmp_path / "bare")
    tokenizer.save_pretrained(tmp_path / "bare")
    model, tokenizer = open_model(tmp_path / "bare")
    assert type(model) is hf.BertModel
    assert model.dtype == torch.float32  # computed more finely than it was saved
    assert tokenizer.model_max_length == 17


def test_its_own_mechanism_stays(tmp_path):
    saved(tmp_path)
    model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    glasshead.plug(model, "tanhmax").save_pretrained(tmp_path)
    model, _ = open_model(tmp_path)
    assert {mechanism_of(module).name for _, module in attention_modules(model)} == {"tanhmax"}


@pytest.mark.parametrize(
    ("family", "kind"), [("encoder", "EncoderClassifier"), ("pooled", "PooledClassifier")]
)
@pytest.mark.parametrize("run", [True, False])
def test_models_of_ours_with_and_without_their_run(family, kind, run, tmp_path):
    folder = write_model(tmp_path / "run", family)
    if not run:
        (folder / "run.json").unlink()
        (folder / "vocabulary.parquet").unlink()
    model, tokenizer = open_model(folder)
    assert type(model).__name__ == kind
    assert not model.training
    assert model(**encode(tokenizer, [TEXT]).inputs()).logits.shape == (1, 2)


def test_what_is_no_model(tmp_path):
    refused(tmp_path / "nothing", "there is no folder .*nothing")
    refused(tmp_path, r"holds neither a run \(run.json\) nor a model \(config.json\)")
    (tmp_path / "begun.partial").mkdir()
    refused(tmp_path / "begun", "is not finished: train it on with `resume=True`")


def test_folders_that_do_not_load(tmp_path):
    saved(tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[:100])
    refused(tmp_path, "holds no model that loads")
    (tmp_path / "model.safetensors").write_bytes(weights)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    refused(tmp_path, "lacks weights of its model, such as bert.encoder.layer.2")
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "no such type"}))
    refused(tmp_path, "holds no model that transformers knows")
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).unlink()
    refused(tmp_path, "has no tokenizer")


def test_a_tokenizer_of_another_model(tmp_path):
    saved(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.add_tokens([f"extra{number}" for number in range(60)])
    tokenizer.save_pretrained(tmp_path)
    refused(tmp_path, "knows .* tokens, the model .*: save the tokenizer")


def test_models_that_read_no_text(tmp_path):
    FAMILIES["bart"].build().save_pretrained(tmp_path / "writes")
    refused(tmp_path / "writes", "holds a model that writes texts: give an encoder")
