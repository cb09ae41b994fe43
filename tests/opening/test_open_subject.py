"""A run, a saved model of Hugging Face, or one line that says why the folder cannot be opened."""

import copy
import json
from dataclasses import replace

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES as CLASSIFIERS
from classifier_families import word_tokenizer
from fake_models import TEXT, write_model
from families import FAMILIES
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import arithmetic_of, attention_modules, loading, mechanism_of
from glasshead.opening import OpenOptions, open_model, open_saved, open_subject
from glasshead.trace import record
from kinds import saved
from tolerances import ALL_LAYERS

READABLE = OpenOptions(classifies=False)


def refused(source, says, tokenizer=None, options=READABLE):
    with pytest.raises(InputError, match=says) as refusal:
        open_subject(source, tokenizer, options)
    assert "\n" not in str(refusal.value)


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


def test_weights_that_do_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch):
    saved(tmp_path)
    size = (tmp_path / "model.safetensors").stat().st_size
    monkeypatch.setattr(open_saved, "free_memory", lambda device: size - 1)
    refused(tmp_path, "the weights of .* take 0.0 GB but only 0.0 GB of memory are free: use a smaller")
    monkeypatch.setattr(open_saved, "free_memory", lambda device: size)
    assert open_subject(tmp_path, options=READABLE).model is not None


def test_weights_in_parts_are_counted_once(tmp_path, monkeypatch):
    """Next to other copies of them, as some publishers keep them."""
    saved(tmp_path)
    model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    whole = (tmp_path / "model.safetensors").rename(tmp_path / "model-consolidated.safetensors")
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*-of-*.safetensors"))) > 1
    assert not (tmp_path / "model.safetensors").exists()
    needed = open_saved.weights_size(tmp_path)
    assert needed == sum(weight.numel() * weight.element_size() for weight in model.parameters())
    monkeypatch.setattr(open_saved, "free_memory", lambda device: whole.stat().st_size)
    assert open_subject(tmp_path, options=READABLE).model is not None


def test_the_weights_of_a_hub_id_are_those_in_the_cache(tmp_path, monkeypatch):
    saved(tmp_path)
    monkeypatch.setattr(open_saved, "try_to_load_from_cache", lambda name, file: str(tmp_path / file))
    assert open_saved.weights_size("somebody/model") == (tmp_path / "model.safetensors").stat().st_size
    monkeypatch.setattr(open_saved, "try_to_load_from_cache", lambda name, file: None)
    assert open_saved.weights_size("somebody/model") == 0


def test_the_memory_of_this_machine_is_none_of_another_devices_concern(tmp_path, monkeypatch):
    saved(tmp_path)
    asked = []
    monkeypatch.setattr(open_saved, "check_room", asked.append)
    config = hf.AutoConfig.from_pretrained(tmp_path)
    for device in (None, "cpu", "cuda:0"):
        open_saved.load_saved(tmp_path, config, replace(READABLE, device=device))
    assert asked == [tmp_path, tmp_path]


def test_a_bare_model(tmp_path):
    saved(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    model = FAMILIES["bert"].build(vocab_size=len(tokenizer), max_position_embeddings=17)
    model.half().save_pretrained(tmp_path / "bare")
    tokenizer.save_pretrained(tmp_path / "bare")
    model, tokenizer = open_model(tmp_path / "bare")
    assert type(model) is hf.BertModel
    assert arithmetic_of(model) == torch.float32  # computed more finely than it was saved
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
    refused(tmp_path / "begun", "is not finished: continue the training with `resume=True`")


def test_folders_that_do_not_load(tmp_path):
    saved(tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[:100])
    refused(tmp_path, "has no model that loads")
    (tmp_path / "model.safetensors").write_bytes(weights)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    refused(tmp_path, "lacks weights of its model, such as bert.encoder.layer.2")
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "no such type"}))
    refused(tmp_path, "has no model that transformers knows")
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
    refused(tmp_path / "writes", "writes one text for another", options=OpenOptions())


def bert(**changes):
    return CLASSIFIERS["Bert"].build(**changes), CLASSIFIERS["Bert"].tokenizer()


def refused_model(says, model=None, tokenizer=None, **options):
    """The same of a model in memory."""
    fine = bert()
    refused(model or fine[0], says, tokenizer or fine[1], OpenOptions(**options))


@pytest.mark.slow
def test_every_kind_of_source_gives_the_same_subject(tmp_path):
    model, tokenizer = bert()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    inputs = encode(tokenizer, ["a warm film"]).inputs()
    expected = model(**inputs).logits
    classify = hf.pipeline("text-classification", model=model, tokenizer=tokenizer)
    opened = [open_subject(tmp_path), open_subject(str(tmp_path)), open_subject(classify)]
    opened += [open_subject(model, tokenizer), open_subject(torch.compile(model), tokenizer)]
    opened += [open_subject(opened[0])]
    for subject in opened:
        torch.testing.assert_close(subject.model(**inputs).logits, expected, **ALL_LAYERS)
        assert subject.labels == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert opened[0].name == tmp_path.name
    assert opened[-1] is opened[0]


def test_a_run_brings_what_it_knows(tmp_path):
    subject = open_subject(write_model(tmp_path / "run", "pooled"))
    assert subject.counts.shape == (2, len(subject.tokenizer))
    assert subject.record["seed"] is not None
    assert subject.folder == tmp_path / "run"


def test_classes_are_renamed_by_name_or_by_number():
    model, tokenizer = bert()
    labels = {"LABEL_0": "bad", "2": "good"}
    subject = open_subject(model, tokenizer, OpenOptions(labels=labels))
    assert subject.labels == ["bad", "LABEL_1", "good"]
    assert model.config.id2label[0] == "LABEL_0"
    refused_model("has no class 'LABEL_7' to rename: it has LABEL_0, LABEL_1", labels={"LABEL_7": "good"})
    refused_model("classes 0 and 1 of the model are both called 'bad'", labels={"0": "bad", "1": "bad"})
    refused_model(
        "no class 'film' to rename: it has LABEL_0, LABEL_1", labels={"LABEL_0": "good", "film": "bad"}
    )
    for name in (["bad"], "", " ", None, 1):
        refused_model("`labels` calls the class 'LABEL_0' .*: give a name", labels={"LABEL_0": name})
    unnamed = copy.deepcopy(model)
    unnamed.config.id2label = {0: "", 1: "good", 2: "bad"}
    with pytest.raises(InputError, match="class 0 of the model has no name"):
        open_subject(unnamed, tokenizer)
    alike = open_subject(model, tokenizer, OpenOptions(labels={"0": "bad", "1": "BAD"}))
    assert alike.notes == ("the classes 'bad' and 'BAD' differ only by case",)


def test_what_a_gauge_says_of_classes_has_their_new_names():
    one = {"name": "LABEL_0", "texts": 40, "positive": (0.1, 0.0, 0.2), "lean": None}
    for classes, names in (
        ([one], lambda found: found[0]["name"]),
        ([[[one]]], lambda found: found[0][0][0]["name"]),
    ):
        subject = replace(open_subject(*bert()), gauge={"kind": "one sign", "classes": classes})
        renamed = open_subject(subject, options=OpenOptions(labels={"LABEL_0": "bad"}))
        assert names(renamed.gauge["classes"]) == "bad"
        assert names(subject.gauge["classes"]) == "LABEL_0"


def test_half_precision_is_computed_in_float32_and_said():
    model, tokenizer = bert()
    subject = open_subject(model.bfloat16(), tokenizer)
    assert subject.model.dtype == torch.bfloat16
    assert arithmetic_of(subject.model) == torch.float32
    assert subject.notes == (
        "the model is saved in bfloat16 and computed in float32 without changing the weights",
    )
    wide = open_subject(model, tokenizer, OpenOptions(dtype="float32"))
    assert wide.model.dtype == arithmetic_of(wide.model) == torch.float32
    assert wide.notes == ("the model is saved in bfloat16 and read in float32",)
    assert model.dtype == torch.bfloat16


def test_one_output_is_a_rating():
    subject = open_subject(*bert(labels=1))
    assert subject.model.config.problem_type == "regression"


def test_padding_is_a_token_that_ends_no_text():
    model = CLASSIFIERS["GPT2"].build()
    tokenizer = word_tokenizer("end", pads=False)
    subject = open_subject(model, tokenizer)
    assert subject.tokenizer.pad_token == "[UNK]"
    assert subject.model.config.pad_token_id == subject.tokenizer.pad_token_id
    assert tokenizer.pad_token is None


def test_texts_are_cut_to_what_the_model_reads():
    model, tokenizer = bert(max_position_embeddings=9)
    subject = open_subject(model, tokenizer)
    assert encode(subject.tokenizer, ["a warm film " * 9]).ids.shape == (1, 9)
    assert tokenizer.model_max_length > 9
    (note,) = glasshead.explain(subject, ["a warm film " * 9, "a film"]).notes
    assert "1 of 2 texts cut to 9 tokens" in note


@pytest.mark.slow
def test_models_that_cannot_be_read():
    model, tokenizer = bert()
    refused(model, "BertForSequenceClassification needs its tokenizer", None, OpenOptions())
    refused(object(), "object is not a model that can be read", None, OpenOptions())
    refused_model("writes one text for another and has no classes", FAMILIES["bart"].build())
    refused_model("predicts no class of a text", hf.BertModel(model.config))
    refused_model("reads pixel_values, not token ids", FAMILIES["vit"].build())
    refused_model("knows .* tokens, the model knows 9", bert(vocab_size=9)[0])
    refused_model("knows 1114112 tokens, the model ", tokenizer=hf.CanineTokenizer())
    refused_model("`tokenizer` is a str, not a tokenizer", tokenizer="bert-base-uncased")
    with torch.device("meta"):
        offloaded = hf.BertForSequenceClassification(model.config)
    refused_model("not in memory", offloaded)
    features = hf.pipeline("feature-extraction", model=hf.BertModel(model.config), tokenizer=tokenizer)
    refused(
        features, "a pipeline for 'feature-extraction' is not supported: pass its model", None, OpenOptions()
    )


def test_folders_that_cannot_be_read(tmp_path):
    whole = OpenOptions()
    (tmp_path / "adapter_config.json").write_text("{}")
    refused(
        tmp_path, r"holds adapters \(PEFT\), and its adapter_config.json names no base model", None, whole
    )
    refused(str(tmp_path), "leave `tokenizer` out", bert()[1], whole)
    offline = r"no folder nobody/nothing, and the Hub cannot be reached: give a folder, or .* \(hf download"
    refused("nobody/nothing", offline, None, whole)
    FAMILIES["bart"].build().save_pretrained(tmp_path / "bart")
    refused(tmp_path / "bart", "writes one text for another", None, whole)
    config = {"model_type": "own", "auto_map": {"AutoConfig": "code.OwnConfig"}}
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "config.json").write_text(json.dumps(config))
    (tmp_path / "code" / "code.py").write_text("raise SystemExit('code of the folder ran')")
    refused(tmp_path / "code", "runs its own code: read it, and pass `trust_remote_code=True`", None, whole)


def test_a_hub_that_does_not_answer_is_asked_once(monkeypatch, capfd):
    asked = []

    class Session:
        def head(self, *request, **options):
            asked.append(request)
            raise OSError("no network")

    monkeypatch.setattr(loading, "get_session", Session)
    refused("nobody/nothing", "the Hub cannot be reached", None, OpenOptions())
    assert len(asked) == 1
    assert capfd.readouterr() == ("", "")


def test_a_tokenizer_beside_what_has_one_is_refused(tmp_path):
    saved(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    for source in (
        tmp_path,
        open_subject(model, tokenizer),
        hf.pipeline("text-classification", model=model, tokenizer=tokenizer),
    ):
        refused(source, "leave `tokenizer` out", tokenizer)


def test_a_model_without_finite_numbers_is_refused(tmp_path):
    saved(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    model = hf.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    torch.nn.init.constant_(model.classifier.weight, float("nan"))
    refused(model, "NaN", tokenizer, None)


def test_a_trainer_brings_its_model_and_its_tokenizer(tmp_path):
    family = CLASSIFIERS["Bert"]
    model, tokenizer = family.build(), family.tokenizer()
    arguments = hf.TrainingArguments(str(tmp_path), report_to="none", dataloader_pin_memory=False)
    trainer = hf.Trainer(model, arguments, processing_class=tokenizer)
    (own,) = glasshead.explain(trainer, TEXT)
    (same,) = glasshead.explain(model, TEXT, tokenizer=tokenizer)
    assert own.scores == pytest.approx(same.scores)
    with pytest.raises(InputError, match="needs its tokenizer"):
        glasshead.explain(hf.Trainer(model, arguments), TEXT)


def test_the_folder_of_a_trainer_names_its_last_checkpoint(tmp_path):
    for step in (9, 500, 1000):
        saved(tmp_path / f"checkpoint-{step}", "bert")
    refused(tmp_path, "name one of them, such as .*checkpoint-1000$")
