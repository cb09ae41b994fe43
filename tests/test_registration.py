"""Importing glasshead is enough for a plain from_pretrained, in either order of the imports."""

import subprocess
import sys
import tempfile

import pytest
import torch

import glasshead
from families import FAMILIES
from glasshead.registration import HOST, MODEL_TYPES, Watcher, register
from tolerances import ALL_LAYERS

BERT = FAMILIES["bert"]


def printed(program, *arguments):
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "import glasshead\nfrom transformers import AutoModel",
        "from transformers import AutoModel, PreTrainedModel\nimport glasshead",
    ],
    ids=["glasshead first", "transformers first"],
)
@torch.no_grad()
def test_a_plain_load_needs_no_more_than_the_import(imports, tmp_path):
    model = glasshead.plug(BERT.build(), "tanhmax")
    model.save_pretrained(tmp_path)
    given = BERT.inputs([5])
    torch.save((given, model(**given).last_hidden_state), tmp_path / "expected.pt")
    program = f"""
import sys
import tempfile
{imports}
assert "glasshead.models" not in sys.modules
model = AutoModel.from_pretrained(sys.argv[1])
assert not [finder for finder in sys.meta_path if "glasshead" in type(finder).__module__]
import torch
given, expected = torch.load(sys.argv[1] + "/expected.pt")
with torch.no_grad():
    found = model(**given).last_hidden_state
    print(model.config._attn_implementation, torch.allclose(found, expected, rtol=1e-4, atol=1e-5))
"""
    assert printed(program, tmp_path) == "glasshead True"


@pytest.mark.slow
def test_somebody_elses_import_is_never_broken():
    program = """
import sys, warnings, glasshead
import glasshead.registration as ours
def broken():
    raise RuntimeError("a later transformers")
ours.register = broken
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import transformers.modeling_utils as host
print(host.PreTrainedModel.__name__, host.__spec__.loader is host.__loader__, type(host.__loader__).__name__)
print([str(each.message) for each in caught if "glasshead" in str(each.message)])
"""
    assert printed(program).splitlines() == [
        "PreTrainedModel True SourceFileLoader",
        "['glasshead cannot register with transformers: a later transformers']",
    ]


def test_other_modules_are_none_of_the_watchers_business():
    assert Watcher().find_spec("json.decoder", None) is None
    assert not any(isinstance(finder, Watcher) for finder in sys.meta_path) or HOST not in sys.modules


@torch.no_grad()
def test_what_stands_in_is_what_it_stands_for():
    from glasshead.huggingface.dispatch import attention_function
    from glasshead.huggingface.masks import mask_function

    model, given = glasshead.plug(BERT.build(), "tanhmax"), BERT.inputs([6, 4])
    expected = model(**given).last_hidden_state
    try:
        register()
        torch.testing.assert_close(model(**given).last_hidden_state, expected, **ALL_LAYERS)
    finally:
        register(attention_function, mask_function)


def test_our_own_models_are_known_by_name():
    from glasshead.models import MODELS
    from glasshead.recommend import NewsRecommenderConfig

    types = {family.config_class.model_type for family in MODELS.values()}
    assert set(MODEL_TYPES) == types | {NewsRecommenderConfig.model_type}


@pytest.mark.slow
def test_a_stand_in_becomes_the_configuration_itself():
    program = """
import sys, glasshead
from transformers import AutoConfig
assert "glasshead.models" not in sys.modules
config = AutoConfig.from_pretrained(sys.argv[1])
print(type(config).__name__, config.heads)
"""
    from glasshead.models import EncoderConfig

    with tempfile.TemporaryDirectory() as folder:
        EncoderConfig(heads=3).save_pretrained(folder)
        assert printed(program, folder) == "EncoderConfig 3"
