"""Which explanation should one trust? `glasshead.rank` of three classifiers on two data sets, five seeds each.

    python docs/results/rank.py run [TABLE …]   train and rank what is missing, PROCESSES (default 1) at a time

Writes a JSON file per table, of which `rank_tables.py` makes rank.md. MiniLM is read from the Hub, or from
its cache.
"""

from glasshead.training import TrainingConfig, preset_config
from study import Cell, Set, Study, main

SEEDS = 5
MINILM = "sentence-transformers/all-MiniLM-L6-v2"


def classifiers(folder: str, minilm_epochs: int) -> list[Cell]:
    """A pooled classifier, a small Transformer and a fine-tuned MiniLM of one data set."""
    minilm = TrainingConfig(
        preset="own",
        model=MINILM,
        learning_rate=5e-5,
        batch_size=32,
        epochs=minilm_epochs,
        by_length=True,
    )
    # The preset's 0.1 leaves attention nearly uniform (see transformers.md).
    encoder = preset_config("transformer-small", "encoder").with_changes(
        initializer_range=0.3, epochs=10
    )
    recipes = {"pooled": preset_config("s0-paper", "pooled"), "encoder": encoder, "minilm": minilm}
    return [Cell(name, Set(folder), recipe, SEEDS) for name, recipe in recipes.items()]


TABLES = {"sst2": classifiers("sst2", 1), "trec": classifiers("trec", 2)}
