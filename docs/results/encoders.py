"""Wu, Wu and Huang (2021) and Bhardwaj et al. (2021) again, at a size that two cores train.

    python docs/results/encoders.py run [TABLE …]   train what is missing, PROCESSES (default 1) at a time

Writes a JSON file per table, of which `encoder_tables.py` makes encoders.md. The data are read from the
folder GLASSHEAD_DATA (default ../shared/data beside the checkout). What is trained stays in runs/encoders,
and is trained again only if its recipe has changed.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from glasshead.data import LoadOptions, load
from glasshead.training import Recipe, recipe_for, train

HERE = Path(__file__).parent
DATA = Path(os.environ.get("GLASSHEAD_DATA", HERE.parents[2] / "shared" / "data"))
RUNS = HERE.parents[1] / "runs" / "encoders"
VALUES = HERE / "encoders"
VERSION = 1  # raised when the code changes what a recipe trains
FIVE = ("transformer", "shaw", "transformer-xl", "tener", "da-transformer")
# The usual mapping and adjustment are those of the table "trec".
MAPPINGS = ("clip", "linear", "exponent", "sigmoid")
ADJUSTMENTS = ("late-add", "late-multiply", "early-add")


@dataclass(frozen=True)
class Set:
    """A data set as it is read here."""

    folder: str
    options: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class Cell:
    """One number of a table: a name for it, the data, the recipe and the seeds that it is a mean over."""

    name: str
    data: Set
    recipe: Recipe
    seeds: int

    @property
    def mark(self) -> str:
        """What a number is valid for: the recipe, the data as they are read, and the code that trains."""
        told = json.dumps([VERSION, self.recipe.as_dict(), asdict(self.data)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:8]


def mechanisms(data: Set, model: str, seeds: int, **changes: Any) -> list[Cell]:
    """The five mechanisms on one data set."""
    return [
        Cell(word, data, recipe_for(f"{word}-small", model).with_changes(**changes), seeds) for word in FIVE
    ]


def distance_aware(data: Set, option: str, values: tuple[str, ...], **changes: Any) -> list[Cell]:
    """Distance-aware attention with one option after the other."""
    recipe = recipe_for("da-transformer-small", "encoder").with_changes(**changes)
    return [
        Cell(
            value,
            data,
            recipe.with_changes(attention={"position": {"name": "distance-aware", option: value}}),
            5,
        )
        for value in values
    ]


def heads(
    data: Set, model: str, sizes: tuple[int, ...], seeds: int, presets: str = "-small", **changes: Any
) -> list[Cell]:
    """Concatenated and added heads with keys of several sizes."""
    return [
        Cell(
            f"{title} {size}",
            data,
            recipe_for(preset + presets, model).with_changes(key_size=size, **changes),
            seeds,
        )
        for title, preset in (("Con", "regular"), ("Add", "identifiable"))
        for size in sizes
    ]


SST2, TREC, AG, SNLI = Set("sst2"), Set("trec"), Set("ag_news"), Set("snli")
AMAZON = Set("amazon_electronics")
RATINGS = Set("amazon_electronics", LoadOptions(task="regression"))
VALIDATION = {"dev_fraction": 0.3}
SST3 = Set("sst5", LoadOptions(labels=3))
WIDE = (1, 4, 16, 64)
NARROW = (1, 16, 64)

TABLES: dict[str, list[Cell]] = {
    "trec": mechanisms(TREC, "encoder", 5),
    "sst2": mechanisms(SST2, "encoder", 5, epochs=8),
    "mappings": distance_aware(TREC, "mapping", MAPPINGS),
    "adjustments": distance_aware(TREC, "adjust", ADJUSTMENTS),
    "ag_news": mechanisms(AG, "encoder", 3, epochs=6, max_length=128),
    "snli": mechanisms(SNLI, "pair-encoder", 3, epochs=5),
    "amazon": mechanisms(AMAZON, "hierarchical", 3, epochs=8, max_length=256),
    "ratings": mechanisms(RATINGS, "hierarchical", 3, epochs=8, max_length=256),
    "heads_trec": heads(Set("trec", LoadOptions(**VALIDATION)), "encoder", WIDE, 3),
    "heads_sst3": heads(SST3, "encoder", WIDE, 3),
    "heads_imdb": heads(Set("imdb", LoadOptions(rows=5000, **VALIDATION)), "encoder", WIDE, 1),
    "heads_ag_news": heads(AG, "encoder", NARROW, 1),
    "heads_dbpedia": heads(Set("dbpedia_sample"), "encoder", NARROW, 1),
    "heads_snli": heads(SNLI, "pair-encoder", NARROW, 1),
}
# The sizes of the paper: for a GPU. The 30 % that is cut off as dev is a matter of the data here.
FULL: dict[str, list[Cell]] = {
    "full_trec": heads(Set("trec", LoadOptions(**VALIDATION)), "encoder", WIDE, 3, ""),
    "full_sst3": heads(SST3, "encoder", WIDE, 3, ""),
    "full_ag_news": heads(AG, "encoder", WIDE, 3, ""),
    "full_dbpedia": heads(Set("dbpedia_sample"), "encoder", WIDE, 3, ""),
    "full_snli": heads(SNLI, "pair-encoder", WIDE, 3, ""),
    "full_imdb": heads(Set("imdb", LoadOptions(**VALIDATION)), "encoder", WIDE, 1, ""),
}
TABLES |= FULL


def read(name: str) -> dict[str, Any]:
    """What is known of a table."""
    path = VALUES / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def run(names: list[str]) -> None:
    """Train everything that is not there yet; an interrupted training begins again."""
    VALUES.mkdir(exist_ok=True)
    asked = names or [name for name in TABLES if name not in FULL]
    known = {name: read(name) for name in asked}
    jobs = [
        (name, cell, seed)
        for name in asked
        for cell, seed in cells(name)
        if known[name].get(key(cell, seed), {}).get("recipe") != cell.mark
    ]
    processes = int(os.environ.get("PROCESSES", 1))
    trained = Parallel(processes, return_as="generator_unordered")(delayed(number)(*job) for job in jobs)
    for name, entry, found in trained:
        values = known[name]
        values[entry] = found
        order = [key(*each) for each in cells(name)]
        lines = [f"{json.dumps(each)}: {json.dumps(values[each])}" for each in order if each in values]
        (VALUES / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(name, entry, found["test"], f"{found['seconds']:.0f} s", flush=True)


def number(name: str, cell: Cell, seed: int) -> tuple[str, str, dict[str, Any]]:
    """Train one cell with one seed, unless its run is there: its table, its key and what the tables need."""
    out = RUNS / name / f"{cell.name.replace(' ', '-')}-{cell.mark}" / f"seed-{seed}"
    if not out.exists():
        source = {"source": cell.data.folder, "options": asdict(cell.data.options)}
        train(loaded(name), cell.recipe, out, seed=seed, source=source, overwrite=True)
    return name, key(cell, seed), rounded(summary(out)) | {"recipe": cell.mark}


@lru_cache(maxsize=1)
def loaded(table: str) -> Any:
    """The data of a table, read once in a process."""
    data = TABLES[table][0].data
    return load(DATA / data.folder, data.options)


def key(cell: Cell, seed: int) -> str:
    """The name of a number in the file of a table."""
    return f"{cell.name} | {seed}"


def cells(name: str) -> Iterator[tuple[Cell, int]]:
    """Every cell with every seed, seed by seed, so that an unfinished table is a fair one."""
    for seed in range(max(cell.seeds for cell in TABLES[name])):
        for cell in TABLES[name]:
            if seed < cell.seeds:
                yield cell, seed


def summary(run: Path) -> dict[str, Any]:
    """The numbers of one run that the tables need; of distance-aware layers the learned w and v too."""
    from safetensors.numpy import load_file

    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    learned = {
        name: value.tolist()
        for name, value in load_file(run / "model.safetensors").items()
        if name.endswith((".position.w", ".position.v")) and value.ndim == 1  # of others they are maps
    }
    return {
        "dev": metrics["dev"],
        "test": metrics["test"],
        "rows": record["data"]["rows"],
        "seconds": record["seconds"],
        "learned": learned,
    }


def rounded(value: Any) -> Any:
    """Five decimals: more is noise in a file that people compare."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and set(sys.argv[2:]) <= set(TABLES):
        run(sys.argv[2:])
    else:
        sys.exit(f"{__doc__}\nTABLE: {', '.join(TABLES)}")
