"""glasshead recommend audit: does the attention of a recommender explain what it recommends?"""

from enum import StrEnum
from typing import Annotated

import typer

from glasshead.cli import (
    SEEDS,
    Out,
    Overwrite,
    check_thresholds,
    console,
    finding_for_threshold,
    parse_numbers,
    print_line,
    print_output,
    print_remark,
    progress_stages,
    write_audit,
)
from glasshead.papers.commands.recommend.group import Logs, Run, SkipBadRows, read_usable_logs, recommend


class CardFormat(StrEnum):
    """How a card is printed."""

    text = "text"
    json = "json"


@recommend.command()
def audit(
    run: Run,
    logs: Logs,
    out: Out,
    limit: Annotated[int, typer.Option(help="Audit this many random impressions.", min=1)] = 500,
    draws: Annotated[int, typer.Option(help="Random orders of the weights of an impression.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Seed of draws, bootstrap and --limit.", **SEEDS)] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Exit with 1 if the interval of this finding starts below VALUE."
        ),
    ] = None,
    format: Annotated[CardFormat, typer.Option(help="Output format: text or json.")] = CardFormat.text,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Overwrite = False,
) -> None:
    """Test whether attention over clicked news and words explains what is recommended.

    Example: [bold]glasshead recommend audit runs/news logs/test --out audits/news[/]
    """
    from glasshead.files import atomic_folder
    from glasshead.papers.recommend import audit_recommender, load_recommender
    from glasshead.report import audits_document, terminal_view

    thresholds = parse_numbers(fail_under or [])
    with atomic_folder(out, overwrite=overwrite, reads=[run, logs]) as work:
        loaded = load_recommender(run)
        news_logs = read_usable_logs(logs, skip_bad_rows, clicks=False)
        with progress_stages(f"auditing {run.name}") as progress:
            card = audit_recommender(
                loaded, news_logs, limit=limit, draws=draws, seed=seed, progress=progress
            )
        findings = [(finding_for_threshold(card, name), value) for name, value in thresholds.items()]
        write_audit(card, work)
    say = print_line if format is CardFormat.text else print_remark  # standard output is the document's
    if format is CardFormat.json:
        print_output(f"{card.to_json()}\n", "json")
    else:
        console.print(terminal_view(audits_document([card])))
    say(f"Report: {out / 'report.html'}")
    if not check_thresholds(findings, say):
        raise typer.Exit(1)
