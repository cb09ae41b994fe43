"""The one kind of error a person is meant to read."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message is one line that says what and how to mend it.

    The command line prints the message without a traceback and exits with code 2.
    """


def counted(number: int, noun: str) -> str:
    """``1 field``, ``2 fields``: as messages count things."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
