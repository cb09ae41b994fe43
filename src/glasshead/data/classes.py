"""The classes of a task: those asked for, those that merge into one, and their order."""

import re
from dataclasses import replace

from glasshead.data.schema import Table, class_order
from glasshead.errors import InputError
from glasshead.registry import did_you_mean
from glasshead.spelling import spell


def select_classes(tables: dict[str, Table], classes: tuple[str, ...] | None) -> dict[str, Table]:
    """Only the rows of these classes, which are in this order then.

    Raises:
        InputError: if no split has one of them.
    """
    if classes is None:
        return tables
    known = {label for table in tables.values() for label in table.label}
    for name in classes:
        if name not in known:
            raise InputError(f"{tables['train'].source} has no class {name!r}: {did_you_mean(name, known)}")
    return {split: replace(table.only(set(classes)), order=classes) for split, table in tables.items()}


def merge_classes(tables: dict[str, Table], labels: int | None) -> dict[str, Table]:
    """Classes that end in the same word become one, which is called by that word in lower case.

    Words are divided by blanks or underscores: "very negative", "Very_Negative" and "negative" are one class.

    Raises:
        InputError: if train then has another number of classes than asked for.
    """
    if labels is None:
        return tables
    words = sorted({_last_word(label) for label in tables["train"].label})
    if len(words) != labels:
        names = ", ".join(words[:8]) + (", …" if len(words) > 8 else "")
        remedy = f"give {spell('labels', len(words))}, or keep" if len(words) > 1 else "keep"
        raise InputError(
            f"the last words of the classes of {tables['train'].source} are {len(words)} ({names}), "
            f"not {labels}: {remedy} some with {spell('classes')}"
        )
    return {
        split: replace(
            table,
            label=[_last_word(label) for label in table.label],
            order=None if table.order is None else tuple(dict.fromkeys(map(_last_word, table.order))),
        )
        for split, table in tables.items()
    }


def _last_word(label: str) -> str:
    words = re.split(r"[\s_]+", label.strip(" _"))
    return words[-1].lower() or label


def order_classes(tables: dict[str, Table]) -> tuple[str, ...]:
    """The classes in order, all of them present in train.

    Raises:
        InputError: if there is one only, or another split has one that train lacks.
    """
    train = tables["train"]
    present = set(train.label)
    if not present:
        raise InputError(
            f"{train.source} has no labelled rows: choose another column with {spell('label_column')}"
        )
    if len(present) == 1:
        raise InputError(
            f"{train.source} has a single class, {train.label[0]!r}: give rows of two or more classes, "
            f"or name another {spell('label_column')}"
        )
    for table in tables.values():
        if not table.label:
            raise InputError(
                f"{table.source} has no rows of the classes {', '.join(sorted(present))}: add some"
            )
        for row, label in zip(table.rows, table.label, strict=True):
            if label not in present:
                raise InputError(
                    f"{table.source} row {row} has the class {label!r}, which train lacks: correct the "
                    f"label, or keep only the classes of train with {spell('classes')}"
                )
    return tuple(name for name in train.order or class_order(present) if name in present)
