"""What the library says of its parameters, in the words of the command line.

A message holds Python between backquotes: a parameter, one with its value, or a function. Here each becomes
the option of the running command, else of `train`, or the command that does the same.
"""

import re
from collections.abc import Iterator
from typing import Any

CODE = re.compile(r"`([A-Za-z_][\w.]*)(?:=([^`]*))?`")
OPTIONS = {
    "block_size": "--max-length",
    "every": "--watch-every",
    "head_dim": "--d-k",
    "loss": "--set loss",
    "max_examples": "--rows",
    "num_attention_heads": "--set num_attention_heads",
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
"""What is no option of its own; extensions add what their messages name."""


def in_options(message: str, running: Any, train: Any) -> str:
    """The message with the options of the ``running`` command (of a group: of those below it), else of
    ``train``."""
    options: dict[str, str] = {}
    for command in (*commands_of(running), *commands_of(train)):
        for option in command.params:
            spelling = option.opts[0]
            if spelling.startswith("--"):
                options.setdefault(option.name.rstrip("_"), spelling)

    def as_option(code: re.Match[str]) -> str:
        whole, name, value = code[0].strip("`"), code[1], code[2]
        if whole in WORDS:
            return WORDS[whole]
        option = OPTIONS.get(name) or options.get(name)
        if option is None:
            return code[0]
        return option if value in (None, "True") else f"{option} {value.strip(chr(39))}"

    return CODE.sub(as_option, message)


def commands_of(command: Any) -> Iterator[Any]:
    """The command itself, or all those below a group."""
    if hasattr(command, "commands"):
        for inner in command.commands.values():
            yield from commands_of(inner)
    elif command is not None:
        yield command
