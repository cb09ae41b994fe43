"""Write my_reviews.csv: 1,200 made-up reviews with the columns text and label."""

import csv
from pathlib import Path

from glasshead.data import LoadOptions, load

data = load("synthetic", LoadOptions(generator={"instances": 1200}))
names = data["train"].features["label"].names
with Path("my_reviews.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["text", "label"])
    for split in data.values():
        writer.writerows((row["text"], names[row["label"]]) for row in split)
print("my_reviews.csv:", sum(data.num_rows.values()), "reviews")
