"""Write marked_reviews.jsonl: 300 of the made-up reviews, with the words marked that make their class."""

import csv
import json
import re
from pathlib import Path

from glasshead.data import DATASETS, planted_groups

groups = planted_groups(DATASETS["synthetic"].options({"instances": 1200}))
with Path("my_reviews.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))[:300]
for row in rows:
    words = re.finditer(r"\S+", row["text"])
    # Characters from 0; the end is the place after the last one.
    row["marks"] = [word.span() for word in words if groups[word[0]] == row["label"]]
Path("marked_reviews.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
print("marked_reviews.jsonl:", len(rows), "reviews")
