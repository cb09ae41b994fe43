"""`import glasshead` changes nothing in other packages; what restores a plugged model, and when."""

import json
import subprocess
import sys

import pytest
import torch
import transformers as hf
from torch import nn

import glasshead
from fake_models import write_model
from families import FAMILIES
from glasshead.dispatch import KEY
from glasshead.huggingface import attention_modules, mechanism_of
from glasshead.models import NewsRecommender, NewsRecommenderConfig
from tolerances import ALL_LAYERS

NAMES = ("bert", "gpt2", "llama", "vit", "t5")
LEARNED = {"t5": "tanhmax"} | {name: "tanhmax+distance-aware" for name in NAMES if name != "t5"}
"""T5 has cross-attention, where distances mean nothing."""


def run(program, *arguments):
    """What a fresh process prints."""
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("first", ["glasshead", "transformers"])
def test_import_glasshead_changes_nothing(first):
    program = f"""
import sys
{"import torch, transformers" if first == "transformers" else ""}
finders = list(sys.meta_path)
import glasshead
assert sys.meta_path == finders
from torch.nn.modules.module import _global_module_registration_hooks as hooks
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
glasshead.attend, glasshead.Mask
registered = [*AttentionInterface._global_mapping, *AttentionMaskInterface._global_mapping]
words = " ".join([*registered, *CONFIG_MAPPING._extra_content, *vars(PreTrainedConfig)])
print(len(hooks), "glasshead" in words, "attention_mechanism" in words)
"""
    assert run(program) == "0 False False"


def test_somebody_elses_attribute_is_theirs(tmp_path):
    class TheirConfig(hf.BertConfig):
        attention_mechanism = "linear"

    config = TheirConfig(**FAMILIES["bert"].options)
    assert config._attn_implementation is None
    config.attention_mechanism = "quadratic"
    assert config._attn_implementation is None
    assert config.to_dict()["attention_mechanism"] == "quadratic"
    assert "attn_implementation" not in config.to_dict()
    model = hf.BertModel(config).eval()
    assert "attn_implementation" not in model.config.to_dict()
    glasshead.plug(model, "tanhmax")
    assert model.config.attention_mechanism == "quadratic"
    model.save_pretrained(tmp_path)
    again = glasshead.load(tmp_path, hf.BertModel)
    assert (
        again.config.attention_mechanism == glasshead.unplug(again).config.attention_mechanism == "quadratic"
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Every family, plugged with and without parameters, with inputs and outputs."""
    place = tmp_path_factory.mktemp("plugged")
    for name in NAMES:
        family = FAMILIES[name]
        given = family.inputs([6, 4])
        for kind, spec in (("plain", "tanhmax"), ("learned", LEARNED[name])):
            model = glasshead.plug(family.build(), spec)
            for _, module in attention_modules(model):
                for parameter in mechanism_of(module).parameters():
                    nn.init.normal_(parameter)
            model.save_pretrained(place / name / kind)
            with torch.no_grad():
                torch.save((given, family.read(model, given)), place / name / kind / "expected.pt")
    return place


READ = """
import sys
from pathlib import Path
def same(folder, model):
    import torch
    sys.path.insert(0, sys.argv[2])
    from families import FAMILIES
    from tolerances import ALL_LAYERS
    given, expected = torch.load(folder / "expected.pt")
    with torch.no_grad():
        made = FAMILIES[folder.parent.name].read(model.eval(), given)
    torch.testing.assert_close(made, expected, **ALL_LAYERS)
folders = sorted(Path(sys.argv[1]).glob("*/*"))
plain, learned = ([each for each in folders if each.name == kind] for kind in ("plain", "learned"))
"""
TESTS = __file__.rpartition("/")[0]
BY_NAME = """
import transformers
def by_name(folder):
    import json
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    return getattr(transformers, name).from_pretrained(folder)
"""


def test_load_needs_no_import(folders):
    program = f"""{READ}
import glasshead
for folder in folders:
    same(folder, glasshead.load(folder))
print(len(folders), "glasshead.huggingface" in sys.modules)
"""
    assert run(program, folders, TESTS) == "10 True"


@pytest.mark.parametrize("order", ["ours first", pytest.param("theirs first", marks=pytest.mark.slow)])
def test_a_plain_load_needs_glasshead_huggingface(folders, order, tmp_path):
    imports = ["import glasshead.huggingface", BY_NAME]
    program = f"""{READ}
{chr(10).join(imports if order == "ours first" else reversed(imports))}
from glasshead.errors import InputError
for folder in plain:
    model = by_name(folder)
    for again in ("once", "twice"):  # before it has ever run
        place = Path(sys.argv[3]) / folder.parent.name / again
        model.save_pretrained(place)
        model = by_name(place)
    same(folder, model)
for folder in learned:
    try:
        same(folder, by_name(folder))
    except InputError as error:
        assert "glasshead.load" in str(error), error
        print(folder.parent.name, "has parameters")
print(len(plain))
"""
    # T5's one has none.
    assert run(program, folders, TESTS, tmp_path).split("\n") == [
        *(f"{name} has parameters" for name in sorted(NAMES) if name != "t5"), "5",
    ]  # fmt: skip


@pytest.mark.parametrize("imports", [pytest.param("", marks=pytest.mark.slow), "import glasshead"])
def test_else_transformers_refuses(folders, imports):
    program = f"""{READ}
{imports}
{BY_NAME}
for folder in folders:
    try:
        by_name(folder)
    except ValueError as error:
        print('`attn_implementation="glasshead"` is not supported' in str(error))
"""
    assert run(program, folders, TESTS).split() == ["True"] * 10


def as_before(folder):
    """Let a config.json name the mechanism by the key that it first had."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    for part in (config, *(each for each in config.values() if isinstance(each, dict))):
        if "glasshead_mechanism" in part:
            part["attention_mechanism"] = part.pop("glasshead_mechanism")
    path.write_text(json.dumps(config))


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_folders_with_the_first_key_load(name, tmp_path):
    family = FAMILIES[name]
    model = glasshead.plug(family.build(), LEARNED[name])
    model.save_pretrained(tmp_path)
    as_before(tmp_path)
    given = family.inputs([6, 4])
    again = glasshead.load(tmp_path)
    for made, expected in zip(family.read(again, given), family.read(model, given), strict=True):
        torch.testing.assert_close(made, expected, **ALL_LAYERS)
    assert not hasattr(again.config, "attention_mechanism")
    assert again.config.glasshead_mechanism == model.config.glasshead_mechanism


@torch.no_grad()
def test_they_load_plainly_too(tmp_path):
    family = FAMILIES["bert"]
    given = family.inputs([6, 4])
    model = glasshead.plug(family.build(), "tanhmax")
    model.save_pretrained(tmp_path / "first")
    as_before(tmp_path / "first")
    plain = hf.AutoModel.from_pretrained(tmp_path / "first").eval()
    plain.save_pretrained(tmp_path / "second")
    for again in (plain, hf.AutoModel.from_pretrained(tmp_path / "second").eval()):
        assert again.config._attn_implementation == KEY
        torch.testing.assert_close(
            again(**given).last_hidden_state, model(**given).last_hidden_state, **ALL_LAYERS
        )
    unplugged = glasshead.unplug(plain)
    assert not hasattr(unplugged.config, "attention_mechanism")
    assert unplugged.config._attn_implementation == "sdpa"


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """A folder of each kind that we save: two runs, a plugged model, a recommender."""
    place = tmp_path_factory.mktemp("every kind")
    for family in ("encoder", "pooled"):
        write_model(place / family, family)
    bert = hf.BertForSequenceClassification(hf.BertConfig(**FAMILIES["bert"].options))
    glasshead.plug(bert, "tanhmax").save_pretrained(place / "plugged")
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "head_dim": 4, "value_dim": 4}
    config = NewsRecommenderConfig(vocab_size=20, **sizes)
    NewsRecommender(config).save_pretrained(place / "recommender")
    return place


@pytest.mark.parametrize("first", ["glasshead", pytest.param("transformers", marks=pytest.mark.slow)])
@pytest.mark.parametrize("package", ["glasshead.huggingface", "glasshead.models"])
def test_either_import_makes_every_folder_known(package, first, every_kind):
    imports = [f"import {package}", "from transformers import AutoConfig, AutoModel"]
    program = f"""
import sys
{chr(10).join(imports if first == "glasshead" else reversed(imports))}
from pathlib import Path
from transformers import AutoModelForSequenceClassification, pipeline
folder = Path(sys.argv[1])
for name in ("encoder", "plugged", "pooled"):
    config = AutoConfig.from_pretrained(folder / name)
    model = AutoModelForSequenceClassification.from_pretrained(folder / name)
    assert type(model.config) is type(config)
    print(type(model).__name__)
print(model.config.architectures == [type(model).__name__])
plugged = AutoModelForSequenceClassification.from_pretrained(folder / "plugged")
print(plugged.config._attn_implementation, "tanhmax" in str(plugged.config.glasshead_mechanism))
print(type(AutoModel.from_pretrained(folder / "recommender")).__name__)
for name in ("encoder", "pooled"):
    label = pipeline("text-classification", model=str(folder / name))("a warm film")[0]["label"]
    print(label in ("negative", "positive"))
print([name for name in ("glasshead.training", "glasshead.recommend", "datasets") if name in sys.modules])
"""
    models = ["EncoderClassifier", "BertForSequenceClassification", "PooledClassifier", "True"]
    expected = [*models, "glasshead True", "NewsRecommender", "True", "True", "[]"]
    assert run(program, every_kind).split("\n") == expected


def test_without_them_transformers_does_not_know_our_models(every_kind):
    program = """
import sys
import glasshead
from pathlib import Path
from transformers import AutoConfig, AutoModelForSequenceClassification
folders = [Path(sys.argv[1]) / name for name in ("encoder", "pooled")]
for folder in folders:
    try:
        AutoModelForSequenceClassification.from_pretrained(folder)
    except ValueError as error:
        print("does not recognize this architecture" in str(error))
for folder in folders:
    print(type(glasshead.load(folder)).__name__)
"""
    assert run(program, every_kind).split() == ["True", "True", "EncoderClassifier", "PooledClassifier"]


def test_the_doctor_needs_no_import(tmp_path):
    write_model(tmp_path / "run", "encoder")
    program = "import sys, glasshead; print(glasshead.doctor(sys.argv[1]).healthy)"
    assert run(program, tmp_path / "run") == "True"
