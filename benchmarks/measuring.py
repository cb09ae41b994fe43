"""Time and memory of pieces of work, so that ratios between them mean something; tables and files of them."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich import box
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

DATA = Path(os.environ.get("GLASSHEAD_DATA", Path(__file__).parents[2] / "shared" / "data"))
"""Real data sets, in the layout that `glasshead.data.load` reads."""

Work = Callable[[], object]


def run_apart(module: str, case: Any) -> dict[str, Any]:
    """What a benchmark prints last, as JSON, of a ``--case`` in a process of its own."""
    command = [sys.executable, "-m", module, "--case", json.dumps(asdict(case))]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return result


@dataclass(frozen=True)
class Spread:
    """The median of several measurements, the least and the largest."""

    median: float
    least: float
    largest: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        """5.2 (4.9–5.6)."""
        return f"{format_number(self.median)} ({self.range})"

    @property
    def range(self) -> str:
        """4.9–5.6."""
        return f"{format_number(self.least)}–{format_number(self.largest)}"


def format_number(ratio: float) -> str:
    """Two or three digits: 0.012, 0.34, 1.87, 12.3, 456."""
    digits = 3 if ratio < 0.1 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:.{digits}f}"


def time_interleaved(
    works: Mapping[str, Work],
    budget: float = 0.0,
    device: str = "cpu",
    rounds: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of every repeat of every piece of work, one after the other in each round.

    Whatever slows the machine for a while then slows all of them, and the ratios within a round stay. The
    first round warms up, and the others take ``budget`` seconds, at least three of them and at most thirty;
    a first round that takes longer than the budget is the only one, unless more ``rounds`` are wanted.
    """
    first = {name: [time_once(work, device, clock)] for name, work in works.items()}
    length = sum(seconds[0] for seconds in first.values())
    if length > budget and rounds <= 1:
        return first
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(max(rounds, min(30, max(3, round(budget / length))))):
        for name, work in works.items():
            seconds[name].append(time_once(work, device, clock))
    return seconds


def time_once(work: Work, device: str = "cpu", clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one go, on a GPU until it has finished."""
    if device == "cuda":
        torch.cuda.synchronize()
    started = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - started


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


def machine(device: str = "cpu") -> dict[str, str | int]:
    """Processor, threads, versions; on a GPU its name."""
    facts: dict[str, str | int] = {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    if device == "cuda":
        facts["gpu"] = torch.cuda.get_device_name()
    return facts


def processor() -> str:
    """The name of the CPU, as far as the system tells."""
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def matmul_rate(device: str, dtype: torch.dtype) -> float:
    """Floating-point operations per second of a large square matrix product."""
    size = 8192 if device == "cuda" else 1024
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    seconds = time_interleaved({"product": lambda: a @ b}, 0.5, device)["product"]
    return 2 * size**3 / min(seconds)


def argument_parser(description: str | None, lengths: Sequence[int] | None = None) -> argparse.ArgumentParser:
    """Options that benchmarks share: how many tokens a text has, and a file to write."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=lengths, metavar="N", help="tokens")
    parser.add_argument("--out", type=Path, help="a JSON file to write as well")
    return parser


def print_table(title: str, rows: Sequence[Any], columns: Mapping[str, Callable[[Any], object]]) -> None:
    """A column is what a function says of every row; where it says None of all, there is none."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    cells = {head: [cell(row) for row in rows] for head, cell in columns.items()}
    kept = {head: column for head, column in cells.items() if any(cell is not None for cell in column)}
    for number, head in enumerate(kept):
        table.add_column(head, justify="right" if number else "left")
    for row in zip(*kept.values(), strict=True):
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def report(
    results: Iterable[Any],
    title: Callable[[Any], str],
    columns: Mapping[str, Callable[[Any], object]],
    settings: Any,
    out: Path | None,
    device: str = "cpu",
) -> None:
    """Print results, and write them in full precision where a file is wanted; a dot for each as it comes."""
    measured = []
    for result in results:
        measured.append(result)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    facts = machine(device)
    print(f"{facts.get('gpu', facts['processor'])}, {facts['threads']} threads, torch {facts['torch']}")
    for each in dict.fromkeys(map(title, measured)):
        print_table(each, [result for result in measured if title(result) == each], columns)
    if out is not None:
        page = {"machine": facts, "settings": asdict(settings), "results": list(map(asdict, measured))}
        out.write_text(json.dumps(page, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
