"""Recommend news: generate logs, train on logs, evaluate on logs."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import app
from glasshead.cli.console import console, print_line, print_remark
from glasshead.cli.options import SEEDS, Out, Overwrite
from glasshead.cli.workflows import (
    parse_attention_option,
    parse_settings,
    progress_stages,
    resume_on_interrupt,
)
from glasshead.errors import pluralise

if TYPE_CHECKING:
    from glasshead.recommend import NewsLogs

recommend = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Recommend news from click logs.")
app.add_typer(recommend, name="recommend")

Logs = Annotated[
    Path, typer.Argument(metavar="LOGS", help="A folder with news.tsv and behaviors.tsv in MIND's format.")
]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out, and say how many.")
]


BEFORE = {"train": "was trained on", "dev": "chose its epoch on"}


def read(folder: Path, skip_bad_rows: bool) -> "NewsLogs":
    """Logs, and a line about rows that were left out and impressions that cannot be ranked."""
    from glasshead.recommend import read_logs, require_clicks

    logs = read_logs(folder, skip_bad_rows=skip_bad_rows)
    require_clicks(logs)
    if logs.skipped:
        others = len(logs.skipped) - 1
        more = f", and {pluralise(others, 'more row')}" if others else ""
        print_remark(f"left out: {logs.skipped[0]}{more}")
    lost = sum(not each.rankable for each in logs.impressions)
    if lost:
        print_remark(
            f"{folder}: {lost} of {pluralise(len(logs.impressions), 'impression')} cannot be ranked: nothing "
            "in it was clicked, or everything"
        )
    return logs


def unread(logs: Path, dev: Path | None) -> str:
    """Logs to evaluate on: those called test beside the train logs, else a word for them."""
    from glasshead.recommend import BEHAVIORS

    test = logs.parent / "test"
    used = [logs.resolve(), *([] if dev is None else [dev.resolve()])]
    return str(test) if (test / BEHAVIORS).is_file() and test.resolve() not in used else "OTHER"


@recommend.command()
def generate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write: train, dev, test.")],
    interest: Annotated[
        str, typer.Option(help="What the next click follows: short, long, or mixed.")
    ] = "short",
    users: Annotated[int, typer.Option(help="Readers in train; dev and test have a quarter as many.")] = 1000,
    news: Annotated[int, typer.Option(help="News items.")] = 200,
    impressions: Annotated[int, typer.Option(help="Impressions of a reader.")] = 2,
    burst: Annotated[str, typer.Option(help="Where the burst stands: anywhere or last.")] = "anywhere",
    short_share: Annotated[float, typer.Option(help="Readers of mixed logs that follow the burst.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", **SEEDS)] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Write logs in MIND's format whose readers have planted short- or long-term interests.

    Example: [bold]glasshead recommend generate logs --interest long --users 500[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.files import atomic_folder
    from glasshead.recommend import FACTS, NewsLogOptions, news_logs

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
        (work / FACTS).write_text(json.dumps(asdict(options), indent=1) + "\n", encoding="utf-8")
    print_line(f"Logs in {out / 'train'}, {out / 'dev'} and {out / 'test'}")
    command = ["glasshead", "recommend", "train", str(out / "train"), "--dev", str(out / "dev")]
    print_line("Next: " + shlex.join([*command, "--out", f"runs/{out.name}"]))


@recommend.command()
def train(
    logs: Logs,
    out: Out,
    attention: Annotated[
        str | None, typer.Option(help="The mechanism of both levels (glasshead list mechanisms).")
    ] = None,
    preset: Annotated[str, typer.Option(help="Settings to start from: small, da-transformer.")] = "small",
    dev: Annotated[
        Path | None, typer.Option(help="Logs to choose the best epoch on; else the latest of LOGS.")
    ] = None,
    dev_fraction: Annotated[float | None, typer.Option(help="Share of LOGS that is dev, by time.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the clicks; the best is kept.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Clicks of one step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Constant over the training.")] = None,
    negatives: Annotated[int | None, typer.Option(help="K, items not clicked beside each clicked.")] = None,
    title_length: Annotated[int | None, typer.Option(help="Words of a title that are read.")] = None,
    history_length: Annotated[int | None, typer.Option(help="Latest clicks that are read.")] = None,
    vocab_size: Annotated[
        int | None, typer.Option("--vocabulary-size", help="Most frequent words that are kept.")
    ] = None,
    min_freq: Annotated[
        int | None, typer.Option("--minimum-frequency", help="Rarer words become [UNK].")
    ] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors in GloVe text format (.txt, .gz).")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting, such as dropout=0.2."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of initialisation, negatives and dropout.", **SEEDS)] = 0,
    skip_bad_rows: SkipBadRows = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted training.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Train a news recommender after NRMS, with any attention at the word and at the news level.

    Example: [bold]glasshead recommend train logs/train --dev logs/dev --out runs/news[/]
    """

    from glasshead.attention import parse, to_name
    from glasshead.cli.progress import ProgressBar
    from glasshead.files import check_writable, partial_path
    from glasshead.recommend import NEWS_PRESETS, train_recommender
    from glasshead.training import MEASURED, read_object

    chosen = {
        "attention": parse_attention_option(attention),
        "dev_fraction": dev_fraction,
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "negatives": negatives,
        "title_length": title_length,
        "history_length": history_length,
        "vocab_size": vocab_size,
        "min_freq": min_freq,
        "word_vectors": vectors,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    recipe = NEWS_PRESETS[preset].with_settings(given | parse_settings(set_ or []))
    named = [logs, dev, None if recipe.word_vectors is None else Path(recipe.word_vectors)]
    check_writable(
        out, overwrite=overwrite, resume=resume, reads=[each for each in named if each is not None]
    )
    source = {"source": str(logs), "dev_source": None if dev is None else str(dev)}
    bar = ProgressBar(f"{out.name} ({to_name(parse(recipe.attention))})")
    try:
        with resume_on_interrupt(partial_path(out)):
            train_recommender(
                read(logs, skip_bad_rows),
                recipe,
                out,
                dev=None if dev is None else read(dev, skip_bad_rows),
                seed=seed,
                source=source,
                resume=resume,
                overwrite=overwrite,
                callbacks=[bar],
            )
    finally:
        bar.stop()
    metrics = read_object(out / MEASURED)["dev"]
    print_line(f"dev  AUC {metrics['auc']:.3f}  MRR {metrics['mrr']:.3f}  nDCG@10 {metrics['ndcg@10']:.3f}")
    print_line(f"Run in {out}")
    print_line("Next: " + shlex.join(["glasshead", "recommend", "evaluate", str(out), unread(logs, dev)]))


@recommend.command()
def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead recommend train.")],
    logs: Logs,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", **SEEDS)] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="A JSON file to write as well.")] = None,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Overwrite = False,
) -> None:
    """Rank the news of every impression: AUC, MRR and nDCG beside popularity and chance.

    Example: [bold]glasshead recommend evaluate runs/news logs/test --out news.json[/]
    """
    import json

    from glasshead.files import check_writable, write_text
    from glasshead.recommend import as_numbers, describe_logs, load_recommender, rank
    from glasshead.report import ranking_table

    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[run, logs])
    loaded = load_recommender(run)
    given = read(logs, skip_bad_rows)
    before = loaded.read_before(given)
    if before is not None:
        print_remark(
            f"{logs} holds what {run} {BEFORE[before]}, so the numbers flatter it: evaluate on other logs"
        )
    with progress_stages(f"evaluating {run.name}") as progress:
        progress("ranking")
        means, differences = rank(loaded, given, seed=seed)
    numbers = {"metrics": as_numbers(means), "differences": as_numbers(differences)}
    console.print(ranking_table(**numbers))
    if out is not None:
        facts = {"run": str(run), "logs": str(logs), "data": describe_logs(given), "seed": seed}
        facts["read_before"] = before
        write_text(out, json.dumps(facts | numbers, indent=1) + "\n", overwrite=overwrite)
        print_line(f"Written to {out}")
