"""Sentences that end with the name that is there once (Wang et al. 2023), and pairs that repeat another."""

import csv
import random
from pathlib import Path

NAMES = ["anna", "ben", "carl", "dora", "emil", "fred", "gina", "hugo", "ida", "jan", "kim", "lea"]
PLACES, THINGS = ["store", "park", "school", "office"], ["ring", "book", "drink", "letter"]
rng = random.Random(0)


def sentence():
    """The names in both orders; who gives is one of them, and who is given to is the other."""
    first, second = rng.sample(NAMES, 2)
    begins = f"when {first} and {second} went to the {rng.choice(PLACES)}"
    return begins, first, second, f"gave a {rng.choice(THINGS)} to"


texts = []
for _ in range(6000):
    begins, first, second, gave = sentence()
    giver, receiver = rng.sample([first, second], 2)
    texts.append(f"{begins} {giver} {gave} {receiver}")
Path("names.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
with open("names.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["clean", "corrupted", "answer", "against"])
    for _ in range(24):
        begins, first, second, gave = sentence()
        giver, receiver = rng.sample([first, second], 2)
        clean, corrupted = (f"{begins} {name} {gave}" for name in (giver, receiver))
        table.writerow([clean, corrupted, receiver, giver])
