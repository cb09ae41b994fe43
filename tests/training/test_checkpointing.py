"""The folder that a training lives in, without a training."""

import json
from zipfile import ZipFile

import pytest
from safetensors.numpy import save_file

from glasshead.errors import InputError
from glasshead.files import atomic as folders
from glasshead.files import partial_path
from glasshead.training.checkpointing import CHECKPOINTS, STATE, workspace

PLAN = {"recipe": {}, "seed": 0, "data": {}}


def work_in(out, *, meanwhile=lambda: None, **options):
    """One epoch and a finished run, with something that happens before it is published."""
    with workspace(out, PLAN, **{"resume": False, "overwrite": False, **options}) as (work, checkpoint):
        kept = work / CHECKPOINTS / "checkpoint-7"
        kept.mkdir(parents=True, exist_ok=True)
        save_file({}, kept / "model.safetensors")
        (kept / "config.json").write_text("{}")
        for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
            ZipFile(kept / name, "w").close()
        state = {"best_global_step": 7, "best_model_checkpoint": str(kept)}
        (kept / STATE).write_text(json.dumps(state), encoding="utf-8")
        meanwhile()
        (work / "model").write_text("finished")
    return checkpoint


def test_becomes_the_run_without_checkpoints(tmp_path):
    assert work_in(tmp_path / "run") is None
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"run.json", "model", ".glasshead"}


@pytest.mark.parametrize("options", [{}, {"overwrite": True}, {"resume": True}])
def test_one_training_at_a_time(tmp_path, options):
    """Neither a new one, nor one that takes its place or goes on with it."""

    def second():
        with pytest.raises(InputError, match="is being written by process"):
            work_in(tmp_path / "run", **options)

    work_in(tmp_path / "run", meanwhile=second)
    assert (tmp_path / "run" / "model").read_text() == "finished"


def test_what_appeared_meanwhile_is_not_replaced_and_nothing_is_lost(tmp_path):
    out = tmp_path / "run"
    with pytest.raises(InputError, match="exists already"):
        work_in(out, meanwhile=lambda: out.write_text("theirs"))
    assert out.read_text() == "theirs"
    assert (partial_path(out) / CHECKPOINTS / "checkpoint-7" / STATE).exists()
    out.unlink()
    assert work_in(out, resume=True).name == "checkpoint-7"
    assert (out / "model").read_text() == "finished"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_precious_files_in_a_work_folder(tmp_path):
    """Before the first checkpoint nothing is worth resuming, yet what others put there stays."""
    work = partial_path(tmp_path / "run")
    work.mkdir()
    (work / "run.json").write_text("{}")
    (work / "precious.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"did not write \(precious\.txt\)"):
            work_in(tmp_path / "run", overwrite=overwrite)
    assert (work / "precious.txt").read_text() == "mine"
    (work / "precious.txt").unlink()
    work_in(tmp_path / "run")


def test_killed_before_it_stands(tmp_path):
    """After SIGKILL nobody puts anything back: the finished epochs are there to be resumed all the same."""
    out = tmp_path / "run"
    with pytest.raises(InputError, match="exists already"):
        work_in(out, meanwhile=lambda: out.write_text("theirs"))
    out.unlink()
    (partial_path(out) / CHECKPOINTS).rename(folders.temp_sibling(out, "scaffold"))
    with pytest.raises(InputError, match="unfinished training: pass `resume=True`"):
        work_in(out)
    assert work_in(out, resume=True).name == "checkpoint-7"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_killed_once_it_stands(tmp_path):
    """What it would have been resumed by goes when the same name is written again."""
    out = tmp_path / "run"
    work_in(out)
    (folders.temp_sibling(out, "scaffold") / "checkpoint-7").mkdir(parents=True)
    work_in(out, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_interrupted_once_it_stands(tmp_path, monkeypatch):
    """Ctrl-C while what was replaced is removed: the new one is whole, and nothing is missed."""
    out = tmp_path / "run"
    work_in(out)
    real = folders.remove

    def interrupted(path):
        replaced = path == folders.temp_sibling(out, "old") and path.exists()
        real(path)
        if replaced:
            raise KeyboardInterrupt

    monkeypatch.setattr(folders, "remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        work_in(out, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert {path.name for path in out.iterdir()} == {"run.json", "model", ".glasshead"}


def test_precious_files_among_what_is_overwritten(tmp_path):
    out = tmp_path / "run"
    work_in(out)
    with pytest.raises(InputError, match=r"precious\.txt"):
        work_in(out, overwrite=True, meanwhile=lambda: (out / "precious.txt").write_text("mine"))
    assert (out / "precious.txt").read_text() == "mine"
