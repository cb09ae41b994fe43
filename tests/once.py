"""What takes long to make is made by one of the test workers and read by all."""

import os
import shutil

from filelock import FileLock


def made_once(tmp_path_factory, name, make):
    """The folder that ``make(folder)`` fills, once in a run of the tests; not to be written to."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # each worker has a folder of its own in that of the run
    folder, done = root / name, root / f"{name}.made"
    with FileLock(root / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker whose making failed
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
