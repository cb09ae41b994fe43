"""Other names for the classes of a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from glasshead.errors import InputError
from glasshead.huggingface import class_names, isolated_copy
from glasshead.trace import Subject


def rename_classes(subject: Subject, labels: Mapping[str, str]) -> Subject:
    """A subject with the classes called as ``labels`` says: by old name, or by number.

    Raises:
        InputError: on classes that do not exist, and where two classes have one name.
    """
    if not isinstance(labels, Mapping):
        raise InputError(f"`labels` is a mapping of old names to new ones, not {labels!r}")
    names = class_names(subject.model)
    places = {name: index for index, name in reversed(list(enumerate(names)))}
    for old, new in ((str(old), str(new)) for old, new in labels.items()):
        index = places.get(old, int(old) if old.isdigit() else -1)
        if not 0 <= index < len(names):
            raise InputError(f"the model has no class {old!r} to rename: it has {', '.join(names)}")
        names[index] = new
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        first, second = [index for index, name in enumerate(names) if name == twice][:2]
        raise InputError(
            f"the classes {first} and {second} of the model are both called {twice!r}: tell them apart with "
            f"`labels`, as in {first}=first, {second}=second"
        )
    model = subject.model
    if labels:
        model = isolated_copy(model)
        model.config.id2label = dict(enumerate(names))
    notes = dict.fromkeys((*subject.notes, *case_notes(names)))
    return replace(subject, model=model, notes=tuple(notes))


def case_notes(names: Sequence[str]) -> Iterator[str]:
    """Sentences about classes that only their case tells apart."""
    for index, name in enumerate(names):
        for other in names[:index]:
            if other.casefold() == name.casefold():
                yield f"the classes {other!r} and {name!r} differ by case alone"
