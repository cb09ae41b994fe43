"""A folder of adapters (PEFT), as typed."""

import json

import pytest

from adapted import saved_adapter
from classifier_families import FAMILIES, labelled_texts
from typed import glasshead, refusal

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.slow
def test_it_is_audited_and_explained(tmp_path):
    model, folder = saved_adapter(tmp_path, FAMILIES["Bert"].build(labels=2))
    model.merge_and_unload().save_pretrained(tmp_path / "merged")
    FAMILIES["Bert"].tokenizer().save_pretrained(tmp_path / "merged")
    rows = zip(*labelled_texts(20, ("0", "1")), strict=True)
    data = tmp_path / "data.csv"
    data.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    facts = []
    for source in (folder, tmp_path / "merged"):
        out = tmp_path / f"{source.name}-audit"
        glasshead("audit", source, data, "--out", out, "--audits", "performance,agreement", "--limit", 4)
        facts.append(json.loads((out / "card.json").read_text())["facts"])
        said = glasshead("explain", source, "a warm film").stdout
        facts[-1]["said"] = [line.split() for line in said.splitlines() if "film" in line]
    assert "adapters (PEFT) merged in a copy of the model: default" in str(facts[0])
    assert facts[0]["accuracy"] == facts[1]["accuracy"]
    assert facts[0]["said"] == facts[1]["said"]


def test_a_kind_that_cannot_be_merged(tmp_path):
    _, folder = saved_adapter(tmp_path, kind="PromptTuningConfig", num_virtual_tokens=2)
    assert "cannot be merged into its weights: PROMPT_TUNING changes no weights; only" in refusal(
        tmp_path, "explain", folder, "a film"
    )


def test_where_only_a_configuration_is_read(tmp_path):
    _, folder = saved_adapter(tmp_path)
    assert "contains only adapters (PEFT), so name their base model" in refusal(tmp_path, "doctor", folder)
