"""Is an audit that is killed again and again the audit? 100 times SIGKILL, each at a random moment.

An audit of a small random BERT is killed after a time drawn uniformly from that of an uninterrupted audit,
resumed, killed again, and so on until it is finished; then the next one begins in a new folder. Every
finished card, all of card.json but its date and its seconds, is compared with that of the uninterrupted one.

Each audit runs in a fork of a process that has imported everything and computed nothing, so that kills hit
the work and not the imports.

    python -m benchmarks.kills
    python -m benchmarks.kills --kills 10 --texts 40
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import print_table
from benchmarks.random_bert import random_classifier, random_texts, word_tokenizer

AUDITS = "agreement,performance,perturbation,faithfulness"
WORDS = 50
STEP = 0.002
"""Seconds between two looks at a process."""
NOT_COMPARED = ("date", "seconds")
PHASES = (
    "before the first shard",
    "between shards",
    "while a shard was written",
    "all is measured: judging",
    "while the report was written",
    "after it was finished",
)
KILLED = "killed"


def write_subject(folder: Path, texts: int) -> tuple[Path, Path]:
    """A model and its data, as a command reads them."""
    model, data = folder / "model", folder / "texts.jsonl"
    random_classifier(2, 16, 2, WORDS).save_pretrained(model)
    word_tokenizer(WORDS).save_pretrained(model)
    rng = np.random.default_rng(0)
    rows = random_texts(rng.integers(3, 12, size=texts).tolist(), WORDS, rng)
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return model, data


def run_command(arguments: list[str], modules: Path | None = None) -> None:
    """A command of Glasshead in this process, which ends with it; ``modules`` is where to say what it has
    imported."""
    from glasshead.cli import app

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    if modules is None:
        os.dup2(quiet, 2)
    code = app(arguments, standalone_mode=False)
    if modules is not None:
        modules.write_text("\n".join(sys.modules), encoding="utf-8")
    os._exit(code or 0)


def fork_command(arguments: list[str], seconds: float | None = None, modules: Path | None = None) -> str:
    """Run a command in a fork, and kill it after so many ``seconds``; what came of it.

    Raises:
        SystemExit: if it fails.
    """
    process = os.fork()
    if process == 0:
        try:
            run_command(arguments, modules)
        finally:
            os._exit(70)
    began = time.monotonic()
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if seconds is not None and time.monotonic() - began >= seconds:
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            break
        time.sleep(STEP)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return KILLED
    if status:
        raise SystemExit(f"it failed ({os.waitstatus_to_exitcode(status)}): glasshead {' '.join(arguments)}")
    return ""


def import_again(names: list[str]) -> None:
    """Import what another process had imported."""
    for name in names:
        if name.partition(".")[0] != "__main__":
            try:
                import_module(name)
            except Exception:  # such as a name that only stands for another module
                continue


def into(command: list[str], out: Path) -> list[str]:
    """A command that writes ``out``, or goes on with it."""
    begun = out.exists() or out.with_name(f"{out.name}.parts").exists()
    return [*command, "--out", str(out), *(["--resume"] if begun else [])]


def phase_of(out: Path, shards: int) -> str:
    """How far an audit into ``out`` was when it was killed; it has so many ``shards`` in all."""
    parts, work = out.with_name(f"{out.name}.parts"), out.with_name(f".{out.name}.glasshead-new")
    if out.exists():
        return PHASES[5]
    if list(parts.rglob("*.aside")):
        return PHASES[2]
    whole = len(list(parts.rglob("*.parquet")))
    if whole < shards:
        return PHASES[1] if whole else PHASES[0]
    return PHASES[4] if list(work.rglob("*")) else PHASES[3]


def card_of(out: Path) -> dict[str, Any]:
    """The card in a folder, as it was written, without what depends on the clock."""
    card: dict[str, Any] = json.loads((out / "card.json").read_text(encoding="utf-8"))
    card["facts"] = {name: value for name, value in card["facts"].items() if name not in NOT_COMPARED}
    return card


def differences(one: Any, other: Any, where: str = "card") -> Iterator[str]:
    """Where two values of JSON differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            if key in one and key in other:
                yield from differences(one[key], other[key], f"{where}.{key}")
            else:
                yield f"{where}.{key}: only one has it"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{where}[{place}]")
    elif one != other:
        yield f"{where}: {one} and {other}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--texts", type=int, default=130, help="in shards of up to 32")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    arguments = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # threads do not survive a fork
    moments, hit, kills, finished, differing = random.Random(arguments.seed), Counter[str](), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, data = write_subject(folder, arguments.texts)
        command = ["audit", str(model), str(data), "--audits", AUDITS]
        modules = folder / "modules"
        fork_command([*command, "--out", str(folder / "first")], modules=modules)
        import_again(modules.read_text(encoding="utf-8").split())
        whole = folder / "whole"
        began = time.monotonic()
        fork_command([*command, "--out", str(whole)])
        seconds = time.monotonic() - began
        expected, shards = card_of(whole), len(list((whole / "measurements").rglob("*.parquet")))
        print(f"{arguments.texts} texts in {shards} shards: {seconds:.1f} s uninterrupted", flush=True)
        while kills < arguments.kills:
            out = folder / f"audit-{finished}"
            if fork_command(into(command, out), moments.uniform(0, seconds)) == KILLED:
                kills += 1
                hit[phase_of(out, shards)] += 1
                if kills < arguments.kills:
                    continue
                fork_command(into(command, out))
            finished += 1
            found = list(differences(expected, card_of(out)))
            differing += bool(found)
            for one in found[:5]:
                print(f"{out.name}: {one}", flush=True)
    print_table(
        f"{kills} kills, {finished} audits finished, {differing} of them differ from the uninterrupted one",
        PHASES,
        {"killed": str, "times": lambda phase: hit[phase]},
    )
    if differing:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
