"""`import glasshead` changes nothing in other packages; what restores a plugged model, and when."""

import subprocess
import sys
import textwrap

import pytest
import torch
import transformers as hf
from torch import nn

import glasshead
from fake_models import write_model
from families import FAMILIES
from glasshead.huggingface import attention_modules, mechanism_of

NAMES = ("bert", "gpt2", "llama", "vit", "t5")
LEARNED = {"t5": "tanhmax"} | {name: "tanhmax+distance-aware" for name in NAMES if name != "t5"}
"""T5 has cross-attention, where distances mean nothing."""


def run(program, *arguments):
    """What a fresh process prints."""
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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
    sys.path.insert(0, sys.argv[3])
    from families import FAMILIES
    from tolerances import ALL_LAYERS
    given, expected = torch.load(folder / "expected.pt")
    with torch.no_grad():
        made = FAMILIES[folder.parent.name].read(model.eval(), given)
    torch.testing.assert_close(made, expected, **ALL_LAYERS)
folders = sorted(Path(sys.argv[1]).glob("*/*"))
plain, learned = ([each for each in folders if each.name == kind] for kind in ("plain", "learned"))
ours = Path(sys.argv[2])
def say(*words):
    print(*words, sep="; ")
def apart(act):
    import os
    sys.stdout.flush()
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        return
    act()
    sys.stdout.flush()
    os._exit(0)
"""
TESTS = __file__.rpartition("/")[0]
BY_NAME = """
import transformers
def by_name(folder):
    import json
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    return getattr(transformers, name).from_pretrained(folder)
"""


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """A folder of each kind that we save: two runs, a plugged model."""
    place = tmp_path_factory.mktemp("every kind")
    for family in ("encoder", "pooled"):
        write_model(place / family, family)
    bert = hf.BertForSequenceClassification(hf.BertConfig(**FAMILIES["bert"].options))
    glasshead.plug(bert, "tanhmax").save_pretrained(place / "plugged")
    return place


@pytest.fixture(scope="module")
def said(folders, every_kind, tmp_path_factory):
    """What a fresh process says, line by line; starting one is most of the work, and so `apart` forks it."""

    def ask(program):
        return run(READ + program, folders, every_kind, TESTS, tmp_path_factory.mktemp("again")).split("\n")

    return ask


UNCHANGED = """
finders = list(sys.meta_path)
import glasshead
assert sys.meta_path == finders
from torch.nn.modules.module import _global_module_registration_hooks as hooks
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
glasshead.attend, glasshead.Mask
registered = [*AttentionInterface._global_mapping, *AttentionMaskInterface._global_mapping]
words = " ".join([*registered, *CONFIG_MAPPING._extra_content, *vars(PreTrainedConfig)])
say(len(hooks), "glasshead" in words, "attention_mechanism" in words)
"""
REFUSED = f"""
{BY_NAME}
for folder in folders:
    try:
        by_name(folder)
    except ValueError as error:
        say('`attn_implementation="glasshead"` is not supported' in str(error))
"""


@pytest.mark.slow
def test_without_any_import_transformers_refuses(said):
    assert said(REFUSED) == ["True"] * 10


KNOWN = """
from transformers import AutoModelForSequenceClassification, pipeline
for name in ("encoder", "plugged", "pooled"):
    config = AutoConfig.from_pretrained(ours / name)
    model = AutoModelForSequenceClassification.from_pretrained(ours / name)
    assert type(model.config) is type(config)
    say(type(model).__name__)
say(model.config.architectures == [type(model).__name__])
plugged = AutoModelForSequenceClassification.from_pretrained(ours / "plugged")
say(plugged.config._attn_implementation, "tanhmax" in str(plugged.config.glasshead_mechanism))
for name in ("encoder", "pooled"):
    label = pipeline("text-classification", model=str(ours / name))("a warm film")[0]["label"]
    say(label in ("negative", "positive"))
say([name for name in ("glasshead.training", "datasets") if name in sys.modules])
"""
MODELS = ["EncoderClassifier", "BertForSequenceClassification", "PooledClassifier", "True"]
HAVE_PARAMETERS = [f"{name}; has parameters" for name in sorted(NAMES) if name != "t5"]  # T5's has none
ALL_KNOWN = [*MODELS, "glasshead; True", "True", "True", "[]"]
PLAIN = f"""
{BY_NAME}
from glasshead.errors import InputError
for folder in plain:
    model = by_name(folder)
    for again in ("once", "twice"):  # before it has ever run
        place = Path(sys.argv[4]) / folder.parent.name / again
        model.save_pretrained(place)
        model = by_name(place)
    same(folder, model)
for folder in learned:
    try:
        same(folder, by_name(folder))
    except InputError as error:
        assert "glasshead.load" in str(error), error
        say(folder.parent.name, "has parameters")
say(len(plain))
"""


def indented(program):
    return textwrap.indent(program, "    ")


def test_import_glasshead_changes_nothing_and_each_of_three_ways_makes_folders_known(said):
    """Until then transformers refuses what we plugged, and our own models."""
    program = f"""
{UNCHANGED}
{REFUSED}
from transformers import AutoConfig, AutoModelForSequenceClassification
for name in ("encoder", "pooled"):
    try:
        AutoModelForSequenceClassification.from_pretrained(ours / name)
    except ValueError as error:
        say("does not recognize this architecture" in str(error))
say("glasshead.huggingface" in sys.modules)
def loaded():
    for folder in folders:
        same(folder, glasshead.load(folder))
    say(len(folders), *(type(glasshead.load(ours / name)).__name__ for name in ("encoder", "pooled")))
def asked():
    say(glasshead.doctor(ours / "encoder").healthy)
def imported():
    import glasshead.huggingface
{indented(KNOWN)}
{indented(PLAIN)}
for act in (loaded, asked, imported):
    apart(act)
"""
    assert said(program) == [
        "0; False; False", *["True"] * 10, *["True"] * 2, "False", "10; EncoderClassifier; PooledClassifier",
        "True", *ALL_KNOWN, *HAVE_PARAMETERS, "5",
    ]  # fmt: skip


@pytest.mark.slow
def test_nor_does_it_after_transformers(said):
    assert said(f"import torch, transformers\n{UNCHANGED}") == ["0; False; False"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "order"), [("glasshead.huggingface", "theirs first"), ("glasshead.models", "ours first")]
)
def test_either_import_makes_every_folder_known(said, package, order):
    """And all plain loads of what is plugged need no more than `glasshead.huggingface`."""
    imports = [f"import {package}", "from transformers import AutoConfig"]
    lines = "\n".join(imports if order == "ours first" else reversed(imports))
    if package == "glasshead.models":
        assert said(f"{lines}\n{KNOWN}") == ALL_KNOWN
        return
    assert said(f"{lines}\n{KNOWN}\n{PLAIN}") == [*ALL_KNOWN, *HAVE_PARAMETERS, "5"]
