"""The logit lens and direct attribution of all heads, against one pass that records the weights of all heads.

    python -m benchmarks.inside            (12 layers of 12 heads, 64 tokens; two widths and vocabularies)

All read one text with one thread; seconds are of the processor. *bound*: what the lens cannot leave out, a
pass and the product of the states of all layers with the vocabulary. ×: time over that of the recording
pass in the same round.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from time import process_time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import glasshead
from benchmarks.measuring import Spread, Work, argument_parser, ratios, report, time_interleaved
from benchmarks.random_bert import word_tokenizer
from glasshead.huggingface import plug

SIZES = ((384, 1_000), (768, 1_000), (768, 50_257))
"""(width, words of the vocabulary): the last is GPT-2's."""
RECORDING = "a pass that records"


@dataclass(frozen=True)
class InsideSettings:
    """Models of one depth, and a text of so many tokens; seconds for each model."""

    layers: int = 12
    heads: int = 12
    tokens: int = 64
    budget: float = 60.0


@dataclass(frozen=True)
class InsideSpeed:
    """One way: its time, and that over the recording pass's."""

    hidden_size: int
    words: int
    way: str
    seconds: Spread
    ratio: Spread


def measure_inside(settings: InsideSettings) -> Iterator[InsideSpeed]:
    """Time all ways for every size."""
    for hidden_size, words in SIZES:
        seconds = time_interleaved(ways(settings, hidden_size, words), settings.budget, clock=process_time)
        for way, times in seconds.items():
            yield InsideSpeed(hidden_size, words, way, Spread.of(times), ratios(times, seconds[RECORDING]))


def ways(settings: InsideSettings, hidden_size: int, words: int) -> dict[str, Work]:
    """What is timed."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=words + 5, n_embd=hidden_size, n_layer=settings.layers, n_head=settings.heads,
        n_positions=settings.tokens, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = plug(GPT2LMHeadModel(config).eval(), "softmax")
    tokenizer = deepcopy(word_tokenizer(words))
    tokenizer.backend_tokenizer.post_processor = None  # type: ignore[assignment]
    text = " ".join(f"w{number}" for number in torch.randint(words, (settings.tokens,)).tolist())
    subject = glasshead.open(model, tokenizer)
    states = torch.randn(settings.layers + 1, settings.tokens, hidden_size)

    @torch.no_grad()
    def recording() -> None:
        with glasshead.record(model) as trace:
            model(**tokenizer(text, return_tensors="pt"))
        for layer in range(settings.layers):
            assert trace[layer].weights is not None

    @torch.no_grad()
    def bound() -> None:
        model(**tokenizer(text, return_tensors="pt"), logits_to_keep=1)
        for state in states:
            model.lm_head(state)

    return {
        RECORDING: recording,
        "logit_attribution": lambda: glasshead.logit_attribution(subject, text),
        "lens": lambda: glasshead.lens(subject, text),
        "bound of the lens": bound,
    }


def main() -> None:
    """Time all ways and print a table for each size."""
    parser = argument_parser(__doc__)
    for name, value in vars(InsideSettings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    args = parser.parse_args()
    settings = InsideSettings(**{name: getattr(args, name) for name in vars(InsideSettings())})
    torch.set_num_threads(1)
    report(
        measure_inside(settings),
        lambda result: (
            f"{settings.layers} × {settings.heads} heads, width {result.hidden_size}, "
            f"{result.words:,} words, {settings.tokens} tokens"
        ),
        {
            "way": lambda result: result.way,
            "seconds": lambda result: result.seconds,
            "×": lambda result: None if result.way == RECORDING else result.ratio,
        },
        settings,
        args.out,
    )


if __name__ == "__main__":
    main()
