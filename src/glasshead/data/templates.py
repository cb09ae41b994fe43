"""Where special tokens stand in a text and in a pair, for tokenizers of ours."""

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from glasshead.errors import InputError


def check_template_sizes(min_freq: int, max_length: int, *, first: bool, pairs: bool) -> None:
    """Raise InputError for numbers below 1, and where no token of each text has room."""
    if min_freq < 1 or max_length < 1:
        raise InputError("minimum frequency and maximum length start at 1")
    # Room for one token of each text, beside what stands before each or between two.
    least = (2 if first else 1) * (2 if pairs else 1) + (pairs and not first)
    if max_length < least:
        raise InputError(
            f"a maximum length of {max_length} leaves no room for words after the special tokens: "
            f"give {least} or more"
        )


def set_template(tokenizer: Tokenizer, start: str, separator: str, *, first: bool) -> None:
    """``first``: the start before each text; else nothing around one text, and the separator between two."""
    tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A" if first else "$A",
        pair=f"{start} $A {start}:1 $B:1" if first else f"$A {separator} $B:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (start, separator)],
    )
