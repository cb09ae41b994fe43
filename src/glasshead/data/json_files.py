"""JSON → columns: an object on each line, a list of objects, or an object that holds one such list."""

import json
from collections.abc import Iterable
from typing import Any

from glasshead.errors import InputError
from glasshead.reasons import because

RECORDS = 'write a list of records, [{"text": …, "label": …}, …], or one record on each line'


HOLDERS = ("data", "rows", "records", "examples", "train", "validation", "test")
"""What an object calls the list of records next to which it has other things."""


def json_lines(source: str, text: str) -> dict[str, list[Any]]:
    """Columns of one JSON object per line; a key that a line lacks is None there.

    Raises:
        InputError: with the line of what is none.
    """
    records = []
    # Not splitlines: U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{source} line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON{because(error)}: write one object per line") from error
        if not isinstance(record, dict):
            raise InputError(f"{place} is not a JSON object: write one object per line")
        if "\\u" in line:
            check_surrogates(place, record)
        records.append(record)
    return from_records(records)


def json_document(source: str, text: str) -> dict[str, list[Any]]:
    """Columns of a list of records, or of an object that holds one; of lines, where each is a record.

    Raises:
        InputError: if there is no such list, or more than one.
    """
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        if is_record(text.lstrip().partition("\n")[0]):
            return json_lines(source, text)
        raise InputError(f"{source} is not JSON{because(error)}: {RECORDS}") from error
    lists = {"": document} if isinstance(document, list) else {}
    if isinstance(document, dict):
        lists = {name: value for name, value in document.items() if are_records(value)}
        others = [name for name, value in document.items() if not are_records(value)]
        if len(lists) == 1 and others and not {*lists} & {*HOLDERS}:
            raise InputError(
                f"{source} is an object with {others[0]!r} next to the list of records "
                f"{next(iter(lists))!r}: {RECORDS}"
            )
    if len(lists) > 1:
        raise InputError(f"{source} has several lists of records ({', '.join(lists)}): save each as a file")
    records = next(iter(lists.values()), None)
    if records is None:
        raise InputError(f"{source} has no list of records: {RECORDS}")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise InputError(f"{source} record {number} is not a JSON object: {RECORDS}")
        if "\\u" in text:
            check_surrogates(f"{source} record {number}", record)
    return from_records(records)


def is_record(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def are_records(value: Any) -> bool:
    """Whether a value is a list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def check_surrogates(place: str, record: dict[str, Any]) -> None:
    """Raise InputError on half a surrogate pair, which no UTF-8 can hold."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{place} holds half a surrogate pair: write it as UTF-8") from error


def from_records(records: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns of a list of records, named in order of appearance."""
    records = list(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return {name: [record.get(name) for record in records] for name in names}
