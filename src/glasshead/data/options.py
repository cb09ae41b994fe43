"""How to read a source."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from glasshead.errors import InputError, ParameterError
from glasshead.registry import did_you_mean
from glasshead.spelling import spell

REGRESSION = "regression"
LABEL_TASKS = ("classification", REGRESSION)
TABS = {"tab": "\t", "\\t": "\t"}
"""How a tab is typed."""
NO_SEPARATORS = '"\r\n'
"""What quotes a field, and what ends a row."""


@dataclass(frozen=True)
class LoadOptions:
    """How to read a source; `dataclasses.asdict` of it is JSON, and ``LoadOptions(**json)`` brings it back.

    ``marks_column`` holds what people have marked in the texts. ``classes`` keeps those classes only, in the
    order given. ``labels`` merges classes whose names end in the same word ("very negative" and "negative");
    it is the number that must remain. ``task`` is classification, or regression, where labels are numbers.
    For every split that has more than ``max_examples``, a random part of that size is taken. ``generator``
    changes options of a synthetic set (`SyntheticOptions`). ``encoding`` is that of a file that is not UTF-8,
    and ``separator`` the character between the columns of a CSV or TSV file (also "tab").

    Raises:
        InputError: if a value makes no sense.
    """

    text_column: str | None = None
    label_column: str | None = None
    marks_column: str | None = None
    classes: tuple[str, ...] | None = None
    labels: int | None = None
    task: str = "classification"
    max_examples: int | None = None
    split_seed: int = 0
    dev_fraction: float = 0.1
    generator: Mapping[str, int | float] = field(default_factory=dict)
    encoding: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))  # a list, when it comes from JSON
            if len(set(self.classes)) < max(2, len(self.classes)):
                raise InputError(
                    f"{spell('classes', ','.join(self.classes))}: name two or more different classes"
                )
        if self.labels is not None and self.labels < 2:
            raise ParameterError("labels", f"must be at least 2, not {self.labels}")
        if not 0 < self.dev_fraction <= 0.5:
            raise InputError(f"a dev fraction of {self.dev_fraction} is not possible: give one up to 0.5")
        if self.task not in LABEL_TASKS:
            raise InputError(f"unknown task {self.task!r}: {did_you_mean(self.task, LABEL_TASKS)}")
        if self.rated and (self.classes or self.labels):
            raise InputError(f"ratings have no classes: leave {spell('classes')} and {spell('labels')} out")
        if self.max_examples is not None and self.max_examples < 1:
            raise ParameterError("max_examples", f"must be at least 1, not {self.max_examples}")
        if self.split_seed < 0:
            raise InputError(f"a split seed of {self.split_seed} is not possible: give 0 or more")
        if self.encoding is not None and not is_encoding(self.encoding):
            raise ParameterError(
                "encoding",
                f"must be a name such as latin-1, cp1252 or utf-16, not {ascii(self.encoding)[:60]}",
            )
        if self.separator is not None:
            separator = TABS.get(self.separator, self.separator)
            if not isinstance(separator, str) or len(separator) != 1 or separator in NO_SEPARATORS:
                raise ParameterError(
                    "separator", f"must be one character such as ';', or tab, not {ascii(separator)[:60]}"
                )
            object.__setattr__(self, "separator", separator)

    @property
    def rated(self) -> bool:
        """Whether labels are numbers."""
        return self.task == REGRESSION


def is_encoding(name: str) -> bool:
    """Whether Python knows an encoding of texts by this name."""
    try:
        "".encode(name)
    except (LookupError, TypeError, ValueError):
        return False
    return True
