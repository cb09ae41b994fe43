"""A mechanism in a Hugging Face model: plug, save, load."""

import torch
from transformers import BertConfig, BertForSequenceClassification

import glasshead

torch.manual_seed(0)
config = BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=64
)
model = BertForSequenceClassification(config).eval()  # any model: from_pretrained("some-bert")
batch = {"input_ids": torch.randint(5, 100, (2, 9)), "attention_mask": torch.ones(2, 9, dtype=torch.long)}
with torch.no_grad():
    before = model(**batch).logits
    glasshead.plug(model, "tanhmax+distance-aware")
    after = model(**batch).logits
print("changed:", not torch.equal(before, after))

model.save_pretrained("plugged")
again = glasshead.load("plugged")
with torch.no_grad():
    print("same after loading:", torch.equal(again(**batch).logits, after))
print(again.config.glasshead_mechanism)

glasshead.unplug(model)
with torch.no_grad():
    print("as it was:", torch.allclose(model(**batch).logits, before, atol=1e-6))
