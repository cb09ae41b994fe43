"""A finished table as JSON for programs; nobody edits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glasshead.papers.experiments.claims_page import difference_json
from glasshead.papers.experiments.cost import Price, table_costs
from glasshead.papers.experiments.numbers import number_of
from glasshead.papers.experiments.row import json_file
from glasshead.papers.experiments.summary import CellSummary, TableSummary
from glasshead.papers.experiments.table import Paper


def table_json(summary: TableSummary, paper: Paper, prices: Mapping[str, Price] | None = None) -> str:
    """The numbers of a table as JSON, unrounded, with their seeds."""
    table = summary.table
    record: dict[str, Any] = {
        "paper": paper.citation,
        "table": table.name,
        "title": table.title,
        "smoke": table.smoke,
        "cells": [cell_json(cell) for cell in summary.cells],
        "differences": [difference_json(one) for one in summary.differences],
        "against_floor": [difference_json(one) for one in summary.floor],
        "held_out_inside": list(summary.inside().values()),
        "costs": [
            {
                "data": cost.name,
                "cells": len(cost.cells),
                "runs": cost.runs,
                "seconds": cost.seconds,
                "most_seconds": cost.most,
            }
            for cost in table_costs(summary, paper, prices or {})
        ],
        "not_at_hand": list(table.not_at_hand),
    }
    return json_file(record)


def cell_json(cell: CellSummary) -> dict[str, Any]:
    """One cell with all its seeds."""
    return {
        "name": cell.cell.name,
        "title": cell.cell.title,
        "key": cell.cell.key,
        "data": cell.cell.data.record(),
        "recipe": cell.cell.recipe.as_dict(),
        "seeds": [row.seed for row in cell.rows],
        "missing": len(cell.missing_runs),
        "seconds": cell.seconds(),
        "tuning": None if cell.tuning is None else vars(cell.tuning),
        "held_out": {
            name: {row.seed: number_of(row, name) for row in cell.held_out} for name in cell.metrics
        },
        "differences": cell.differences,
        "metrics": {
            name: {
                "values": metric.values,
                "mean": metric.mean,
                "interval": metric.interval,
                "next_seed": metric.new_seed,
                "paper": None if metric.paper is None else vars(metric.paper),
                "verdict": metric.verdict,
                "half_width": metric.half_width,
                "margin": metric.margin,
            }
            for name, metric in cell.metrics.items()
        },
        "numbers": {
            name: [row.numbers.get(name) for row in cell.rows]
            for name in ("epochs", "steps", "kept_step", "entropy", "score_sd")
            if any(name in row.numbers for row in cell.rows)
        },
    }
