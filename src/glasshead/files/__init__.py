"""Folders and files that appear whole or not at all, written by one process at a time."""

from glasshead.files.atomic import (
    Reserved,
    beside,
    check_foreign,
    claim,
    discard,
    ending,
    partial,
    reserve,
    whole,
    write_bytes,
    write_text,
)
from glasshead.files.disk_errors import check_readable
from glasshead.files.manifest import KNOWN, files_in, unmatched

__all__ = [
    "KNOWN",
    "Reserved",
    "beside",
    "check_foreign",
    "check_readable",
    "claim",
    "discard",
    "ending",
    "files_in",
    "partial",
    "reserve",
    "unmatched",
    "whole",
    "write_bytes",
    "write_text",
]
