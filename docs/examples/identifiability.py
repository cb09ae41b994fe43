"""Which weights give the same sum? Three tokens by hand, a repeated word, and a head of a trained model."""

from pathlib import Path

import numpy as np

from glasshead.data import encode
from glasshead.identifiability import RowSelector, attention_rows, intervals
from glasshead.opening import load_run


def show(tokens, found):
    for token, value, low, high in zip(tokens, found.value, found.low, found.high, strict=True):
        print(f"{token:9} {value:.2f} [{low:.2f}, {high:.2f}]")


# Weights 0.2, 0.6 and 0.2 of the values 1, 2 and 3: the head gives 2.
show(["first", "second", "third"], intervals(np.array([[1.0], [2.0], [3.0]]), np.array([0.2, 0.6, 0.2])))

# "very very good": the same word has the same value.
values, weights = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.3, 0.1, 0.6])
show(["very", "very", "good"], intervals(values, weights))
show(["both very"], intervals(values, weights, functions=np.array([[1.0, 1.0, 0.0]])))

# A trained model, its only row of weights.
run = load_run(Path("runs/softmax"))
(row,) = next(attention_rows(run.model, encode(run.tokenizer, ["a charming film"]), RowSelector()))
found = row.intervals()
print(f"{len(row.weights)} tokens, rank of [T, 1] {found.rank}, width {np.max(found.high - found.low):.2f}")
