"""The farthest map with the same prediction: the exact one against Adam, in time and in distance.

    python -m benchmarks.adversary

A pooled softmax classifier of two classes, with random values and attention, before texts of random words.
Ours is the vertex of the feasible maps; Adam starts where the first order says and at random, ever more often
until nothing is gained, or, as Jain and Wallace had it, a few times at random. All alternate; a ratio is the
median over rounds, with the least and the largest. A distance is a share of the exact one, the mean over
texts and the least.
"""

from collections.abc import Callable

import numpy as np
import torch
from datasets import ClassLabel, Dataset, Features, Value

from benchmarks.measuring import Spread, print_table, ratios, time_interleaved
from benchmarks.random_bert import word_tokenizer
from glasshead.audits import build_context
from glasshead.audits.adversary import Setting
from glasshead.audits.adversary.doublings import Effort
from glasshead.audits.adversary.free import exact_distances, search_linear
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.weight_families import random_starts
from glasshead.audits.context import AnyFloats
from glasshead.audits.null_weights import base_weights
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.opening import open_subject

TEXTS, LENGTHS, ROUNDS, MAPS = 20, (32, 128), 5, 3
STARTS = 8
OURS, BOTH, RANDOM = "exact", "Adam, as the audit searches", f"Adam, {STARTS} random starts"


def setting_of(length: int) -> Setting:
    """What is asked of texts of so many tokens."""
    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    config = PooledConfig(
        vocab_size=len(tokenizer),
        embedding_size=32,
        hidden_size=32,
        head_dim=32,
        id2label={0: "bad", 1: "good"},
        label2id={"bad": 0, "good": 1},
    )
    model = PooledClassifier(config).eval()
    with torch.no_grad():
        model.embedding.weight.mul_(8)
    rng = np.random.default_rng(0)
    words = rng.integers(0, len(tokenizer) - 5, (TEXTS, length - 2))
    rows = {"text": [" ".join(f"w{word}" for word in text) for text in words], "label": [0, 1] * (TEXTS // 2)}
    features = Features({"text": Value("string"), "label": ClassLabel(names=["bad", "good"])})
    data = Dataset.from_dict(rows, features=features)
    return Setting(build_context(open_subject(model, tokenizer), data))


def ways_of(setting: Setting) -> dict[str, Callable[[], AnyFloats]]:
    """The distances from the model's own maps by each way; the first two find those of random and uniform
    maps as well."""
    readout, texts = setting.context.readout, np.arange(TEXTS)
    assert readout is not None
    bases = base_weights(readout, np.random.default_rng(0))
    generator = torch.Generator().manual_seed(0)

    def from_random() -> AnyFloats:
        variants = torch.arange(TEXTS).repeat(STARTS)
        adversary = LinearAdversary(setting, readout, variants, readout.weights[variants])
        starts = random_starts(adversary.mask, setting.domain, generator).to(adversary.own)
        _, found = setting.search.farthest(adversary, starts)
        return found.reshape(STARTS, TEXTS).amax(dim=0).numpy()

    return {
        OURS: lambda: exact_distances(setting, readout, bases, texts)[0]["own"],
        BOTH: lambda: search_linear(setting, readout, bases, texts, generator, Effort(setting.search.steps))[
            0
        ]["own"],
        RANDOM: from_random,
    }


def compare(length: int) -> None:
    """Print a row for each way."""
    setting = setting_of(length)
    ways = ways_of(setting)
    found = {way: run() for way, run in ways.items()}
    seconds = {
        way: [one / (TEXTS * (1 if way == RANDOM else MAPS)) for one in times]
        for way, times in time_interleaved(ways, rounds=ROUNDS).items()
    }
    shares = {way: found[way] / found[OURS] for way in ways}
    epsilon, farthest = setting.search.epsilon, found[OURS].mean()
    print_table(
        f"{length} tokens, ε = {epsilon}, mean ε-max {farthest:.4f} of {np.log(2):.4f}",
        list(ways),
        {
            "way": str,
            "ms a map": lambda way: f"{Spread.of(seconds[way]).median * 1e3:.2f}",
            "×": lambda way: ratios(seconds[way], seconds[OURS]),
            "distance": lambda way: f"{shares[way].mean():.4f}",
            "least": lambda way: f"{shares[way].min():.4f}",
        },
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for tokens in LENGTHS:
        compare(tokens)
