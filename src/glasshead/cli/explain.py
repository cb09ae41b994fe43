"""glasshead explain: which words of a text, or patches of an image, mattered."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.derive import options_from
from glasshead.cli.options import ExplanationFormat, Format, Overwrite
from glasshead.cli.progress import progress_stages
from glasshead.cli.typed_inputs import check_no_file, inputs_for
from glasshead.errors import InputError
from glasshead.requests import ExplainRequest

if TYPE_CHECKING:
    from glasshead.results import Attribution, Attributions

CHAT_SUFFIXES = (".json", ".jsonl")


class ExplainCommand(TyperCommand):
    """A command whose ``--next`` may stand alone, before another option or at the end."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = (
            "--next=" if word == "--next" and after.startswith("-") else word
            for word, after in pairwise([*args, "--"])
        )
        return super().parse_args(ctx, list(words))


@app.command(cls=ExplainCommand, rich_help_panel=YOUR_MODELS)
@options_from(ExplainRequest, without=("texts", "pairs"))
def explain(
    request: ExplainRequest,
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT…",
            help="One or more texts, quoted (- reads lines); files and folders of images; or an image, or "
            "several, and a text about them.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Texts from a file, one per line; or chats (lists of messages) from a JSON file.",
        ),
    ] = None,
    next_token: Annotated[
        str | None,
        typer.Option(
            "--next",
            metavar="[TOKEN]",
            help="For language models: explain why this token comes next (without a token: the "
            "predicted one).",
        ),
    ] = None,
    pair: Annotated[str | None, typer.Option(metavar="TEXT", help="The second text of a pair.")] = None,
    format: ExplanationFormat = Format.text,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write: html, json, md, svg, png or pdf.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Explain a prediction: which words mattered, and for which class.

    Example: [bold]glasshead explain my-bert "a warm, funny film" --method gradient-after-norm[/]
    """
    from glasshead.data import check_utf8
    from glasshead.drawable import VALUE_FILES
    from glasshead.explainers import check_method, explain_texts
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.huggingface import NextTokenClassifier
    from glasshead.opening import OpenOptions, halves_of, open_subject
    from glasshead.report import scales_of

    if next_token is not None and request.target is not None:
        raise InputError("--next and --target both name the token: leave one of them out")
    if next_token is not None and request.answer is not None:
        raise InputError("--answer names the whole answer to explain: leave --next out")
    if request.against is not None and request.answer is None and not (next_token or request.target):
        raise InputError(
            "--against names the second of two tokens or answers: name the "
            "first with --next TOKEN, or "
            "--answer"
        )
    if next_token:
        request = request.replace(target=next_token)
    check_method(request)
    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[Path(request.model)])
        format_from_suffix(out, *(VALUE_FILES if format is Format.text else [format.value]))
    lines = read_typed_texts(context, texts or [], file)
    check_utf8(*map(str, lines), pair or "")
    dtype = None if halves_of(request.dtype) else request.dtype
    opening = OpenOptions.of(request, dtype=dtype, answers=request.answer is not None, images=True)
    with progress_stages(f"explaining {request.name}") as progress:
        progress("loading")
        subject = open_subject(request.model, options=opening)
        if file is None:
            check_no_file(subject, lines)
        lines = inputs_for(subject, lines)
        if next_token is not None and not isinstance(subject.model, NextTokenClassifier):
            raise InputError(f"{request.model} predicts classes and writes no text: leave --next out")
        asked = texts_and_pairs(subject.model, lines, pair)
        attributions = explain_texts(subject, *asked, request.replace(progress=progress))
    comment = print_line if format is Format.text else print_remark  # standard output is the document's
    for remark in attributions.remarks:
        comment(remark)
    if out is not None:
        attributions.save(out, overwrite=overwrite)
        print_line(f"Written to {out}")
    elif format is Format.text:
        for attribution, scale in zip(attributions, scales_of(attributions), strict=True):
            print_attribution(subject.tokenizer.unk_token_id, attribution, scale)
    else:
        print_output(as_document(attributions, format), format.value)


def read_typed_texts(context: typer.Context, texts: Sequence[str], file: Path | None) -> list[Any]:
    """The texts as typed, or the lines of a file or of standard input; of a JSON file its chats.

    Raises:
        InputError: if there is none, or more than one source.
    """
    from glasshead.data import is_utf8, read_chats
    from glasshead.files import check_readable

    if file is None and list(texts) == ["-"]:
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed: give a text, or --file FILE")
        piped = sys.stdin.read()
        if not is_utf8(piped):
            raise InputError("standard input is not UTF-8: convert what you pipe to UTF-8")
        return non_empty(piped, "standard input")
    if file is None:
        if not texts:
            raise typer.BadParameter(
                "give a text, --file FILE, or - for the lines of standard input",
                context,
                param_hint="'TEXT…'",
            )
        return list(texts)
    if texts:
        raise InputError("give texts or --file, not both")
    check_readable(file)
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    try:
        written = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8: save it as UTF-8") from None
    chats = read_chats(written) if file.suffix.lower() in CHAT_SUFFIXES else None
    return non_empty(written, str(file)) if chats is None else chats


def non_empty(text: str, name: str) -> list[str]:
    """The lines that hold something."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{name} has no text")
    return lines


def texts_and_pairs(model: Any, texts: Sequence[Any], pair: str | None) -> tuple[list[Any], list[str] | None]:
    """The first and, if there are, the second texts: ``--pair`` with one text, or a tab in each."""
    if pair is not None:
        if len(texts) != 1:
            raise InputError("--pair is for one text: give several pairs as 'first<TAB>second'")
        return list(texts), [pair]
    if getattr(model, "texts_per_example", 1) != 2 or not any("\t" in text for text in texts):
        return list(texts), None
    halves = [text.split("\t") for text in texts]
    for text, half in zip(texts, halves, strict=True):
        if len(half) != 2:
            raise InputError(f"a pair is 'first<TAB>second', with one tab; this is not one: {text!r}")
    return [first for first, _ in halves], [second for _, second in halves]


def print_attribution(unknown_id: int | None, attribution: "Attribution", scale: float) -> None:
    """The text with its colours, what was predicted and read, and a table of its words."""
    from glasshead.report import (
        computation,
        prediction,
        scale_words,
        sink_in_words,
        terminal_view,
        text_heatmap,
        tokens_document,
    )

    console.print(text_heatmap(attribution, scale))
    print_line(f"{prediction(attribution)}, {attribution.method}")
    print_line(scale_words(attribution, scale))
    if attribution.reading is not None:
        print_line(f"read: {attribution.reading}")
    if computed := computation(attribution):
        print_line(f"computed with {computed}")
    if sink := sink_in_words(attribution):
        print_line(sink)
    unknown = [
        token
        for token, token_id in zip(attribution.tokens, attribution.ids, strict=True)
        if token_id == unknown_id
    ]
    if unknown:
        print_line(f"unknown to the model, so it cannot tell them apart: {', '.join(dict.fromkeys(unknown))}")
    console.print(terminal_view(tokens_document(attribution, scale)))


def as_document(attributions: "Attributions", format: Format) -> str:
    """All attributions as JSON or as a page."""
    from glasshead.report import attribution_page

    return attributions.to_json() if format is Format.json else attribution_page(attributions)
