"""A finished table as Markdown for people; nobody edits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from glasshead.errors import pluralise
from glasshead.papers.experiments.cell import PaperNumber
from glasshead.papers.experiments.claims_page import setting_lines
from glasshead.papers.experiments.printed_numbers import (
    NO_BREAK,
    UNITS,
    decimals,
    format_printed,
    interval_in_words,
    markdown_table,
    scale,
)
from glasshead.papers.experiments.summary import (
    INSIDE,
    UNCLEAR,
    CellSummary,
    MetricSummary,
    TableSummary,
)
from glasshead.papers.experiments.table import Paper
from glasshead.papers.experiments.to_run import TO_RUN
from glasshead.papers.experiments.tuning import Tuning
from glasshead.results import NOT_USED
from glasshead.statistics import share_interval


def table_markdown(summary: TableSummary, paper: Paper, picture: str | None = None) -> str:
    """Every data set with its cells, then differences between cells and from the paper; ``picture`` is an
    image file next to the page."""
    table = summary.table
    lines = [
        f"<!-- Written by `glasshead reproduce {paper.name} --only {table.name}`: do not edit. -->",
        "",
        f"# {table.title}",
        "",
        f"After {paper.citation}.",
        "",
    ]
    if table.smoke:
        lines += [SMOKE_HEADER, ""]
    if picture is not None:
        lines += [f"![{table.title}; the numbers are in the tables below]({picture})", ""]
    for source in table.sources:
        cells = [cell for cell in summary.cells if cell.cell.data == source]
        lines += [f"## {source.title}", "", *cell_lines(summary, cells), ""]
    for title, found in (("Differences", summary.differences), ("Against the floor", summary.floor)):
        if found:
            lines += [f"## {title}", "", *setting_lines(found), ""]
    lines += [*coverage_lines(summary), *difference_lines(summary)]
    if not table.smoke and any(cell.missing_runs for cell in summary.cells):
        lines += [f"What is not run yet, and how long it takes, is on [another page]({TO_RUN}.md).", ""]
    lines += [*HOW_TO_READ, *tuning_lines(summary)]
    return "\n".join(lines).rstrip() + "\n"


SMOKE_HEADER = (
    "**A smoke run on tiny data: its numbers say nothing about the paper.** Cells that differ only in size, "
    "length or word vectors, and data sets that made-up texts stand for, share "
    "one training here and have the same numbers."
)
HOW_TO_READ = (
    "## How to read this",
    "",
    "- ± is the half width of the 95 % interval of the mean over seeds (Student's t), from five seeds on. "
    "*Next seed* is where one more seed falls with 95 % probability, within the range of the metric.",
    "- The paper's number is *inside* if Welch's test does not distinguish the two means (p ≥ 0.05) or, "
    "where the paper gives no deviation, if it lies in the interval of the next seed; ± is the half width "
    "of that interval. If it is larger than the smallest effect that the paper claims of this data set, "
    "or than the smallest difference of its own numbers, almost anything would be "
    "inside, so we *cannot tell*. A number that is not inside is *outside*, or the "
    "*protocol differs*: if the protocol of all cells differs, no number is called outside.",
    "- Entropy is that of the weights (1: all tokens alike), SD that of the scores, before → after training: "
    f"one pair for each layer, the pooling last. Above {NOT_USED} after training attention was *not used*.",
    "- *Cap*: the training ended at its last epoch, before dev was flat; more epochs might reach more.",
    (
        "- Differences are paired by seed and text, and so is their interval. They are only described; the "
        "tests of the paper's claims are on the page of the claims."
    ),
    "- A bag of words reads whole texts, also where models cut them. The floor is ours, not the paper's.",
)


def cell_lines(summary: TableSummary, cells: Sequence[CellSummary]) -> Iterator[str]:
    """The cells of one data set: what they reach, then how they were trained and what attention did."""
    metrics = [name for name in summary.table.metrics if any(name in cell.metrics for cell in cells)]
    papers = [name for name in metrics if any(name in cell.cell.paper for cell in cells)]
    labels = {name: name for name in metrics} | UNITS | dict(summary.table.labels)
    heads = ["", "seeds", *(labels[name] for name in metrics), "next seed"]
    heads += [f"{labels[name]}, paper" for name in papers] + ["verdict"] * bool(papers)
    yield from markdown_table(heads, [result_row(cell, metrics, papers) for cell in cells])
    if any(not cell.one_data_set for cell in cells):
        yield "\nRows were computed on different data: their means cannot be trusted."
    trained = [cell for cell in cells if any("steps" in row.numbers for row in cell.rows)]
    if trained:
        heads = ["", "steps", "chosen on dev", "entropy", "SD of scores"]
        yield ""
        yield from markdown_table(heads, [training_row(cell) for cell in trained])
    for name in summary.table.words:
        rows = [[cell.cell.title, words_kept(cell, name)] for cell in cells if words_kept(cell, name)]
        if rows:
            yield ""
            yield from markdown_table(["", summary.table.labels.get(name, name)], rows)


def words_kept(cell: CellSummary, name: str) -> str:
    """What the rows keep under a name in words: the list of the first seed, or how many seeds say what."""
    values = [row.numbers[name] for row in cell.rows if row.numbers.get(name)]
    if not values:
        return ""
    if isinstance(values[0], list):
        return ", ".join(map(str, values[0]))
    return ", ".join(f"{word} ({count})" for word, count in Counter(values).most_common())


def result_row(cell: CellSummary, metrics: Sequence[str], papers: Sequence[str]) -> list[str]:
    """What a cell reaches: the first metric is held against the paper."""
    seeds = f"{len(cell.rows)}" + (f" of {cell.most}" if len(cell.rows) < cell.most else "")
    first = cell.metrics.get(metrics[0]) if metrics else None
    row = [
        cell.cell.title,
        seeds,
        *(mean_in_words(cell.metrics.get(name), name) for name in metrics),
        "" if first is None else interval_in_words(first.new_seed, metrics[0]),
        *(in_paper(cell.cell.paper.get(name), name) for name in papers),
    ]
    if papers:
        row.append(verdict_in_words(first, metrics[0]) if first else "")
    return row


def verdict_in_words(metric: MetricSummary, name: str) -> str:
    """The verdict with how wide the interval was that tells it, and what it would have to tell."""
    if metric.half_width is None or metric.verdict not in (INSIDE, UNCLEAR):
        return metric.verdict
    half, margin = (
        None if half is None else format_printed(half * scale(name), f".{decimals(name)}f")
        for half in (metric.half_width, metric.margin)
    )
    against = f" > {margin}" if metric.verdict == UNCLEAR and margin is not None else ""
    return f"{metric.verdict} (±{NO_BREAK}{half}{against})"


def training_row(cell: CellSummary) -> list[str]:
    """How long a cell was trained, with which settings, and how it used its attention."""
    use = [use_in_words(cell, name) for name in ("entropy", "score_sd")]
    return [cell.cell.title, steps_in_words(cell), choice_in_words(cell.tuning), *use]


def choice_in_words(tuning: Tuning | None) -> str:
    """The settings that were best on dev."""
    return (
        ""
        if tuning is None
        else ", ".join(
            f"{name}{NO_BREAK}{value}{' (the last tried)' if tuning.at_end(name) else ''}"
            for name, value in tuning.settings.items()
        )
    )


def mean_in_words(metric: MetricSummary | None, name: str) -> str:
    """mean ± half width."""
    if metric is None:
        return "–"
    text = format_printed(metric.mean * scale(name), f".{decimals(name)}f")
    if metric.interval is None:
        return text
    low, high = metric.interval  # one end may be cut to the range of the metric
    half = max(high - metric.mean, metric.mean - low) * scale(name)
    return f"{text}{NO_BREAK}±{NO_BREAK}{half:.{decimals(name)}f}"


def in_paper(number: PaperNumber | None, name: str) -> str:
    """The number as the paper has it."""
    if number is None:
        return ""
    text = format_printed(number.value * scale(name), f".{decimals(name)}f")
    return text if number.std is None else f"{text} (SD {number.std * scale(name):.{decimals(name)}f})"


def use_in_words(cell: CellSummary, name: str) -> str:
    """Attention use before → after training, a mean over seeds, by layer."""
    layers: dict[str, list[list[float | None]]] = {}
    for row in cell.rows:
        for layer, before, after in row.numbers.get(name, []):
            layers.setdefault(layer, []).append([before, after])
    texts = []
    for values in layers.values():
        ends = [[pair[side] for pair in values] for side in (0, 1)]
        known = [[value for value in end if value is not None] for end in ends]
        if any(known):  # else nobody could read it: texts of a single sentence
            words = (f"{np.mean(end):.3f}" if end else "–" for end in known)
            text = f"{NO_BREAK}→{NO_BREAK}".join(words)
            unused = name == "entropy" and known[1] and float(np.mean(known[1])) > NOT_USED
            texts.append(f"{text} (not{NO_BREAK}used)" if unused else text)
    return "; ".join(texts)


def steps_in_words(cell: CellSummary) -> str:
    """Steps of the shortest and the longest training."""
    steps = [row.numbers["steps"] for row in cell.rows if "steps" in row.numbers]
    if not steps:
        return ""
    text = f"{min(steps):,}" if min(steps) == max(steps) else f"{min(steps):,}–{max(steps):,}"
    recipe = cell.cell.recipe
    ends = [row.numbers.get("epochs", 0) >= recipe.epochs for row in cell.rows]
    if getattr(recipe, "patience", None) is None or not any(ends):
        return text
    return f"{text} (cap{'' if all(ends) else f' in {sum(ends)} of {len(ends)}'})"


def coverage_lines(summary: TableSummary) -> Iterator[str]:
    """How often the interval for a new seed held."""
    sentence = coverage_in_words(list(summary.inside().values()))
    if sentence is not None:
        yield from ("## New seeds", "", sentence, "")


def coverage_in_words(inside: Sequence[bool]) -> str | None:
    """How many held-out seeds fell into their interval; None if there are none."""
    if not inside:
        return None
    ends = share_interval(np.array(inside)).interval
    interval = "" if ends is None else f"; exact 95 % interval {100 * ends[0]:.0f} to {100 * ends[1]:.0f}"
    return (
        f"{sum(inside)} of {pluralise(len(inside), 'held-out seed')} "
        "were inside their cell's "
        "interval for the next seed "
        f"({100 * sum(inside) / len(inside):.0f} "
        f"%{interval}), which promises 95 %."
    )


def tuning_lines(summary: TableSummary) -> Iterator[str]:
    """What was tried for every cell with a grid."""
    grids = {
        " × ".join(f"{name} {', '.join(map(str, values))}" for name, values in cell.grid.items())
        for cell in summary.table.cells
        if cell.grid
    }
    for grid in sorted(grids):
        yield (
            f"- *Chosen on dev*: each cell that is trained had the same grid, {grid}. Every point was "
            "trained once, with a seed that is not counted. The JSON file has what each reached on dev."
        )


def difference_lines(summary: TableSummary) -> Iterator[str]:
    """How the protocol differs from that of the paper, and what is not at hand."""
    table = summary.table
    everywhere = list(table.differences)
    titles = {source.name: source.title for source in table.sources}
    somewhere = [
        f"{titles[name]}: {text}"
        for name, texts in table.data_differences.items()
        if name in titles
        for text in texts
    ]
    if everywhere or somewhere or table.not_at_hand:
        yield from ("## Differences from the paper", "")
        yield from (f"- {line}" for line in (*everywhere, *somewhere, *table.not_at_hand))
        yield ""
