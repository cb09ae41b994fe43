"""Measurements as a person reads them."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.bench.attention import AttentionResult
from glasshead.bench.identifiability import JUDGED, IdentifiabilityResult
from glasshead.bench.timing import Spread
from glasshead.bench.training import TrainingResult
from glasshead.report import WrappingTable


def table(results: Sequence[AttentionResult], facts: Mapping[str, object]) -> RenderableType:
    """One table for each length, head size and direction."""
    parts: list[RenderableType] = [named(facts)]
    kinds = dict.fromkeys((each.backward, each.size, each.length) for each in results)
    for kind in kinds:
        rows = [each for each in results if (each.backward, each.size, each.length) == kind]
        parts.append(WrappingTable(one(rows, gpu="gpu" in facts)))
    parts.append(
        Text(
            "×: time over that of softmax by PyTorch's fused attention, median and range of the rounds in "
            "which both ran. memory: the peak over its peak, q, k, v and output included. error: the largest "
            "difference to the formula in float64."
            + (" of product: operations over those of a large matrix product." if "gpu" in facts else ""),
            style="dim",
        )
    )
    return Group(*parts)


TITLES = {
    "step": "a training step of the encoder",
    "add": "added heads, forward and backward",
    "add, first token": "added heads of which the first token is read, forward and backward",
}


def training_table(results: Sequence[TrainingResult], facts: Mapping[str, object]) -> RenderableType:
    """One table for each work and length."""
    parts: list[RenderableType] = [named(facts)]
    for work, length in dict.fromkeys((each.work, each.length) for each in results):
        drawn = headed(f"\n{length:,} tokens, {TITLES[work]}")
        drawn.add_column("way", no_wrap=True)
        for heading in ("ms", "×", "range", "least ×", "memory ×"):
            drawn.add_column(heading, justify="right", no_wrap=True)
        for each in results:
            if (each.work, each.length) == (work, length):
                ratio = each.ratio
                drawn.add_row(
                    Text(each.way),
                    short(each.seconds.median * 1e3),
                    short(ratio.median),
                    f"{short(ratio.least)}–{short(ratio.largest)}",
                    short(each.least_ratio),
                    short(each.memory_ratio),
                )
        parts.append(WrappingTable(drawn))
    parts.append(
        Text(
            "×: time over that of the first row, median and range of the rounds in which both ran. least ×: "
            "least time over least time. memory: the peak of what is made, over that of the first row.",
            style="dim",
        )
    )
    return Group(*parts)


def identifiability_table(
    results: Sequence[IdentifiabilityResult], facts: Mapping[str, object]
) -> RenderableType:
    """One table for each size of rows, and one for ranks."""
    parts: list[RenderableType] = [named(facts)]
    for work, tokens, size in dict.fromkeys((each.work, each.tokens, each.size) for each in results):
        drawn = headed(f"\n{work}, {tokens:,} tokens, values of {size}")
        drawn.add_column("way", no_wrap=True)
        columns = {"intervals": ("ms", "ms per\nweight", "cold ÷ this", "warm ÷ this", "error")}
        for heading in columns.get(work, ("ms", "forward pass ÷ this")):
            drawn.add_column(heading, justify="right", no_wrap=True)
        for each in results:
            if (each.work, each.tokens, each.size) == (work, tokens, size):
                drawn.add_row(
                    Text(each.way),
                    short(each.seconds.median * 1e3),
                    *([] if each.per_weight is None else [short(each.per_weight * 1e3)]),
                    *(ranged(ratio) for ratio in (each.faster, each.over_warm) if ratio is not None),
                    *([] if work == "ranks" else ["" if each.error is None else f"{each.error:.0e}"]),
                )
        parts.append(WrappingTable(drawn))
    parts.append(
        Text(
            "intervals: of all weights of a row. ÷: how many times faster, median and range of the rounds in "
            "which both ran. cold: SciPy's linprog with HiGHS, two programs for each weight, each from the "
            f"beginning; {JUDGED} weights of one row are solved, and the time of the others is extrapolated. "
            "warm: HiGHS with one model for the row, without presolve, of which only the objective changes, "
            "by the faster of its simplexes. error: the largest difference to linprog. ranks: of T and of "
            "[T, 1], for all heads and layers of a random BERT-base and a batch of texts.",
            style="dim",
        )
    )
    return Group(*parts)


def ranged(ratio: Spread) -> str:
    """5.2 (4.9–5.6)."""
    return f"{short(ratio.median)} ({short(ratio.least)}–{short(ratio.largest)})"


def named(facts: Mapping[str, object]) -> Text:
    """What it was measured on."""
    machine = facts.get("gpu", f"{facts['processor']}, {facts['threads']} threads")
    return Text(f"{machine}, torch {facts['torch']}", style="bold")


def headed(title: str) -> Table:
    """A table without rows."""
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        title=title,
        title_style="bold",
        title_justify="left",
    )


def one(results: Sequence[AttentionResult], gpu: bool) -> Table:
    """The rows of one length, head size and direction."""
    first = results[0]
    way = "forward and backward" if first.backward else "forward"
    drawn = headed(f"\n{first.length:,} tokens, heads of {first.size}, {way}")
    for heading in ("mechanism", "kernel"):
        drawn.add_column(heading, no_wrap=True)
    speed = ["TFLOP/s", "of\nproduct"] if gpu else ["ms"]
    for heading in (*speed, "×", "range", "mem-\nory ×", "error"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for each in results:
        times = (
            [f"{each.rate / 1e12:.0f}", f"{each.share:.0%}"] if gpu else [short(each.seconds.median * 1e3)]
        )
        ratio = each.ratio
        drawn.add_row(
            Text(each.mechanism),
            Text(each.kernel),
            *times,
            short(ratio.median),
            f"{short(ratio.least)}–{short(ratio.largest)}",
            short(each.memory_ratio),
            f"{each.error:.0e}",
        )
    return drawn


def short(ratio: float) -> str:
    """Two or three digits: 0.012, 0.34, 1.87, 12.3, 456."""
    digits = 3 if ratio < 0.1 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:.{digits}f}"
