"""Table 2, beside the paper."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from reproduction.markdown import markdown, plus_minus, t_half
from reproduction.study import read_numbers

ROWS = {
    "softmax": ("softmax", "0.902"),
    "tanhmax": ("TanhMax", "0.887"),
    "uniform": ("uniform attention, the floor", "–"),
    "convolution": ("a convolutional network: a ResNet of 80,000 parameters", "–"),
}
"""What is trained: how it is called, and what the paper has."""


def page() -> Iterator[str]:
    """A part of images.md."""
    table = read_numbers("images", "accuracy")
    rows = []
    for name, (title, paper) in ROWS.items():
        values = [table[name][seed] for seed in sorted(table[name])]
        new_seed = t_half(values) * (len(values) + 1) ** 0.5
        rows.append([title, ", ".join(map(half_up, values)), plus_minus(values), f"± {new_seed:.3f}", paper])
    rows.append(["always the commonest class", "0.100", "", "", "–"])
    rows.append(["CIFAR-100, softmax and TanhMax", "not at hand", "", "", "0.668 and 0.662"])
    yield markdown(
        ["model", "accuracy on test, seeds 0 to 4", "mean", "a new seed", "paper"], rows, rule="---"
    )


def half_up(value: float) -> str:
    """Three decimals of one that has four."""
    return str(Decimal(str(value)).quantize(Decimal("0.001"), ROUND_HALF_UP))
