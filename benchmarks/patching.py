"""Exchanges of all heads of a GPT-2, against a loop of plain hooks that runs the whole model for each head.

    python -m benchmarks.patching            (12 layers of 12 heads, 20 pairs of 30 tokens)

Both run the pairs of one head as one batch or more; the loop knows the names of the parts, `glasshead.patch`
finds and checks them first. Without the null, which the loop has not. Seconds are of the processor; ×: time
over that of the loop.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import glasshead
from benchmarks.measuring import (
    Spread,
    Work,
    argument_parser,
    format_number,
    ratios,
    report,
    time_interleaved,
)
from benchmarks.random_bert import word_tokenizer

WORDS = 1000


@dataclass(frozen=True)
class PatchingSettings:
    """The model and its pairs; the loop runs for so many seconds at least."""

    layers: int = 12
    heads: int = 12
    hidden_size: int = 384
    pairs: int = 20
    tokens: int = 30
    budget: float = 60.0


@dataclass(frozen=True)
class PatchingResult:
    """One way: its time, that over the loop's, and its largest difference from the loop."""

    way: str
    seconds: Spread
    ratio: Spread
    error: float


def measure_patching(settings: PatchingSettings) -> Iterator[PatchingResult]:
    """Time all ways."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=WORDS + 5, n_embd=settings.hidden_size, n_layer=settings.layers, n_head=settings.heads,
        n_positions=settings.tokens, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).eval()
    tokenizer = deepcopy(word_tokenizer(WORDS))
    tokenizer.backend_tokenizer.post_processor = None  # type: ignore[assignment]
    pairs = list(random_pairs(settings))
    found: dict[str, Any] = {}

    def ours(method: str) -> Work:
        def work() -> None:
            found[method] = glasshead.patch(model, pairs, tokenizer=tokenizer, method=method, null=False)

        return work

    def loop() -> None:
        found["loop"] = plain_loop(model, tokenizer, pairs)

    works = {"loop": loop, "exact": ours("exact"), "attribution": ours("attribution")}
    seconds = time_interleaved(works, settings.budget, clock=process_time)
    for way in works:
        error = 0.0 if way == "loop" else float(np.abs(np.array(found[way].changes) - found["loop"]).max())
        yield PatchingResult(way, Spread.of(seconds[way]), ratios(seconds[way], seconds["loop"]), error)


def random_pairs(settings: PatchingSettings) -> Iterator[dict[str, str]]:
    """Random words; in the corrupted text another one in the first third."""
    rng = np.random.default_rng(0)
    for _ in range(settings.pairs):
        words = [f"w{word}" for word in rng.choice(WORDS, settings.tokens + 3, replace=False)]
        clean, (other, answer, against) = words[:-3], words[-3:]
        corrupted = list(clean)
        corrupted[int(rng.integers(max(1, settings.tokens // 3)))] = other
        yield {
            "clean": " ".join(clean),
            "corrupted": " ".join(corrupted),
            "answer": answer,
            "against": against,
        }


@torch.no_grad()
def plain_loop(model: GPT2LMHeadModel, tokenizer: Any, pairs: list[dict[str, str]]) -> np.ndarray:
    """A pass of the whole model, over all pairs, for each head."""
    clean, corrupted = (
        torch.tensor([tokenizer(pair[name])["input_ids"] for pair in pairs])
        for name in ("clean", "corrupted")
    )
    answer, against = (
        torch.tensor([tokenizer.convert_tokens_to_ids(pair[name]) for pair in pairs])[:, None]
        for name in ("answer", "against")
    )
    projections = [block.attn.c_proj for block in model.transformer.h]
    kept: list[torch.Tensor] = []
    hooks = [one.register_forward_pre_hook(lambda module, args: kept.append(args[0])) for one in projections]
    model(input_ids=clean)
    for hook in hooks:
        hook.remove()

    def score() -> torch.Tensor:
        logits = model(input_ids=corrupted, logits_to_keep=1).logits[:, -1]
        return (logits.gather(1, answer) - logits.gather(1, against))[:, 0]

    base, heads = score(), model.config.n_head
    size = model.config.n_embd // heads
    changes = np.zeros((len(pairs), len(projections), heads))
    for layer, projection in enumerate(projections):
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)

            def exchange(
                module: Any, args: Any, part: slice = part, layer: int = layer
            ) -> tuple[torch.Tensor]:
                new = args[0].clone()
                new[..., part] = kept[layer][..., part]
                return (new,)

            hook = projection.register_forward_pre_hook(exchange)
            changes[:, layer, head] = (score() - base).numpy()
            hook.remove()
    return changes


def main() -> None:
    """Time all ways and print a table."""
    parser = argument_parser(__doc__)
    for name, value in vars(PatchingSettings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    args = parser.parse_args()
    settings = PatchingSettings(**{name: getattr(args, name) for name in vars(PatchingSettings())})
    out: Path | None = args.out
    report(
        measure_patching(settings),
        lambda result: (
            f"{settings.layers} × {settings.heads} heads, {settings.pairs} pairs of {settings.tokens} tokens"
        ),
        {
            "way": lambda result: result.way,
            "seconds": lambda result: result.seconds,
            "×": lambda result: None if result.way == "loop" else result.ratio,
            "largest difference": lambda result: format_number(result.error),
        },
        settings,
        out,
    )


if __name__ == "__main__":
    main()
