"""How the command line spells what the library names: parameters, and functions."""

import shlex
from collections.abc import Callable, Iterator
from typing import Any

from glasshead.spelling import GIVEN, Spelling, in_python

OPTIONS = {
    "block_size": "--max-length",
    "every": "--watch-every",
    "head_dim": "--d-k",
    "hidden_size": "--set hidden_size",
    "loss": "--set loss",
    "max_examples": "--rows",
    "num_attention_heads": "--set num_attention_heads",
    "pairs": "--pair",
    "path": "--out",
    "penalties": "--penalty",
    "target_fn": "--target-function",
    "temperature": "--scale",
    "value_dim": "--d-v",
    "word_vectors": "--vectors",
}
"""Parameters that the command line calls otherwise."""
WORDS = {
    "AuditCard.save": "'glasshead audit'",
    "DATASETS": "'glasshead list datasets'",
    "DynamicsCallback": "--watch dynamics",
    "audits=['identifiability']": "'glasshead audit MODEL DATA --audits identifiability --out DIR'",
    "data": "DATA",
    "glasshead.attention.build_native": "'glasshead kernels build'",
    "glasshead.generate": "'glasshead generate'",
    "glasshead.heads": "'glasshead heads'",
    "tokenizer": "a tokenizer",
    "glasshead.training.train": "'glasshead train DATA --out RUN'",
    "value_dim=None": "--set value_dim=null",
}
"""What is not an option of its own; extensions add what their messages name."""


def spelling_of(running: Callable[[], Any], train: Callable[[], Any]) -> Spelling:
    """How parameters are typed: as options of the ``running`` command (of a group: of those below it), else
    of ``train``; what is neither stays Python."""

    def spell(name: str, value: Any = GIVEN) -> str:
        call = in_python(name, value).strip("`")
        if call in WORDS:
            return WORDS[call]
        option = OPTIONS.get(name) or options_by_name(running(), train()).get(name)
        if option is None:
            return f"`{call}`"
        if value is GIVEN or value is True:
            return option
        return f"{option}{'=' if ' ' in option else ' '}{shlex.quote(str(value))}"

    return spell


def options_by_name(*commands: Any) -> dict[str, str]:
    """The long options of some commands by the names of their parameters; the first that has one decides."""
    options: dict[str, str] = {}
    for command in commands:
        for child in commands_of(command):
            for option in child.params:
                if option.opts[0].startswith("--"):
                    options.setdefault(option.name.rstrip("_"), option.opts[0])
    return options


def commands_of(command: Any) -> Iterator[Any]:
    """The command itself, or all those below a group."""
    if hasattr(command, "commands"):
        for inner in command.commands.values():
            yield from commands_of(inner)
    elif command is not None:
        yield command
