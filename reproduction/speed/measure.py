"""Measure attention by `benchmarks`, as ratios of two things in one run."""

from benchmarks import attention
from benchmarks.native import measure_native
from reproduction.study import file_of, read_numbers, write_numbers

LONG = ("softmax", "tanhmax", "distance-aware", "shaw", "tener", "transformer-xl")


def measure_attention(processes: int = 1) -> None:
    """Every kernel of every mechanism."""
    measure("attention", "--full")


def measure_long(processes: int = 1) -> None:
    """Long texts, forward, with the kernels that are fast there."""
    measure("attention_long", "--lengths", "8192", "--mechanisms", *LONG)


def measure(table: str, *words: str) -> None:
    """Run the benchmark unless its numbers are there."""
    if not read_numbers("speed", table):
        attention.main([*words, "--out", str(file_of("speed", table))])


def measure_kernel(processes: int = 1) -> None:
    """The native kernel, all parts in one run: ratios of one machine and hour."""
    if not read_numbers("speed", "native"):
        write_numbers("speed", "native", dict(measure_native()))
