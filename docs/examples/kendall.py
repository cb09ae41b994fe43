"""Kendall's τ-b for many rows of different length at once; the numbers are SciPy's."""

import numpy as np
from scipy.stats import kendalltau

from glasshead.statistics import kendall_tau_b

rng = np.random.default_rng(0)
x, y = rng.integers(0, 9, size=(2, 50, 12))
mask = np.arange(12) < rng.integers(6, 13, size=(50, 1))  # 6 to 12 real entries per row

result = kendall_tau_b(x, y, mask)
expected = [kendalltau(a[m], b[m]).statistic for a, b, m in zip(x, y, mask, strict=True)]
print("rows:", len(result.tau), "equal to SciPy:", np.allclose(result.tau, expected))
