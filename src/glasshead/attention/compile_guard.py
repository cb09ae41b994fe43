"""Keeps `torch.compile` away from models while somebody looks: compiled code calls no hooks."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch


class CompileGuard:
    """While a block is open, compiled functions run as they are written, but not the kernels among them.

    The compiler has one stance for all threads: the first block sets it, the last one restores it.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.blocks = 0
        self.kernels = 0
        self.taken: Any = None

    @contextmanager
    def eager(self) -> Iterator[None]:
        """A block in which no model runs compiled."""
        self.change(blocks=1)
        try:
            yield
        finally:
            self.change(blocks=-1)

    @contextmanager
    def allow_compiled_kernel(self) -> Iterator[None]:
        """Inside of such a block, a kernel that may be a compiled function (flex attention)."""
        self.change(kernels=1)
        try:
            yield
        finally:
            self.change(kernels=-1)

    def change(self, blocks: int = 0, kernels: int = 0) -> None:
        """Count, and take the stance that follows."""
        with self.lock:
            if self.blocks == 0 and blocks:
                self.taken = torch.compiler.set_stance("force_eager")
            self.blocks += blocks
            self.kernels += kernels
            if self.taken is None:
                return  # a hook outside of every block, leaves the compiler as it is
            if self.blocks and not self.kernels:
                self.taken.__enter__()
            else:
                self.taken.__exit__(None, None, None)
            if not self.blocks:
                self.taken = None


COMPILE_GUARD = CompileGuard()
