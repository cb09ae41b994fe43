"""glasshead recommend evaluate: how well a run ranks news."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import SEEDS, Overwrite, console, print_line, print_remark, progress_stages
from glasshead.papers.commands.recommend.group import Logs, Run, SkipBadRows, read_usable_logs, recommend

PREVIOUS_USE = {"train": "was trained on", "dev": "chose its epoch on"}


@recommend.command()
def evaluate(
    run: Run,
    logs: Logs,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", **SEEDS)] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="A JSON file to write as well.")] = None,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Overwrite = False,
) -> None:
    """Rank the news of every impression: AUC, MRR and nDCG next to popularity and chance.

    Example: [bold]glasshead recommend evaluate runs/news logs/test --out news.json[/]
    """
    import json

    from glasshead.files import check_writable, write_text
    from glasshead.papers.recommend import as_numbers, describe_logs, load_recommender, rank
    from glasshead.papers.report import ranking_table
    from glasshead.report import terminal_view

    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[run, logs])
    loaded = load_recommender(run)
    news_logs = read_usable_logs(logs, skip_bad_rows)
    previous = loaded.read_before(news_logs)
    if previous is not None:
        use = PREVIOUS_USE[previous]
        print_remark(f"{logs} contains what {run} {use}, so the numbers are too good: evaluate on other logs")
    with progress_stages(f"evaluating {run.name}") as progress:
        progress("ranking")
        means, differences = rank(loaded, news_logs, seed=seed)
    numbers = {"metrics": as_numbers(means), "differences": as_numbers(differences)}
    console.print(terminal_view([ranking_table(**numbers)]))
    if out is not None:
        facts = {"run": str(run), "logs": str(logs), "data": describe_logs(news_logs), "seed": seed}
        facts["read_before"] = previous
        write_text(out, json.dumps(facts | numbers, indent=1) + "\n", overwrite=overwrite)
        print_line(f"Written to {out}")
