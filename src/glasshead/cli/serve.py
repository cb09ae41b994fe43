"""glasshead serve: a page to type texts into."""

import os
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import print_error, print_line
from glasshead.errors import MissingExtra, exit_code

LAST_SECONDS = 0.9
"""What is not answered so long after a signal is given up, before the server complains of it."""


def end_soon(number: int) -> None:
    """End the process though a thread draws or an answer is written, neither of which can be told to stop."""
    timer = threading.Timer(LAST_SECONDS, os._exit, (128 + number,))
    timer.daemon = True
    timer.start()


@app.command(rich_help_panel=YOUR_MODELS)
def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL…",
            help="Runs, folders of saved models, or Hub ids (default: the models of the demo).",
        ),
    ] = None,
    audits: Annotated[
        Path | None, typer.Option("--audits", metavar="DIR", help="A folder that holds audits.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the page (0: any free port).")] = 8765,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on (default: this computer only); another one needs a token."),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            envvar="GLASSHEAD_TOKEN",
            help="The token of requests (default: a random one if a token is needed).",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Another host name of the page, for example behind a proxy (repeat for more); this "
            "needs a token.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="How long an answer may take (default: a minute).")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
) -> None:
    """Open a page where you type a text and see the attention with its uncertainty.

    Example: [bold]glasshead serve my-bert gpt2-folder --audits audits/[/]
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("serving", "serve") from None
    from glasshead.serve import ServeRequest
    from glasshead.serve import serve as run_server

    def say_failure(reason: str) -> str:
        sentence = " ".join(reason.split())
        print_error(sentence)
        return sentence

    signals: list[int] = []

    def end(number: int) -> None:
        signals.append(number)
        end_soon(number)

    more = {} if seconds is None else {"seconds": seconds}
    hosts = tuple(allow_host or ())
    request = ServeRequest(models or (), audits, host, port, token, allow_hosts=hosts, **more)
    try:
        run_server(
            request,
            browser=not no_browser,
            on_start=lambda address: print_line(f"Glasshead is at {address} (Ctrl-C ends it)"),
            on_failure=say_failure,
            on_signal=end,
        )
    except KeyboardInterrupt as error:
        # How a server ends: nothing was interrupted, and nothing can be lost. A thread in the middle of a
        # long product, or PyTorch that is taken down, would keep the process for seconds.
        if signals:
            sys.stdout.flush()
            os._exit(exit_code(error))
        raise typer.Exit(exit_code(error)) from None
