"""What one explanation costs beside one pass of its model without gradients.

    python -m benchmarks.explain_call

Random BERTs with a vocabulary of 30,000 words: one of 2 layers of 128 before 12 words, opened once and given
as a model in memory with its tokenizer, and one of 6 layers of 384 before 512 tokens, opened once. ×: time
over that of the pass, median and range of the rounds in which both ran.

Goal: at most 1.5 × the pass at 512 tokens, for attention and for rollout.
"""

import statistics

import numpy as np
import torch

import glasshead
from benchmarks.measuring import Work, print_table, ratios, time_interleaved
from benchmarks.random_bert import random_classifier, word_tokenizer

WORDS = 30_000
PASS = "one pass"


def explanations(layers: int, hidden_size: int, words: int) -> dict[str, Work]:
    """A pass, and explanations of one text; those of a model in memory where the text is short."""
    model = random_classifier(layers, hidden_size, hidden_size // 32, WORDS).eval()
    tokenizer = word_tokenizer(WORDS)
    text = " ".join(f"w{number}" for number in np.random.default_rng(0).integers(0, WORDS, words))
    subject = glasshead.open(model, tokenizer)

    def one_pass() -> None:
        with torch.no_grad():
            model(**tokenizer(text, return_tensors="pt"))

    works: dict[str, Work] = {
        PASS: one_pass,
        "attention": lambda: glasshead.explain(subject, text),
        "rollout": lambda: glasshead.explain(subject, text, method="rollout"),
    }
    if words < 100:
        works["attention, model in memory"] = lambda: glasshead.explain(model, text, tokenizer=tokenizer)
    return works


def print_costs(title: str, works: dict[str, Work]) -> None:
    """Milliseconds of each, and how many passes that is."""
    seconds = time_interleaved(works, budget=5.0)
    columns = {
        "": str,
        "ms": lambda name: f"{1000 * statistics.median(seconds[name]):.1f}",
        "×": lambda name: ratios(seconds[name], seconds[PASS]),
    }
    print_table(title, list(seconds), columns)


def main() -> None:
    torch.set_num_threads(1)
    for layers, hidden_size, words in ((2, 128, 12), (6, 384, 510)):
        title = f"{layers} layers of {hidden_size}, {words + 2} tokens"
        print_costs(title, explanations(layers, hidden_size, words))


if __name__ == "__main__":
    main()
