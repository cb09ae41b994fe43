"""Fine-tune a pretrained encoder with LoRA, from a Hub id or a folder; the adapters alone are in my-adapters.

python adapters.py sentence-transformers/all-MiniLM-L6-v2 my_reviews.csv
"""

import sys

from datasets import load_dataset
from peft import LoraConfig, get_peft_model
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
tokenizer = AutoTokenizer.from_pretrained(encoder)
model = get_peft_model(
    AutoModelForSequenceClassification.from_pretrained(encoder),
    LoraConfig(task_type="SEQ_CLS", r=8, target_modules=["query", "value"]),
)
data = load_dataset("csv", data_files=reviews, split="train[:160]")
load_dataset("csv", data_files=reviews, split="train[160:240]").to_csv("test.csv")
encoded = data.map(
    lambda row: tokenizer(row["text"], truncation=True) | {"labels": int(row["label"] == "positive")},
    remove_columns=data.column_names,
)
arguments = TrainingArguments(
    "my-adapters-training",
    num_train_epochs=4,
    learning_rate=5e-3,
    per_device_train_batch_size=16,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
Trainer(model, arguments, train_dataset=encoded, data_collator=DataCollatorWithPadding(tokenizer)).train()
model.save_pretrained("my-adapters")
tokenizer.save_pretrained("my-adapters")

import glasshead

explained = glasshead.explain(model, "a charming film with a dull ending", tokenizer=tokenizer)
print(explained)
print(glasshead.open("my-adapters").notes)
