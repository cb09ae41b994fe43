"""Options of a method, as they are written behind its name: ``rollout+discard=0.9``."""

from collections.abc import Mapping, Sequence
from typing import Any

from glasshead.errors import InputError


def parse_option(word: str) -> tuple[str, float | str]:
    """``discard=0.9`` as a name and a number; what is not a number stays a word."""
    option, _, value = word.partition("=")
    if not option or not value:
        raise InputError(
            f"an option of a method has the form name=value, as in rollout+discard=0.9, not {word!r}"
        )
    try:
        return option, float(value)
    except ValueError:
        return option, value


def take_options(
    method: str, given: Mapping[str, float | str], defaults: Mapping[str, Any], choices: Sequence[str] = ()
) -> dict[str, Any]:
    """The options of a method: what is given, and otherwise its defaults. Numbers count something; words are
    among the ``choices``.

    Raises:
        InputError: on an option that the method does not have, and on a value that is none of it.
    """
    for option, value in given.items():
        if option not in defaults:
            known = " and ".join(map(repr, defaults))
            raise InputError(f"the method {method!r} has no option {option!r}: it has {known}")
        if isinstance(defaults[option], int) and (isinstance(value, str) or value < 1 or value % 1):
            raise InputError(f"{option!r} must be a whole number from 1 on, not {value}")
        if isinstance(defaults[option], str) and value not in choices:
            raise InputError(f"{option!r} must be {' or '.join(map(repr, choices))}, not {value!r}")
    return {
        name: int(given.get(name, default)) if isinstance(default, int) else given.get(name, default)
        for name, default in defaults.items()
    }
