"""What it costs to explain a written text: erasure of all targets at once beside one target at a time, and
the memory of long prompts.

    python benchmarks/writing.py

Both ways of erasing give the same numbers, of the same random model of GPT-2's kind, with the same removal
and as many tokens in a batch. One way reads the text once without each of its tokens, for all tokens of the
answer, and what stands before that token once for all. The other asks for one token of the answer at a time,
from all that stands before it, as is usual. They alternate; a ratio is that of times of one core, the median
over rounds, with the least and the largest. Memory is the largest resident size of a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from time import perf_counter, process_time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from glasshead.generation.erasure_rows import ErasureRows
from glasshead.generation.methods import METHODS
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.huggingface import NextTokenClassifier, readable_copy
from glasshead.trace import AttentionSelector

SMALLER = {"n_embd": 256, "n_layer": 4, "n_head": 4, "vocab_size": 8_000}
GPT2_SMALL = {"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50_257}
LENGTHS = ((32, 8), (64, 16), (64, 32), (128, 16))
ROUNDS = 3
LONG = {
    "attention of the last layer, prompt of 2,048": (GPT2_SMALL, 2_048, 20, "attention"),
    "rollout, prompt of 2,048": (GPT2_SMALL, 2_048, 20, "rollout"),
    "gradient, prompt of 2,048": (GPT2_SMALL, 2_048, 4, "gradient"),
    "log-probabilities, prompt of 2,048": (GPT2_SMALL, 2_048, 20, None),
    "attention, one layer, prompt of 100,000": (GPT2_SMALL | {"n_layer": 1}, 100_000, 20, "attention"),
}


def random_text(sizes: dict[str, int], prompt: int, answer: int) -> ReadText:
    """A text of random tokens before a model with random weights."""
    torch.manual_seed(0)
    config = GPT2Config(**sizes, n_positions=prompt + answer, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).eval()
    names = [str(token) for token in range(config.vocab_size)]
    classifier = readable_copy(NextTokenClassifier(model, names))
    assert isinstance(classifier, NextTokenClassifier)
    ids = torch.randint(0, config.vocab_size, (1, prompt + answer))
    return ReadText(classifier, None, ids, prompt)  # type: ignore[arg-type]


def one_target_at_a_time(text: ReadText) -> np.ndarray:
    """The matrix, row by row, each from a text that ends with its token."""
    erasure, rows = ErasureRows("mean-embedding", shares_prefix=False), []
    for end in range(text.start + 1, text.ids.shape[1] + 1):
        cut = ReadText(text.classifier, text.tokenizer, text.ids[:, :end], end - 1)
        scores, _ = erasure.changes(cut, AnswerTarget("log-probability", cut.answer))
        rows.append(np.pad(scores[0].numpy(), (0, text.before.shape[1] - scores.shape[1])))
    return np.stack(rows)


def compare() -> None:
    """Print a line for each length of prompt and answer."""
    print("prompt  answer  one at a time  all at once   ratio, median (least – largest)")
    for prompt, answer in LENGTHS:
        text = random_text(SMALLER, prompt, answer)
        erasure = ErasureRows("mean-embedding")
        times = []
        for _ in range(ROUNDS):
            start = process_time()
            scores, _ = erasure.changes(text, AnswerTarget("log-probability", text.answer))
            middle = process_time()
            expected = one_target_at_a_time(text)
            times.append((middle - start, process_time() - middle))
        seen = np.tril(np.ones(scores.shape, dtype=bool), prompt - 1)
        np.testing.assert_allclose(np.where(seen, scores, 0.0), expected, atol=1e-4)
        ratios = [slow / fast for fast, slow in times]
        fast, slow = np.median(times, axis=0)
        print(
            f"{prompt:>7}{answer:>8}{slow:>13.2f} s{fast:>11.2f} s   {np.median(ratios):5.1f} "
            f"({min(ratios):.1f} – {max(ratios):.1f}), m/2 = {answer / 2:g}",
            flush=True,
        )


def measure(name: str) -> None:
    """Print seconds and megabytes of one entry of `LONG`, measured in this process."""
    sizes, prompt, answer, method = LONG[name]
    text = random_text(sizes, prompt, answer)
    start = perf_counter()
    if method is None:
        with torch.no_grad():
            text.logits().log_softmax(dim=-1)
    else:
        target = AnswerTarget("log-probability", text.answer)
        METHODS[method].explain(text, target, AttentionSelector(), name=method)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak}))


def main() -> None:
    """All of it; with a name, that entry alone, in this process."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    compare()
    print(f"\n{'':<42}{'seconds':>9}{'largest memory':>16}")
    for name in LONG:
        process = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        measured = json.loads(process.stdout.splitlines()[-1])
        print(f"{name:<42}{measured['seconds']:>9.1f}{measured['megabytes']:>13,.0f} MB", flush=True)


if __name__ == "__main__":
    main()
