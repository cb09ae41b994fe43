"""A small BERT that says whether a text entails another, asked which name fits, in the folder my-nli."""

import random

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast, pipeline

import glasshead

ABOUT = {
    "food": ["soup", "cake", "coffee"],
    "travel": ["train", "hotel", "flight"],
    "music": ["song", "band", "choir"],
}
WORDS = ["great", "late", "cold", "loud", "fine"]
TEMPLATE = "This review is about {}."

draw = random.Random(0)
rows = []
for _ in range(3000):
    topic, name = draw.choice(list(ABOUT)), draw.choice(list(ABOUT))
    text = f"the {draw.choice(ABOUT[topic])} was {draw.choice(WORDS)} and {draw.choice(WORDS)}"
    rows.append((text, TEMPLATE.format(name), int(topic == name)))

pieces = BertWordPieceTokenizer()
pieces.train_from_iterator([part for text, claim, _ in rows for part in (text, claim)], vocab_size=300)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=32)
torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    initializer_range=0.2,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    id2label={0: "contradiction", 1: "entailment"},
    label2id={"contradiction": 0, "entailment": 1},
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(600):
    some = [rows[(32 * step + number) % len(rows)] for number in range(32)]
    read = tokenizer([row[0] for row in some], [row[1] for row in some], padding=True, return_tensors="pt")
    model(**read, labels=torch.tensor([row[2] for row in some])).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("my-nli")
tokenizer.save_pretrained("my-nli")

zero_shot = pipeline("zero-shot-classification", model=model.eval(), tokenizer=tokenizer)
text = "the hotel was cold and loud"
print(zero_shot(text, list(ABOUT), hypothesis_template=TEMPLATE))
print(
    glasshead.explain(
        zero_shot, text, choices=list(ABOUT), template=TEMPLATE, method="erasure-mean-embedding"
    )
)
