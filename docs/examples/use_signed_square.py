"""Import the file, and the new activation can be trained, explained and audited."""

from pathlib import Path

import signed_square  # noqa: F401  # registers the activation

from glasshead.attention import ACTIVATIONS
from glasshead.audits import audit
from glasshead.data import LoadOptions, load
from glasshead.opening import load_run
from glasshead.training import TRAINING_PRESETS, train

print(list(ACTIVATIONS))

data = load("synthetic", LoadOptions(generator={"instances": 400}))
recipe = TRAINING_PRESETS["s0-paper"].with_changes(attention="signed-square")
run = load_run(train(data, recipe, Path("runs/signed-square")))
card = audit(run, data["test"], audits=["performance", "tokens"])
for name in ("performance.accuracy.all", "tokens.separation.weight.positive vs negative"):
    finding = card.find(name)
    print(f"{name}: {finding.estimate:.3f}, {finding.verdict}")
