"""A small BERT that guesses hidden words, in the folder my-guesser: in its lines every thing has a colour."""

import random

from datasets import Dataset
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizerFast,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

COLOURS = {"lemon": "yellow", "banana": "yellow", "grass": "green", "frog": "green", "sky": "blue"}
PLACES = ["here", "there", "today", "again", "they say", "i think"]

draw = random.Random(0)
lines = []
for _ in range(3000):
    thing, place = draw.choice(list(COLOURS)), draw.choice(PLACES)
    middle = draw.choice(["is", "was", "looks", "must be"])
    lines.append(f"{place} the {thing} {middle} {COLOURS[thing]} and {draw.choice(['big', 'small', 'old'])}")
with open("lines.txt", "w") as file:
    file.write("\n".join(lines[:200]))

pieces = BertWordPieceTokenizer()
pieces.train_from_iterator(lines, vocab_size=300)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=32)
texts = Dataset.from_dict({"text": lines[200:]})
encoded = texts.map(lambda row: tokenizer(row["text"]), remove_columns=["text"])
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    initializer_range=0.2,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = BertForMaskedLM(config)
arguments = TrainingArguments(
    "my-guesser-training",
    num_train_epochs=8,
    learning_rate=2e-3,
    per_device_train_batch_size=32,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.3)
Trainer(model, arguments, train_dataset=encoded, data_collator=collator).train()
model.save_pretrained("my-guesser")
tokenizer.save_pretrained("my-guesser")
