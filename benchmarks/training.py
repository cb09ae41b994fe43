"""A training step of the encoder by each mechanism, against softmax with sinusoids; summed heads two ways.

    python -m benchmarks.training --lengths 128 512

×: time over that of the first row, median and range of the rounds in which both ran. least ×: least time over
least time. memory: the peak of what is made, over that of the first row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from benchmarks.measuring import (
    Spread,
    Work,
    argument_parser,
    format_number,
    peak_bytes,
    ratios,
    report,
    time_interleaved,
)
from glasshead.attention import ACTIVE_HOOKS, MultiHeadAttention, TracedCall
from glasshead.models import EncoderClassifier, EncoderConfig

MECHANISMS = ("distance-aware", "shaw", "transformer-xl", "tener")
VANILLA = "softmax with sinusoids"
ONE_BY_ONE = "head by head"
WORDS = 10_000
TITLES = {
    "step": "a training step of the encoder",
    "add": "summed heads, forward and backward",
    "add, first token": "summed heads of which the first token is read, forward and backward",
}


@dataclass(frozen=True)
class TrainingSettings:
    """What is measured: the encoder of Wu, Wu and Huang (2021), 16 heads of 16 on embeddings of 300."""

    lengths: tuple[int, ...] = (128, 512)
    mechanisms: tuple[str, ...] = MECHANISMS
    device: str = "cpu"
    embedding_size: int = 300
    heads: int = 16
    head_size: int = 16
    tokens: int = 4096
    """Of a batch, at whatever length."""
    budget: float = 10.0
    """Seconds for each table."""
    rounds: int = 1
    """At least so many rounds, whatever they take."""


@dataclass(frozen=True)
class TrainingResult:
    """One way to do some work, and its ratio to the base in the same rounds."""

    work: str
    """"step": a training step of the encoder; "add", "add, first token": a layer of summed heads."""
    way: str
    length: int
    seconds: Spread
    ratio: Spread
    least_ratio: float
    """The least time over the least time of the base: what a quiet machine would say."""
    memory_ratio: float


def measure_training(settings: TrainingSettings) -> Iterator[TrainingResult]:
    """Results as they come; the ways of one table alternate."""
    for length in settings.lengths:
        works = {VANILLA: training_step("softmax", length, settings)}
        works |= {name: training_step(name, length, settings) for name in settings.mechanisms}
        yield from compare_ways("step", length, works, settings)
    for length in settings.lengths:
        for name, rows in (("add", slice(None)), ("add, first token", slice(0, 1))):
            yield from compare_ways(name, length, summed_head_layers(length, rows, settings), settings)


def compare_ways(
    name: str, length: int, works: dict[str, Work], settings: TrainingSettings
) -> Iterator[TrainingResult]:
    """All ways to do one thing; the first is the base."""
    seconds = time_interleaved(works, settings.budget, settings.device, settings.rounds)
    peaks = {way: peak_bytes(work, settings.device) for way, work in works.items()}
    base = next(iter(works))
    for way, times in seconds.items():
        yield TrainingResult(
            work=name,
            way=way,
            length=length,
            seconds=Spread.of(times),
            ratio=ratios(times, seconds[base]),
            least_ratio=min(times) / min(seconds[base]),
            memory_ratio=peaks[way] / peaks[base],
        )


def random_texts(length: int, settings: TrainingSettings) -> tuple[Tensor, Tensor]:
    """Random ids, and a mask of texts between half and all of the length."""
    torch.manual_seed(0)
    number = max(1, settings.tokens // length)
    real = torch.randint((length + 1) // 2, length + 1, (number,))
    real[0] = length
    mask = torch.arange(length) < real[:, None]
    ids = torch.randint(5, WORDS, (number, length)).masked_fill(~mask, 0)
    return ids.to(settings.device), mask.to(settings.device)


def training_step(mechanism: str, length: int, settings: TrainingSettings) -> Work:
    """Forward, backward and Adam."""
    ids, mask = random_texts(length, settings)
    config = EncoderConfig(
        vocab_size=WORDS,
        hidden_size=settings.embedding_size,
        num_attention_heads=settings.heads,
        head_dim=settings.head_size,
        value_dim=settings.head_size,
        attention=mechanism,
        id2label=dict(enumerate("abcd")),
    )
    with torch.device(settings.device):
        model = EncoderClassifier(config)
    model.train()
    labels = torch.arange(len(ids), device=ids.device) % 4
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def work() -> None:
        optimizer.zero_grad()
        model(input_ids=ids, attention_mask=mask, labels=labels).loss.backward()
        optimizer.step()

    return work


class HeadByHead:
    """A hook under which heads are computed one by one."""

    def before(self, flow: TracedCall) -> None:
        flow.total = None

    def after(self, flow: TracedCall, output: Tensor) -> None:
        """Nothing to do after it."""


def summed_head_layers(length: int, rows: slice, settings: TrainingSettings) -> dict[str, Work]:
    """A layer of summed heads, forward and backward: head by head, and as it is."""
    _, mask = random_texts(length, settings)
    layer = MultiHeadAttention(
        settings.embedding_size, settings.heads, head_dim=settings.head_size, head_combination="add"
    )
    layer.to(settings.device)
    x = torch.randn(*mask.shape, settings.embedding_size, device=settings.device, requires_grad=True)
    leaves = [x, *layer.parameters()]

    def fast() -> object:
        output = layer(x, mask=mask, rows=rows).output
        return torch.autograd.grad(output.sum(), leaves)

    return {ONE_BY_ONE: partial(run_head_by_head, fast), "as it is": fast}


def run_head_by_head(work: Work) -> object:
    """The same under this hook."""
    token = ACTIVE_HOOKS.set((HeadByHead(),))
    try:
        return work()
    finally:
        ACTIVE_HOOKS.reset(token)


def main(words: list[str] | None = None) -> None:
    """Measure what the options say, and print it."""
    parser = argument_parser(__doc__, lengths=(128, 512))
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, default=MECHANISMS)
    parser.add_argument("--rounds", type=int, default=1, help="at least so many, whatever they take")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    asked = parser.parse_args(words)
    settings = TrainingSettings(
        tuple(asked.lengths), tuple(asked.mechanisms), asked.device, rounds=asked.rounds
    )
    report(
        measure_training(settings),
        lambda result: f"{result.length:,} tokens, {TITLES[result.work]}",
        {
            "way": lambda result: result.way,
            "ms": lambda result: format_number(result.seconds.median * 1e3),
            "×": lambda result: result.ratio,
            "least ×": lambda result: format_number(result.least_ratio),
            "memory ×": lambda result: format_number(result.memory_ratio),
        },
        settings,
        asked.out,
        asked.device,
    )


if __name__ == "__main__":
    main()
