"""The random numbers of the process, used and left as they were: for what others draw from nowhere else."""

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch

IN_USE = threading.RLock()
"""All threads draw from the same generators: one at a time."""


@contextmanager
def use_seed(seed: int | None, devices: Sequence[torch.device] = ()) -> Iterator[None]:
    """Random numbers follow from the seed in the block (None: from what was), and go on behind it as before:
    those of torch on the CPU and on ``devices``, of NumPy and of Python. Other such blocks wait for it."""
    with IN_USE:
        python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        with torch.random.fork_rng(list(devices)):
            if seed is not None:
                torch.default_generator.manual_seed(seed)
                for device in devices:
                    torch.cuda.default_generators[device.index or 0].manual_seed(seed)
                random.seed(seed)
                np.random.seed(seed % 2**32)  # noqa: NPY002
            try:
                yield
            finally:
                random.setstate(python)
                np.random.set_state(numpy)  # noqa: NPY002
