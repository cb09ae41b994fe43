"""Wu, Wu and Huang (2021) and Bhardwaj et al. (2021) again, at a size that two cores train.

    python docs/results/encoders.py run [TABLE …]   train what is missing, PROCESSES (default 1) at a time

These runs are withdrawn (see transformers.md), and nothing should be trained by them again: their recipes are
those of that time, with embeddings times √d_e in the vanilla Transformer alone. Writes a JSON file per table,
of which `encoder_tables.py` makes encoders.md. The tables "full_…", in the sizes of the paper, are trained
only when they are named.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from glasshead.data import LoadOptions
from glasshead.training import TrainingConfig, preset_config
from study import Cell, Set, Study, main

FIVE = ("transformer", "shaw", "transformer-xl", "tener", "da-transformer")
# The usual mapping and adjustment are those of the table "trec".
MAPPINGS = ("clip", "linear", "exponent", "sigmoid")
ADJUSTMENTS = ("late-add", "late-multiply", "early-add")


def first_scale(recipe: TrainingConfig) -> TrainingConfig:
    """The preset as it was when these tables were made: embeddings are scaled where sinusoids are added."""
    later = ("scale_embedding", "layernorm_embedding")
    rest = {name: value for name, value in recipe.architecture.items() if name not in later}
    return replace(recipe, architecture=rest)


def mechanisms(data: Set, model: str, seeds: int, **changes: Any) -> list[Cell]:
    """The five mechanisms on one data set."""
    return [
        Cell(word, data, first_scale(preset_config(f"{word}-small", model)).with_changes(**changes), seeds)
        for word in FIVE
    ]


def distance_aware(data: Set, option: str, values: tuple[str, ...], **changes: Any) -> list[Cell]:
    """Distance-aware attention with one option after the other."""
    recipe = first_scale(preset_config("da-transformer-small", "encoder")).with_changes(**changes)
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
    """Concatenated and summed heads with keys of several sizes."""
    return [
        Cell(
            f"{title} {size}",
            data,
            preset_config(preset + presets, model).with_changes(head_dim=size, **changes),
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
    "heads_imdb": heads(Set("imdb", LoadOptions(max_examples=5000, **VALIDATION)), "encoder", WIDE, 1),
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


STUDY = Study("encoders", TABLES, summary, usual=[name for name in TABLES if name not in FULL])


if __name__ == "__main__":
    main(STUDY, __doc__)
