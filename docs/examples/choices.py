"""A small BERT that chooses where something is eaten or worn, in the folder my-chooser."""

import json
import random

import torch
from datasets import load_dataset
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForMultipleChoice, BertTokenizerFast, Trainer, TrainingArguments

THINGS = {"eat": ["an apple", "some soup", "a plum"], "wear": ["a coat", "some boots", "a hat"],
          "read": ["a novel", "some news", "a letter"]}  # fmt: skip
PEOPLE = ["anna", "bruno", "clara", "david"]

draw = random.Random(0)
for name, count in (("train", 1500), ("test", 100)):
    with open(f"{name}_choices.jsonl", "w") as file:
        for _ in range(count):
            verb, choices = draw.choice(list(THINGS)), [draw.choice(things) for things in THINGS.values()]
            right = choices[list(THINGS).index(verb)]
            draw.shuffle(choices)
            question = f"{draw.choice(PEOPLE)} wants to {verb} something"
            row = {"question": question, "choices": choices, "label": choices.index(right)}
            file.write(json.dumps(row) + "\n")

rows = load_dataset("json", data_files="train_choices.jsonl", split="train")
pieces = BertWordPieceTokenizer()
choices = [choice for some in rows["choices"] for choice in some]
pieces.train_from_iterator([*rows["question"], *choices], vocab_size=300)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=32)


def collate(some: list[dict]) -> dict[str, torch.Tensor]:
    """Each question beside each of its choices."""
    questions = [row["question"] for row in some for _ in row["choices"]]
    choices = [choice for row in some for choice in row["choices"]]
    read = tokenizer(questions, choices, padding=True, return_tensors="pt")
    inputs = {name: numbers.unflatten(0, (len(some), -1)) for name, numbers in read.items()}
    return inputs | {"labels": torch.tensor([row["label"] for row in some])}


config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    initializer_range=0.2,
)
model = BertForMultipleChoice(config)
arguments = TrainingArguments(
    "my-chooser-training",
    num_train_epochs=5,
    learning_rate=1e-3,
    per_device_train_batch_size=16,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
    remove_unused_columns=False,
)
Trainer(model, arguments, train_dataset=rows, data_collator=collate).train()
model.save_pretrained("my-chooser")
tokenizer.save_pretrained("my-chooser")
