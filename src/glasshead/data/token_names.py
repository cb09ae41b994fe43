"""Tokens of a vocabulary as a reader can read them."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from glasshead.data.aligned_pieces import spelling_of
from glasshead.data.unit_reader import UnitReader

BLANK_TOKEN = "␣"


def token_names(tokenizer: PreTrainedTokenizerBase | UnitReader, ids: Sequence[int]) -> list[str]:
    """Tokens without the marks of blanks (Ġ, ▁): a token of blanks is ␣, bytes that are not whole characters
    are written as <0xE4>; an id that the tokenizer does not know is called by its number. Special tokens and
    those of other vocabularies are as they are. Units of other inputs are named by their places."""
    if isinstance(tokenizer, UnitReader):
        return tokenizer.names(ids)
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    names = [f"token {number}" if name is None else name for number, name in zip(ids, tokens, strict=True)]
    added = tokenizer.added_tokens_decoder
    is_fast = isinstance(tokenizer, PreTrainedTokenizerFast)
    decoder = repr(tokenizer.backend_tokenizer.decoder) if is_fast else "▁"
    if not is_fast and spelling_of(tokenizer) == "bytes":
        read = from_byte
    elif "ByteLevel" in decoder:
        read = from_bytes
    elif "▁" in decoder:
        read = from_pieces
    else:
        return names
    return [
        name if number in added or known is None else read(name)
        for number, known, name in zip(ids, tokens, names, strict=True)
    ]


def from_bytes(name: str) -> str:
    """The characters that a token of bytes stands for."""
    try:
        return bytes(BYTE_OF_LETTER[letter] for letter in name).decode().strip() or BLANK_TOKEN
    except UnicodeDecodeError:
        return "".join(f"<0x{BYTE_OF_LETTER[letter]:02X}>" for letter in name if letter != BYTE_SPACE)
    except KeyError:  # a token that was added to the vocabulary by hand
        return name


def from_byte(name: str) -> str:
    """The character of one byte, or the byte itself where it is a part of a character."""
    return f"<0x{ord(name):02X}>" if ord(name) > ord("~") else name.strip() or BLANK_TOKEN


def from_pieces(name: str) -> str:
    """A piece of SentencePiece without its blank."""
    return name.replace("▁", " ").strip() or BLANK_TOKEN


def byte_letters() -> dict[str, int]:
    """The letter of each byte in a byte-level vocabulary: its own, where that can be seen (GPT-2)."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters = {chr(byte): byte for byte in visible}
    hidden = [byte for byte in range(256) if byte not in visible]
    return letters | {chr(256 + place): byte for place, byte in enumerate(hidden)}


BYTE_OF_LETTER = byte_letters()
BYTE_SPACE = "Ġ"
