"""glasshead recommend rank: which of the shown news a reader is expected to click."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import Overwrite, print_line, print_remark, progress_stages
from glasshead.errors import InputError, pluralise
from glasshead.papers.commands.recommend.group import Logs, Run, SkipBadRows, read_usable_logs, recommend


@recommend.command()
def rank(
    run: Run,
    logs: Logs,
    out: Annotated[
        Path, typer.Option("--out", help="The file of ranks to write, in MIND's format: prediction.txt.")
    ],
    scores: Annotated[
        Path | None, typer.Option("--scores", help="A JSONL file of all scores to write as well.")
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Overwrite = False,
) -> None:
    """Rank the shown news of every impression; the logs need not say what was clicked.

    Example: [bold]glasshead recommend rank runs/news MINDlarge_test --out prediction.txt[/]
    """
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.papers.recommend import load_recommender, prediction_lines, score_lines

    if scores is not None and scores.resolve() == out.resolve():
        raise InputError(f"--out and --scores are the same file, {out}: give two")
    for path, formats in ((out, ("txt",)), (scores, ("jsonl",))):
        if path is not None:
            format_from_suffix(path, *formats)
            check_writable(path, overwrite=overwrite, reads=[run, logs])
    loaded = load_recommender(run)
    news_logs = read_usable_logs(logs, skip_bad_rows, clicks=False)
    with progress_stages(f"ranking with {run.name}") as progress:
        progress("scoring")
        values = loaded.scores(news_logs)
    tied = sum(not impression.history for impression in news_logs.impressions)
    if tied:
        print_remark(
            f"{logs}: {tied} of {pluralise(len(values), 'impression')} have no history: their news tie, and "
            "keep their original order"
        )
    for path, lines in ((out, prediction_lines), (scores, score_lines)):
        if path is not None:
            write_text(path, "".join(lines(news_logs, values)), overwrite=overwrite)
            print_line(f"Written to {path}")
