"""The errors that a person is meant to read."""

import signal


class InputError(ValueError):
    """Something the user gave cannot be used; the message is one line that says what and how to mend it.

    The command line prints the message without a traceback and exits with code 2.
    """


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends work as Ctrl-C does."""


def exit_code(error: KeyboardInterrupt) -> int:
    """What a shell says of a process that this signal ended."""
    return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def pluralise(number: int, noun: str) -> str:
    """``1 field``, ``2 fields``: as messages count things."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
