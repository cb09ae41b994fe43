"""Fine-tune a pretrained encoder with Trainer, from a Hub id or a folder; the classifier is in my-minilm.

python minilm.py sentence-transformers/all-MiniLM-L6-v2 my_reviews.csv
"""

import sys

from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    set_seed,
)

encoder, reviews = sys.argv[1:]
set_seed(0)
data = load_dataset("csv", data_files=reviews, split="train").train_test_split(
    train_size=160, test_size=80, seed=0
)
for split, rows in data.items():
    rows.to_csv(f"{split}.csv")

names = ["negative", "positive"]
tokenizer = AutoTokenizer.from_pretrained(encoder)
model = AutoModelForSequenceClassification.from_pretrained(encoder, id2label=dict(enumerate(names)))
encoded = data.map(
    lambda row: tokenizer(row["text"], truncation=True) | {"labels": names.index(row["label"])},
    remove_columns=data["train"].column_names,
)
arguments = TrainingArguments(
    "my-minilm-training",
    num_train_epochs=2,
    learning_rate=2e-4,
    per_device_train_batch_size=16,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=encoded["train"],
    eval_dataset=encoded["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=lambda found: {"accuracy": (found.predictions.argmax(-1) == found.label_ids).mean()},
)
trainer.train()
print("test accuracy:", trainer.evaluate()["eval_accuracy"])
model.save_pretrained("my-minilm")
tokenizer.save_pretrained("my-minilm")
