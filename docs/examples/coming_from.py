"""Integrated gradients by Captum, written by hand, and by Glasshead: the same numbers."""

import torch
from captum.attr import LayerIntegratedGradients
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import glasshead

text = "a charming film with a dull ending"
model = AutoModelForSequenceClassification.from_pretrained("my-bert")
tokenizer = AutoTokenizer.from_pretrained("my-bert")

# Captum: a function of the ids, a baseline, a layer, and a sum over the size of the vectors.
batch = tokenizer(text, return_tensors="pt")
special = torch.tensor(
    tokenizer.get_special_tokens_mask(batch["input_ids"][0], already_has_special_tokens=True)
)
baseline = torch.where(special.bool(), batch["input_ids"], tokenizer.pad_token_id)
method = LayerIntegratedGradients(
    lambda ids, mask: model(ids, attention_mask=mask).logits, model.bert.embeddings.word_embeddings
)
attributed = method.attribute(
    batch["input_ids"],
    baselines=baseline,
    additional_forward_args=batch["attention_mask"],
    target=1,
    n_steps=50,
)
by_hand = attributed.sum(-1)[0]

# Glasshead
explained = glasshead.explain(
    model,
    text,
    tokenizer=tokenizer,
    method="captum:integrated-gradients",
    target="positive",
    target_fn="logit",
    unit="token",
)
ours = torch.tensor(explained[0].scores)
print("largest difference below 1e-5:", bool((ours - by_hand).abs().max() < 1e-5))
