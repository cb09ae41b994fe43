"""A list of models to audit: a TOML file whose tables are requests."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glasshead.errors import InputError
from glasshead.registry import did_you_mean
from glasshead.requests import AuditRequest, options_of
from glasshead.spelling import use_spelling

MODELS = "models"
NAME = re.compile(r"\w[\w .-]*")
RESERVED = ("index.html", "requests.json")
EXAMPLE = '[models.my-bert] with model = "my-bert" and data = "my_reviews.csv"'


def read_model_list(path: Path) -> dict[str, AuditRequest]:
    """The request for each model of a list, by name (``[models.NAME]``).

    Keys are the fields of `AuditRequest`; those above the tables are the defaults of all models.

    Raises:
        InputError: if the file is not TOML, has no models, or a table has an unknown field, an impossible
            value, or no ``model`` or ``data``.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}: write one with your models, such as {EXAMPLE}")
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    tables = written.pop(MODELS, None)
    if not isinstance(tables, dict) or not tables:
        raise InputError(f"{path} has no models: write a table for each, such as {EXAMPLE}")
    if strange := [name for name in tables if not NAME.fullmatch(name) or name in RESERVED]:
        raise InputError(f"{path}: {strange[0]!r} cannot name a folder: use another name for this model")
    return {name: read_request(f"{path}: {name}", written, table) for name, table in tables.items()}


def read_request(where: str, shared: Mapping[str, Any], table: object) -> AuditRequest:
    """The request of one table.

    Raises:
        InputError: as `read_model_list`.
    """
    if not isinstance(table, dict):
        raise InputError(f"{where} is not a table: write {EXAMPLE}")
    fields: Any = {**shared, **table}
    known = [name for name, entry in options_of(AuditRequest).items() if entry.flag != ""]
    for name in fields:
        if name not in known:
            raise InputError(f"{where}: unknown option {name!r}: {did_you_mean(name, known)}")
    for name in ("model", "data"):
        if not isinstance(fields.get(name), str):
            raise InputError(f"{where} has no {name}: write {EXAMPLE}")
    try:
        with use_spelling(lambda name, value=None: name):
            return AuditRequest(**fields)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
