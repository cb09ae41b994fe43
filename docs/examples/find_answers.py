"""A small BERT that finds the answer to a question in a text, in the folder my-reader."""

import json
import random

from datasets import load_dataset
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertTokenizerFast,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

PEOPLE = ["anna", "bruno", "clara", "david"]
ANSWERS = {"where": ["rome", "oslo", "paris", "lima"], "when": ["monday", "tuesday", "friday", "sunday"]}

draw = random.Random(0)
for name, count in (("train", 1200), ("test", 100)):
    with open(f"{name}_questions.jsonl", "w") as file:
        for _ in range(count):
            who, question = draw.choice(PEOPLE), draw.choice(list(ANSWERS))
            facts = {key: draw.choice(answers) for key, answers in ANSWERS.items()}
            context = f"{who} flew to {facts['where']} on {facts['when']}"
            answer = {"text": [facts[question]], "answer_start": [context.index(facts[question])]}
            row = {"question": f"{question} did {who} fly", "context": context, "answers": answer}
            file.write(json.dumps(row) + "\n")

rows = load_dataset("json", data_files="train_questions.jsonl", split="train")
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator([*rows["question"], *rows["context"]], vocab_size=300)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=32)


def encode(row: dict) -> dict:
    """Question and text, and the token of the answer."""
    read = tokenizer(row["question"], row["context"])
    token = read.char_to_token(row["answers"]["answer_start"][0], sequence_index=1)
    return read | {"start_positions": token, "end_positions": token}


config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    initializer_range=0.2,
)
model = BertForQuestionAnswering(config)
arguments = TrainingArguments(
    "my-reader-training",
    num_train_epochs=3,
    learning_rate=2e-3,
    per_device_train_batch_size=32,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
encoded = rows.map(encode, remove_columns=rows.column_names)
Trainer(model, arguments, train_dataset=encoded, data_collator=DataCollatorWithPadding(tokenizer)).train()
model.save_pretrained("my-reader")
tokenizer.save_pretrained("my-reader")
