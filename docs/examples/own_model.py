"""A small BERT, trained as everybody trains one, in the folder my-bert; Glasshead comes at the end."""

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

reviews = load_dataset("csv", data_files="my_reviews.csv", split="train")
pieces = BertWordPieceTokenizer()
pieces.train_from_iterator(reviews["text"], vocab_size=2000)
tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=64)
names = ["negative", "positive"]
encoded = reviews.map(
    lambda row: tokenizer(row["text"], truncation=True) | {"labels": names.index(row["label"])},
    remove_columns=reviews.column_names,
)
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    id2label=dict(enumerate(names)),
)
model = BertForSequenceClassification(config)
arguments = TrainingArguments(
    "my-bert-training",
    num_train_epochs=3,
    learning_rate=1e-3,
    per_device_train_batch_size=32,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    dataloader_pin_memory=False,
)
Trainer(model, arguments, train_dataset=encoded, data_collator=DataCollatorWithPadding(tokenizer)).train()
model.save_pretrained("my-bert")
tokenizer.save_pretrained("my-bert")

import glasshead

explained = glasshead.explain("my-bert", "a charming film with a dull ending")  # colours itself in a notebook
print(explained.to_pandas()[["token", "score", "contribution"]])
explained.save("my-bert.html")

card = glasshead.audit(
    model, "my_reviews.csv", tokenizer=tokenizer, audits=["agreement", "performance"], limit=40
)
print("agreement with the gradient:", card.find("agreement.contribution.gradient").verdict)
