"""Where a training lives until it is whole: a folder next to the run, which a kill leaves to be resumed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from safetensors import SafetensorError, safe_open

from glasshead.errors import InputError
from glasshead.files import (
    KNOWN,
    Reserved,
    check_foreign,
    find_foreign,
    partial_path,
    remove,
    reserve_folder,
    temp_sibling,
)
from glasshead.opening import RECORD
from glasshead.reasons import because
from glasshead.spelling import spell
from glasshead.training.write_run import write_json

STATE = "trainer_state.json"
CHECKPOINTS = "checkpoints"
NEEDED = (STATE, "config.json", "*.safetensors", "optimizer.pt", "scheduler.pt", "rng_state*.pth")
"""What a training goes on from."""
WORK_FILES = (
    CHECKPOINTS, "dynamics", "plan.json", "language-model.json", "seed-*", ".seed-*", "*.model", "*.jinja",
    *KNOWN,
)  # fmt: skip
"""What trainings and their tokenizers write into a work folder."""
WATCHED = "watched"
"""Told of a training only where somebody looks on."""


@contextmanager
def workspace(
    out: Path, plan: dict[str, Any], *, resume: bool, overwrite: bool, record: str = RECORD
) -> Iterator[tuple[Path, Path | None]]:
    """A folder to train in and the checkpoint to go on from; it becomes ``out`` when the block ends well.

    The plan is written into the file ``record``.
    When the block fails, whatever is worth resuming stays; before the first checkpoint nothing is.

    Raises:
        InputError: if there is nothing to resume, or what there is was started with another plan, or if
            another process writes ``out``.
    """
    work = partial_path(out)
    with reserve_folder(out, overwrite=overwrite) as reserved:
        recover(out, work, work / CHECKPOINTS)
        checkpoint = _checkpoint_to_resume(work, plan, record, resume=resume, overwrite=overwrite)
        if checkpoint is None:
            check_own(work, work / record)
        try:
            if checkpoint is None:
                begin_work(work, work / record, plan)
            yield work, checkpoint
            publish(reserved, work, work / CHECKPOINTS)
        except BaseException:
            if not valid_checkpoints(work / CHECKPOINTS):
                remove(work)
            raise


def publish(reserved: Reserved, work: Path, scaffold: Path) -> None:
    """Publish a finished work without what it would be resumed by, which comes back if that fails."""
    removed = temp_sibling(reserved.out, "scaffold")
    scaffold.rename(removed)
    try:
        reserved.publish(work)
    except BaseException:
        if work.exists():
            removed.rename(scaffold)
        else:  # it stands, and only what it replaced could not be removed
            remove(removed)
        raise
    remove(removed)


def recover(out: Path, work: Path, scaffold: Path) -> None:
    """Put back what a work is resumed by, if `publish` was killed before the work stood; else remove it."""
    removed = temp_sibling(out, "scaffold")
    if removed.exists() and work.exists() and not scaffold.exists():
        removed.rename(scaffold)
    remove(removed)


def _checkpoint_to_resume(
    work: Path, plan: dict[str, Any], record: str, *, resume: bool, overwrite: bool
) -> Path | None:
    """The checkpoint to go on from; None: there is none, and the work begins at the beginning."""
    if resume:
        if not (work / record).is_file():
            raise InputError(f"nothing to resume: there is no {work}; train without {spell('resume')}")
        check_same(plan, work / record)
        for checkpoint in reversed(valid_checkpoints(work / CHECKPOINTS)):
            if restore_best_checkpoint(checkpoint):
                return checkpoint
        # Killed in its first epoch, or nothing whole is left: what can be gone on from is the beginning.
    elif valid_checkpoints(work / CHECKPOINTS) and not overwrite:
        raise InputError(
            f"{work} holds an unfinished training: pass {spell('resume', True)} to continue or "
            f"{spell('overwrite', True)}"
        )
    return None


def check_own(work: Path, record: Path) -> None:
    """Raise InputError if somebody else's folder has the name of a work, or somebody else's files are in
    it."""
    if work.exists() and any(work.iterdir()) and not record.is_file():
        raise InputError(
            f"{work} exists, and Glasshead did not create it: move it, or choose another {spell('out')}"
        )
    if work.is_dir():
        check_foreign(work, find_foreign(sorted(path.name for path in work.iterdir()), WORK_FILES))


def begin_work(work: Path, record: Path, plan: dict[str, Any]) -> None:
    """An empty work folder that says what is planned; check that it is ours first (`check_own`)."""
    remove(work)
    work.mkdir()
    write_json(record, plan)


def describe_callback_change(before: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    """How a training was started that is now to be watched in another way; None: not watched at all."""
    if before is None or now is None:
        return (
            f"without {spell('DynamicsCallback')}" if before is None else f"with {spell('DynamicsCallback')}"
        )
    first, second = (
        f"without {spell('every')}" if facts["every"] is None else f"with {spell('every', facts['every'])}"
        for facts in (before, now)
    )
    return f"{first}, not {second}"


def check_same(plan: dict[str, Any], record: Path) -> None:
    """Raise InputError unless this record has the same plan."""
    plan = json.loads(json.dumps(plan))
    try:
        before = dict(json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"cannot resume: {record} is damaged{because(error)}; use {spell('overwrite', True)}"
        ) from error
    different = [key for key in dict.fromkeys([*plan, WATCHED]) if plan.get(key) != before.get(key)]
    if different:
        if WATCHED in different:
            how = describe_callback_change(before.get(WATCHED), plan.get(WATCHED))
            raise InputError(
                f"cannot resume {record.parent}: it was started {how}; use {spell('overwrite', True)}"
            )
        what = " and ".join(different)
        kind = "other" if different[0] == "seeds" else "another"
        raise InputError(
            f"cannot resume {record.parent}: it was started with {kind} {what}; use "
            f"{spell('overwrite', True)}"
        )


def valid_checkpoints(folder: Path) -> list[Path]:
    """Checkpoints in order of steps; incomplete ones are removed."""
    good = []
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1])):
        if is_complete(checkpoint):
            good.append(checkpoint)
        else:
            remove(checkpoint)
    return good


def is_complete(checkpoint: Path) -> bool:
    """Whether all that a training goes on from is there, and no file was cut off."""
    try:
        if not all(any(checkpoint.glob(name)) for name in NEEDED):
            return False
        for path in filter(Path.is_file, checkpoint.iterdir()):
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".safetensors":
                with safe_open(path, "np"):  # the header says how long the file is
                    pass
            elif path.suffix in (".pt", ".pth"):
                with ZipFile(path) as archive:  # its directory is at the end
                    if archive.testzip() is not None:
                        return False
    except (OSError, ValueError, BadZipFile, SafetensorError):
        return False
    return True


def restore_best_checkpoint(checkpoint: Path) -> bool:
    """Let a checkpoint name the best epoch so far by its present path: the folder may have moved since;
    whether that epoch is there.

    The Trainer forgets a best epoch that it does not find, and would keep the last one instead.
    """
    path = checkpoint / STATE
    state = json.loads(path.read_text(encoding="utf-8"))
    best = checkpoint.with_name(f"checkpoint-{state['best_global_step']}")
    if not best.is_dir():
        return False
    path.write_text(json.dumps(state | {"best_model_checkpoint": str(best)}), encoding="utf-8")
    return True
