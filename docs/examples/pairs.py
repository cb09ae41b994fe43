"""Rated pairs: how alike are two reviews? One row of ids remembers where every token came from."""

import csv
from pathlib import Path

from glasshead.data import LoadOptions, describe, encode, load, train_tokenizer

with Path("my_pairs.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["text", "text_pair", "label"])
    for number in range(200):
        writer.writerow([f"film {number} is fine", f"film {number} is {number % 7} of 6", number % 7 / 6])

data = load("my_pairs.csv", LoadOptions(task="regression", max_examples=100))
facts = describe(data)
print(facts["ratings"]["train"])
print("train is", facts["origin"]["train"])

train = data["train"]
tokenizer = train_tokenizer([*train["text"][:], *train["text_pair"][:]], first=True, pairs=True)
encoded = encode(tokenizer, train["text"][:], train["text_pair"][:])
print(tokenizer.convert_ids_to_tokens(encoded.ids[0]))
print("which text:", encoded.types[0].tolist())
print("which word:", encoded.words[0].tolist())
