"""Write vectors.txt, word vectors in the text format of GloVe: a word and its numbers in each line."""

import csv
from pathlib import Path

with Path("my_reviews.csv").open(encoding="utf-8") as file:
    words = sorted({word for row in csv.DictReader(file) for word in row["text"].split()})
lines = (f"{word} {index / 1000:.3f} 0.1 -0.2 0.05" for index, word in enumerate(words))
Path("vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("vectors.txt:", len(words), "words")
