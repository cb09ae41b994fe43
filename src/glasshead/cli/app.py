"""The app that all commands belong to, and what becomes of their errors."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from glasshead.cli.console import console, exit_on_broken_pipe, print_error, silence_stdout
from glasshead.cli.errors import spelling_of
from glasshead.errors import InputError, Terminated, exit_code, shorten
from glasshead.reasons import wrong_value
from glasshead.spelling import use_spelling

# Threads that spin while they wait make small models ten times slower as soon as a core is shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


YOUR_MODELS, BUILD_AND_TRAIN = "Your models", "Build and train"
"""The panels of the help page; extensions add their own."""
ORDER = (
    "explain", "audit", "judge", "compare", "audit-hub", "rank", "heads", "lens", "patch", "generate", "cite",
    "serve", "doctor", "list",
    "demo", "train", "kernels", "plot",
)  # fmt: skip
"""The commands of the help page, those used most first; those of extensions follow."""

UsageError: Any = typer.BadParameter.__bases__[0]
"""An unknown option, a missing argument, …, whichever click this Typer is built on."""


def terminate(*_: Any) -> NoReturn:
    """Handle SIGTERM."""
    raise Terminated


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, where no one else handles it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def os_error_in_words(error: OSError) -> str:
    """What the system could not do, and to which file."""
    has_file = error.filename is not None and error.strerror
    reason = f"{error.strerror}: {error.filename}" if has_file else error.strerror or str(error)
    return with_notes(reason, error)


def with_notes(reason: str, error: BaseException) -> str:
    """One line with what has been noted of an error."""
    return " ".join("; ".join([reason, *getattr(error, "__notes__", ())]).split())


class Commands(TyperGroup):
    """Turns what a person did wrong into one line and exit code 2, Ctrl-C into 130 and SIGTERM into 143."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, as the help page shows them."""
        places = {name: place for place, name in enumerate(ORDER)}
        return sorted(super().list_commands(ctx), key=lambda name: places.get(name, len(places)))

    def main(self, *args: Any, **options: Any) -> Any:
        standalone = options.get("standalone_mode", True)
        # The name is the same however the program was started.
        options |= {"prog_name": "glasshead", "standalone_mode": False}
        try:
            code = super().main(*args, **options)
        except UsageError as error:
            code = error.exit_code
            if type(error).__name__ != "NoArgsIsHelpError":  # then the help page has been printed
                print_error(usage_error_in_words(error))
        except typer.Abort:
            code = 130
            print_error("interrupted")
        except OSError as error:  # of a help page, on a full disk
            silence_stdout()
            code = 1
            print_error(os_error_in_words(error))
        if standalone:
            sys.exit(code or 0)
        return code

    def invoke(self, ctx: Any) -> Any:
        spelling = spelling_of(
            lambda: self.commands.get(ctx.invoked_subcommand), lambda: self.commands.get("train")
        )
        try:
            with terminate_as_interrupt(), use_spelling(spelling):
                return super().invoke(ctx)
        except InputError as error:
            if ctx.params.get("debug"):
                raise
            print_error(shorten(with_notes(str(error), error)))
            raise typer.Exit(2) from None
        except BrokenPipeError:
            exit_on_broken_pipe()
        except OSError as error:  # a full disk, a folder that went away: nobody's mistake in the command
            silence_stdout()
            if ctx.params.get("debug"):
                raise
            print_error(os_error_in_words(error))
            refused = isinstance(error, PermissionError) or error.errno == errno.ENAMETOOLONG
            raise typer.Exit(2 if refused else 1) from None
        except KeyboardInterrupt as error:
            print_error("interrupted")
            raise typer.Exit(exit_code(error)) from None


def usage_error_in_words(error: Any) -> str:
    """What is wrong with a command as it was typed, and where to read how it is typed."""
    words = " ".join(error.format_message().split()).rstrip(".")
    if hasattr(error.__cause__, "errors"):  # of pydantic
        raised = error.__cause__.errors()[0]
        words = words.replace(" ".join(raised["msg"].split()).rstrip("."), wrong_value(raised).rstrip("."))
    command = "glasshead" if error.ctx is None else error.ctx.command_path
    return f"{words[:1].lower()}{words[1:]} (see {command} --help)"


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(show: bool) -> None:
    if show:
        from glasshead import __version__

        console.print(f"glasshead {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def start(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Attention you can see through: train, explain, audit, compare.

    Example: [bold]glasshead demo[/]
    """
