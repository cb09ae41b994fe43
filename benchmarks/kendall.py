"""Kendall's τ-b with p-values: ours against a loop over SciPy, as a ratio of times from one run.

    python benchmarks/kendall.py

Ours and SciPy's alternate; a ratio is the median over repeats, with the least and the largest. Where
the loop would take a quarter of a minute, it runs on a share of the rows and its time is scaled.
"""

from time import perf_counter

import numpy as np
from scipy.stats import kendalltau

from glasshead.statistics.kendall import kendall_tau_b

CASES = (  # name, rows, length, repeats, share of the rows that the loop takes
    ("without ties", 2_000, 30, 7, 1.0),
    ("with ties", 2_000, 30, 7, 1.0),
    ("without ties, ragged", 2_000, 30, 7, 1.0),
    ("without ties", 25_000, 100, 3, 0.08),
    ("with ties", 25_000, 100, 3, 0.08),
)


def main() -> None:
    """Print one line per case."""
    rng = np.random.default_rng(0)
    print(f"{'vectors':>12}  {'':22}{'SciPy loop':>12}{'ours':>12}   ratio, median (least – largest)")
    for name, rows, length, repeats, share in CASES:
        x, y = rng.normal(size=(2, rows, length))
        if name.startswith("with ties"):
            x, y = np.round(x, 1), np.round(y, 0)
        shortest = 5 if "ragged" in name else length
        mask = np.arange(length) < rng.integers(shortest, length + 1, size=rows)[:, None]
        some = range(int(rows * share))
        kendall_tau_b(x[:100], y[:100], mask[:100])  # fills the table of exact p-values
        times = []
        for _ in range(repeats):
            start = perf_counter()
            ours = kendall_tau_b(x, y, mask)
            middle = perf_counter()
            theirs = [kendalltau(x[row, mask[row]], y[row, mask[row]]) for row in some]
            times.append(((perf_counter() - middle) * rows / len(some), middle - start))
        np.testing.assert_array_equal(ours.tau[: len(some)], [result.statistic for result in theirs])
        np.testing.assert_allclose(
            ours.pvalue[: len(some)], [result.pvalue for result in theirs], rtol=1e-12, atol=0
        )
        loop, batch = np.median(times, axis=0)
        ratios = [one / other for one, other in times]
        print(
            f"{rows:>6} × {length:<4} {name:22}{loop * 1e3:>10.1f}ms{batch * 1e3:>10.1f}ms"
            f"   {np.median(ratios):.0f}× ({min(ratios):.0f} – {max(ratios):.0f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
