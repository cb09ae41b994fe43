"""What large language models take: the shapes of published ones, with random weights in bfloat16.

Each case is a process of its own. Its memory is what the peak of the process rose by while the model, which
was there already, was asked why it writes its next token, and its time is divided by that of a plain pass of
the same model over the same text.

    python -m benchmarks.large                                  (Llama-3.2-1B, 512 tokens: 2.5 GB of weights)
    python -m benchmarks.large --shape qwen3-4b --work attention gradient --tokens 512
    python -m benchmarks.large --work last-row --tokens 16384
"""

import argparse
import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.measuring import format_number, print_table, run_apart

SHAPES: dict[str, dict[str, Any]] = {
    "tiny": {
        "hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
        "num_key_value_heads": 2, "vocab_size": 32_000, "tie_word_embeddings": True,
    },
    "llama-3.2-1b": {
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128_256, "tie_word_embeddings": True,
    },
    "qwen3-4b": {
        "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151_936, "tie_word_embeddings": True,
    },
    "llama-7b": {
        "hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "vocab_size": 32_000, "tie_word_embeddings": False,
    },
}  # fmt: skip
METHODS = ("attention", "rollout", "gradient", "attn-lrp")
LAST_ROW = "last-row"
"""The attention of the last token in all layers, with `glasshead.record`."""


@dataclass(frozen=True)
class Case:
    """Some work on a model of a shape, about a text of so many tokens."""

    shape: str
    work: str
    tokens: int


@dataclass(frozen=True)
class Cost:
    """Bytes of the weights, by how much the peak rose, seconds, and those of a plain pass."""

    weights: int
    peak: int
    seconds: float
    plain: float


def run_case(case: Case) -> Cost:
    """Do the work, in this process; on a small model first, so that what is loaded is loaded."""
    import torch

    do_work(replace(case, shape="tiny", tokens=8))
    work, model, ids = prepared(case)
    weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins again from here
    before, started = peak(), time.perf_counter()
    work()
    rose, seconds = peak() - before, time.perf_counter() - started
    started = time.perf_counter()
    with torch.inference_mode():
        model(input_ids=ids, logits_to_keep=1, use_cache=False)
    return Cost(weights, rose, seconds, time.perf_counter() - started)


def peak() -> int:
    """The most bytes that this process has had since its peak began again (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+)", status)[0])


def do_work(case: Case) -> None:
    """Once, unmeasured."""
    prepared(case)[0]()


def prepared(case: Case) -> tuple[Callable[[], object], Any, Any]:
    """The work, its model, and the tokens that are read."""
    import numpy as np
    import torch
    from tokenizers import processors
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

    from benchmarks.random_bert import word_tokenizer

    torch.manual_seed(0)
    sizes = SHAPES[case.shape] | {"pad_token_id": 0, "max_position_embeddings": 2**17}
    torch.set_default_dtype(torch.bfloat16)
    model: Any
    if case.shape.startswith("qwen"):
        model = Qwen3ForCausalLM(Qwen3Config(**sizes)).eval()
    else:
        model = LlamaForCausalLM(LlamaConfig(**sizes)).eval()
    torch.set_default_dtype(torch.float32)
    tokenizer = word_tokenizer(sizes["vocab_size"] - 5)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing("$A")  # texts stay open
    words = np.random.default_rng(0).integers(sizes["vocab_size"] - 5, size=case.tokens)
    text = " ".join(f"w{word}" for word in words)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    if case.work == LAST_ROW:
        return last_row(model, tokenizer, ids), model, ids
    return explanation(model, tokenizer, text, case.work), model, ids


def explanation(model: Any, tokenizer: Any, text: str, method: str) -> Callable[[], object]:
    """Why the model writes its next token."""
    import glasshead

    return lambda: glasshead.explain(model, text, tokenizer=tokenizer, method=method)


def last_row(model: Any, tokenizer: Any, ids: Any) -> Callable[[], object]:
    """The attention of the last token in all layers."""
    import torch

    import glasshead

    def read() -> object:
        subject = glasshead.open(model, tokenizer)
        with torch.inference_mode(), glasshead.record(subject.model, rows=[-1]) as trace:
            subject.model(input_ids=ids, attention_mask=torch.ones_like(ids))
        return [layer.weights for layer in trace]

    return read


def measure(case: Case) -> Cost:
    """`run_case`, in a process of its own."""
    return Cost(**run_apart("benchmarks.large", case))


def main() -> None:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="llama-3.2-1b")
    parser.add_argument("--work", nargs="+", default=METHODS, help="methods, or last-row")
    parser.add_argument("--tokens", type=int, default=512, help="of the text")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        print(json.dumps(asdict(run_case(Case(**json.loads(args.case))))))
        return
    rows = [(case, measure(case)) for case in (Case(args.shape, work, args.tokens) for work in args.work)]
    print_table(
        f"{args.shape} in bfloat16, {args.tokens:,} tokens",
        rows,
        {
            "work": lambda row: row[0].work,
            "weights, GB": lambda row: format_number(row[1].weights / 1e9),
            "memory more": lambda row: f"{row[1].peak / row[1].weights:.1%}",
            "seconds": lambda row: format_number(row[1].seconds),
            "passes": lambda row: format_number(row[1].seconds / row[1].plain),
        },
    )


if __name__ == "__main__":
    main()
