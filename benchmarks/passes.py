"""The default audit and a ranking of a model of the size of MiniLM: CPU seconds and passes of a text, against
the same with every pass whole and faithfulness asked at every length.

    python -m benchmarks.passes [--texts 4] [--ranked 2]

One thread, a random BERT (six layers, 384) and random texts of 8 to 40 words. The other way, in the same
run: blocks before the layer that is read run in every pass; areas are asked at every number of tokens, or at
ten steps of longer texts, beside ten random orders; one draw of weights is one pass; a method is scored once
more for each time that it is timed; a batch is cut only where a text is much shorter than its longest. ÷: the
CPU seconds of that over ours in the same round. Passes: rows that go through blocks, over the number of
blocks.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.measuring import Spread, argument_parser, print_table, ratios, time_interleaved
from benchmarks.random_bert import WORDS, random_classifier, word_tokenizer
from glasshead.audits import audit, rank
from glasshead.audits.measuring import forward_perturbation, removal_curves
from glasshead.audits.ranking import methods as ranked_methods
from glasshead.audits.ranking import rows as ranking_rows
from glasshead.data import batching
from glasshead.opening import open_subject
from glasshead.trace import KnownStates

LAYERS, HIDDEN_SIZE, HEADS = 6, 384, 12
SHORTEST, LONGEST = 8, 40
METHODS = ("attention", "gradient-after-norm", "erasure")
STEPS, MANY_ORDERS = 10, 10
SMALL_BATCH, BUCKET = 512, 0.75
OURS, EVERY = "as it is", "every pass whole, every length"


def random_texts(texts: int) -> list[dict[str, Any]]:
    """Rows of words that stand for themselves."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(SHORTEST, LONGEST + 1, texts)
    return [
        {"text": " ".join(f"w{word}" for word in rng.integers(0, WORDS, length)), "label": row % 2}
        for row, length in enumerate(lengths)
    ]


def weights_at_every_length(counts: np.ndarray, longest: int) -> np.ndarray:
    """What each number of tokens counts in an area: all of them, or ten equal steps of longer texts."""
    weights = np.zeros((len(counts), longest + 1))
    for own, count in zip(weights, counts.tolist(), strict=True):
        if count < 2:
            own[:] = np.nan
            continue
        lengths = np.arange(count + 1) if count <= STEPS else count * np.arange(STEPS + 1) // STEPS
        own[lengths] = np.convolve(np.diff(lengths), [0.5, 0.5]) / count
    return weights


def least_of_two(compute: Callable[[], Any]) -> tuple[Any, float]:
    """What is computed, twice."""
    started = process_time()
    compute()
    result = compute()
    return result, (process_time() - started) / 2


def sizes_by_bucket(lengths: np.ndarray, maps: int, cost: int) -> list[int]:
    """Batches that end where a text has less than three quarters of the tokens of the longest."""
    sizes, start = [], 0
    while start < len(lengths):
        own = lengths[start : start + batching.batch_size(int(lengths[start]), maps)]
        small = np.arange(len(own)) * own[0] < SMALL_BATCH
        sizes.append(int((small | (own >= BUCKET * own[0])).sum()))
        start += sizes[-1]
    return sizes


@contextmanager
def every_pass() -> Iterator[None]:
    """Nothing is skipped, and nothing but all lengths is asked."""

    def orders(words: Any, weights: Any, orders: int, rng: Any) -> Any:
        return removal_curves.random_orders(words, MANY_ORDERS, rng)

    changes = [
        patch.object(KnownStates, "skip", lambda self, model, inputs, layer: nullcontext()),
        patch.object(removal_curves, "area_weights", weights_at_every_length),
        patch.object(removal_curves, "random_sets", orders),
        patch.object(ranking_rows, "ORDERS", MANY_ORDERS),
        patch.object(ranked_methods, "least_seconds", least_of_two),
        patch.object(batching, "batch_sizes", sizes_by_bucket),
        patch.object(forward_perturbation, "TOKENS_AT_ONCE", 1),
    ]
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(change)
        yield


def in_every_pass(work: Callable[[], object]) -> object:
    """The same work in the other way."""
    with every_pass():
        return work()


class PassCounter:
    """A piece of work that counts the rows that go through the blocks of a model in it."""

    def __init__(self, work: Callable[[], object], block: type[torch.nn.Module]) -> None:
        self.work, self.block, self.rows = work, block, 0

    def __call__(self) -> object:
        forward, self.rows = self.block.forward, 0

        def count(block: Any, states: Any, *args: Any, **options: Any) -> Any:
            self.rows += len(states)
            return forward(block, states, *args, **options)

        with patch.object(self.block, "forward", count):
            return self.work()


def main(words: list[str] | None = None) -> None:
    """Measure, and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--texts", type=int, default=4, metavar="N")
    parser.add_argument("--ranked", type=int, default=2, metavar="N", help="of both classes: at least two")
    asked = parser.parse_args(words)
    torch.set_num_threads(1)
    model = random_classifier(LAYERS, HIDDEN_SIZE, HEADS)
    subject = open_subject(model, word_tokenizer())
    rows = random_texts(max(asked.texts, asked.ranked))
    works = {
        f"audit of {asked.texts} texts": (partial(audit, subject, rows[: asked.texts]), asked.texts),
        f"rank of {asked.ranked} texts, three methods": (
            partial(rank, subject, rows[: asked.ranked], methods=METHODS),
            asked.ranked,
        ),
    }
    block = type(next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList))[0])
    for name, (work, texts) in works.items():
        ways = {OURS: PassCounter(work, block), EVERY: PassCounter(partial(in_every_pass, work), block)}
        seconds = time_interleaved(ways, clock=process_time)
        print_table(
            name,
            list(ways),
            {
                "way": str,
                "CPU seconds": lambda way, seconds=seconds: Spread.of(seconds[way]),
                "÷ ours": lambda way, seconds=seconds: ratios(seconds[way], seconds[OURS]),
                "passes a text": lambda way, ways=ways, texts=texts: round(ways[way].rows / LAYERS / texts),
            },
        )


if __name__ == "__main__":
    main()
