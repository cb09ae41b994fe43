"""Two models that compute the same thing and whose signed attention is opposite."""

import copy
from pathlib import Path

import torch

from glasshead.explainers import observe_pooled
from glasshead.opening import load_run

run = load_run(Path("runs/tanhmax"))
twin = copy.deepcopy(run.model)
with torch.no_grad():
    for part in (twin.pooling.score.key, twin.pooling.value):
        for parameter in part.parameters():
            parameter.neg_()

batch = run.tokenizer(["a charming film with a dull ending"], return_tensors="pt")
ids, mask = batch["input_ids"], batch["attention_mask"].bool()
one, two = observe_pooled(run.model, ids, mask), observe_pooled(twin, ids, mask)

print("same logits:        ", torch.allclose(one.logits, two.logits))
print("opposite weights:   ", torch.allclose(one.weights, -two.weights))
contributions = [seen.weights[..., None] * seen.polarity for seen in (one, two)]
print("same contributions: ", torch.allclose(*contributions))
