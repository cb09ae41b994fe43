"""Folders and files that appear whole or not at all, written by one process at a time."""

from glasshead.files.atomic import (
    Reserved,
    atomic_folder,
    check_foreign,
    check_writable,
    format_from_suffix,
    parameter_named,
    partial_path,
    remove,
    reserve_folder,
    temp_sibling,
    write_bytes,
    write_text,
)
from glasshead.files.claim import SETTINGS_FILE, claim_folder
from glasshead.files.disk_errors import check_readable
from glasshead.files.locks import BusyError, write_as
from glasshead.files.manifest import KNOWN, files_in, find_foreign
from glasshead.files.parquet import read_parquet

__all__ = [
    "KNOWN",
    "SETTINGS_FILE",
    "BusyError",
    "Reserved",
    "atomic_folder",
    "check_foreign",
    "check_readable",
    "check_writable",
    "claim_folder",
    "files_in",
    "find_foreign",
    "format_from_suffix",
    "parameter_named",
    "partial_path",
    "read_parquet",
    "remove",
    "reserve_folder",
    "temp_sibling",
    "write_as",
    "write_bytes",
    "write_text",
]
