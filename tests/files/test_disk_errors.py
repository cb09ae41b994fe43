"""What writers say when there is no room, and readers when there is no permission."""

import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models

from glasshead.errors import InputError
from glasshead.files import atomic_folder, check_readable, write_bytes
from glasshead.files.disk_errors import storage_errors
from glasshead.huggingface.loading import read_config
from glasshead.opening import load_run, open_model
from glasshead.recommend.run import load_recommender
from glasshead.results import AuditCard, read_history
from glasshead.training.load_predictions import folder_kind
from limits import largest_file

NUMBERS = np.random.default_rng(0).random(20_000)
WRITERS = {
    "safetensors": lambda path: save_file({"a": torch.tensor(NUMBERS)}, path),
    "torch": lambda path: torch.save({"a": torch.tensor(NUMBERS)}, path),
    "pyarrow": lambda path: pq.write_table(pa.table({"a": NUMBERS}), path),
    "numpy": lambda path: np.save(path, NUMBERS),
    "python": lambda path: path.write_bytes(NUMBERS.tobytes()),
    "tokenizers": lambda path: Tokenizer(
        models.WordLevel({str(a): i for i, a in enumerate(NUMBERS)}, "a")
    ).save(str(path)),
}


@pytest.fixture
def small_files():
    with largest_file(20_000):
        yield


@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_fails_alike_and_leaves_nothing(tmp_path, writer, small_files):
    def write():
        with atomic_folder(tmp_path / "new" / "out") as work:
            WRITERS[writer](work / "a.npy")

    with pytest.raises(OSError, match="too large") as caught:
        write()
    assert caught.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert list(tmp_path.iterdir()) == []


def test_a_file(tmp_path, small_files):
    with pytest.raises(OSError, match="too large"):
        write_bytes(tmp_path / "new" / "out", NUMBERS.tobytes())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError("no"), ValueError("os error 28"), KeyboardInterrupt()])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as caught, storage_errors(Path("out")):
        raise error
    assert caught.value is error


def test_what_was_raised_on_the_way():
    def save():
        try:
            raise OSError(errno.ENOSPC, "No space left on device", "a")
        except OSError as error:
            raise ValueError("could not save") from error

    with pytest.raises(OSError, match="No space") as caught, storage_errors(Path("out")):
        save()
    assert caught.value.filename == "out"


@pytest.fixture
def denied(monkeypatch):
    """Names of files that nobody may read; a test that runs as root could read any."""
    names, allowed = set(), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path.name not in names and allowed(path, mode))
    return names


READERS = [load_run, load_recommender, open_model, AuditCard.load, folder_kind, read_config, read_history]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["model.safetensors", "dynamics"])
def test_what_may_not_be_read_is_not_called_damaged(tmp_path, denied, reader, name):
    folder = tmp_path / "dynamics"
    folder.mkdir()
    for each in ("run.json", "config.json", "card.json", "model.safetensors"):
        (folder / each).write_text("damaged")
    denied.add(name)
    with pytest.raises(InputError, match=rf"^cannot read .*{name}: permission denied$"):
        reader(tmp_path if reader is read_history else folder)


def test_what_may_be_read(tmp_path, denied):
    (tmp_path / "others").mkdir()
    denied.add("others")  # a folder within the folder, which nobody reads
    check_readable(tmp_path)
    check_readable(tmp_path / "missing")
