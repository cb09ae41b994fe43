"""The time of attention over that of softmax by PyTorch, its memory and its errors."""

from collections.abc import Iterator

from benchmarks.measuring import format_number
from benchmarks.native import LENGTHS, TENSORS
from reproduction.markdown import markdown
from reproduction.study import read_numbers

HEADS = ("mechanism", "kernel", "forward ×", "range", "with backward ×", "range", "memory ×", "error")


def attention_page() -> Iterator[str]:
    """A part of speed.md."""
    for table in ("attention", "attention_long"):
        yield from attention_tables(read_numbers("speed", table))


def attention_tables(page: dict) -> Iterator[str]:
    """One table for each length: the ratios to fused softmax, forward and with backward, and memory."""
    machine = page["machine"]
    named = f"{machine['processor']}, {machine['threads']} threads, torch {machine['torch']}"
    for length in dict.fromkeys(each["length"] for each in page["results"]):
        measured = [each for each in page["results"] if each["length"] == length]
        heads, size = page["settings"]["heads"], page["settings"]["sizes"][0]
        rows = []
        for name, kernel in dict.fromkeys((each["mechanism"], each["kernel"]) for each in measured):
            ways = {
                each["backward"]: each
                for each in measured
                if (each["mechanism"], each["kernel"]) == (name, kernel)
            }
            cells = [f"`{name}`", kernel]
            for backward in (False, True):
                cells += ratio(ways[backward]) if backward in ways else ["–", "–"]
            forward = ways.get(False) or ways[True]
            cells += [format_number(forward["memory_ratio"]), f"{forward['error']:.0e}"]
            rows.append(cells)
        yield f"{length:,} tokens, batch 1, {heads} heads of {size}, {page['settings']['dtype']}, on {named}:"
        yield markdown(HEADS, rows, rule="---")


def ratio(row: dict) -> list[str]:
    """Median, and least to most."""
    found = row["ratio"]
    return [
        format_number(found["median"]),
        f"{format_number(found['least'])}–{format_number(found['largest'])}",
    ]


def cell(spread: dict) -> str:
    """Median, least and most."""
    median, least, largest = (format_number(spread[name]) for name in ("median", "least", "largest"))
    return f"{median} ({least}–{largest})"


def native_page() -> Iterator[str]:
    """A part of speed.md."""
    page = read_numbers("speed", "native")
    facts = page["machine"]
    yield (
        f"2,048 tokens, batch 1, 8 heads of 64, on {facts['processor']}, {facts['threads']} threads, "
        f"torch {facts['torch']}, {facts['rounds']} rounds:"
    )
    cases: dict[tuple[str, ...], dict[bool, dict]] = {}
    for each in page["speed"]:
        key = each["mechanism"], each["kernel"], each["dtype"], each["mask"]
        cases.setdefault(key, {})[each["backward"]] = each
    rows = [
        [f"`{name}`", kernel, dtype, mask, cell(ways[False]["ratio"]), cell(ways[True]["ratio"])]
        for (name, kernel, dtype, mask), ways in cases.items()
        if kernel != "literal"
    ]
    yield markdown(("mechanism", "kernel", "type", "mask", "forward ×", "with backward ×"), rows)
    yield "A training step of the encoder, 16 heads of 16 on 300 numbers, 8 texts of 256 to 512 tokens:"
    steps = [[each["way"], cell(each["ratio"])] for each in page["training"]]
    yield markdown(("mechanism", "× softmax with sinusoids"), steps)
    yield "Relative errors of TanhMax in float32, 512 tokens, by the standard deviation of the scores:"
    found = [
        [format(each["spread"], "g"), each["kernel"], *(f"{each[name]:.1e}" for name in TENSORS)]
        for each in page["errors"]
    ]
    yield markdown(("SD", "kernel", *TENSORS), found)
    yield "Time over that of what serves otherwise, 8 heads of 64, forward / with backward:"
    by_name: dict[str, list[str]] = {}
    for each in page["crossover"]:
        row = by_name.setdefault(each["mechanism"], [f"`{each['mechanism']}` / {each['other']}"])
        row.append(f"{format_number(each['forward'])} / {format_number(each['backward'])}")
    yield markdown(("tokens", *map(str, LENGTHS)), list(by_name.values()))
