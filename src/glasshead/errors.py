"""The errors that a person is meant to read."""

import signal

from glasshead.spelling import spell

LONGEST = 300
"""Characters of an error; of a longer one the middle is left out, since its end says how to mend it."""


def shorten(message: str) -> str:
    """A message of one line and at most `LONGEST` characters."""
    line = message if "\n" not in message else " ".join(message.split())
    if len(line) <= LONGEST:
        return line
    tail = LONGEST * 2 // 5
    return f"{line[: LONGEST - tail - 3].rstrip()} … {line[-tail:].lstrip()}"


class InputError(ValueError):
    """An input cannot be used; the message is one line that says what is wrong and how to fix it.

    It names parameters as the caller passes them, in Python or on the command line
    (`glasshead.spelling.spell`). The command line prints it without a traceback and exits with code 2.
    """

    def __str__(self) -> str:
        return shorten(super().__str__())


class ParameterError(InputError):
    """The value of one parameter cannot be used: ``ParameterError("limit", "must be at least 1")``."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(parameter, problem)
        self.parameter = parameter
        self.problem = problem
        self.spelled = spell(parameter)

    def __str__(self) -> str:
        return shorten(f"{self.spelled} {self.problem}")


class MissingExtra(InputError):
    """What an extra of Glasshead brings is not installed: ``MissingExtra("serving", "serve")``."""

    def __init__(self, purpose: str, extra: str, where: str = "") -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'glasshead[{extra}]'{where}")


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends work as Ctrl-C does."""


def exit_code(error: KeyboardInterrupt) -> int:
    """What a shell says of a process that this signal ended."""
    return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def one_line(error: BaseException | str | None) -> str:
    """What a library says where it fails, without line breaks."""
    return " ".join(str(error).split())


MOST_REASON = 120


def brief(error: BaseException | str | None) -> str:
    """The beginning of `one_line`, as it stands in brackets in a message of ours."""
    return one_line(error)[:MOST_REASON]


def pluralise(number: int, noun: str) -> str:
    """``1 field``, ``2 fields``: as messages count things."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
