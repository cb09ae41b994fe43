"""What writers say when there is no room, and readers when there is no permission."""

import errno
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models

from denied_files import DENIED, damaged_folder, denied  # noqa: F401
from glasshead.errors import InputError
from glasshead.files import atomic_folder, check_readable, write_bytes
from glasshead.files.disk_errors import storage_errors
from glasshead.huggingface.loading import read_config
from glasshead.opening import load_run, open_model
from glasshead.results import AuditCard
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


@pytest.mark.parametrize("reader", [load_run, open_model, AuditCard.load, folder_kind, read_config])
@pytest.mark.parametrize("name", DENIED)
def test_what_may_not_be_read_is_not_called_damaged(tmp_path, denied, reader, name):  # noqa: F811
    folder = damaged_folder(tmp_path)
    denied.add(name)
    with pytest.raises(InputError, match=rf"^cannot read .*{name}: permission denied$"):
        reader(folder)


def test_what_may_be_read(tmp_path, denied):  # noqa: F811
    (tmp_path / "others").mkdir()
    denied.add("others")  # a folder within the folder, which nobody reads
    check_readable(tmp_path)
    check_readable(tmp_path / "missing")
