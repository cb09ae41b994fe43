"""What one shard of an audit takes: seconds and memory of each audit alone, for a BERT of a given size.

Random weights, random texts of one length. An audit alone includes what every audit begins with: predictions,
attention and gradients of the texts. ``--device cuda`` measures a GPU.

    python -m benchmarks.shard
    python -m benchmarks.shard --texts 32 --tokens 128 --device cuda --dtype float32
    python -m benchmarks.shard --texts 1 --tokens 128 --audits identifiability
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.measuring import format_number, print_table
from benchmarks.random_bert import WORDS, random_classifier, random_texts, word_tokenizer
from glasshead.audits import audit

AUDITS = "agreement,perturbation,faithfulness"
SPECIAL = 2


class Cost(NamedTuple):
    """Seconds on the wall and of processors, and the most memory of the GPU, in GiB."""

    audit: str
    seconds: float
    cpu: float
    memory: float | None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--texts", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument(
        "--audits", default=AUDITS, help="each is measured alone; `card` is those of a default card"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float64", help="as of an audit")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lengths = [arguments.tokens - SPECIAL] * arguments.texts
    data, tokenizer = random_texts(lengths, WORDS, np.random.default_rng(0)), word_tokenizer()
    tokenizer.model_max_length = arguments.tokens
    model = random_classifier(arguments.layers, arguments.hidden, arguments.hidden // 64)
    model.to(arguments.device)
    on_gpu = torch.device(arguments.device).type == "cuda"
    one = data.select(range(1))  # what the first audit of a process does once
    audit(model, one, tokenizer=tokenizer, audits=("performance",), dtype=arguments.dtype)
    rows = []
    for name in arguments.audits.split(","):
        if on_gpu:
            torch.cuda.reset_peak_memory_stats()
        began, cpu = time.perf_counter(), time.process_time()
        names = None if name == "card" else (name,)
        audit(model, data, tokenizer=tokenizer, audits=names, dtype=arguments.dtype)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        memory = torch.cuda.max_memory_allocated() / 2**30 if on_gpu else None
        rows.append(Cost(name, seconds, cpu, memory))
    where = torch.cuda.get_device_name() if on_gpu else "one thread of a CPU"
    title = f"{arguments.texts} texts × {arguments.tokens} tokens, {arguments.layers} × {arguments.hidden}, "
    columns = {
        "audit": lambda cost: cost.audit,
        "seconds": lambda cost: format_number(cost.seconds),
        "seconds of processors": lambda cost: format_number(cost.cpu),
        "GiB of the GPU": lambda cost: None if cost.memory is None else format_number(cost.memory),
    }
    print_table(f"{title}{arguments.dtype}, {where}", rows, columns)


if __name__ == "__main__":
    main()
