"""What a large model that is saved in halves takes: its weights kept as they are, or as a copy in float32.

A Llama with random weights in bfloat16 before a text of random words. Every case is a process of its own; its
memory is what the peak of the process rose by when the model, which was there already, was explained or
audited.

    python -m benchmarks.halves                 (276 million weights, some five minutes, 6 GB)
    python -m benchmarks.halves --layers 2 --hidden-size 256
"""

import argparse
import json
import resource
import time
from dataclasses import asdict, dataclass

from benchmarks.measuring import format_number, print_table, run_apart

WORK = ("gradient", "erasure-delete", "audit")
WAYS = {"weights kept": None, "copy in float32": "float32"}
WORDS = 32_000
AUDITED = 4
"""Texts of the audit, which is computed in float64."""


@dataclass(frozen=True)
class Case:
    """A method, or an audit, of a model in bfloat16 whose weights are kept or copied."""

    work: str
    way: str
    layers: int
    hidden_size: int
    words: int


@dataclass(frozen=True)
class Cost:
    """Bytes of the weights, by how much the peak rose, and seconds."""

    weights: int
    peak: int
    seconds: float


def run_case(case: Case) -> Cost:
    """Explain or audit, in this process."""
    import numpy as np
    import torch
    from transformers import LlamaConfig, LlamaForSequenceClassification

    import glasshead
    from benchmarks.random_bert import random_texts, word_tokenizer

    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    config = LlamaConfig(
        vocab_size=WORDS + 5,
        hidden_size=case.hidden_size,
        intermediate_size=4 * case.hidden_size,
        num_hidden_layers=case.layers,
        num_attention_heads=16,
        num_key_value_heads=4,
        pad_token_id=0,
        num_labels=2,
    )
    model = LlamaForSequenceClassification(config).eval()
    torch.set_default_dtype(torch.float32)
    tokenizer = word_tokenizer(WORDS)
    data = random_texts([case.words] * AUDITED, WORDS, np.random.default_rng(0))
    before, started = peak(), time.perf_counter()
    subject = glasshead.open(model, tokenizer, dtype=WAYS[case.way])
    if case.work == "audit":
        glasshead.audit(subject, data, audits=["performance", "agreement"])
    else:
        glasshead.explain(subject, data["text"][0], method=case.work)
    weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    return Cost(weights, peak() - before, time.perf_counter() - started)


def peak() -> int:
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(case: Case) -> Cost:
    """`run_case`, in a process of its own."""
    return Cost(**run_apart("benchmarks.halves", case))


def main() -> None:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--hidden-size", type=int, default=1024)
    parser.add_argument("--words", type=int, default=24, help="words of a text")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        print(json.dumps(asdict(run_case(Case(**json.loads(args.case))))))
        return
    sizes = args.layers, args.hidden_size, args.words
    rows = [(case, measure(case)) for case in (Case(work, way, *sizes) for work in WORK for way in WAYS)]
    print_table(
        "A model in bfloat16",
        rows,
        {
            "work": lambda row: row[0].work,
            "its weights": lambda row: row[0].way,
            "weights, GB": lambda row: format_number(row[1].weights / 1e9),
            "memory more, GB": lambda row: format_number(row[1].peak / 1e9),
            "seconds": lambda row: format_number(row[1].seconds),
        },
    )


if __name__ == "__main__":
    main()
