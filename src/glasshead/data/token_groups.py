"""Which words belong to which class, by how often they occur in it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.results import MIN_OCCURRENCES, NEUTRAL_GAMMA, TYPICAL_GAMMA


def polarity_ratio(counts: NDArray[np.int64]) -> Floats:
    """γ_e = (f⁺ − f⁻) / (f⁺ + f⁻) of every token; NaN if it never occurs (Huang et al. 2024, eq. 11)."""
    negative, positive = counts.astype(float)
    total = positive + negative
    return np.divide(positive - negative, total, out=np.full(len(total), np.nan), where=total > 0)


def token_groups(counts: NDArray[np.int64], labels: Sequence[str]) -> tuple[NDArray[np.str_], Floats]:
    """The group of every token ("" if none) and its γ, from train occurrences [K, V].

    Binary: positive if γ ∈ (0.5, 1] and f⁺ > 5, negative if γ ∈ [−1, −0.5) and f⁻ > 5, neutral if
    |γ| < 0.1 and |f⁺ − f⁻| < 5 (Huang et al. 2024, section 5.1, with intervals closed at ±1, or words of one
    class only would have no group). K classes: γ_k = 2 p_k − 1 of the share p_k of a token's occurrences in
    class k, so a token of class k has p_k > 0.75; neutral if all shares are within 0.05 of 1/K and the counts
    differ by less than 5 (after Sun and Lu 2020, Table 1, which gives no rule). The γ of K classes is that of
    the likeliest class.
    """
    if len(labels) == 2:
        gamma = polarity_ratio(counts)
        shares = np.stack([-gamma, gamma])
        names, centre = ["negative", "positive"], 0.0
    else:
        total = counts.sum(axis=0)
        p = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
        shares = 2 * p - 1
        names, centre = [f"class {label}" for label in labels], 2 / len(labels) - 1
        gamma = shares.max(axis=0)
    groups = np.full(counts.shape[1], "", dtype=f"<U{max(map(len, [*names, 'neutral']))}")
    with np.errstate(invalid="ignore"):
        even = np.all(np.abs(shares - centre) < NEUTRAL_GAMMA, axis=0)
        groups[even & (np.ptp(counts, axis=0) < MIN_OCCURRENCES) & (counts.sum(axis=0) > 0)] = "neutral"
        for name, share, count in zip(names, shares, counts, strict=True):
            groups[(share > TYPICAL_GAMMA) & (count > MIN_OCCURRENCES)] = name
    return groups, gamma
