"""The same prediction, read by four methods."""

from pathlib import Path

from glasshead.explainers import EXPLAINERS, by_word
from glasshead.opening import load_run

run = load_run(Path("runs/tanhmax"))
text = "a charming film with a dull ending"
for method in ("attention", "contribution", "gradient", "erasure-renormalise"):
    (attribution,) = EXPLAINERS[method](run.model, run.tokenizer, [text], target="positive")
    words = by_word(attribution)
    top = max(zip(words.tokens, words.scores, strict=True), key=lambda pair: abs(pair[1]))
    print(f"{method:20} {words.target} {words.prediction:.2f}  largest: {top[0]} {top[1]:+.3f}")
