"""How far can attention go from that of a run, and what do predictions pay?"""

from pathlib import Path

from glasshead.data import LoadOptions, load
from glasshead.papers.other_run import adversary_curve, train_adversaries
from glasshead.training import preset_config, train, train_repeats

data = load("my_reviews.csv", LoadOptions())
recipe = preset_config("s4", None).with_settings(
    {"encoder": "lstm", "optimizer": "adam", "learning_rate": 0.01, "temperature": 1.0, "epochs": 3}
)
base = train(data, recipe, Path("runs/map-base"))
seeds = train_repeats(data, recipe, Path("runs/map-seeds"), seeds=(1, 2))  # the ruler

against_it = recipe.with_settings({"attention": f"adversarial:{base}"})
models = train_adversaries(data, against_it, Path("runs/map-adversaries"), weights=(0.0, 0.03))
for point in adversary_curve(models, base, data["test"]["text"][:], seeds=[seeds]):
    row = point.row()
    print(
        f"λ = {row['weight']:g}  "
        f"maps {row['maps']:.3f} [{row['maps.low']:.3f}, {row['maps.high']:.3f}], {point.maps.verdict}; "
        f"predictions {row['predictions']:.3f}, another seed {row['predictions.null.seed']:.3f}"
    )
