"""glasshead explain: which words of a text mattered."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import app
from glasshead.cli.attention_options import Head, Layer, Level, Row, parse_selector
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.options import Format, Overwrite, RunFolder
from glasshead.cli.renamed_options import with_old_spellings
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.results import Attribution
    from glasshead.training import Run


@app.command(cls=with_old_spellings(of="target-function"))
def explain(
    run: RunFolder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT…", help="One or more texts, quoted.")],
    method: Annotated[str, typer.Option(help="The method (glasshead list explainers).")] = "attention",
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
            help="Show what else each weight could be while the heads give the same output.",
        ),
    ] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="For --intervals: how far an output may move, relative to its size; else 0."),
    ] = None,
    format: Annotated[Format, typer.Option(help="text, json or html.")] = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="Write json or html to a file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Explain a prediction: which words mattered, and for which class.

    Example: [bold]glasshead explain runs/mine "a warm, funny film" --method gradient[/]
    """
    from glasshead.data import check_utf8
    from glasshead.explainers import ExplainRequest, explain_run
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.training import load_run

    check_utf8(*texts, pair or "")
    if tolerance is not None and not intervals:
        raise InputError("--tolerance is about --intervals: add that, or leave it out")
    request = ExplainRequest(
        method=method,
        target=target,
        target_fn=target_function,
        attention_selector=parse_selector(layer, head, row, level),
        intervals=intervals,
        tolerance=tolerance or 0.0,
    )
    if out is not None:
        if format is Format.text:
            raise InputError("--out needs --format json or html")
        check_writable(out, overwrite=overwrite, reads=[run])
        format_from_suffix(out, format.value)
    loaded = load_run(run)
    explanations = explain_run(loaded, *texts_and_pairs(loaded.model, texts, pair), request)
    comment = print_line if format is Format.text else print_remark  # standard output is the document's
    for number, reason in explanations.skipped.items():
        comment(f"text {number + 1} is left out: {reason}")
    for line in explanations.coverage.lines("read"):
        comment(line)
    if format is Format.text:
        for attribution in explanations.attributions:
            print_attribution(loaded, attribution)
        return
    document = as_document(explanations.attributions, format)
    if out is None:
        print_output(document, format.value)
    else:
        write_text(out, document, overwrite=overwrite)
        print_line(f"Written to {out}")


def texts_and_pairs(model: Any, texts: Sequence[str], pair: str | None) -> tuple[list[str], list[str] | None]:
    """The first and, if there are, the second texts: ``--pair`` with one text, or a tab in each."""
    if pair is not None:
        if len(texts) != 1:
            raise InputError("--pair goes with one text: give several pairs as 'first<TAB>second'")
        return list(texts), [pair]
    if getattr(model, "texts", 1) != 2 or not any("\t" in text for text in texts):
        return list(texts), None
    halves = [text.split("\t") for text in texts]
    for text, half in zip(texts, halves, strict=True):
        if len(half) != 2:
            raise InputError(f"a pair is 'first<TAB>second', with one tab; this is none: {text!r}")
    return [first for first, _ in halves], [second for _, second in halves]


def print_attribution(run: "Run", attribution: "Attribution") -> None:
    """The text with its colours, what was predicted and read, and a table of its words."""
    from glasshead.report import attribution_table, prediction, text_heatmap

    console.print(text_heatmap(attribution))
    print_line(f"{prediction(attribution)}, {attribution.method}")
    if attribution.reading is not None:
        print_line(f"read: {attribution.reading}")
    if attribution.signed and attribution.method == "attention" and (note := sign_note(run)) is not None:
        print_line(note)
    unknown = [
        token
        for token, token_id in zip(attribution.tokens, attribution.ids, strict=True)
        if token_id == run.tokenizer.unk_token_id
    ]
    if unknown:
        print_line(f"unknown to the model, and alike for it: {', '.join(dict.fromkeys(unknown))}")
    console.print(attribution_table(attribution))


def sign_note(run: "Run") -> str | None:
    """What keeps the signs of printed weights from being read; None: nothing."""
    from glasshead.results import ONE_SIGN, UNDECIDED

    if getattr(run.model.config, "gauge", None) is None:
        return "raw signs: no gauge was fixed, so read the contributions"
    gauge = run.record["gauge"] or {}
    old_kind = UNDECIDED if "margin" in gauge else ""  # earlier versions did not ask; heads have a kind each
    return {
        ONE_SIGN: "the weights have one sign: the contributions say for which side",
        UNDECIDED: "it is undecided whether the sign lives in the weights: read the contributions",
    }.get(gauge.get("kind", old_kind))


def as_document(attributions: "list[Attribution]", format: Format) -> str:
    """All attributions as JSON or as a page."""
    import json
    from dataclasses import asdict

    from glasshead.report import attribution_page

    if format is Format.html:
        return attribution_page(attributions)
    return (
        json.dumps([asdict(attribution) for attribution in attributions], ensure_ascii=False, indent=1) + "\n"
    )
