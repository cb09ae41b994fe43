"""Other names for the classes of a model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import NextTokenClassifier, TaskModel, isolated_copy, target_names
from glasshead.spelling import spell
from glasshead.trace import Subject


def rename_classes(subject: Subject, labels: Mapping[str, str]) -> Subject:
    """A subject with the classes called as ``labels`` says: by old name, or by number.

    Raises:
        InputError: on classes that do not exist, on names that are not text, and where a class has no name or
            two have one.
    """
    if not isinstance(labels, Mapping):
        raise InputError(f"{spell('labels')} must be a mapping of old names to new ones, not {labels!r}")
    if isinstance(subject.model, NextTokenClassifier) and not labels:
        return subject  # tokens have names of their own, tens of thousands
    names = target_names(subject.model)
    if labels and not names:
        raise ParameterError(
            "labels", "renames classes, but the classes of this model are captions: use other captions"
        )
    before = list(names)
    places = {name: index for index, name in reversed(list(enumerate(names)))}
    for old, new in ((str(old), new) for old, new in labels.items()):
        index = places.get(old, int(old) if old.isdecimal() else -1)
        if not 0 <= index < len(names):
            raise InputError(f"the model has no class {old!r} to rename: it has {', '.join(before)}")
        if not isinstance(new, str) or not new.strip():
            raise InputError(
                f"{spell('labels')} calls the class {old!r} {new!r}: give a name, which is a text"
            )
        names[index] = str(new)
    unnamed = next((index for index, name in enumerate(names) if not name.strip()), None)
    if unnamed is not None:
        raise InputError(
            f"the class {unnamed} of the model has no name: give it one with {spell('labels')}, as in "
            f"{unnamed}=first"
        )
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        first, second = [index for index, name in enumerate(names) if name == twice][:2]
        raise InputError(
            f"the classes {first} and {second} of the model are both called {twice!r}: rename them with "
            f"{spell('labels')}, as in {first}=first, {second}=second"
        )
    model, gauge = subject.model, subject.gauge
    if labels:
        model = isolated_copy(model)
        if isinstance(model, TaskModel):
            model.rename(names)
        else:
            model.config.id2label = dict(enumerate(names))
        if gauge is not None and "classes" in gauge:
            renamed = rename_gauge_classes(gauge["classes"], dict(zip(before, names, strict=True)))
            gauge = {**gauge, "classes": renamed}
    # Tokens of a language model differ by case as a rule.
    same = () if isinstance(model, NextTokenClassifier) else case_notes(names)
    notes = dict.fromkeys((*subject.notes, *same))
    return replace(subject, model=model, gauge=gauge, notes=tuple(notes))


def rename_gauge_classes(classes: Any, names: Mapping[str, str]) -> Any:
    """What a gauge says of classes, in lists by layer and head or not, with other names."""
    if isinstance(classes, Mapping):
        return {**classes, "name": names.get(classes["name"], classes["name"])}
    return [rename_gauge_classes(one, names) for one in classes]


def case_notes(names: Sequence[str]) -> Iterator[str]:
    """Sentences about classes that only their case tells apart."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.casefold(), []).append(name)
    for first, *others in alike.values():
        yield from (f"the classes {first!r} and {other!r} differ only by case" for other in others)
