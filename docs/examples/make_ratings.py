"""Write ratings.jsonl: 400 of the made-up reviews of my_reviews.csv, with 1, 3 or 5 stars."""

import csv
import json
from pathlib import Path

STARS = {"negative": 1, "positive": 5}
with Path("my_reviews.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))[:400]
ratings = [
    {"review": row["text"], "stars": STARS[row["label"]] if index % 5 else 3}
    for index, row in enumerate(rows)
]
Path("ratings.jsonl").write_text("\n".join(map(json.dumps, ratings)) + "\n", encoding="utf-8")
print("ratings.jsonl:", len(ratings), "reviews")
