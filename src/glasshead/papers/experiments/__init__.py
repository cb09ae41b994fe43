"""Grids of runs as data: the tables of papers again, grown row by row over many runs and machines."""

from glasshead.papers.experiments import measures, papers
from glasshead.papers.experiments.bag_of_words import bag_of_words
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.cost import Price
from glasshead.papers.experiments.job import MEASURES, Job, Measured, Outcome, Task, run_task
from glasshead.papers.experiments.markdown import table_markdown
from glasshead.papers.experiments.quick import quick_table
from glasshead.papers.experiments.row import Row, RowStore
from glasshead.papers.experiments.run_paper import ReproduceRequest, Reproduction, reproduce
from glasshead.papers.experiments.schedule import Schedule
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.summary import (
    CellSummary,
    ClaimSummary,
    MetricSummary,
    TableSummary,
    number_of,
    seed_intervals,
    summary_of,
)
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperTable, PooledClaim
from glasshead.papers.experiments.table_json import table_json
from glasshead.papers.experiments.tuning import TUNING_SEED, Tuning

__all__ = [
    "MEASURES",
    "PAPERS",
    "TUNING_SEED",
    "Cell",
    "CellSummary",
    "Claim",
    "ClaimSummary",
    "DataSource",
    "Job",
    "Measured",
    "MetricSummary",
    "Outcome",
    "Paper",
    "PaperNumber",
    "PaperTable",
    "PooledClaim",
    "Price",
    "ReproduceRequest",
    "Reproduction",
    "Row",
    "RowStore",
    "Schedule",
    "TableSummary",
    "Task",
    "Tuning",
    "bag_of_words",
    "measures",
    "number_of",
    "papers",
    "quick_table",
    "reproduce",
    "run_task",
    "seed_intervals",
    "summary_of",
    "table_json",
    "table_markdown",
]
