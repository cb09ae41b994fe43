"""Models with adapters (PEFT) are read as those that they merge into, and stay as they are."""

import copy
import json
import shutil
import sys

import pytest
import torch
import transformers as hf
from huggingface_hub import constants

import glasshead
from adapted import adapted, learned, peft, saved_adapter
from classifier_families import FAMILIES
from glasshead.errors import InputError
from glasshead.opening import OpenOptions, open_subject
from glasshead.opening.saved_adapters import ADAPTER, WEIGHTS
from image_families import image_model, processor

pytestmark = pytest.mark.usefixtures("quiet")
TEXT = "a warm film is not so dull"
READER = FAMILIES["Bert"].tokenizer()
NOTE = "adapters (PEFT) merged in a copy of the model: "


def state_of(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same_state(model, before):
    now = model.state_dict()
    return now.keys() == before.keys() and all(torch.equal(now[name], before[name]) for name in now)


def probabilities(model, tokenizer=READER):
    with torch.no_grad():
        return model(**tokenizer(TEXT, return_tensors="pt")).logits.softmax(dim=-1)[0]


def explained(model, tokenizer=READER, **options):
    (attribution,) = glasshead.explain(model, TEXT, tokenizer=tokenizer, **options)
    return attribution


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"use_dora": True, "bias": "all"},
        {"target_modules": ["word_embeddings", "query"]},
        {"trainable_token_indices": [6, 8]},
        {
            "kind": "IA3Config",
            "target_modules": ["query", "output.dense"],
            "feedforward_modules": ["output.dense"],
        },
        {"kind": "LNTuningConfig", "target_modules": ["LayerNorm"]},
    ],
    ids=["lora", "dora", "embeddings", "tokens", "ia3", "norms"],
)
@pytest.mark.parametrize("method", ["contribution", "gradient"])
def test_it_is_explained_as_what_it_merges_into(settings, method):
    model = adapted(**settings)
    before = state_of(model)
    attribution = explained(model, method=method, target="LABEL_1")
    assert same_state(model, before)
    assert attribution.prediction == pytest.approx(float(probabilities(model)[1]), abs=1e-5)
    by_hand = explained(copy.deepcopy(model).merge_and_unload(), method=method, target="LABEL_1")
    assert attribution.scores == pytest.approx(by_hand.scores, abs=1e-5)
    without = explained(copy.deepcopy(model).unload(), method=method, target="LABEL_1")
    assert attribution.scores != pytest.approx(without.scores, abs=1e-3)


def test_a_note_names_the_adapters_that_are_active():
    model = adapted(name="one", task_type=None, target_modules=["query"])
    model.add_adapter("two", peft.LoraConfig(r=2, target_modules=["value"]))
    learned(model)
    seen = []
    for names in (["one"], ["two"], ["one", "two"]):
        model.base_model.set_adapter(names)
        subject = glasshead.open(model, READER)
        assert subject.notes == (NOTE + ", ".join(names),)
        seen.append(explained(model, target="LABEL_0").prediction)
        assert seen[-1] == pytest.approx(float(probabilities(model)[0]), abs=1e-5)
    assert len({round(prediction, 3) for prediction in seen}) == 3
    model.base_model.disable_adapter_layers()
    with pytest.raises(InputError, match="no layer has an active one"):
        glasshead.open(model, READER)


def test_a_model_in_training_and_one_that_is_merged_already():
    model = adapted(lora_dropout=0.5).train()
    expected = explained(model).prediction
    assert model.training
    model.eval().merge_adapter()
    assert explained(model).prediction == pytest.approx(expected, abs=1e-5)


def test_half_precision_is_merged_in_float32():
    model = adapted().bfloat16()
    subject = glasshead.open(model, READER)
    assert subject.model.dtype == torch.float32
    assert subject.notes == (
        "adapters (PEFT) merged in a copy of the model, in float32 (the model is in bfloat16): default",
    )
    finer = copy.deepcopy(model).float()
    assert explained(subject, None).prediction == pytest.approx(explained(finer).prediction, abs=1e-6)


def test_adapters_inside_a_transformers_model():
    model = FAMILIES["Bert"].build()
    model.add_adapter(peft.LoraConfig(r=4, target_modules=["query"]), "mine")
    before = state_of(learned(model))
    assert glasshead.open(model, READER).notes == (NOTE + "mine",)
    attribution = explained(model, target="LABEL_2")
    assert attribution.prediction == pytest.approx(float(probabilities(model)[2]), abs=1e-5)
    assert same_state(model, before)
    assert model.active_adapters() == ["mine"]


@pytest.mark.parametrize("targets", [["c_attn"], ["c_attn", "lm_head"], ["c_attn", "wte"]])
def test_a_language_model_whose_embeddings_are_tied(targets):
    """What an adapter adds to one of two tied weights, it does not add to the other."""
    model = FAMILIES["GPT2"].language_model()
    around = adapted(model, target_modules=targets, task_type="CAUSAL_LM", fan_in_fan_out=True)
    tokenizer = FAMILIES["GPT2"].tokenizer()
    before = state_of(around)
    with torch.no_grad():
        ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
        expected = around(input_ids=ids).logits[0, -1].softmax(dim=-1)
    assert explained(around, tokenizer).prediction == pytest.approx(float(expected.max()), abs=1e-5)
    assert same_state(around, before)


def test_a_classifier_of_images():
    model = adapted(
        copy.deepcopy(image_model()), target_modules=["query", "q_proj"], modules_to_save=["classifier"]
    )
    subject = open_subject(model, processor())
    inputs = {"pixel_values": torch.linspace(-1, 1, 3 * 12 * 12).view(1, 3, 12, 12)}
    with torch.no_grad():
        torch.testing.assert_close(subject.model(**inputs).logits, model(**inputs).logits)


def test_a_trainer_and_a_pipeline(tmp_path):
    model = adapted()
    trainer = hf.Trainer(model, hf.TrainingArguments(tmp_path, report_to="none"), processing_class=READER)
    assert open_subject(trainer).notes == (NOTE + "default",)
    classify = hf.pipeline("text-classification", model=model, tokenizer=READER)
    (printed,) = classify(TEXT)
    assert explained(classify, None, target=printed["label"]).prediction == pytest.approx(
        printed["score"], abs=1e-5
    )


@pytest.mark.parametrize(
    ("says", "build"),
    [
        (
            r"cannot be merged .*PROMPT_TUNING changes no weights",
            lambda: adapted(kind="PromptTuningConfig", num_virtual_tokens=2),
        ),
        (
            r"cannot be merged .*PREFIX_TUNING",
            lambda: adapted(kind="PrefixTuningConfig", num_virtual_tokens=2),
        ),
        (
            "aLoRA does not support merging",
            lambda: adapted(
                FAMILIES["GPT2"].language_model(),
                target_modules=["c_attn"],
                task_type="CAUSAL_LM",
                fan_in_fan_out=True,
                alora_invocation_tokens=[8],
            ),
        ),
        (
            "no transformers model inside",
            lambda: adapted(torch.nn.Sequential(torch.nn.Linear(2, 2)), target_modules=["0"], task_type=None),
        ),
    ],
    ids=["prompt", "prefix", "activated", "no model"],
)
def test_what_cannot_be_merged(says, build):
    with pytest.raises(InputError, match=says) as refusal:
        glasshead.open(build(), READER)
    assert len(str(refusal.value)) <= 300


def test_a_copy_that_predicts_otherwise():
    model = adapted()
    model.register_forward_hook(lambda module, inputs, output: type(output)(logits=output.logits + 1))
    with pytest.raises(InputError, match="predicts differently when its adapters") as refusal:
        glasshead.open(model, READER)
    assert len(str(refusal.value)) <= 300


class TestFolders:
    def test_a_head_that_the_base_lacks(self, tmp_path):
        """As people train them: the base fills gaps, and its head is saved with the adapters."""
        whole = FAMILIES["Bert"].build(labels=5)
        model, folder = saved_adapter(tmp_path, whole, modules_to_save=["classifier"])
        filling = hf.BertForMaskedLM(whole.config)
        filling.bert = hf.BertModel(whole.config)
        filling.bert.load_state_dict(model.get_base_model().bert.state_dict(), strict=False)
        config = json.loads((tmp_path / "base" / "config.json").read_text())
        del config["id2label"], config["label2id"]
        config["architectures"] = ["BertForMaskedLM"]
        (tmp_path / "base" / "config.json").write_text(json.dumps(config))
        subject = open_subject(folder)
        assert subject.labels == [f"LABEL_{number}" for number in range(5)]
        assert subject.notes == (NOTE + "default",)
        assert (subject.name, subject.folder) == ("adapter", folder)
        assert explained(subject, None, target="LABEL_4").prediction == pytest.approx(
            float(probabilities(model)[4]), abs=1e-5
        )

    @pytest.mark.parametrize("task", ["SEQ_CLS", None])
    def test_a_tokenizer_beside_the_adapters_comes_first(self, task, tmp_path):
        model, folder = saved_adapter(tmp_path, task_type=task)
        shorter = FAMILIES["Bert"].tokenizer()
        shorter.model_max_length = 7
        shorter.save_pretrained(folder)
        subject = open_subject(str(folder))
        assert subject.tokenizer.model_max_length == 7
        assert explained(open_subject(folder), None, target="LABEL_0").prediction == pytest.approx(
            float(probabilities(model, lambda text, **how: shorter(text, truncation=True, **how))[0]),
            abs=1e-5,
        )

    def test_what_transformers_saves_of_adapters_inside(self, tmp_path):
        saved_adapter(tmp_path)
        model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path / "base")
        model.add_adapter(peft.LoraConfig(r=2, target_modules=["query"]))
        learned(model).save_pretrained(tmp_path / "inside")
        attribution = explained(tmp_path / "inside", None, target="LABEL_1")
        assert attribution.prediction == pytest.approx(float(probabilities(model)[1]), abs=1e-5)

    def test_a_configuration_beside_the_adapters(self, tmp_path):
        """As some people upload them; and a checkpoint of a Trainer."""
        model, folder = saved_adapter(tmp_path)
        shutil.copy(tmp_path / "base" / "config.json", folder)
        shutil.copytree(folder, tmp_path / "training" / "checkpoint-20")
        for source in (folder, tmp_path / "training" / "checkpoint-20"):
            assert explained(source, None, target="LABEL_1").prediction == pytest.approx(
                float(probabilities(model)[1]), abs=1e-5
            )
        (tmp_path / "training" / "checkpoint-20" / "config.json").unlink()
        with pytest.raises(InputError, match=r"name one of them, such as .*checkpoint-20"):
            open_subject(tmp_path / "training")

    def test_a_folder_draws_no_random_numbers(self, tmp_path):
        _, folder = saved_adapter(tmp_path)
        before = torch.get_rng_state()
        open_subject(folder)
        assert torch.equal(torch.get_rng_state(), before)

    def test_a_name_on_the_hub(self, tmp_path, monkeypatch):
        """As it lies in the cache."""
        model, folder = saved_adapter(tmp_path)
        stored = tmp_path / "cache" / "models--somebody--adapters"
        (stored / "refs").mkdir(parents=True)
        (stored / "refs" / "main").write_text("a" * 40)
        shutil.copytree(folder, stored / "snapshots" / ("a" * 40))
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        attribution = explained("somebody/adapters", None, target="LABEL_1")
        assert attribution.prediction == pytest.approx(float(probabilities(model)[1]), abs=1e-5)

    def test_what_does_not_fit(self, tmp_path, monkeypatch):
        _, folder = saved_adapter(tmp_path)

        def refused(says):
            with pytest.raises(InputError, match=says) as refusal:
                open_subject(folder)
            assert "\n" not in str(refusal.value)

        base, weights = tmp_path / "base", (folder / WEIGHTS).read_bytes()
        shorter = FAMILIES["Bert"].build(num_hidden_layers=1)
        (tmp_path / "whole").mkdir()
        shutil.copytree(base, tmp_path / "whole", dirs_exist_ok=True)
        shorter.save_pretrained(base)
        refused(r"do not fit their base model .*: only one of them has .*layer\.1")
        FAMILIES["Bert"].build(hidden_size=32).save_pretrained(base)
        refused("do not fit")
        shutil.rmtree(base)
        refused("the base model of the adapters .*: there is no folder")
        shutil.copytree(tmp_path / "whole", base)
        (folder / WEIGHTS).write_bytes(weights[:50])
        refused("without weights that load safely")
        (folder / WEIGHTS).unlink()
        refused("without weights that load safely")
        (folder / WEIGHTS).write_bytes(weights)
        written = json.loads((folder / ADAPTER).read_text())
        (folder / ADAPTER).write_text(json.dumps(written | {"peft_type": "NO_SUCH"}))
        refused("do not fit their base model")
        pinned = written | {"revision": "v2", "base_model_name_or_path": "somebody/bert"}
        (folder / ADAPTER).write_text(json.dumps(pinned))
        refused("belong to the revision v2 of somebody/bert")
        for bad in ("no JSON", "[]", json.dumps(written | {"base_model_name_or_path": None})):
            (folder / ADAPTER).write_text(bad)
            refused("names no base model")
        for name in [name for name in sys.modules if name.partition(".")[0] == "peft"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "peft", None)
        refused(r"reading them needs an extra: pip install 'glasshead\[peft\]'")
        assert open_subject(tmp_path / "whole").notes == ()


def test_heads_and_answers():
    bare = adapted(hf.BertModel(FAMILIES["Bert"].build().config), task_type=None)
    assert open_subject(bare, READER, OpenOptions(classifies=False)).notes == (NOTE + "default",)
    writer = hf.T5ForConditionalGeneration(FAMILIES["T5"].build().config)
    answers = adapted(writer, target_modules=["q"], task_type="SEQ_2_SEQ_LM")
    subject = open_subject(answers, FAMILIES["T5"].tokenizer(), OpenOptions(answers=True))
    assert subject.notes == (NOTE + "default",)
