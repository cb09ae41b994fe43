"""The slow twin of `glasshead.identifiability.lp.intervals`: one cold linear program for each end."""

import numpy as np
from scipy.optimize import linprog


def drawn(kind, n, d, rng):
    """T and weights that an activation of this kind makes of random scores."""
    T, s = rng.normal(size=(n, d)), 1.5 * rng.normal(size=n)
    if kind == "simplex":
        a = np.exp(s) / np.exp(s).sum()
    elif kind == "nonnegative":
        a = np.maximum(s, 0)
    elif kind in ("below-one", "cross"):
        s = np.abs(s) if kind == "below-one" else s
        a = np.sinh(s) / np.cosh(s).sum()
    else:
        a = s / n
    return T, a


def slow_interval(T, a, kind, tolerance, weights):
    """[min, max] of Σ w_j a′_j over the feasible set, by HiGHS; ±∞ where it is unbounded."""
    n = len(a)
    lift = np.hstack([np.eye(n), -np.eye(n)]) if kind == "cross" else np.eye(n)
    free = lift.shape[1]
    equal, equals, below, belows = [], [], [], []
    if tolerance:
        left, sizes, _ = np.linalg.svd(T - T.mean(axis=0) if kind == "simplex" else T, full_matrices=False)
        some = sizes > 1e-9 * sizes[0]
        half = tolerance * np.linalg.norm(a @ T) / sizes[some]
        rows, at = left[:, some].T @ lift, left[:, some].T @ a
        below += [rows, -rows]
        belows += [at + half, half - at]
    else:
        equal.append(T.T @ lift)
        equals.append(a @ T)
    if kind == "simplex":
        equal.append(np.ones((1, n)))
        equals.append([1.0])
    elif kind in ("below-one", "cross"):
        below.append(np.ones((1, free)))
        belows.append([1.0])
    found = []
    for sign in (1, -1):
        made = linprog(
            sign * weights @ lift,
            A_eq=np.vstack(equal) if equal else None,
            b_eq=np.concatenate(equals) if equal else None,
            A_ub=np.vstack(below) if below else None,
            b_ub=np.concatenate(belows) if below else None,
            bounds=(None if kind == "any" else 0, None),
            method="highs",
            options={"presolve": False},  # it takes unbounded for infeasible
        )
        assert made.status in (0, 3), made.message
        found.append(sign * made.fun if made.status == 0 else -sign * np.inf)
    return found
