"""The command: tables out of nothing, nothing twice, and a kill at any time."""

import contextlib
import json
import re
import shlex
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import transformers

from glasshead.files import reserve_folder
from glasshead.papers.experiments import PAPERS, ReproduceRequest, quick_table, run_task
from glasshead.papers.experiments.job import Job, load_once
from glasshead.training import TrainingConfig
from glasshead.training.build_model import build_classifier, encoded_split, label_tensor
from typed import glasshead, refusal, shell, tree, wait_for

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "reproduce.sh"
QUICK = ("reproduce", "s2", "--quick", "--only")


@pytest.fixture
def no_training(monkeypatch):
    def train(*given, **options):
        raise AssertionError("trained")

    monkeypatch.setattr(transformers.Trainer, "train", train)


def run_example(line, folder):
    """Run a line of the documentation's example in a folder; where its tables lie."""
    program, *words = shlex.split(EXAMPLE.read_text(encoding="utf-8").splitlines()[line])
    assert program == "glasshead"
    with contextlib.chdir(folder):
        printed = glasshead(*words).stdout
    assert f"Written to tables/{words[1]}/{words[words.index('--only') + 1]}-quick.md" in printed
    return folder / "tables"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A table on tiny data, with seeds enough for intervals."""
    return run_example(0, tmp_path_factory.mktemp("finished"))


def test_a_table_is_written(finished):
    text = (finished / "s2" / "trec-quick.md").read_text()
    assert "| Transformer-XL | 5 | " in text
    assert "\u00a0±\u00a0" in text
    assert "| bag of words | 1 | " in text
    assert "→" in text  # the use of attention
    assert "smoke run" in text
    record = json.loads((finished / "s2" / "trec-quick.json").read_text())
    assert [len(cell["seeds"]) for cell in record["cells"]] == [5] * 11 + [1]
    low, high = record["cells"][0]["metrics"]["accuracy"]["next_seed"]
    assert low <= record["cells"][0]["metrics"]["accuracy"]["mean"] <= high
    assert not (finished / "runs").exists()
    rows = list((finished / "rows").rglob("*.json"))
    assert len(rows) == 11 * (1 + 5) + 1
    assert max(row.stat().st_size for row in rows) < 2000


def test_what_is_known_is_not_trained_again(finished, no_training):
    before = tree(finished)
    glasshead(*QUICK, "trec", "--seeds", 5, "--out", finished)
    assert tree(finished) == before


def test_without_time_the_tables_of_what_is_known_are_written(finished, no_training, tmp_path):
    options = ("--rows", finished / "rows", "--out", tmp_path / "new")
    glasshead(*QUICK, "trec", "--seeds", 6, "--hours", 0, *options)
    pages = tmp_path / "new" / "s2"
    assert "| Transformer | 5 of 6 |" in (pages / "trec-quick.md").read_text()
    costs = json.loads((pages / "trec-quick.json").read_text())["costs"]
    assert [(cost["runs"], cost["cells"]) for cost in costs] == [(11, 11)]
    assert 0 < costs[0]["seconds"] < 360


def test_rows_of_another_folder_are_found(finished, no_training, tmp_path):
    glasshead(*QUICK, "trec", "--seeds", 5, "--rows", finished / "rows", "--out", tmp_path / "new")
    assert not (tmp_path / "new" / "rows").exists()
    names = [path.name for path in sorted((tmp_path / "new" / "s2").iterdir())]
    assert names == ["trec-quick.json", "trec-quick.md"]
    assert (tmp_path / "new" / "s2" / "trec-quick.md").read_text() == (
        finished / "s2" / "trec-quick.md"
    ).read_text()


def test_a_row_that_was_lost_is_computed_again_to_the_same_numbers(finished, tmp_path):
    row = min((finished / "rows").rglob("*.json"))
    before = json.loads(row.read_text())
    row.write_text(row.read_text()[:50])
    glasshead(*QUICK, "trec", "--seeds", 5, "--out", finished)
    after = json.loads(row.read_text())
    assert after["numbers"]["accuracy"] == pytest.approx(before["numbers"]["accuracy"])
    assert after["data"] == before["data"]


def test_an_interruption_leaves_nothing_half(tmp_path, monkeypatch):
    def train(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(transformers.Trainer, "train", train)
    result = glasshead(*QUICK, "trec", "--out", tmp_path / "tables", code=130)
    assert "repeat the command" in result.stderr
    assert tree(tmp_path) == {}


def test_a_training_that_diverges_is_told_and_the_rest_is_run(tmp_path, monkeypatch):
    from glasshead.errors import InputError

    real = Job.train

    def train(job, *given):
        if job.cell.name.startswith("trec/shaw/"):
            raise InputError("the training diverged")
        return real(job, *given)

    monkeypatch.setattr(Job, "train", train)
    result = glasshead(*QUICK, "trec", "--seeds", 1, "--out", tmp_path / "tables", code=1)
    assert "seed 1000: the training diverged" in result.stderr
    assert "trec, trec/shaw, seed 0: every point of its grid failed" in result.stderr
    assert len(list((tmp_path / "tables" / "rows").rglob("*.json"))) == 10 * 2 + 1
    assert "| Transformer-RPR | 0 of 1 |" in (tmp_path / "tables" / "s2" / "trec-quick.md").read_text()


def test_refusals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLASSHEAD_DATA", raising=False)
    (tmp_path / "file").write_text("")
    assert "table4" in refusal(tmp_path, "reproduce", "s2", "--only", "tabel4")
    assert "sst2" in refusal(tmp_path, "reproduce", "s2", "--only", "table4/sst")
    assert "unknown paper 'nothing'" in refusal(tmp_path, "reproduce", "nothing")
    missing = refusal(tmp_path, "reproduce", "s2", "--only", "table4", "--rows", tmp_path)
    assert "sst2, snli" in missing
    assert "--data" in missing
    for option, value in (
        ("--seeds", 0),
        ("--hours", -1),
        ("--workers", 0),
        ("--data", "none"),
        ("--rows", "no"),
    ):
        assert option in refusal(tmp_path, "reproduce", "s2", "--quick", option, value)
    file = refusal(tmp_path, "reproduce", "s2", "--quick", "--out", "file")
    assert "is a file" in file
    assert "--overwrite" not in file


@pytest.mark.parametrize("name", list(PAPERS))
def test_every_cell_has_a_quick_one(name):
    for table in PAPERS[name].tables:
        small = quick_table(table, None)
        assert [cell.name for cell in small.cells] == [cell.name for cell in table.cells]
        assert all(cell.data.made_up for cell in small.cells)


def test_a_part_of_a_table():
    (chosen,) = PAPERS["s2"].choose(["table4/sst2"])
    assert {cell.data.name for cell in chosen.cells} == {"sst2"}
    assert all("SST-2" in claim.text for claim in chosen.claims)
    assert ReproduceRequest(quick=True).seeds_wanted < ReproduceRequest().seeds_wanted


def test_what_another_process_is_at_is_waited_for(tmp_path, finished, monkeypatch):
    """Its row is taken when it is there; nothing is computed twice."""
    lost = min((finished / "rows").rglob("*bag*.json"))
    text = lost.read_text()
    lost.unlink()
    attempts = []

    def run(task):
        attempts.append(task.cell.name)
        if len(attempts) == 1:  # the other one has it now, and is done soon
            with reserve_folder(task.lock):
                outcome = run_task(task)
            lost.write_text(text)
            return outcome
        return run_task(task)

    monkeypatch.setattr("glasshead.papers.experiments.run_paper.run_task", run)
    monkeypatch.setattr("glasshead.papers.experiments.run_paper.BUSY_WAIT", 0.0)
    monkeypatch.setattr("glasshead.papers.experiments.job.compute", lambda task: pytest.fail("computed"))
    glasshead(*QUICK, "trec", "--seeds", 5, "--out", finished)
    assert attempts == ["trec/bag-of-words"] * 2
    assert not (finished / "runs").exists()


@pytest.mark.slow
def test_killed_and_started_again(tmp_path):
    """Every row that was there stays as it was, what was not is computed, and no run is left behind."""
    command = (*QUICK, "trec", "--workers", 2, "--out", "tables")
    process = shell(*command, cwd=tmp_path, start_new_session=True)
    wait_for("tables/rows/s2/trec/*seed-0.json", tmp_path, process)
    time.sleep(0.2)
    process.kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors
    before = tree(tmp_path / "tables" / "rows")
    assert 1 <= len([name for name in before if name.endswith(".json")]) < 34
    again = shell(*command, cwd=tmp_path)
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    after = tree(tmp_path / "tables" / "rows")
    rows = {name: content for name, content in before.items() if name.endswith(".json")}
    assert rows.items() <= after.items()
    assert not any(".glasshead" in name for name in after)
    assert len([name for name in after if name.endswith(".json")]) == 34
    assert not (tmp_path / "tables" / "runs").exists()


def traits_of(cell):
    """What it measures of which mechanism, and of which model; how large and strong all is makes no other."""
    recipe = cell.recipe
    if not isinstance(recipe, TrainingConfig):
        return {(cell.measure, repr(recipe))}
    model = {name: value for name, value in recipe.architecture.items() if name != "attention"}
    model = (recipe.model, recipe.word_vectors is None, without_numbers(model))
    return {(cell.measure, without_numbers(recipe.attention)), (cell.measure, model)}


def without_numbers(value):
    return re.sub(r"-?\d[\d.e-]*", "#", repr(value))


def one_of_each_kind(paper):
    """The paper with the cells of one data set for each table, another set for the next one; of these the
    first of each mechanism and of each model in the paper and of each measure in the table, and two at
    least."""
    tables, met = [], set()
    for number, table in enumerate(paper.tables):
        held = sorted({cell.data.name for cell in table.cells})
        cells = [cell for cell in table.cells if cell.data.name == held[number % len(held)]]
        kept, measures = [], set()
        for cell in cells:
            if not traits_of(cell) <= met or cell.measure not in measures:
                kept.append(cell)
            met |= traits_of(cell)
            measures.add(cell.measure)
        tables.append(table.with_cells(kept if len(kept) > 1 else cells[:2]))
    claimed = {(table.name, claim) for table in tables for claim in table.claims}
    claims = (
        replace(claim, parts=tuple(part for part in claim.parts if part in claimed)) for claim in paper.claims
    )
    return replace(paper, tables=tables, claims=[claim for claim in claims if claim.parts], left_out={})


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAPERS))
def test_every_table_of_a_paper_can_be_run(name, tmp_path, monkeypatch):
    """On tiny data, with every measure of every mechanism and of every kind of model."""
    paper = one_of_each_kind(PAPERS[name])
    monkeypatch.setitem(PAPERS._entries, name, paper)
    glasshead("reproduce", name, "--quick", "--seeds", 1, "--out", tmp_path / "tables")
    for table in paper.tables:
        record = json.loads((tmp_path / "tables" / name / f"{table.name}-quick.json").read_text())
        assert len(record["cells"]) == len(table.cells)
        assert all(cell["seeds"] == [0] and not cell["missing"] for cell in record["cells"])
        assert all(metric in cell["metrics"] for cell in record["cells"] for metric in table.metrics[:1])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAPERS))
def test_every_model_of_a_paper_reads_its_data_and_learns(name):
    """Of every cell, also those of which no training is run; each recipe before each kind of data once."""
    cells = [cell for table in PAPERS[name].tables for cell in quick_table(table, None).cells]
    different = {repr((cell.recipe, cell.data)): cell for cell in cells}
    for cell in different.values():
        if isinstance(cell.recipe, TrainingConfig):
            data, _ = load_once(cell.data, None)
            built = build_classifier(cell.recipe, data)
            few = data["train"].select(range(4))
            inputs = encoded_split(built.tokenizer, few).inputs()
            loss = built.model(**inputs, labels=label_tensor(few)).loss
            loss.backward()
            assert loss.isfinite(), cell.name
            assert any(p.grad is not None and p.grad.any() for p in built.model.parameters()), cell.name


@pytest.mark.slow
def test_the_other_line_of_the_example(tmp_path):
    folder = run_example(-1, tmp_path)
    record = json.loads((folder / "s3" / "certainty-quick.json").read_text())
    assert [len(cell["seeds"]) for cell in record["cells"]] == [2] * 4
