"""The heads of a small encoder in Python: what each looks at, and what is lost without it."""

from pathlib import Path

import glasshead
from glasshead.data import load
from glasshead.training import preset_config, train

recipe = preset_config("transformer-small", "encoder").with_changes(epochs=2)
run = train(load("my_reviews.csv"), recipe, Path("runs/small-encoder"))
report = glasshead.heads(run, "my_reviews.csv", limit=40)  # shows itself in a notebook
table = report.to_pandas()
removals = table[table.statistic == "removal-size"].sort_values("estimate", ascending=False)
print(removals[["layer", "head", "estimate", "low", "high", "verdict"]].head(3).to_string(index=False))
for layer in report.layers:
    print(
        "layer", layer.layer, [finding.verdict for finding in layer.findings if finding.statistic == "share"]
    )
print("\n".join(report.conclusion))
report.save("small-encoder.html")
