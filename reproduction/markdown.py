"""Tables of pages, and numbers in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import sem
from scipy.stats import t as student


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], rule: str = " --- ") -> str:
    """A table."""
    head, *lines = (f"| {' | '.join(line)} |" for line in (heads, *rows))
    return "\n".join([head, f"|{'|'.join([rule] * len(heads))}|", *lines])


def t_half(values: Any, among: int = 1) -> float:
    """Half the width of the 95 % interval of Student's t around the mean over seeds; NaN for one.

    ``among`` such intervals are all right with that probability (Bonferroni).
    """
    return (
        float(sem(values) * student.ppf(1 - 0.025 / among, len(values) - 1))
        if len(values) > 1
        else float("nan")
    )


def plus_minus(values: Any, digits: int = 3, sign: str = "") -> str:
    """The mean over seeds ± half of its interval; no ± of one."""
    half = f" ± {t_half(values):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):{sign}.{digits}f}{half}"
