"""What it costs to explain a written text: erasure of all targets at once beside one target at a time, and
the memory of long prompts.

    python -m benchmarks.writing

Both ways of erasing give the same numbers, of the same random model of GPT-2's kind, with the same removal
and as many tokens in a batch. One way reads the text once without each of its tokens, for all tokens of the
answer, and what stands before that token once for all. The other asks for one token of the answer at a time,
from all that stands before it, as is usual. They alternate; a ratio is that of times of one core, the median
over rounds, with the least and the largest. Memory is the largest resident size of a process of its own.
"""

import json
import resource
import subprocess
import sys
from time import process_time

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.measuring import Spread, print_table, ratios, time_interleaved, time_once
from glasshead.generation.erasure_rows import ErasureRows
from glasshead.generation.explain import METHODS
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


def compare(prompt: int, answer: int) -> dict[str, list[float]]:
    """Seconds of one core of both ways, round by round, which give the same numbers."""
    text = random_text(SMALLER, prompt, answer)
    erasure = ErasureRows("mean-embedding")

    def at_once() -> np.ndarray:
        return erasure.changes(text, AnswerTarget("log-probability", text.answer))[0]

    scores = at_once()
    before = np.tril(np.ones(scores.shape, dtype=bool), prompt - 1)
    np.testing.assert_allclose(np.where(before, scores, 0.0), one_target_at_a_time(text), atol=1e-4)
    works = {"one": lambda: one_target_at_a_time(text), "all": at_once}
    return time_interleaved(works, rounds=ROUNDS, clock=process_time)


def measure(name: str) -> dict[str, float]:
    """Seconds and megabytes of one entry of `LONG`, measured in this process."""
    sizes, prompt, answer, method = LONG[name]
    text = random_text(sizes, prompt, answer)

    def work() -> None:
        if method is None:
            with torch.no_grad():
                text.logits().log_softmax(dim=-1)
        else:
            target = AnswerTarget("log-probability", text.answer)
            METHODS[method].explain(text, target, AttentionSelector(), name=method)

    seconds = time_once(work)
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def measure_alone(name: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.writing", name]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(process.stdout.splitlines()[-1])


def main() -> None:
    """All of it; with a name, that entry alone, in this process."""
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
        return
    seconds = {lengths: compare(*lengths) for lengths in LENGTHS}
    print_table(
        "Erasure of every token for every token of the answer",
        LENGTHS,
        {
            "prompt": lambda lengths: lengths[0],
            "answer": lambda lengths: lengths[1],
            "one at a time, s": lambda lengths: f"{Spread.of(seconds[lengths]['one']).median:.2f}",
            "all at once, s": lambda lengths: f"{Spread.of(seconds[lengths]['all']).median:.2f}",
            "one ÷ all": lambda lengths: ratios(seconds[lengths]["one"], seconds[lengths]["all"]),
            "m/2": lambda lengths: lengths[1] / 2,
        },
    )
    measured = {name: measure_alone(name) for name in LONG}
    print_table(
        "Long prompts",
        list(LONG),
        {
            "what": str,
            "seconds": lambda name: f"{measured[name]['seconds']:.1f}",
            "largest memory, MB": lambda name: f"{measured[name]['megabytes']:,.0f}",
        },
    )


if __name__ == "__main__":
    main()
