"""What each strategy makes of one small distribution, and where following several beginnings pays."""

import torch

from glasshead.generation import sampling_probabilities

words = ["good", "fine", "dull", "odd", "loud"]
p = torch.tensor([0.50, 0.25, 0.15, 0.07, 0.03])
print(f"{'':24}" + "".join(f"{word:>6}" for word in words))
print(f"{'p, by the model':24}" + "".join(f"{value:6.2f}" for value in p))
for strategy in (
    "greedy",
    "sample",
    "top-k=2",
    "nucleus=0.7",
    "temperature=0.5",
    "temperature=2",
    "temperature=2+top-k=3",
):
    print(f"{strategy:24}" + "".join(f"{value:6.2f}" for value in sampling_probabilities(p, strategy)))

# A greedy first step may lead where nothing is probable: two beams keep the other one.
second = {"a": {"film": 0.4, "plot": 0.3, "cast": 0.3}, "the": {"film": 0.9, "plot": 0.1}}
first = {"a": 0.6, "the": 0.4}
texts = {f"{one} {two}": first[one] * q for one in first for two, q in second[one].items()}
greedy = max(second["a"], key=second["a"].__getitem__)
print(f"\ngreedy  a {greedy}: {texts[f'a {greedy}']:.2f}")
best = max(texts, key=texts.__getitem__)
print(f"beam=2  {best}: {texts[best]:.2f}")
