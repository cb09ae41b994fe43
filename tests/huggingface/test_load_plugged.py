"""A plugged model on disk: comes back with its mechanism, or says why not; never as softmax in silence."""

import copy
import json
import subprocess
import sys

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from torch.utils.data import Dataset

import glasshead
from families import FAMILIES, SIZES
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules, mechanism_of
from tolerances import ALL_LAYERS

BERT = FAMILIES["bert"]
TEXT = [6, 4]
LEARNED = "tanhmax+distance-aware"


def classifier(spec):
    torch.manual_seed(0)
    model = glasshead.plug(hf.BertForSequenceClassification(hf.BertConfig(**SIZES)).eval(), spec)
    for _, module in attention_modules(model):
        for parameter in mechanism_of(module).parameters():
            torch.nn.init.normal_(parameter)
    return model


@pytest.fixture
def saved(tmp_path):
    model = classifier(LEARNED)
    model.save_pretrained(tmp_path / "model")
    return model, tmp_path / "model"


def logits(model):
    with torch.no_grad():
        return model(**BERT.inputs(TEXT)).logits


def test_what_is_written(saved):
    _, folder = saved
    config = json.loads((folder / "config.json").read_text())
    assert config["attn_implementation"] == "glasshead"
    assert config["glasshead_mechanism"] == {"activation": "tanhmax", "position": "distance-aware"}
    ours = [key for key in load_file(folder / "model.safetensors") if ".mechanism." in key]
    assert sorted(key.rpartition(".mechanism.")[2] for key in ours) == ["position.v"] * 2 + ["position.w"] * 2


@pytest.mark.parametrize(
    "cls",
    [None, hf.AutoModelForSequenceClassification, hf.BertForSequenceClassification],
    ids=lambda cls: getattr(cls, "__name__", "saved"),
)
def test_every_way_to_name_the_class(saved, cls):
    model, folder = saved
    again = glasshead.load(folder, cls)
    assert type(again) is hf.BertForSequenceClassification
    torch.testing.assert_close(logits(again), logits(model), **ALL_LAYERS)
    again.save_pretrained(folder.parent / "twice")
    torch.testing.assert_close(logits(glasshead.load(folder.parent / "twice")), logits(model), **ALL_LAYERS)


def test_a_part_of_the_model_and_options_of_from_pretrained(saved):
    model, folder = saved
    base = glasshead.load(folder, hf.AutoModel, dtype=torch.float64)
    assert base.dtype == torch.float64
    with torch.no_grad():
        ours = base(**BERT.inputs(TEXT)).last_hidden_state
        theirs = model.double().bert(**BERT.inputs(TEXT)).last_hidden_state
    torch.testing.assert_close(ours, theirs)


def test_a_plain_load_raises_where_parameters_would_be_missing(saved):
    _, folder = saved
    plain = hf.AutoModelForSequenceClassification.from_pretrained(folder)
    with pytest.raises(InputError, match=r"has parameters, .* use glasshead\.load"):
        logits(plain)


def test_a_plain_load_restores_what_has_no_parameters(tmp_path):
    model = classifier("tanhmax")
    model.save_pretrained(tmp_path / "once")
    plain = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path / "once")
    torch.testing.assert_close(logits(plain), logits(model), **ALL_LAYERS)
    with torch.no_grad():
        assert len(plain(**BERT.inputs(TEXT), output_attentions=True).attentions) == 2
    plain.save_pretrained(tmp_path / "twice")
    again = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path / "twice")
    torch.testing.assert_close(logits(again), logits(model), **ALL_LAYERS)


def clip():
    common = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2}
    text = {**common, "vocab_size": 60, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    image = {**common, "image_size": 12, "patch_size": 4}
    torch.manual_seed(0)
    return hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=image, projection_dim=8)).eval()


@torch.no_grad()
def test_a_model_of_two_models_keeps_its_mechanism_too(tmp_path):
    model = clip()
    given = {"input_ids": torch.tensor([[3, 4, 5, 2]]), "pixel_values": torch.randn(1, 3, 12, 12)}
    own = model(**given).logits_per_image
    expected = glasshead.plug(model, "tanhmax")(**given).logits_per_image
    assert not torch.allclose(expected, own, **ALL_LAYERS)
    for step in ("once", "twice"):
        model.save_pretrained(tmp_path / step)
        model = hf.CLIPModel.from_pretrained(tmp_path / step).eval()
    torch.testing.assert_close(model(**given).logits_per_image, expected, **ALL_LAYERS)
    torch.testing.assert_close(glasshead.unplug(model)(**given).logits_per_image, own, **ALL_LAYERS)


def test_configurations_name_their_mechanism_and_ask_for_it(tmp_path):
    model = classifier("tanhmax")
    model.save_pretrained(tmp_path)
    read = hf.AutoConfig.from_pretrained(tmp_path)
    for config in (read, copy.deepcopy(read), model.config, hf.BertConfig.from_dict(model.config.to_dict())):
        assert config._attn_implementation == "glasshead"
        assert config.glasshead_mechanism == {"activation": "tanhmax"}
    assert not hasattr(hf.BertConfig(), "glasshead_mechanism")


def test_what_lost_its_attention_says_so_and_is_restored_by_load(tmp_path):
    model = classifier("tanhmax")
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["attn_implementation"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.warns(UserWarning, match=r"was saved with .*tanhmax.* runs without it, with 'sdpa'"):
        hf.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    torch.testing.assert_close(logits(glasshead.load(tmp_path)), logits(model), **ALL_LAYERS)


@pytest.mark.parametrize(
    "cls", [hf.BertForSequenceClassification, hf.AutoModelForSequenceClassification], ids=["class", "auto"]
)
def test_another_attention_on_request_is_for_that_load_only(cls, tmp_path):
    model = classifier("tanhmax")
    model.save_pretrained(tmp_path / "once")
    with pytest.warns(UserWarning, match="runs without it"):
        asked = cls.from_pretrained(tmp_path / "once", attn_implementation="sdpa")
    assert not torch.allclose(logits(asked.eval()), logits(model), **ALL_LAYERS)
    asked.save_pretrained(tmp_path / "twice")
    again = cls.from_pretrained(tmp_path / "twice")
    torch.testing.assert_close(logits(again), logits(model), **ALL_LAYERS)


def test_a_saved_word_that_nobody_registered_says_what_to_import(tmp_path):
    classifier("tanhmax").save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["glasshead_mechanism"] = {"activation": "cube"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    plain = hf.BertForSequenceClassification.from_pretrained(tmp_path)
    for ask in (lambda: glasshead.load(tmp_path), lambda: glasshead.doctor(tmp_path), lambda: logits(plain)):
        with pytest.raises(
            InputError, match=r"unknown activation 'cube': .*import the file that registers it"
        ):
            ask()


@pytest.mark.slow
def test_without_glasshead_transformers_refuses(tmp_path):
    classifier("tanhmax").save_pretrained(tmp_path)
    program = "import sys, transformers; transformers.AutoModel.from_pretrained(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'ValueError: Specified `attn_implementation="glasshead"` is not supported' in done.stderr


@pytest.mark.parametrize(("kind", "word"), [("missing", "missing"), ("unexpected", "unexpected")])
def test_parameters_that_do_not_fit_are_refused(saved, kind, word):
    _, folder = saved
    weights = load_file(folder / "model.safetensors")
    key = next(key for key in weights if key.endswith("mechanism.position.w"))
    if kind == "missing":
        del weights[key]
    else:
        weights[key + "_old"] = torch.zeros(2)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=rf"has {word} parameters for .*mechanism\.position\.w"):
        glasshead.load(folder)


def test_what_is_no_plugged_model_is_refused(tmp_path):
    hf.BertModel(hf.BertConfig(**SIZES)).save_pretrained(tmp_path / "plain")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"has no plugged model: load it with from_pretrained"):
        glasshead.load(tmp_path / "plain")
    for name, message in (("empty", "has no model"), ("nowhere", "there is no folder")):
        with pytest.raises(InputError, match=message) as caught:
            glasshead.load(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_classes_that_do_not_fit_are_refused(saved):
    _, folder = saved
    with pytest.raises(InputError, match="AutoModelForImageClassification has no model for 'bert'"):
        glasshead.load(folder, hf.AutoModelForImageClassification)
    with pytest.raises(InputError, match="cls must be a class of transformers models"):
        glasshead.load(folder, dict)


def test_a_folder_without_its_weights_is_refused(saved):
    _, folder = saved
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        glasshead.load(folder)


class Texts(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, row):
        given = BERT.inputs([6])
        return {"input_ids": given["input_ids"][0].roll(row), "labels": row % 2}


def test_trainer_trains_saves_and_the_model_comes_back(tmp_path):
    model = classifier(LEARNED).train()
    before = {key: each.clone() for key, each in model.state_dict().items()}
    options = {"report_to": [], "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    arguments = hf.TrainingArguments(
        str(tmp_path), max_steps=2, per_device_train_batch_size=4, dataloader_pin_memory=False, **options
    )
    trainer = hf.Trainer(model=model, args=arguments, train_dataset=Texts())
    assert trainer.train().global_step == 2
    learned = [key for key in before if ".mechanism." in key]
    assert len(learned) == 4
    assert all(not torch.equal(before[key], model.state_dict()[key]) for key in learned)
    trainer.save_model(tmp_path / "trained")
    torch.testing.assert_close(
        logits(glasshead.load(tmp_path / "trained").eval()), logits(model.eval()), **ALL_LAYERS
    )
