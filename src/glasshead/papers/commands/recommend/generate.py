"""glasshead recommend generate: logs with planted interests."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import SEEDS, Overwrite, print_line
from glasshead.papers.commands.recommend.group import recommend


@recommend.command()
def generate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write: train, dev, test.")],
    interest: Annotated[
        str, typer.Option(help="What the next click follows: short, long, or mixed.")
    ] = "short",
    users: Annotated[int, typer.Option(help="Readers in train; dev and test have a quarter as many.")] = 1000,
    news: Annotated[int, typer.Option(help="News items.")] = 200,
    impressions: Annotated[int, typer.Option(help="Impressions of a reader.")] = 2,
    burst: Annotated[str, typer.Option(help="Where the burst is: anywhere or last.")] = "anywhere",
    short_share: Annotated[float, typer.Option(help="Readers of mixed logs that follow the burst.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of all random draws.", **SEEDS)] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Write logs in MIND's format whose readers have planted short- or long-term interests.

    Example: [bold]glasshead recommend generate logs --interest long --users 500[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.files import atomic_folder
    from glasshead.papers.recommend import FACTS_FILE, NewsLogOptions, news_logs

    options = NewsLogOptions(
        interest=interest,  # type: ignore[arg-type]
        users=users,
        news=news,
        impressions=impressions,
        burst=burst,  # type: ignore[arg-type]
        short_share=short_share,
        seed=seed,
    )
    with atomic_folder(out, overwrite=overwrite) as work:
        news_logs(work, options)
        (work / FACTS_FILE).write_text(json.dumps(asdict(options), indent=1) + "\n", encoding="utf-8")
    print_line(f"Logs in {out / 'train'}, {out / 'dev'} and {out / 'test'}")
    command = ["glasshead", "recommend", "train", str(out / "train"), "--dev", str(out / "dev")]
    print_line("Next: " + shlex.join([*command, "--out", f"runs/{out.name}"]))
