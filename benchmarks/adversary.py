"""The farthest map with the same prediction: what the audit's searches take, and how far they get.

    python -m benchmarks.adversary

First a pooled softmax classifier of two classes, with random values and attention, before texts of random
words: the exact vertex of the feasible maps against the search that other models get, whose first start is
that vertex, and against its random starts alone. All alternate; a ratio is the median over rounds, with the
least and the largest; a distance is a share of the exact one, the mean over texts and the least. Then a
random BERT of the size of MiniLM: CPU seconds a text. A search by Adam, 16 starts of 80 steps from the best
of many candidates, took four times as long there, and a half more, and ended no farther away.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Value

from benchmarks.measuring import Spread, print_table, ratios, time_interleaved
from benchmarks.random_bert import word_tokenizer
from glasshead.arrays import AnyFloats
from glasshead.audits import build_view
from glasshead.audits.adversary import Setting, free_distances, producible_distances
from glasshead.audits.adversary.climb import Climb
from glasshead.audits.adversary.free import FreeStarts, bases_of, exact_distances, search_linear
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.opening import open_subject

TEXTS, LENGTHS, ROUNDS, MAPS = 20, (32, 128), 5, 3
STARTS = 8
OURS, BOTH, RANDOM = "exact", "as the audit searches", f"{STARTS} random starts"
BERT_TEXTS, BERT_LENGTH = 4, 24


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
    return Setting(build_view(open_subject(model, tokenizer), random_texts(TEXTS, length)))


def random_texts(count: int, length: int) -> Dataset:
    """Texts of so many random tokens."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, len(word_tokenizer()) - 5, (count, length - 2))
    rows = {"text": [" ".join(f"w{word}" for word in text) for text in words], "label": [0, 1] * (count // 2)}
    features = Features({"text": Value("string"), "label": ClassLabel(names=["bad", "good"])})
    return Dataset.from_dict(rows, features=features)


def ways_of(setting: Setting) -> dict[str, Callable[[], AnyFloats]]:
    """The distances from the model's own maps by each way; the first two find those of random and uniform
    maps as well."""
    readout, texts, seeds = setting.context.readout, np.arange(TEXTS), np.arange(TEXTS)
    assert readout is not None
    bases = bases_of(readout, texts, seeds)

    def from_random() -> AnyFloats:
        variants = torch.arange(TEXTS).repeat(STARTS)
        adversary = LinearAdversary(setting, readout, variants, readout.weights[variants])
        starts = FreeStarts(setting, [(seed,) for seed in range(TEXTS)])
        numbers = 2 + 2 * torch.arange(STARTS).repeat_interleave(TEXTS)
        climbs = Climb(setting)(adversary, starts(adversary, variants, numbers))
        return climbs.distances.reshape(STARTS, TEXTS).amax(dim=0).numpy()

    return {
        OURS: lambda: exact_distances(setting, readout, bases, texts).distances["own"],
        BOTH: lambda: search_linear(setting, readout, bases, texts, seeds).distances["own"],
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


def search_in_bert() -> None:
    """Print what a text takes."""
    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=384, num_attention_heads=12, num_hidden_layers=6,
        intermediate_size=1536, max_position_embeddings=64, num_labels=2, initializer_range=0.06,
        id2label={0: "bad", 1: "good"}, label2id={"bad": 0, "good": 1},
    )  # fmt: skip
    model = hf.BertForSequenceClassification(config).eval()
    data = random_texts(BERT_TEXTS, BERT_LENGTH)
    setting, texts = Setting(build_view(open_subject(model, tokenizer), data)), np.arange(BERT_TEXTS)
    kinds = {"free": free_distances, "producible": producible_distances}
    found, seconds = {}, {}
    for kind, ask in kinds.items():
        before = time.process_time()
        found[kind] = ask(setting, texts, texts)
        seconds[kind] = (time.process_time() - before) / BERT_TEXTS
    print_table(
        f"a BERT of six layers of width 384, {BERT_LENGTH} tokens",
        list(kinds),
        {
            "maps": str,
            "CPU s a text": lambda kind: f"{seconds[kind]:.2f}",
            "distance": lambda kind: f"{found[kind].distances['own'].mean():.4f}",
            "starts": lambda kind: f"{found[kind].starts.mean():.0f}",
            "converged": lambda kind: f"{int(found[kind].converged.sum())} of {BERT_TEXTS}",
        },
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for tokens in LENGTHS:
        compare(tokens)
    search_in_bert()
