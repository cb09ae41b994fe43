"""What is still to be run of a paper: each run once, what a claim needs first, then what takes least."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from glasshead.errors import pluralise
from glasshead.papers.experiments.cost import Price, SetCost, table_costs, total
from glasshead.papers.experiments.printed_numbers import markdown_table
from glasshead.papers.experiments.summary import FIRST_HELD_OUT, TableSummary
from glasshead.papers.experiments.table import SEEDS, Paper
from glasshead.papers.experiments.tuning import TUNING_SEED

TO_RUN = "to-run"
"""The name of the page."""
LEAST_HOURS = 0.1
HOW_TO_READ = (
    "## How to read this",
    "",
    "- Hours are those of one process with one thread. The estimate for a run is the time of other runs "
    "of its cell, or else of runs on the same data. For a set without a run, it is one measured epoch "
    "times the median number of epochs of its table, and *at most* times the maximum; the measurements of "
    "a trained model are extra. Totals use *at most* if nothing else is known.",
    "- A run that several tables need counts once, in the first line that has it. The hours are right if "
    "you run the lines in this order: first those for the paper's claims, then the shortest.",
    "- `--workers 8` runs eight trainings at a time on one computer. `--ray ADDRESS` uses all of a Ray "
    "cluster; its computers must share the folders of `--out` and `--data`. Divide the hours by the "
    "number of parallel trainings.",
    "- `--out reproduction`, in a checkout, adds the rows to those of the project. Repeat an interrupted "
    "command to continue it.",
)


@dataclass(frozen=True)
class Step:
    """What one command runs: a table, or one data set of it, by its name in ``only``. ``why`` says why it is
    left out, if it is."""

    only: str
    table: TableSummary
    cost: SetCost
    why: str = ""

    @property
    def title(self) -> str:
        """The table and the set."""
        return f"{self.table.table.title}: {', '.join(self.cost.titles)}"

    def is_claimed(self, named: Collection[tuple[str, str]]) -> bool:
        """Whether some of its runs count for a claim, which held-out seeds do not; ``named`` are tables with
        cells that claims name."""
        return any(
            seed < FIRST_HELD_OUT
            for cell in self.cost.cells
            if (self.table.table.name, cell.cell.name) in named
            for _, seed in cell.runs
        )


def to_run_markdown(paper: Paper, summaries: Sequence[TableSummary], prices: Mapping[str, Price]) -> str:
    """The runs that are left of a paper, all of whose tables are given, with hours and commands, and those
    that are left out, with reasons; ``prices`` are measured epochs of sets without a run."""
    steps = plan_runs(paper, summaries, prices)
    left, dropped = ([step for step in steps if bool(step.why) == out] for out in (False, True))
    named = claimed_cells(paper)
    lines = [
        f"<!-- Written by `glasshead reproduce {paper.name}`: do not edit. -->",
        "",
        "# What is still to run",
        "",
        f"After {paper.citation}. {total_in_words(left)}",
        "",
    ]
    if left:
        rows = [
            [
                step.title,
                "yes" if step.is_claimed(named) else "no",
                f"{step.cost.runs}",
                hours_in_words(step.cost.seconds, step.cost.most),
                f"`glasshead reproduce {paper.name} --only {step.only}{options_in_words(step.table)}`",
            ]
            for step in left
        ]
        lines += [*markdown_table(["", "a claim needs it", "runs", "hours", "command"], rows), ""]
    if dropped:
        by_reason: dict[str, list[Step]] = {}
        for step in dropped:
            by_reason.setdefault(step.why, []).append(step)
        rows = [
            ["; ".join(step.title for step in several), total_hours(several), why]
            for why, several in by_reason.items()
        ]
        lines += ["Left out on purpose:", "", *markdown_table(["", "hours", "why"], rows), ""]
    lines += [*price_lines(steps), *HOW_TO_READ]
    return "\n".join(lines).rstrip() + "\n"


def plan_runs(paper: Paper, summaries: Sequence[TableSummary], prices: Mapping[str, Price]) -> list[Step]:
    """The steps in order, each without what those before it run; the last are left out."""
    named = claimed_cells(paper)
    waiting = [
        step_of(summary, cost, paper) for summary in summaries for cost in table_costs(summary, paper, prices)
    ]

    def turn(step: Step) -> tuple[bool, bool, float]:
        cost = step.cost.most if step.cost.seconds is None else step.cost.seconds
        return bool(step.why), not step.is_claimed(named), math.inf if cost is None else cost

    steps: list[Step] = []
    while waiting:
        first = min(waiting, key=turn)
        steps.append(first)
        done = {run for cell in first.cost.cells for run in cell.runs}
        rest = [replace(step, cost=step.cost.without(done)) for step in waiting if step is not first]
        waiting = [step for step in rest if step.cost.runs]
    return steps


def step_of(summary: TableSummary, cost: SetCost, paper: Paper) -> Step:
    """What runs a data set of a table, and nothing else where that can be said."""
    table = summary.table
    part = f"{table.name}/{cost.name}"
    only = part if len({source.name for source in table.sources}) > 1 else table.name
    return Step(only, summary, cost, paper.left_out.get(part, ""))


def claimed_cells(paper: Paper) -> set[tuple[str, str]]:
    """Tables with cells that claims of the paper name."""
    return {(table, name) for one in paper.claims for table, part in one.parts for name in part.cells}


def total_in_words(steps: Sequence[Step]) -> str:
    """How much is left, in a sentence."""
    if not steps:
        return "Nothing is left to run."
    known = [step for step in steps if step.cost.most is not None]
    unknown = sum(step.cost.runs for step in steps if step.cost.most is None)
    parts = [f"{total_hours(known)} hours of one process"] if known else []
    parts += [f"{pluralise(unknown, 'run')} whose time is not measured"] if unknown else []
    return f"{pluralise(sum(step.cost.runs for step in steps), 'run')} left: {', and '.join(parts)}."


def total_hours(steps: Sequence[Step]) -> str:
    """Those of several steps together, in words; the most counts where nothing else is known."""
    costs = [step.cost for step in steps]
    known = any(cost.seconds is not None for cost in costs)
    expected = [cost.most if known and cost.seconds is None else cost.seconds for cost in costs]
    return hours_in_words(total((each, 1) for each in expected), total((cost.most, 1) for cost in costs))


def hours_in_words(seconds: float | None, most: float | None) -> str:
    """Hours in words: about so many, at most so many."""
    if most is None:
        return "not measured"
    if most < LEAST_HOURS * 3600:
        return f"under {LEAST_HOURS}"
    texts = [f"at most {most / 3600:,.1f}"] if seconds != most else []
    if seconds is not None:
        texts.insert(0, f"about {seconds / 3600:,.1f}")
    return ", ".join(texts)


def options_in_words(summary: TableSummary) -> str:
    """The options of the command that runs the cells of a table as they are wanted here."""
    random = [cell for cell in summary.cells if cell.cell.most_seeds is None]
    held_out = [sum(seed >= FIRST_HELD_OUT for seed in cell.wanted) for cell in random]
    seeds = [sum(seed < TUNING_SEED for seed in cell.wanted) for cell in random]
    text = f" --seeds {max(seeds)}" if max(seeds, default=SEEDS) != SEEDS else ""
    return text + (f" --held-out {max(held_out)}" if any(held_out) else "")


def price_lines(steps: Sequence[Step]) -> Iterator[str]:
    """The measured epochs that hours rest on, set by set."""
    prices = {
        (cell.cell.data.title, cell.each.price): None
        for step in steps
        for cell in step.cost.cells
        if cell.each.price is not None
    }
    if prices:
        yield from ("Measured epochs:", "")
    for title, price in prices:
        of = ", ".join(filter(None, (price.cell, price.machine)))
        yield f"- {title}: {price.seconds_per_epoch:.3g} s" + (f" ({of})" if of else "")
    if prices:
        yield ""
