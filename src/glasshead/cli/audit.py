"""Look at a run: audit, explain, compare."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import app
from glasshead.cli.attention_options import Head, Layer, Level, Row, reading, texts_and_pairs
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.identifiability_options import (
    IDENTIFIABILITY,
    Heads,
    Layers,
    Processes,
    Rows,
    Tolerance,
    Top,
    kept_parts,
    maps_asked,
)
from glasshead.cli.options import (
    SEEDS,
    Classes,
    Data,
    Format,
    LabelColumn,
    Out,
    Overwrite,
    RunFolder,
    TextColumn,
)
from glasshead.cli.renamed_options import with_old_spellings
from glasshead.cli.workflows import (
    audit_run,
    check_audit_name,
    check_thresholds,
    compare_run_folders,
    finding_for_threshold,
    parse_names,
    parse_numbers,
    write_audit,
)
from glasshead.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from glasshead.training import Run


@app.command(cls=with_old_spellings(tests="audits"))
def audit(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A folder made by glasshead train; for --audits identifiability any saved model.",
        ),
    ],
    data: Data,
    out: Out,
    split: Annotated[str, typer.Option(help="train, dev or test; 'all' takes every row.")] = "test",
    audits: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Audits to run (glasshead list audits); all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Audit a random part of so many texts.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws, bootstrap and --limit.", **SEEDS)] = 0,
    max_length: Annotated[
        int | None, typer.Option(help="Cut texts to so many tokens; else to what the model reads.")
    ] = None,
    layer: Layer = None,
    head: Head = None,
    row: Row = None,
    level: Level = "word",
    draws: Annotated[
        int | None, typer.Option(help="Draws of a perturbation test, at most 1000; 100, or 20 where slow.")
    ] = None,
    layers: Layers = None,
    heads: Heads = None,
    rows: Rows = None,
    top: Top = None,
    tolerance: Tolerance = 0.0,
    processes: Processes = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Exit with 1 if the lower end of this finding's interval is below."
        ),
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted audit.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the attention of a run deserves to be called an explanation.

    Example: [bold]glasshead audit runs/mine my_reviews.csv --out audits/mine --fail-under
    agreement.contribution.gradient=0.3[/]
    """
    from glasshead.data import Coverage
    from glasshead.files import atomic_folder
    from glasshead.report import card_table

    bars = parse_numbers(fail_under or [])
    for name in bars:
        check_audit_name(name.partition(".")[0])
    chosen = parse_names(audits)
    for name in chosen or ():
        check_audit_name(name)
    named = chosen is not None and IDENTIFIABILITY in chosen
    with (
        atomic_folder(out, overwrite=overwrite, reads=[run, Path(data)]) as work,
        kept_parts(out, work, named=named, resume=resume, overwrite=overwrite) as parts,
    ):
        given = {"text_column": text_column, "label_column": label_column, "classes": parse_names(classes)}
        card = audit_run(
            run,
            data,
            split,
            given,
            audits=chosen,
            limit=limit,
            seed=seed,
            max_length=max_length,
            reading=reading(layer, head, row, level),
            draws=draws,
            identifiability=maps_asked(layers, heads, rows, top, tolerance, processes, chosen, parts),
        )
        barred = [(finding_for_threshold(card, name), bar) for name, bar in bars.items()]
        write_audit(card, work, parts)
    console.print(card_table([card]))
    if "coverage" in card.facts:
        for line in Coverage(**card.facts["coverage"]).lines("audited"):
            print_line(line)
    print_line(f"Report: {out / 'report.html'}")
    if not check_thresholds(barred):
        raise typer.Exit(1)


@app.command(cls=with_old_spellings(of="target-function"))
def explain(
    run: RunFolder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT…", help="One or more texts, quoted.")],
    method: Annotated[str, typer.Option(help="How (glasshead list explainers).")] = "attention",
    target: Annotated[
        str | None, typer.Option(help="The class to explain; else class 1 of two, or the predicted one.")
    ] = None,
    target_function: Annotated[
        str | None,
        typer.Option(help="What is explained: probability, logit, log-odds or margin; of ratings, rating."),
    ] = None,
    pair: Annotated[str | None, typer.Option(metavar="TEXT", help="The second text of a pair.")] = None,
    layer: Layer = None,
    head: Head = None,
    row: Row = None,
    level: Level = "word",
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="With each weight what else it could be while the heads give the same output.",
        ),
    ] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Of --intervals: how far an output may move along each direction, relative to its size; 0."
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="text, json or html.")] = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="Write json or html to a file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Read one prediction: which words mattered, and for which side.

    Example: [bold]glasshead explain runs/mine "a warm, funny film" --method gradient[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.data import check_utf8, coverage, encode
    from glasshead.explainers import EXPLAINERS, by_word, check_tolerance, check_weights, with_intervals
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.report import attribution_page, attribution_table, coloured, prediction
    from glasshead.training import load_run

    check_utf8(*texts, pair or "")
    explainer = EXPLAINERS[method]
    if intervals:
        check_weights(explainer)
        check_tolerance(tolerance or 0.0)
    elif tolerance is not None:
        raise InputError("--tolerance is about --intervals: add that, or leave it out")
    if out is not None:
        if format is Format.text:
            raise InputError("--out needs --format json or html")
        check_writable(out, overwrite=overwrite, reads=[run])
        format_from_suffix(out, format.value)
    loaded = load_run(run)
    firsts, seconds = texts_and_pairs(loaded.model, texts, pair)
    refused = unreadable(loaded.tokenizer, firsts, seconds)
    if len(refused) == len(firsts):
        raise InputError(f"{refused[0]}: there is nothing to explain")
    firsts = [text for number, text in enumerate(firsts) if number not in refused]
    if seconds is not None:
        seconds = [text for number, text in enumerate(seconds) if number not in refused]
    before, where = (loaded.model, loaded.tokenizer, firsts, seconds), reading(layer, head, row, level)
    told = explainer(*before, target=target, target_fn=target_function, reading=where)
    attributions = [by_word(each) for each in told]
    if intervals:
        attributions = with_intervals(attributions, *before, reading=where, tolerance=tolerance or 0.0)
    comment = print_line if format is Format.text else print_remark  # standard output is the document's
    for number, reason in refused.items():
        comment(f"text {number + 1} is left out: {reason}")
    encoded = encode(loaded.tokenizer, firsts, seconds)
    for line in coverage(loaded.tokenizer, firsts, seconds, encoded).lines("read"):
        comment(line)
    if format is Format.text:
        for attribution in attributions:
            console.print(coloured(attribution))
            print_line(f"{prediction(attribution)}, {method}")
            if attribution.reading is not None:
                print_line(f"read: {attribution.reading}")
            if attribution.signed and method == "attention" and (note := sign_note(loaded)) is not None:
                print_line(note)
            unknown = [
                token
                for token, each in zip(attribution.tokens, attribution.ids, strict=True)
                if each == loaded.tokenizer.unk_token_id
            ]
            if unknown:
                print_line(f"unknown to the model, and alike for it: {', '.join(dict.fromkeys(unknown))}")
            console.print(attribution_table(attribution))
        return
    if format is Format.json:
        page = json.dumps([asdict(each) for each in attributions], ensure_ascii=False, indent=1) + "\n"
    else:
        page = attribution_page(attributions)
    if out is None:
        print_output(page, format.value)
    else:
        write_text(out, page, overwrite=overwrite)
        print_line(f"Written to {out}")


def sign_note(run: "Run") -> str | None:
    """What keeps the signs of printed weights from being read; None: nothing."""
    from glasshead.results import ONE_SIGN, UNDECIDED

    if getattr(run.model.config, "gauge", None) is None:
        return "raw signs: no gauge was fixed, so read the contributions"
    fixed = run.record["gauge"] or {}
    before = UNDECIDED if "margin" in fixed else ""  # earlier versions did not ask; heads have a kind each
    return {
        ONE_SIGN: "the weights have one sign: the contributions say for which side",
        UNDECIDED: "it is undecided whether the sign lives in the weights: read the contributions",
    }.get(fixed.get("kind", before))


def unreadable(
    tokenizer: "PreTrainedTokenizerFast", texts: Sequence[str], pairs: Sequence[str] | None
) -> dict[int, str]:
    """The numbers of texts of which the model knows nothing, whatever is going to be explained, and why."""
    from glasshead.data import encode, join_pair

    encoded = encode(tokenizer, texts, pairs)
    reasons = {}
    for row, (ids, words) in enumerate(zip(encoded.ids.numpy(), encoded.words, strict=True)):
        if not (words >= 0).any():
            reasons[row] = "the text is empty"
        elif (ids[words >= 0] == tokenizer.unk_token_id).all():
            text = join_pair(texts[row], None if pairs is None else pairs[row])
            reasons[row] = f"the model knows no word of {text!r}"
    return reasons


@app.command()
def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER…", help="Two or more audits, runs, or folders of repeats; one kind."),
    ],
    against: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="What all others are held against; the first.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Of runs: test or dev; test.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", **SEEDS)] = 0,
    out: Annotated[Path, typer.Option("--out", help="The html file to write.")] = Path("compare.html"),
    overwrite: Overwrite = False,
) -> None:
    """Lay audits or runs side by side: how do they differ, and may that be chance?

    Example: [bold]glasshead compare runs/trec-da runs/trec-vanilla --out compare.html[/]
    """
    from glasshead.files import check_writable, format_from_suffix, write_text

    if len(folders) < 2:
        raise InputError("give two or more folders to compare")
    check_writable(out, overwrite=overwrite, reads=folders)
    format_from_suffix(out, "html")
    page, table = compare_run_folders(folders, against, split, seed)
    write_text(out, page, overwrite=overwrite)
    console.print(table)
    print_line(f"Report: {out}")
