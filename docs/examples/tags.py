"""A small BERT that tags people and places, in the folder my-tagger: other words tell them apart."""

import json
import random

from datasets import load_dataset
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForTokenClassification,
    BertTokenizerFast,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
)

NAMES = ["jordan", "sydney", "florence", "austin", "chelsea", "victoria"]  # of people and of places
CUES = {"PERSON": ["laughed", "married", "sang"], "PLACE": ["hotel", "train", "weather"]}
OTHERS = ["our", "friends", "saw", "that", "we", "came", "back", "late", "again", "evening", "film"]
TAGS = ["O", *CUES]

draw = random.Random(0)
for name, count in (("train", 1500), ("test", 100)):
    with open(f"{name}_tags.jsonl", "w") as file:
        for _ in range(count):
            tag = draw.choice(list(CUES))
            own = draw.choice(NAMES)
            words = [*draw.sample(OTHERS, 5), own, draw.choice(CUES[tag])]
            draw.shuffle(words)
            tags = [tag if word == own else "O" for word in words]
            file.write(json.dumps({"tokens": words, "ner_tags": tags}) + "\n")

texts = load_dataset("json", data_files="train_tags.jsonl", split="train")
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator((" ".join(words) for words in texts["tokens"]), vocab_size=500)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=64)


def encode(row: dict) -> dict:
    """The words of a text, and the tag of each of its tokens; −100 of special tokens."""
    read = tokenizer(row["tokens"], is_split_into_words=True)
    numbers = [TAGS.index(tag) for tag in row["ner_tags"]]
    return read | {"labels": [-100 if word is None else numbers[word] for word in read.word_ids()]}


encoded = texts.map(encode, remove_columns=texts.column_names)
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    initializer_range=0.2,
    id2label=dict(enumerate(TAGS)),
)
model = BertForTokenClassification(config)
arguments = TrainingArguments(
    "my-tagger-training",
    num_train_epochs=6,
    learning_rate=1e-3,
    per_device_train_batch_size=32,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
collator = DataCollatorForTokenClassification(tokenizer)
Trainer(model, arguments, train_dataset=encoded, data_collator=collator).train()
model.save_pretrained("my-tagger")
tokenizer.save_pretrained("my-tagger")
