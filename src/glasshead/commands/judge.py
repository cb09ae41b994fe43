"""Look at a run: audit, explain, compare."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.commands.app import app
from glasshead.commands.options import (
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
from glasshead.console import console, say
from glasshead.errors import InputError
from glasshead.steps import (
    audit_run,
    barred_finding,
    check_bars,
    known_audit,
    pairs,
    split_names,
    write_audit,
)


@app.command()
def audit(
    run: RunFolder,
    data: Data,
    out: Out,
    split: Annotated[str, typer.Option(help="train, dev or test; 'all' takes every row.")] = "test",
    tests: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Audits to run (glasshead list audits); all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Audit a random part of so many texts.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws, bootstrap and --limit.", **SEEDS)] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Exit with 1 if the lower end of this finding's interval is below."
        ),
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the attention of a run deserves to be called an explanation.

    Example: [bold]glasshead audit runs/mine my_reviews.csv --out audits/mine --fail-under
    agreement.contribution.gradient=0.3[/]
    """
    from glasshead.folders import whole
    from glasshead.report import card_table

    bars = pairs(fail_under or [])
    for name in bars:
        known_audit(name.partition(".")[0])
    with whole(out, overwrite=overwrite, reads=[run, Path(data)]) as work:
        given = {"text_column": text_column, "label_column": label_column, "classes": split_names(classes)}
        card = audit_run(run, data, split, given, tests=split_names(tests), limit=limit, seed=seed)
        barred = [(barred_finding(card, name), bar) for name, bar in bars.items()]
        write_audit(card, work)
    console.print(card_table([card]))
    say(f"Report: {out / 'report.html'}")
    if not check_bars(barred):
        raise typer.Exit(1)


@app.command()
def explain(
    run: RunFolder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT…", help="One or more texts, quoted.")],
    method: Annotated[str, typer.Option(help="How (glasshead list explainers).")] = "attention",
    target: Annotated[
        str | None, typer.Option(help="The class to explain; else class 1 of two, or the predicted one.")
    ] = None,
    of: Annotated[
        str, typer.Option(help="What is explained: probability, logit, log-odds or margin.")
    ] = "probability",
    format: Annotated[Format, typer.Option(help="text, json or html.")] = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="Write json or html to a file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Read one prediction: which words mattered, and for which side.

    Example: [bold]glasshead explain runs/mine "a warm, funny film" --method gradient[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.explain import EXPLAINERS, by_word
    from glasshead.folders import write_text
    from glasshead.report import attribution_page, attribution_table, coloured, number
    from glasshead.training import load_run

    if any("\udc80" <= character <= "\udcff" for text in texts for character in text):
        raise InputError("the text is not UTF-8: set the terminal to UTF-8")
    explainer = EXPLAINERS[method]
    loaded = load_run(run)
    attributions = [
        by_word(each) for each in explainer(loaded.model, loaded.tokenizer, texts, target=target, of=of)
    ]
    for attribution in attributions:
        if not attribution.tokens:
            raise InputError("the text is empty: there is nothing to explain")
        if all(token == loaded.tokenizer.unk_token_id for token in attribution.ids):
            raise InputError(f"the model knows no word of {attribution.text!r}: there is nothing to explain")
    if format is Format.text:
        if out is not None:
            raise InputError("--out needs --format json or html")
        for attribution in attributions:
            console.print(coloured(attribution))
            probability = number(attribution.prediction)
            say(f"predicted {attribution.predicted}, p({attribution.target}) = {probability}, {method}")
            unknown = [
                token
                for token, each in zip(attribution.tokens, attribution.ids, strict=True)
                if each == loaded.tokenizer.unk_token_id
            ]
            if unknown:
                say(f"unknown to the model, and alike for it: {', '.join(dict.fromkeys(unknown))}")
            console.print(attribution_table(attribution))
        return
    if format is Format.json:
        page = json.dumps([asdict(each) for each in attributions], ensure_ascii=False, indent=1) + "\n"
    else:
        page = attribution_page(attributions)
    if out is None:
        typer.echo(page, nl=False)
    else:
        write_text(out, page, overwrite=overwrite)
        say(f"Written to {out}")


@app.command()
def compare(
    audits: Annotated[list[Path], typer.Argument(metavar="AUDIT…", help="Two or more audit folders.")],
    out: Annotated[Path, typer.Option("--out", help="The html file to write.")] = Path("compare.html"),
    overwrite: Overwrite = False,
) -> None:
    """Lay two or more audits side by side.

    Example: [bold]glasshead compare audits/softmax audits/tanhmax --out compare.html[/]
    """
    from glasshead.folders import claim, write_text
    from glasshead.report import card_table, render
    from glasshead.results import AuditCard

    if len(audits) < 2:
        raise InputError("give two or more audit folders to compare")
    claim(out, overwrite=overwrite, reads=audits)
    cards = [AuditCard.load(folder) for folder in audits]
    write_text(out, render(cards), overwrite=overwrite)
    console.print(card_table(cards))
    say(f"Report: {out}")
