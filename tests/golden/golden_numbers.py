"""Numbers that a rebuild must not change: eleven tiny models through four commands, by the front door alone.

`python tests/golden/golden_numbers.py` writes them down; with ``--check`` they are computed anew, and what
differs is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from golden_models import MODELS, GoldenModel

import glasshead

FILE = Path(__file__).with_name("golden_numbers.json")
TOLERANCE = 1e-9
DIGITS = 12
LIMIT = 22
METHODS = (
    "attention", "gradient", "gradient-attention", "captum:integrated-gradients", "erasure", "rollout",
    "attn-lrp", "value-zeroing", "effective-attention",
)  # fmt: skip
RANKED = ("attention", "erasure")
NAMED_AUDITS = ("heads", "operators")
"""Audits that are run only if they are named, but for the search of other maps, which takes seconds."""
SEARCH = "adversarial"
SLICED = ("agreement", "faithfulness")
UNSUPPORTED = "not supported"

FINDING = ("estimate", "interval", "null", "n", "significant_fraction", "over_null", "status")
ATTRIBUTION = (
    "tokens", "scores", "target", "predicted", "prediction", "contributions", "intervals", "conditioning",
    "completeness_gap", "word_scores", "sink", "halves",
)  # fmt: skip
DIFFERENCE = ("estimate", "interval", "n", "side")


def numbers_of(name: str) -> dict[str, Any]:
    """All numbers of a model."""
    golden = MODELS[name]()
    commands: dict[str, Callable[[GoldenModel], Any]] = {
        "explain": explained,
        "audit": audited,
        "rank": ranked,
        "heads": headed,
    }
    if golden.writes:
        commands["generate"] = written
    return {command: attempt(lambda run=run: run(golden)) for command, run in commands.items()}


def attempt(compute: Callable[[], Any]) -> Any:
    """What is computed, or that it cannot be."""
    try:
        return compute()
    except glasshead.InputError:
        return UNSUPPORTED


def explained(golden: GoldenModel) -> dict[str, Any]:
    """Scores by every method, and the intervals of weights."""
    asked: dict[str, dict[str, Any]] = {method: {"method": method} for method in METHODS}
    asked["attention with intervals"] = {"intervals": True}
    asked["tokens"] = {"method": "gradient", "unit": "token"}

    def explain(options: Mapping[str, Any]) -> Any:
        attributions = glasshead.explain(
            golden.model,
            golden.inputs,
            tokenizer=golden.reader,
            pairs=golden.pairs,
            dtype="float64",
            **options,
        )
        return [kept(each, ATTRIBUTION) for each in json.loads(attributions.to_json())]

    return {name: attempt(lambda options=options: explain(options)) for name, options in asked.items()}


def audited(golden: GoldenModel) -> dict[str, Any]:
    """Findings of the audits that run by themselves and of the others; of some models also in slices."""

    def audit(**options: Any) -> Any:
        train = {} if golden.writes else {"train": golden.rows}
        card = glasshead.audit(
            golden.model, golden.rows, tokenizer=golden.reader, limit=LIMIT, draws=5, **train, **options
        )
        document = json.loads(card.to_json())
        tests = [kept(each, ("estimate", "interval", "p", "n", "status")) for each in document["slice_tests"]]
        return {"findings": findings(document["findings"]), "slice tests": tests}

    asked: dict[str, dict[str, Any]] = {"by themselves": {}}
    asked |= {name: {"audits": [name]} for name in NAMED_AUDITS}
    if golden.thorough:
        asked |= {"by length": {"by": "length", "audits": SLICED}, SEARCH: {"audits": [SEARCH]}}
    return {name: attempt(lambda options=options: audit(**options)) for name, options in asked.items()}


def ranked(golden: GoldenModel) -> dict[str, Any]:
    """Which methods lead."""
    ranking = json.loads(
        glasshead.rank(golden.model, golden.rows, RANKED, tokenizer=golden.reader, limit=LIMIT).to_json()
    )
    return {
        "methods": {
            method["name"]: {
                "findings": findings(method["findings"]),
                "standings": method["standings"],
            }
            for method in ranking["methods"]
        },
        "differences": [{"name": each["name"], **kept(each, DIFFERENCE)} for each in ranking["differences"]],
        "agreement": [
            {"one": each["one"], "other": each["other"], **kept(each["finding"], FINDING)}
            for each in ranking["agreement"]
        ],
    }


def headed(golden: GoldenModel) -> dict[str, Any]:
    """What every head does."""
    report = json.loads(
        glasshead.heads(golden.model, golden.rows, tokenizer=golden.reader, limit=LIMIT).to_json()
    )
    return {
        "layers": [
            {"mechanism": layer["mechanism"], "findings": findings(layer["findings"])}
            for layer in report["layers"]
        ],
        "heads": {
            f"{head['layer']}-{head['head']}": {
                "pattern": head["pattern"],
                "distance": head["distance"],
                "findings": findings(head["findings"]),
            }
            for head in report["heads"]
        },
        "agreement": report["agreement"],
        "findings": findings(report["findings"]),
    }


def written(golden: GoldenModel) -> dict[str, Any]:
    """What a language model writes."""
    answers = {}
    for strategy in ("greedy", "beam=2", "nucleus=0.9"):
        answer = glasshead.generate(
            golden.model, golden.inputs[0], tokenizer=golden.reader, tokens=6, strategy=strategy, seed=0,
            dtype="float64",
        )  # fmt: skip
        answers[strategy] = kept(
            json.loads(answer.to_json()), ("answer", "ids", "answer_tokens", "perplexity")
        )
    return answers


def findings(listed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The numbers of findings, by what they are about."""
    return {
        "/".join(each[part] for part in ("audit", "statistic", "against", "by", "group")): kept(each, FINDING)
        | {
            "undefined": sum(each["undefined"].values()),
            "over_null": {
                null: kept(difference, ("estimate", "interval"))
                for null, difference in each["over_null"].items()
            },
        }
        for each in listed
    }


def kept(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Some of the values, without those that are not there."""
    return {name: values[name] for name in names if values.get(name) not in (None, {}, [], "")}


def rounded(value: Any) -> Any:
    """The same with numbers of 12 digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.{DIGITS - 1}e}") if isinstance(value, float) else value


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and word, with its place."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in items:
            yield from leaves(part, f"{path} > {name}" if path else str(name))
    else:
        yield path, value


def differences(before: Any, after: Any, tolerance: float = TOLERANCE) -> list[str]:
    """What is not the same, a line each."""
    old, new = dict(leaves(before)), dict(leaves(after))
    gone = [f"{path}: is gone (was {old[path]!r})" for path in old if path not in new]
    come = [f"{path}: is new ({new[path]!r})" for path in new if path not in old]
    other = [
        f"{path}: {old[path]!r} became {new[path]!r}"
        for path in old
        if path in new and not same(old[path], new[path], tolerance)
    ]
    return gone + come + other


def same(old: Any, new: Any, tolerance: float) -> bool:
    """Whether two values are equal, numbers within the tolerance."""
    if is_number(old) and is_number(new):
        return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)
    return bool(old == new)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the numbers, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what was written down")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="relative and absolute")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this one")
    given = parser.parse_args(arguments)
    names = given.model or list(MODELS)
    numbers = rounded({name: numbers_of(name) for name in names})
    if not given.check:
        text = json.dumps(numbers, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        FILE.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
        return 0
    before = {name: json.loads(FILE.read_text(encoding="utf-8"))[name] for name in names}
    lines = differences(before, json.loads(json.dumps(numbers)), given.tolerance)
    print("\n".join([*lines, f"{len(lines)} of {len(dict(leaves(before))):,} values differ"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
