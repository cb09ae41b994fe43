"""The app that all commands belong to, and what becomes of their errors."""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glasshead.console import complain, console, unread
from glasshead.errors import InputError

# Threads that spin while they wait make small models ten times slower as soon as a core is shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


class Commands(TyperGroup):
    """Turns what a person did wrong into one line and exit code 2, and Ctrl-C into 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            if ctx.params.get("debug"):
                raise
            complain(" ".join(str(error).split()))
            raise typer.Exit(2) from None
        except BrokenPipeError:
            unread()
        except OSError as error:  # a full disk, a folder that went away: nobody's mistake in the command
            if ctx.params.get("debug"):
                raise
            complain(" ".join(str(error).split()))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    if wanted:
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
