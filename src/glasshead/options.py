"""What the options of the front doors are called, and which kind of value each takes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real

from glasshead.errors import InputError, ParameterError
from glasshead.registry import did_you_mean


def is_word(value: object) -> bool:
    """A string."""
    return isinstance(value, str)


def is_whole(value: object) -> bool:
    """A whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_natural(value: object) -> bool:
    """A whole number from 0 on."""
    return is_whole(value) and value >= 0  # type: ignore[operator]


def is_number(value: object) -> bool:
    """A number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def are_words(value: object) -> bool:
    """A word, or several in a list."""
    several = isinstance(value, Sequence) and not isinstance(value, bytes)
    return is_word(value) or (several and all(map(is_word, value)))  # type: ignore[call-overload]


def is_mapping(value: object) -> bool:
    """Names with values."""
    return isinstance(value, Mapping)


def is_flag(value: object) -> bool:
    """True or False."""
    return isinstance(value, bool)


def is_function(value: object) -> bool:
    """Something that can be called."""
    return callable(value)


KINDS: dict[str, tuple[Callable[[object], bool], ...]] = {
    **dict.fromkeys(
        ("method", "target_fn", "against", "row", "level", "unit", "split", "statistic", "task"), (is_word,)
    ),
    **dict.fromkeys(("text_column", "label_column", "marks_column"), (is_word,)),
    **dict.fromkeys(("target", "layer", "head"), (is_word, is_whole)),
    **dict.fromkeys(("limit", "max_length", "draws", "blocks", "tokens", "alternatives"), (is_whole,)),
    **dict.fromkeys(("audits", "methods", "removals", "by", "classes", "texts"), (are_words,)),
    **dict.fromkeys(("load_options", "facts"), (is_mapping,)),
    **dict.fromkeys(("effects", "trust_remote_code"), (is_flag,)),
    "progress": (is_function,),
    "tolerance": (is_number,),
    "seed": (is_natural,),
}
"""Options by their names, which mean the same everywhere."""
IN_WORDS: dict[Callable[[object], bool], str] = {
    is_word: "a word",
    is_whole: "a whole number",
    is_natural: "a whole number from 0 on",
    is_number: "a number",
    are_words: "a word or a list of words",
    is_mapping: "a mapping of names to values",
    is_flag: "True or False",
    is_function: "a function",
}


def check_kinds(values: Mapping[str, object], required: Iterable[str] = ()) -> None:
    """Raise InputError on a value of another kind than its option takes; None, where nothing is chosen, will
    do unless the option is ``required``."""
    for name, value in values.items():
        kinds = KINDS.get(name, ())
        chosen = value is not None or name in required
        if kinds and chosen and not any(fits(value) for fits in kinds):
            expected = " or ".join(IN_WORDS[fits] for fits in kinds)
            raise ParameterError(name, f"is {expected}, not {ascii(value)[:60]}")


def check_instances(options: Mapping[str, object], classes: Mapping[str, type]) -> None:
    """Raise InputError on an option that is no instance of its class; None, where none is chosen, will do."""
    for name, kind in classes.items():
        if not isinstance(value := options.get(name), kind | None):
            raise ParameterError(name, f"is an instance of {kind.__name__}, not {ascii(value)[:60]}")


def check_options(options: Mapping[str, object], known: Iterable[str], function: str) -> None:
    """Raise InputError on an option that a function does not have, or a value of another kind."""
    names = tuple(known)
    for name in options:
        if name not in names:
            raise InputError(f"{function} has no option {name!r}: {did_you_mean(name, names)}")
    check_kinds(options)
