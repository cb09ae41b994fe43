"""A file of text, perhaps gzipped → its characters, in UTF-8 unless another encoding is named."""

import codecs
import gzip
import zlib
from pathlib import Path

from glasshead.errors import InputError
from glasshead.spelling import spell

UTF8 = "utf-8"


def read_text(path: Path, encoding: str | None = None) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        InputError: if it is not a whole gzip file, or not in this encoding. A file that is valid UTF-8
        beyond ASCII is not read in another encoding: most would read it without an error, and wrongly.
    """
    data, named = read_bytes(path), encoding or UTF8
    if not is_utf8_codec(named) and not data.isascii() and not first_wrong_line(data):
        raise InputError(f"{path} is UTF-8 and not {named}: read it with {spell('encoding', UTF8)}")
    try:
        return data.decode(named).removeprefix("\ufeff")
    except UnicodeError as error:
        line = first_wrong_line(data)
        where = f"line {line} is not UTF-8" if is_utf8_codec(named) else f"is not {named}"
        raise InputError(
            f"{path} {where}: name the encoding of the file, such as {spell('encoding', 'latin-1')}, or "
            "convert it to UTF-8"
        ) from error


def read_bytes(path: Path) -> bytes:
    """What a file holds, unpacked.

    Raises:
        InputError: if it is not a whole gzip file.
    """
    data = path.read_bytes()
    if not path.name.lower().endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file ({error}): compress it again") from error


def is_utf8_codec(encoding: str) -> bool:
    """Whether an encoding is a name of UTF-8."""
    return codecs.lookup(encoding).name in (UTF8, "utf-8-sig")


def first_wrong_line(data: bytes) -> int | None:
    """The number of the first line that is not UTF-8; None: there is none."""
    try:
        data.decode(UTF8)
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return None
