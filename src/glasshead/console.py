"""Where the command line writes: results to standard output, everything else to standard error."""

from rich.console import Console
from rich.text import Text

console = Console()
errors = Console(stderr=True)


def say(line: str) -> None:
    """One line on standard output, whatever is in it, never folded."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def complain(message: str) -> None:
    """One line on standard error, whatever is in it."""
    errors.print(Text("error: ", style="bold red") + Text(message), soft_wrap=True)
