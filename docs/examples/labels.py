"""A small BERT of three labels, each of which a text may have or not, in the folder my-labels."""

import json
import random

from datasets import load_dataset
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizerFast,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

LABELS = {"price": ["cheap", "costly"], "service": ["waiter", "friendly"], "food": ["soup", "tasty"]}
OTHERS = "we came on a sunday and sat at the window near the door with our friends that evening"

draw = random.Random(0)
for name, count in (("train", 1500), ("test", 100)):
    with open(f"{name}_labels.jsonl", "w") as file:
        for _ in range(count):
            labels = [label for label in LABELS if draw.random() < 0.4]
            words = draw.sample(OTHERS.split(), 6) + [draw.choice(LABELS[label]) for label in labels]
            draw.shuffle(words)
            file.write(json.dumps({"text": " ".join(words), "labels": labels}) + "\n")

texts = load_dataset("json", data_files="train_labels.jsonl", split="train")
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator(texts["text"], vocab_size=500)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=64)
encoded = texts.map(
    lambda row: tokenizer(row["text"]) | {"labels": [float(label in row["labels"]) for label in LABELS]},
    remove_columns=texts.column_names,
)
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    problem_type="multi_label_classification",
    id2label=dict(enumerate(LABELS)),
)
model = BertForSequenceClassification(config)
arguments = TrainingArguments(
    "my-labels-training",
    num_train_epochs=8,
    learning_rate=1e-3,
    per_device_train_batch_size=32,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
Trainer(model, arguments, train_dataset=encoded, data_collator=DataCollatorWithPadding(tokenizer)).train()
model.save_pretrained("my-labels")
tokenizer.save_pretrained("my-labels")
