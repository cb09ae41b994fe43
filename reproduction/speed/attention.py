"""The measured table of docs/results/speed.md, from what `python -m benchmarks.attention` wrote.

python -m benchmarks.attention --full --out docs/results/attention.json
python -m benchmarks.attention_table
"""

import json
from pathlib import Path

from benchmarks.measuring import format_number

RESULTS = Path(__file__).parents[1] / "docs" / "results"
MEASURED = ("attention.json", "attention_long.json")


def lines(page: dict) -> list[str]:
    """One table for each length: the ratios to fused softmax, forward and with backward, and memory."""
    machine = page["machine"]
    named = f"{machine['processor']}, {machine['threads']} threads, torch {machine['torch']}"
    made: list[str] = []
    for length in dict.fromkeys(each["length"] for each in page["results"]):
        measured = [each for each in page["results"] if each["length"] == length]
        heads, size = page["settings"]["heads"], page["settings"]["sizes"][0]
        made += [
            "",
            f"{length:,} tokens, batch 1, {heads} heads of {size}, {page['settings']['dtype']}, on {named}:",
            "",
            "| mechanism | kernel | forward × | range | with backward × | range | memory × | error |",
            "|---|---|---|---|---|---|---|---|",
        ]
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
            made.append(f"| {' | '.join(cells)} |")
    return made


def ratio(row: dict) -> list[str]:
    """Median, and least to most."""
    found = row["ratio"]
    return [
        format_number(found["median"]),
        f"{format_number(found['least'])}–{format_number(found['largest'])}",
    ]


def page() -> str:
    """All of them."""
    given = [json.loads((RESULTS / name).read_text(encoding="utf-8")) for name in MEASURED]
    return "\n".join(line for each in given for line in lines(each)).strip() + "\n"


if __name__ == "__main__":
    (RESULTS / "attention.md").write_text(page(), encoding="utf-8")
