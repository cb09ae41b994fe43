"""Measurements as a person reads them."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.bench.attention import AttentionResult
from glasshead.bench.audit import AuditSpeed
from glasshead.bench.explain import ExplainSpeed
from glasshead.bench.identifiability import JUDGED, IdentifiabilityResult
from glasshead.bench.timing import Spread
from glasshead.bench.training import TrainingResult
from glasshead.report import WrappingTable


def attention_table(results: Sequence[AttentionResult], facts: Mapping[str, object]) -> RenderableType:
    """One table for each length, head size, mask and direction."""
    parts: list[RenderableType] = [machine_line(facts)]
    kinds: dict[tuple[object, ...], list[AttentionResult]] = {}
    for result in results:
        kinds.setdefault((result.backward, result.mask, result.size, result.length), []).append(result)
    for rows in kinds.values():
        parts.append(WrappingTable(attention_rows(rows, gpu="gpu" in facts)))
    parts.append(
        Text(
            "×: time over that of softmax by PyTorch's fused attention with the same mask, median and range "
            "of the rounds in which both ran. memory: the peak over its peak, q, k, v and output included. "
            "error: the largest difference to the formula in float64."
            + (" of product: operations over those of a large matrix product." if "gpu" in facts else ""),
            style="dim",
        )
    )
    return Group(*parts)


TITLES = {
    "step": "a training step of the encoder",
    "add": "summed heads, forward and backward",
    "add, first token": "summed heads of which the first token is read, forward and backward",
}


def training_table(results: Sequence[TrainingResult], facts: Mapping[str, object]) -> RenderableType:
    """One table for each work and length."""
    parts: list[RenderableType] = [machine_line(facts)]
    for work, length in dict.fromkeys((result.work, result.length) for result in results):
        table = empty_table(f"\n{length:,} tokens, {TITLES[work]}")
        table.add_column("way", no_wrap=True)
        for heading in ("ms", "×", "range", "least ×", "memory ×"):
            table.add_column(heading, justify="right", no_wrap=True)
        for result in results:
            if (result.work, result.length) == (work, length):
                ratio = result.ratio
                table.add_row(
                    Text(result.way),
                    format_number(result.seconds.median * 1e3),
                    format_number(ratio.median),
                    f"{format_number(ratio.least)}–{format_number(ratio.largest)}",
                    format_number(result.least_ratio),
                    format_number(result.memory_ratio),
                )
        parts.append(WrappingTable(table))
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
    parts: list[RenderableType] = [machine_line(facts)]
    for work, tokens, size in dict.fromkeys((result.work, result.tokens, result.size) for result in results):
        table = empty_table(f"\n{work}, {tokens:,} tokens, values of {size}")
        table.add_column("way", no_wrap=True)
        columns = {"intervals": ("ms", "ms per\nweight", "cold ÷ this", "warm ÷ this", "error")}
        for heading in columns.get(work, ("ms", "forward pass ÷ this")):
            table.add_column(heading, justify="right", no_wrap=True)
        for result in results:
            if (result.work, result.tokens, result.size) == (work, tokens, size):
                table.add_row(
                    Text(result.way),
                    format_number(result.seconds.median * 1e3),
                    *([] if result.per_weight is None else [format_number(result.per_weight * 1e3)]),
                    *(
                        format_ratio(ratio)
                        for ratio in (result.faster, result.over_warm)
                        if ratio is not None
                    ),
                    *([] if work == "ranks" else ["" if result.error is None else f"{result.error:.0e}"]),
                )
        parts.append(WrappingTable(table))
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


def audit_table(results: Sequence[AuditSpeed], facts: Mapping[str, object]) -> RenderableType:
    """One table for each work and number of layers."""
    parts: list[RenderableType] = [machine_line(facts)]
    for work, layers in dict.fromkeys((result.work, result.layers) for result in results):
        table = empty_table(f"\n{work}, {layers} layers")
        table.add_column("way", no_wrap=True)
        for heading in ("ms", "÷ the first", "difference"):
            table.add_column(heading, justify="right", no_wrap=True)
        for result in results:
            if (result.work, result.layers) == (work, layers):
                table.add_row(
                    Text(result.way),
                    format_number(result.seconds.median * 1e3),
                    format_ratio(result.faster),
                    f"{result.error:.0e}",
                )
        parts.append(WrappingTable(table))
    parts.append(
        Text(
            "Random classifiers of the size of MiniLM (384) in float64, eight texts of 8 to 40 words, the "
            "last layer edited. ÷: time over that of the first row, median and range of the rounds in which "
            "both ran. Captum: FeatureAblation, the same edit by a hook, all variants of a text at once.",
            style="dim",
        )
    )
    return Group(*parts)


def explain_table(results: Sequence[ExplainSpeed], facts: Mapping[str, object]) -> RenderableType:
    """One table for each piece of work."""
    parts: list[RenderableType] = [machine_line(facts)]
    for work in dict.fromkeys(result.work for result in results):
        rows = [result for result in results if result.work == work]
        compared = rows[0].error is not None
        table = empty_table(f"\n{work}")
        table.add_column("way", no_wrap=True)
        for heading in ("ms", "× the first", *(["difference"] if compared else [])):
            table.add_column(heading, justify="right", no_wrap=True)
        for result in rows:
            error = [] if result.error is None else [f"{result.error:.0e}"]
            milliseconds = format_number(result.seconds.median * 1e3)
            table.add_row(Text(result.way), milliseconds, format_ratio(result.ratio), *error)
        parts.append(WrappingTable(table))
    parts.append(
        Text(
            "A random classifier of the size of MiniLM (six layers, 384) in float32. ×: time over that of "
            "the first row, median and range of the rounds in which both ran. Flows are those of two tokens.",
            style="dim",
        )
    )
    return Group(*parts)


def format_ratio(ratio: Spread) -> str:
    """5.2 (4.9–5.6)."""
    return f"{format_number(ratio.median)} ({format_number(ratio.least)}–{format_number(ratio.largest)})"


def machine_line(facts: Mapping[str, object]) -> Text:
    """What it was measured on."""
    machine = facts.get("gpu", f"{facts['processor']}, {facts['threads']} threads")
    return Text(f"{machine}, torch {facts['torch']}", style="bold")


def empty_table(title: str) -> Table:
    """A table without rows."""
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        title=title,
        title_style="bold",
        title_justify="left",
    )


def attention_rows(results: Sequence[AttentionResult], gpu: bool) -> Table:
    """The rows of one length, head size, mask and direction."""
    first = results[0]
    way = "forward and backward" if first.backward else "forward"
    kind = "" if first.dtype == "float32" or gpu else f"{first.dtype}, "
    mask = "" if first.mask == "none" else f"{first.mask} mask, "
    table = empty_table(f"\n{first.length:,} tokens, heads of {first.size}, {kind}{mask}{way}")
    for heading in ("mechanism", "kernel"):
        table.add_column(heading, no_wrap=True)
    speed = ["TFLOP/s", "of\nproduct"] if gpu else ["ms"]
    for heading in (*speed, "×", "range", "mem-\nory ×", "error"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        times = (
            [f"{result.rate / 1e12:.0f}", f"{result.share:.0%}"]
            if gpu
            else [format_number(result.seconds.median * 1e3)]
        )
        ratio = result.ratio
        table.add_row(
            Text(result.mechanism),
            Text(result.kernel),
            *times,
            format_number(ratio.median),
            f"{format_number(ratio.least)}–{format_number(ratio.largest)}",
            format_number(result.memory_ratio),
            f"{result.error:.0e}",
        )
    return table


def format_number(ratio: float) -> str:
    """Two or three digits: 0.012, 0.34, 1.87, 12.3, 456."""
    digits = 3 if ratio < 0.1 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:.{digits}f}"
