"""Grids of runs: the tables of papers, reproduced row by row over many runs and machines."""

from glasshead.papers.experiments import measures, papers
from glasshead.papers.experiments.bag_of_words import bag_of_words
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.claims import ClaimVerdict, judge_claims
from glasshead.papers.experiments.claims_page import (
    claims_json,
    claims_markdown,
    setting_tables,
    verdict_table,
)
from glasshead.papers.experiments.cost import Price
from glasshead.papers.experiments.differences import (
    DifferenceSummary,
    summarise_differences,
    summarise_numbers,
)
from glasshead.papers.experiments.job import MEASURES, Job, Measured, Outcome, Task, run_task
from glasshead.papers.experiments.markdown import table_markdown
from glasshead.papers.experiments.numbers import number_of, seed_intervals
from glasshead.papers.experiments.quick import quick_table
from glasshead.papers.experiments.row import Row, RowStore
from glasshead.papers.experiments.run_paper import ReproduceRequest, Reproduction, reproduce
from glasshead.papers.experiments.schedule import Schedule
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.summary import (
    CellSummary,
    MetricSummary,
    TableSummary,
    summary_of,
)
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperClaim, PaperTable
from glasshead.papers.experiments.table_json import table_json
from glasshead.papers.experiments.tuning import TUNING_SEED, Tuning

__all__ = [
    "MEASURES",
    "PAPERS",
    "TUNING_SEED",
    "Cell",
    "CellSummary",
    "Claim",
    "ClaimVerdict",
    "DataSource",
    "DifferenceSummary",
    "Job",
    "Measured",
    "MetricSummary",
    "Outcome",
    "Paper",
    "PaperClaim",
    "PaperNumber",
    "PaperTable",
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
    "claims_json",
    "claims_markdown",
    "judge_claims",
    "measures",
    "number_of",
    "papers",
    "quick_table",
    "reproduce",
    "run_task",
    "seed_intervals",
    "setting_tables",
    "summarise_differences",
    "summarise_numbers",
    "summary_of",
    "table_json",
    "table_markdown",
    "verdict_table",
]
