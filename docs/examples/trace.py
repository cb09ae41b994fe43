"""Read, differentiate and replace the attention of a Hugging Face model."""

import torch
from transformers import BertConfig, BertForSequenceClassification

import glasshead
from glasshead.trace import permute, uniform

torch.manual_seed(0)
sizes = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
model = BertForSequenceClassification(BertConfig(**sizes, initializer_range=0.3)).eval()
glasshead.plug(model, "tanhmax")
batch = {
    "input_ids": torch.tensor([[2, 17, 5, 42, 3], [2, 8, 3, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
}

# Read: layer 1, head 2, and what the first query attends to.
with torch.no_grad(), glasshead.record(model, layers=[1], heads=[2], rows=[0]) as trace:
    logits = model(**batch).logits
seen = trace[1]
print("module:  ", seen.name)
print("weights: ", list(seen.weights.shape))
print("2nd text:", [round(a, 2) for a in seen.weights[1, 0, 0].tolist()])

# Look: a notebook draws the maps of a trace or of a layer by itself.
trace.to_pandas().to_csv("weights.csv")
seen.save("layer.svg")

# What each token adds to the layer's output: a_ij T_j with T = V D.
print("T = V D: ", list(seen.projected_values.shape))

# Differentiate: the effect of every weight on the first logit.
with glasshead.record(model, keep_graph=True) as trace:
    logit = model(**batch).logits[:, 0].sum()
gradients = torch.autograd.grad(logit, [layer.weights for layer in trace])
print("gradient:", [list(each.shape) for each in gradients])

# Replace: does other attention change the prediction?
edits = {
    "halved": lambda layer, weights, call: weights / 2,
    "uniform": uniform,
    "permuted": permute(torch.Generator().manual_seed(0)),
}
for name, edit in edits.items():
    with torch.no_grad(), glasshead.intervene(model, edit, layers=[2]):
        change = (model(**batch).logits - logits).abs().max()
    print(f"{name:9}", f"{change:.3f}")
