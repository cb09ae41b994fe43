"""``glasshead compare`` of runs and of repeats, and of audits with their paired differences."""

import json

import pytest

from fake_runs import classes, guesses, write_repeats, write_run
from glasshead.results import AuditCard
from typed import glasshead, refusal

LABELS = classes(120)


@pytest.fixture
def folders(tmp_path):
    for rank, name in enumerate(("near", "far", "other")):
        said = [guesses(LABELS, 0.6 + 0.15 * (name == "far"), 10 * rank + seed) for seed in range(2)]
        write_repeats(tmp_path / name, LABELS, said)
    write_run(tmp_path / "single", LABELS, LABELS)
    return tmp_path


def test_repeats(folders):
    out = folders / "page.html"
    given = [folders / name for name in ("near", "far", "other")]
    said = glasshead("compare", *given, "--out", out).stdout.replace("\u00a0", " ")
    assert "120 examples of trec (test split), 2 seeds each." in said
    assert "far minus near" in said
    assert "other minus near" in said
    assert "far minus near" in out.read_text(encoding="utf-8")
    said = glasshead(
        "compare", *given, "--against", "far", "--split", "dev", "--out", out, "--overwrite"
    ).stdout
    assert "near minus far" in said
    assert "far minus near" not in said
    assert "(dev split)" in said


def test_the_floor_and_a_collapsed_model(folders):
    """`train` and `compare` show the floor beside accuracy, and say that a model predicts one class only."""
    out = folders / "made"
    tiny = ["synthetic", "--option", "instances=100", "--epochs", 1, "--learning-rate", 1e-9]
    said = glasshead("train", *tiny, "--repeats", 2, "--out", out).stdout
    record = json.loads((out / "seed-0" / "run.json").read_text(encoding="utf-8"))
    floor = record["floor"]["test"]
    assert f"(floor {floor['accuracy']:.3f})  macro-F1" in said
    assert f"(floor {floor['macro_f1']:.3f})" in said
    assert f"floor: always guessing {record['floor']['guess']!r}, the commonest class of train" in said
    only = record["only_class"]["test"]
    assert only is not None  # it has learned nothing
    assert f"seed 0, test: the model predicts one class only, {only!r}" in said
    page = folders / "floor.html"
    said = glasshead("compare", out / "seed-0", out / "seed-1", "--out", page).stdout
    assert f"seed-0 predicts one class only: {only!r}." in " ".join(said.split())
    assert f"floor: always guessing {record['floor']['guess']!r}" in said
    assert f"{floor['accuracy']:.4f}" in said


def test_one_kind_only(folders, tiny):
    out = "--out", folders / "page.html"
    said = refusal(folders, "compare", folders / "near", folders / "single", *out)
    assert "is a folder of repeats, but" in said
    assert "is a run: compare things of one kind" in said
    assert "is an audit, but" in refusal(folders, "compare", tiny.softmax_audit, folders / "single", *out)
    assert "did you mean 'near'" in refusal(
        folders, "compare", folders / "near", folders / "far", "--against", "nearr", *out
    )


def test_audits_have_paired_differences(tiny, tmp_path):
    out = tmp_path / "page.html"
    said = glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, "--out", out).stdout
    page = out.read_text(encoding="utf-8")
    assert "shared" in said
    assert "95\u00a0% interval, paired" in page
    assert "tanhmax − softmax" in page
    assert "Token groups are means over token types" in page
    turned = "--against", tiny.tanhmax_audit, "--out", out, "--overwrite"
    glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, *turned)
    assert "softmax − tanhmax" in out.read_text(encoding="utf-8")


def test_json_stands_alone_on_standard_output(folders):
    given = folders / "near", folders / "far"
    ended = glasshead("compare", *given, "--format", "json", "--out", folders / "page.svg")
    said = json.loads(ended.stdout, parse_constant=pytest.fail)
    assert {row["name"] for row in said["differences"]} == {"accuracy", "macro_f1"}
    assert "Report: " in ended.stderr
    assert (folders / "page.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "must end in .html, .json, .md, .svg, .png or .pdf" in refusal(
        folders, "compare", *given, "--out", folders / "page.txt"
    )


@pytest.mark.slow
def test_the_demo_shows_paired_differences_as_compare_does(tiny, tmp_path, monkeypatch):
    """With audits that were made before in the place of its own, which take minutes."""
    monkeypatch.setattr("glasshead.cli.demo.run_training", lambda request, **options: None)
    monkeypatch.setattr("glasshead.cli.demo.explain_digits", lambda folder, seed: None)
    monkeypatch.setattr(
        "glasshead.cli.demo.audit_with_progress",
        lambda request: AuditCard.load(tiny.folder / f"{request.name}-audit"),
    )
    made = glasshead("demo", "--out", tmp_path / "demo").stdout
    page = tmp_path / "page.html"
    compared = glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, "--out", page).stdout
    shared = [line for line in compared.splitlines() if "shared" in line]
    assert shared
    assert set(shared) <= set(made.splitlines())
    demo = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "95\u00a0% interval, paired" in demo
    assert "tanhmax − softmax" in demo
