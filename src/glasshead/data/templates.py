"""Where special tokens stand in a text and in a pair, for tokenizers of ours."""

from tokenizers.processors import TemplateProcessing

from glasshead.errors import InputError


def check_sizes(min_freq: int, max_length: int, *, first: bool, pairs: bool) -> None:
    """Raise InputError for numbers below 1, and where no token of each text has room."""
    if min_freq < 1 or max_length < 1:
        raise InputError("minimum frequency and maximum length start at 1")
    # Room for one token of each text, beside what stands before each or between two.
    least = (2 if first else 1) * (2 if pairs else 1) + (pairs and not first)
    if max_length < least:
        raise InputError(
            f"a maximum length of {max_length} leaves no room for words beside special tokens: "
            f"give {least} or more"
        )


def template(start: tuple[str, int], separator: tuple[str, int], *, first: bool) -> TemplateProcessing:
    """``first``: the start before each text; else nothing around one text, and the separator between two.

    Both are given with their ids.
    """
    before, between = start[0], separator[0]
    return TemplateProcessing(
        single=f"{before} $A" if first else "$A",
        pair=f"{before} $A {before}:1 $B:1" if first else f"$A {between} $B:1",
        special_tokens=[start, separator] if start != separator else [start],
    )
