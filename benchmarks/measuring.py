"""Time, memory and error of pieces of work, so that ratios between them mean something."""

import statistics
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Work = Callable[[], object]


@dataclass(frozen=True)
class Spread:
    """The median of several measurements, the least and the largest."""

    median: float
    least: float
    largest: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))


def time_interleaved(
    works: Mapping[str, Work], budget: float, device: str = "cpu", rounds: int = 1
) -> dict[str, list[float]]:
    """Seconds of every repeat of every piece of work, one after the other in each round.

    Whatever slows the machine for a while then slows all of them, and the ratios within a round stay. The
    first round warms up, and the others take ``budget`` seconds, at least three of them and at most thirty;
    a first round that takes longer than the budget is the only one, unless more ``rounds`` are wanted.
    """
    first = {name: [time_once(work, device)] for name, work in works.items()}
    length = sum(seconds[0] for seconds in first.values())
    if length > budget and rounds <= 1:
        return first
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(max(rounds, min(30, max(3, round(budget / length))))):
        for name, work in works.items():
            seconds[name].append(time_once(work, device))
    return seconds


def time_once(work: Work, device: str) -> float:
    """Seconds of one go, on a GPU until it has finished."""
    if device == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def ratios(seconds: list[float], base: list[float]) -> Spread:
    """Of the times of the same rounds."""
    return Spread.of([one / other for one, other in zip(seconds, base, strict=True)])


def peak_bytes(work: Work, device: str = "cpu") -> int:
    """The most memory that tensors made by a piece of work hold at one time, its result among them.

    On a CPU these are the tensors that operations of torch hand on, counted as they come and go; the few
    tiles that a fused kernel works on are not among them.
    """
    if device == "cuda":
        torch.cuda.synchronize()
        start = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = work()
        torch.cuda.synchronize()
        del result
        return torch.cuda.max_memory_allocated() - start
    with Allocations() as allocations:
        work()
    return allocations.peak


class Allocations(TorchDispatchMode):
    """Counts the bytes of all storages that appear while it is active, until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.alive: dict[int, Any] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        inputs = {
            leaf.untyped_storage()._cdata for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)
        }
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                storage = leaf.untyped_storage()
                if storage._cdata not in inputs and storage._cdata not in self.alive:
                    self.count(storage)
        self.peak = max(self.peak, self.now)
        return result

    def count(self, storage: torch.UntypedStorage) -> None:
        """A new storage; the wrapper in Python lives as long as the memory does."""
        address, size = storage._cdata, storage.nbytes()
        self.now += size

        def on_free() -> None:
            self.now -= size
            del self.alive[address]

        self.alive[address] = weakref.finalize(storage, on_free)
