"""Input that nobody means: damaged bytes, changed JSON, values of options; drawn from a generator."""

import copy
import json

import typer

VALUES = [
    "",
    " ",
    "x",
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "1e-300",
    str(2**63),
    str(2**70),
    "9" * 400,
    "a=b",
    "num_hidden_layers=1e300",
    "instances=1e300",
    "seed=-1",
    ",",
    "1,,2",
    "0,99999999999999999999",
    "²",
    "٣",
    "{",
    '{"activation": 3}',
    "../..",
    "/dev/null/x",
    "no/such/place",
    "-",
    "a\nb",
    "\x1b[31m",
    "x" * 5000,
]
"""What may stand behind any option."""

ODD = [None, True, -1, 0, 2**70, 1e300, float("nan"), "", "x", [], {}, [[]], {"a": 1}, "/no/such/place"]
"""What may stand in the place of any value of a JSON file."""


def damaged(content, rng):
    """The bytes with something wrong: cut off, flipped, replaced, left out, doubled or put in between."""
    size = len(content)
    place, length = int(rng.integers(size)), int(rng.integers(1, 40))
    noise = rng.integers(256, size=length, dtype="uint8").tobytes()
    flipped = bytes([content[place] ^ (1 << int(rng.integers(8)))])
    return [
        content[:place],
        content[:place] + flipped + content[place + 1 :],
        content[:place] + noise + content[place + length :],
        content[:place] + content[place + length :],
        content[: place + length] + content[place:],
        content[:place] + noise + content[place:],
        noise,
    ][int(rng.integers(7))]


def changed(content, rng):
    """JSON with one value replaced by another of any kind, or removed."""
    document = copy.deepcopy(json.loads(content))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
            break
        place = place[key]
    if rng.random() < 0.2:
        del place[key]
    else:
        place[key] = ODD[int(rng.integers(len(ODD)))]
    return json.dumps(document).encode()


def commands(command, path=()):
    """Every command of an app with the words that call it."""
    if hasattr(command, "commands"):
        for name, each in command.commands.items():
            yield from commands(each, (*path, name))
    else:
        yield path, command


def options(app):
    """Every option that takes a value: the words of its command, and its name."""
    return [
        (path, each.opts[0])
        for path, command in commands(typer.main.get_command(app))
        for each in command.params
        if each.opts[0].startswith("--") and not each.is_flag
    ]
