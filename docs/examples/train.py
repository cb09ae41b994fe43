"""Train from Python, then use the run folder with Hugging Face's own tools."""

from pathlib import Path

from transformers import pipeline

from glasshead.data import LoadOptions, load
from glasshead.opening import load_run
from glasshead.training import TRAINING_PRESETS, train

data = load("synthetic", LoadOptions(generator={"instances": 400}))
recipe = TRAINING_PRESETS["s0-paper"].with_changes(attention="tanhmax", epochs=4)
folder = train(data, recipe, Path("runs/python"), seed=1)

run = load_run(folder)
print(type(run.model).__name__, run.labels, "gauge", run.record["gauge"]["sign"])

classify = pipeline("text-classification", model=run.model, tokenizer=run.tokenizer, device="cpu")
print(classify("a charming and heartfelt film"))
