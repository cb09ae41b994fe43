"""glasshead recommend train: a news recommender after NRMS."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    SEEDS,
    Out,
    Overwrite,
    parse_attention_option,
    parse_settings,
    print_line,
    resume_on_interrupt,
)
from glasshead.papers.commands.recommend.group import Logs, SkipBadRows, read_usable_logs, recommend


@recommend.command()
def train(
    logs: Logs,
    out: Out,
    attention: Annotated[
        str | None, typer.Option(help="The mechanism of both levels (glasshead list mechanisms).")
    ] = None,
    preset: Annotated[str, typer.Option(help="Settings to start from: small, da-transformer.")] = "small",
    dev: Annotated[
        Path | None, typer.Option(help="Logs to choose the best epoch on (default: the latest of LOGS).")
    ] = None,
    dev_fraction: Annotated[float | None, typer.Option(help="Share of LOGS that is dev, by time.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the clicks; the best is kept.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Clicks per training step.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The learning rate, constant during training.")
    ] = None,
    negatives: Annotated[
        int | None, typer.Option(help="K: the number of items not clicked for each click.")
    ] = None,
    title_length: Annotated[int | None, typer.Option(help="Maximum number of words of a title.")] = None,
    history_length: Annotated[int | None, typer.Option(help="Maximum number of clicks in a history.")] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option("--vocabulary-size", help=("Size of the vocabulary: the most frequent words are kept.")),
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
    resume: Annotated[bool, typer.Option("--resume", help="Resume an unfinished training.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Train a news recommender after NRMS, with any attention at the word and at the news level.

    Example: [bold]glasshead recommend train logs/train --dev logs/dev --out runs/news[/]
    """
    from glasshead.attention import parse, to_name
    from glasshead.cli import ProgressBar
    from glasshead.files import check_writable, partial_path
    from glasshead.opening import MEASURED, read_object
    from glasshead.papers.recommend import NEWS_PRESETS, train_recommender

    options = {
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
    settings = {name: value for name, value in options.items() if value is not None}
    config = NEWS_PRESETS[preset].with_settings(settings | parse_settings(set_ or []))
    inputs = [logs, dev, None if config.word_vectors is None else Path(config.word_vectors)]
    reads = [path for path in inputs if path is not None]
    check_writable(out, overwrite=overwrite, resume=resume, reads=reads)
    source = {"source": str(logs), "dev_source": None if dev is None else str(dev)}
    bar = ProgressBar(f"{out.name} ({to_name(parse(config.attention))})")
    try:
        with resume_on_interrupt(partial_path(out)):
            train_recommender(
                read_usable_logs(logs, skip_bad_rows),
                config,
                out,
                dev=None if dev is None else read_usable_logs(dev, skip_bad_rows),
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
    following = ["recommend", "evaluate", str(out), logs_to_evaluate(logs, dev)]
    print_line("Next: " + shlex.join(["glasshead", *following]))


def logs_to_evaluate(logs: Path, dev: Path | None) -> str:
    """Logs to evaluate on: those called test beside the train logs, else a word for them."""
    from glasshead.papers.recommend import BEHAVIORS

    test = logs.parent / "test"
    used = [logs.resolve(), *([] if dev is None else [dev.resolve()])]
    return str(test) if (test / BEHAVIORS).is_file() and test.resolve() not in used else "OTHER"
