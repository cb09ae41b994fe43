"""The group of commands, and the arguments and logs that they share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli import app, print_remark
from glasshead.errors import pluralise

if TYPE_CHECKING:
    from glasshead.papers.recommend import NewsLogs

recommend = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Recommend news from click logs.")
app.add_typer(recommend, name="recommend", rich_help_panel="The papers")

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead recommend train.")]
Logs = Annotated[
    Path, typer.Argument(metavar="LOGS", help="A folder with news.tsv and behaviors.tsv in MIND's format.")
]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Skip malformed rows, and report their number.")
]


def read_usable_logs(folder: Path, skip_bad_rows: bool, *, clicks: bool = True) -> "NewsLogs":
    """Logs, and a line about rows that were left out; where ``clicks`` are needed, they must be told, and a
    line says which impressions cannot be evaluated."""
    from glasshead.papers.recommend import read_logs, require_clicks

    logs = read_logs(folder, skip_bad_rows=skip_bad_rows)
    if clicks:
        require_clicks(logs)
    if logs.skipped:
        others = len(logs.skipped) - 1
        more = f", and {pluralise(others, 'more row')}" if others else ""
        print_remark(f"left out: {logs.skipped[0]}{more}")
    lost = sum(not impression.rankable for impression in logs.impressions)
    if clicks and lost:
        print_remark(
            f"{folder}: {lost} of {pluralise(len(logs.impressions), 'impression')} cannot be ranked: none "
            "or all of their news was clicked"
        )
    return logs
