"""Models of other people that cannot be explained or audited, as typed: one line that says why, exit 2."""

import json

import pytest
import transformers as hf

from classifier_families import FAMILIES, labelled_texts, word_tokenizer
from typed import glasshead, one_line, refusal

BERT = FAMILIES["Bert"]
OWN_CODE = "runs its own code: read it, and pass --trust-remote-code if you trust it"


def bert(**changes):
    return BERT.build(**{"labels": 2, **changes})


def tiny_vit():
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return hf.ViTForImageClassification(hf.ViTConfig(**sizes, image_size=8, patch_size=4))


def translator():
    return hf.BartForConditionalGeneration(FAMILIES["Bart"].build().config)


def tiny_lm():
    return hf.GPT2LMHeadModel(FAMILIES["GPT2"].build().config)


def peft(folder):
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')


def own_code(folder):
    """A configuration that Transformers knows, and a class that it does not."""
    edit(folder, architectures=["Own"], auto_map={"AutoModelForSequenceClassification": "own.Own"})
    (folder / "own.py").write_text("raise SystemExit('code of the folder ran')")


def own_type(folder):
    """A whole family of its own."""
    own_code(folder)
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForSequenceClassification": "own.Own"}
    edit(folder, model_type="own", auto_map=classes)


def edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without_tokenizer(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()


def nothing(folder):
    pass


# What is saved, its tokenizer, what is done to the folder, and what is said.
MODELS = {
    "no tokenizer": (bert, None, without_tokenizer, "has no tokenizer: save one into it"),
    "a tokenizer of characters": (bert, hf.CanineTokenizer, without_tokenizer, "knows 1114112 tokens, the"),
    "too many tokens": (lambda: bert(vocab_size=9), None, nothing, "knows 32 tokens, the model knows 9"),
    "one name twice": (
        lambda: bert(id2label={0: "good", 1: "good"}),
        None,
        nothing,
        "are both called 'good': rename them with --labels, as in 0=first, 1=second",
    ),
    "adapters": (bert, None, peft, "its adapter_config.json names no base model"),
    "closes texts": (tiny_lm, None, nothing, "behind which nothing is written"),
    "writes": (translator, None, nothing, "'glasshead audit MODEL DATA --audits identifiability --out DIR'"),
    "is bare": (lambda: hf.BertModel(bert().config), None, nothing, "predicts no class of a text"),
    "images": (tiny_vit, None, nothing, "has no image processor that loads"),
    "own class": (bert, None, own_code, OWN_CODE),
    "own family": (bert, None, own_type, OWN_CODE),
}


def save(folder, model, tokenizer=None):
    model.save_pretrained(folder)
    (tokenizer or word_tokenizer()).save_pretrained(folder)
    return folder


def write(path, classes):
    """A table of twenty texts, too few to cut a test split from."""
    rows = zip(*labelled_texts(20, classes), strict=True)
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return path


@pytest.fixture(autouse=True)
def quiet():
    """Saving a model draws a bar."""
    hf.logging.disable_progress_bar()
    yield
    hf.logging.enable_progress_bar()


@pytest.mark.parametrize("name", MODELS)
def test_what_cannot_be_explained(name, tmp_path):
    build, tokenizer, change, says = MODELS[name]
    folder = save(tmp_path / "model", build())
    change(folder)
    if tokenizer is not None:
        tokenizer().save_pretrained(folder)
    assert says in refusal(tmp_path, "explain", folder, "a warm film")


@pytest.mark.parametrize("command", [("explain", "a film"), ("audit", "data.csv", "--out", "out")])
def test_a_name_on_the_hub_without_a_network(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data.csv", ("0", "1"))
    said = refusal(tmp_path, command[0], "somebody/some-bert", *command[1:])
    assert "the Hub cannot be reached: give a folder, or download the model" in said
    assert "hf download somebody/some-bert" in said


def test_token_types_that_a_decoder_would_take_for_words(tmp_path):
    folder = save(tmp_path, FAMILIES["GPT2"].build(labels=2), word_tokenizer("", pads=False))
    assert "token_type_ids" in (folder / "tokenizer_config.json").read_text()
    for method in ("attention", "gradient"):
        assert "predicted LABEL_" in glasshead("explain", folder, "a warm film", "--method", method).stdout


def test_trusted_code_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = save(tmp_path / "own", bert(id2label={0: "bad", 1: "good"}))
    plain = glasshead("explain", folder, "a warm film").stdout
    own_type(folder)
    (folder / "own.py").write_text(
        "from transformers import BertConfig, BertForSequenceClassification\n"
        "class OwnConfig(BertConfig):\n    model_type = 'own'\n"
        "class Own(BertForSequenceClassification):\n    config_class = OwnConfig\n"
    )
    assert glasshead("explain", folder, "a warm film", "--trust-remote-code").stdout == plain


class TestClasses:
    @pytest.fixture
    def audited(self, tmp_path):
        """What an audit says of a model with such classes on data with others."""

        def audited(names, classes, *options, **changes):
            named = {} if names is None else {"id2label": dict(enumerate(names))}
            folder = save(tmp_path / "model", bert(**named, **changes))
            data = write(tmp_path / "data.csv", classes)
            command = ["audit", folder, data, "--out", tmp_path / "out", "--audits", "performance"]
            result = glasshead(*command, *options, code=None)
            if result.exit_code:
                assert result.exit_code == 2
                assert not (tmp_path / "out").exists()
                return one_line(result.stderr)
            card = json.loads((tmp_path / "out" / "card.json").read_text())["facts"]
            return card["accuracy"], result.stdout

        return audited

    def test_numbers_are_matched_and_that_is_said(self, audited):
        _, said = audited(None, ("0", "1"))
        assert "LABEL_0 is taken for the data's class 0, LABEL_1 for 1" in " ".join(said.split())

    def test_names_are_asked_for_and_the_mapping_can_be_copied(self, audited):
        said = audited(None, ("bad", "good"))
        assert "say which is which with --labels, as in LABEL_0=bad, LABEL_1=good" in said
        straight, _ = audited(None, ("bad", "good"), "--labels", "LABEL_0=bad,LABEL_1=good", "--overwrite")
        turned, _ = audited(None, ("bad", "good"), "--labels", "LABEL_0=good,LABEL_1=bad", "--overwrite")
        assert straight == pytest.approx(1 - turned)

    def test_another_order_is_matched_by_name(self, audited):
        straight, _ = audited(("bad", "good"), ("bad", "good"))
        turned, said = audited(("good", "bad"), ("bad", "good"), "--overwrite")
        assert turned == pytest.approx(1 - straight)
        assert "matched to the model's by name" in " ".join(said.split())

    def test_names_that_case_alone_tells_apart(self, audited):
        assert "the model knows the classes good, Good; the data have bad" in audited(
            ("good", "Good"), ("bad", "good")
        )

    def test_ratings_and_classes(self, audited):
        said = audited(None, ("bad", "good"), labels=1)
        assert said.startswith("model has one output and so predicts ratings, but ")
        assert "data.csv row 1: the rating '" in said
        assert said.endswith("give data with ratings, or a model with an output for each class")


def test_class_one_is_explained_whatever_it_is_called(tmp_path):
    folder = save(tmp_path / "model", bert(id2label={0: "POS", 1: "NEG"}))
    assert "p(NEG) = " in glasshead("explain", folder, "a warm film").stdout
    page = glasshead("explain", folder, "a warm film", "--format", "html").stdout
    assert "probability of NEG" in page
    assert "probability of POS" not in page
    data = write(tmp_path / "data.csv", ("NEG", "POS"))
    glasshead("audit", folder, data, "--out", tmp_path / "out", "--audits", "agreement", "--limit", 3)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Every signed number is about the probability of NEG" in report
    assert "probability of NEG <b>" in report
    assert "probability of POS" not in report
