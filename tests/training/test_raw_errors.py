"""What a library raises is never passed on: a line says what is wrong, where, and how to mend it."""

import json
import shutil
import sys
from dataclasses import replace

import huggingface_hub
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.audits.open_request import default_split
from glasshead.cli.explain import read_typed_texts
from glasshead.cluster import Cluster, connect
from glasshead.data import LoadOptions, load
from glasshead.errors import LONGEST, InputError, ParameterError
from glasshead.registry import Registry

pytestmark = pytest.mark.usefixtures("quiet")
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
ROWS = [{"text": text, "label": f"LABEL_{number % 2}"} for number, text in enumerate(TEXTS * 2)]


@pytest.fixture
def folder(tmp_path):
    FAMILIES["Bert"].build(2).save_pretrained(tmp_path)
    FAMILIES["Bert"].tokenizer().save_pretrained(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def subject():
    return glasshead.open(FAMILIES["Bert"].build(2), FAMILIES["Bert"].tokenizer())


def refused(says, call, *args, **options):
    with pytest.raises(InputError, match=says) as refusal:
        call(*args, **options)
    assert len(str(refusal.value)) <= LONGEST
    assert "\n" not in str(refusal.value)


def change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_tensor_of_another_shape_is_named_with_both_shapes(folder):
    change(folder / "config.json", hidden_size=32)
    refused(r"has the shape \(16,\) in the file, but \(32,\) in the config", glasshead.open, folder)
    change(folder / "config.json", hidden_size=16, vocab_size=99)
    refused(r"word_embeddings.weight has the shape \(60, 16\).*\(99, 16\)", glasshead.open, folder)


def test_weights_that_are_a_pickle_are_refused_with_the_way_to_convert_them(folder):
    model = hf.AutoModelForSequenceClassification.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    refused("there are no weights", glasshead.open, folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    refused(r"pytorch_model.bin is a pickle.*use_safetensors=False.*save_pretrained", glasshead.open, folder)
    again = hf.AutoModelForSequenceClassification.from_pretrained(folder, use_safetensors=False)
    again.save_pretrained(folder)
    assert glasshead.open(folder)


def test_weights_that_are_a_pickle_on_the_hub_are_refused_as_such(folder, tmp_path, monkeypatch):
    downloaded = tmp_path / "hub" / "models--someone--model"
    snapshot = shutil.copytree(folder, downloaded / "snapshots" / "abc")
    (downloaded / "refs").mkdir()
    (downloaded / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    assert glasshead.open("someone/model")
    (snapshot / "model.safetensors").rename(snapshot / "pytorch_model.bin")
    refused(
        r"^someone/model has .* only as a pickle .* may run code.*use_safetensors=False.*save_pretrained",
        glasshead.open, "someone/model",
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"]
)
def test_pointers_of_git_lfs_are_called_so(name, folder):
    (folder / name).write_text(POINTER)
    refused(rf"{name} is a Git LFS pointer.*`git lfs pull`", glasshead.open, folder)


@pytest.mark.parametrize("length", [-1, 0, 1.5, "512"])
def test_a_length_that_is_none(length, folder):
    change(folder / "tokenizer_config.json", model_max_length=length)
    refused("model_max_length=.* is not a number of tokens", glasshead.open, folder)


def test_ids_beyond_the_vectors(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["film"] = 1000
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused("numbers its token 'film' 1000, and the model has only 60 word vectors", glasshead.open, folder)


def test_half_a_character(subject):
    half = "a \ud83d film"
    refused(r"half a character, '\\ud83d'", glasshead.explain, subject, half)
    refused(r"half a character", glasshead.explain, subject, "a film", pairs=half)
    refused(r"half a character", glasshead.audit, subject, [{"text": half, "label": "LABEL_0"}, *ROWS])
    model, tokenizer = FAMILIES["GPT2"].language_model(), FAMILIES["GPT2"].tokenizer()
    refused(r"half a character", glasshead.generate, model, half, tokenizer=tokenizer)
    refused(r"half a character", glasshead.explain, model, "a film", tokenizer=tokenizer, target="\ud83d")


WORDS = (
    "method",
    "target",
    "target_fn",
    "against",
    "layer",
    "head",
    "row",
    "level",
    "unit",
    "device",
    "dtype",
)


@pytest.mark.parametrize("option", WORDS)
@pytest.mark.parametrize(
    "value",
    [["nonsense"], {"a": 1}, b"x", 2.5, object(), "x" * 1000],
    ids=lambda value: type(value).__name__,
)
def test_a_list_where_a_word_is_meant(option, value, subject):
    refused(r"\S", glasshead.explain, subject, TEXTS[0], **{option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("audits", 3), ("audits", "nonsense"), ("limit", [3]), ("limit", 2.5), ("seed", "x"), ("seed", -1),
        ("max_length", ["x"]), ("load_options", ["x"]), ("load_options", {"a": 1}), ("draws", ["x"]),
        ("facts", 3), ("ray", 3), ("text_column", ["x"]), ("classes", 3), ("by", 3), ("row", "frist"),
        ("layer", ["x"]), ("layer", 2.5), ("head", {}), ("split", ["x"]), ("device", 3), ("dtype", 3),
        ("labels", ["x"]), ("train", 3),
    ],
)  # fmt: skip
def test_values_of_another_kind_in_an_audit(option, value, subject):
    refused(r"\S", glasshead.audit, subject, ROWS, **({"audits": ["performance"]} | {option: value}))


def test_one_audit_may_be_named_without_a_list(subject):
    assert glasshead.audit(subject, ROWS, audits="performance").findings


def test_names_that_no_folder_can_have():
    refused("File name too long", glasshead.open, "x" * 1000)
    refused("is neither a folder nor a Hub id", glasshead.load, ["x"])
    refused("only audits, runs, or their folders can be compared", glasshead.compare, ["x"], ["y"])


def test_one_output_is_explained_as_a_rating():
    one = FAMILIES["Bert"].build(1)
    assert glasshead.explain(one, "a film", tokenizer=FAMILIES["Bert"].tokenizer())[0].rates


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_named(separator, tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"text{separator}label", f'"a warm, funny film"{separator}good', f'it\'s "dull"{separator}bad']
    path.write_text("\n".join(lines))
    refused("separates its columns by", load, path, LoadOptions())
    (tmp_path / "fine.csv").write_text("text,label\na; b,good\nc,bad\n")
    assert load(tmp_path / "fine.csv", LoadOptions(), divide=False)


def test_messages_name_no_class_of_our_own():
    model, tokenizer = FAMILIES["GPT2"].language_model(), FAMILIES["GPT2"].tokenizer()
    for method in ("alti", "value-norm-residual", "captum:deep-lift"):
        with pytest.raises(InputError) as refusal:
            glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, method=method)
        assert "NextTokenClassifier" not in str(refusal.value)


def test_a_long_error_keeps_its_beginning_and_its_end():
    error = InputError("a model " + "x" * 1000 + ": save it again")
    assert len(str(error)) <= LONGEST
    assert str(error).startswith("a model xxx")
    assert str(error).endswith(": save it again")
    assert len(str(ParameterError("limit", "y" * 1000))) <= LONGEST
    many = Registry("method")
    for number in range(200):
        many.register(f"name-{number}")(number)
    refused("unknown method", lambda: many["zzz"])


def test_a_session_of_ray_that_has_begun_is_used_and_left_running(monkeypatch):
    class Ray:
        ended = False

        def is_initialized(self):
            return True

        def get_runtime_context(self):
            return type("Context", (), {"gcs_address": "10.0.0.1:6379"})()

        def shutdown(self):
            self.ended = True

    ray = Ray()
    monkeypatch.setitem(sys.modules, "ray", ray)
    with connect(Cluster("auto")) as joined:
        assert joined is ray
    assert not ray.ended
    with (
        pytest.raises(InputError, match=r"has joined the Ray cluster.*Cluster\('auto'\)"),
        connect(Cluster("b:1")),
    ):
        pass


def test_a_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    refused("standard input is closed", read_typed_texts, None, ["-"], None)


@pytest.mark.parametrize(("data", "split"), [("own.csv", "test"), ("other.csv", "all")])
def test_a_file_that_a_run_was_not_trained_on_is_read_whole(data, split, tmp_path, subject):
    for name in ("own.csv", "other.csv"):
        (tmp_path / name).write_text("text,label\na,b\n")
    run = replace(subject, record={"data": {"source": str(tmp_path / "own.csv")}})
    assert default_split(str(tmp_path / data), run) == split


def test_bytes_are_no_second_text(subject):
    refused("a text must be a string, not b'c'", glasshead.explain, subject, ["a"], pairs=b"c")
