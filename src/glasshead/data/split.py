"""Which rows become train, dev and test, or stay: by seed, stratified, equal texts on one side."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

FRACTIONS = {"train": 0.7, "dev": 0.15, "test": 0.15}


def assign_splits(
    keys: Sequence[Hashable], labels: Sequence[str], fractions: Sequence[float], seed: int
) -> np.ndarray:
    """The part of every row, for parts of these fractions; rows of equal key share a part.

    Groups of equal rows are shuffled and dealt out class by class, each to the part that its class lacks
    most, so that every class is divided as the whole. The first part holds every class.
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        members[key].append(row)
    groups = list(members.values())
    shuffled = np.random.default_rng(seed).permutation(len(groups)).tolist()
    # A group may hold several labels: its first one decides for which class it is dealt out.
    by_class = sorted(shuffled, key=lambda group: labels[groups[group][0]])

    parts = range(len(fractions))
    part = np.zeros(len(labels), dtype=np.int64)
    whole = [0] * len(fractions)  # rows per part
    stratum, own = "", [0] * len(fractions)  # rows per part of one class
    for index, group in enumerate(by_class):
        rows = groups[group]
        first = index == 0 or labels[rows[0]] != stratum
        if first:
            stratum, own = labels[rows[0]], [0] * len(fractions)
        of_class, of_all = sum(own) + len(rows), sum(whole) + len(rows)
        lack = [
            # Rounded, because a tie within the class is settled by the whole, not by the last bit.
            (round(fractions[k] * of_class - own[k], 6), fractions[k] * of_all - whole[k])
            for k in parts
        ]
        chosen = 0 if first else max(parts, key=lack.__getitem__)
        part[rows] = chosen
        own[chosen] += len(rows)
        whole[chosen] += len(rows)

    present = {label for label, k in zip(labels, part.tolist(), strict=True) if k == 0}
    for rows in groups:
        if not {labels[row] for row in rows} <= present:
            # A class that only occurs in groups dealt out for another one.
            part[rows] = 0
            present.update(labels[row] for row in rows)
    return part


def stratified_sample(strata: Sequence[str], rows: int, seed: int) -> list[int]:
    """The places of so many rows, ascending: of every stratum the same share, and at least one row if it can.

    Row r (0, 1, …) of a shuffled stratum of n rows is taken before all rows with a larger r / n, so that a
    larger draw with the same seed holds a smaller one.
    """
    order = np.random.default_rng(seed).permutation(len(strata)).tolist()
    sizes, seen = Counter(strata), Counter[str]()
    shares = []
    for row in order:
        stratum = strata[row]
        shares.append(seen[stratum] / sizes[stratum])
        seen[stratum] += 1
    first = np.argsort(shares, kind="stable")[:rows]
    return sorted(order[place] for place in first)


def ranges(ratings: Sequence[float], most: int = 10) -> list[str]:
    """Strata of ratings: the ratings themselves if they are few, else ranges of about equally many rows.

    There are at most ``most``, and at most one for every ``most`` rows; equal ratings share one.
    """
    values = np.asarray(ratings, dtype=np.float64)
    number = min(most, max(1, len(values) // most))
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) > number:
        below = np.searchsorted(np.sort(values), values)  # how many ratings are lower
        place = below * number // len(values)
    return [str(each) for each in place.tolist()]
