"""What one row of one head is, and which weights its mechanism can produce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.attention import Activation, Mechanism
from glasshead.errors import InputError
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS


@dataclass(frozen=True)
class AttentionRow:
    """One row of one head for one text: a [n] over the keys that it may attend to, and T [n, d].

    T = V D is given in an orthonormal basis of the rows of D, which changes no singular value. It is V
    where no single linear map reads the head (``projected`` is false). ``embed_dim`` is d_e, ``eps`` the
    machine epsilon of the type in which V was computed; all numbers are float64. ``keys`` are the tokens,
    or sentences, of the keys. ``score_jacobian`` [n, d_k] is ∂s/∂q, None where there is no query; ``part``
    numbers the texts of a pair and the sentences of a document that attend to themselves alone; ``learned``
    says that the query is a parameter of the model, not of a token; ``share`` is the weight of the row in
    the selected rows, if rows are chosen by it.
    """

    text: int
    layer: int
    name: str
    head: int
    row: int
    part: int
    keys: NDArray[np.int64]
    weights: Floats
    T: Floats
    kind: str
    embed_dim: int
    eps: float
    projected: bool
    scores: Floats
    score_jacobian: Floats | None
    activation: Activation
    learned: bool = False
    share: float = 1.0

    @property
    def sums_to_one(self) -> bool:
        """Whether every row that the activation can produce sums to one."""
        return WEIGHT_DOMAINS[self.kind].sums_to_one

    def intervals(self, tolerance: float = 0.0, functions: Floats | None = None) -> Intervals:
        """The interval of each weight, or of sums of them (`glasshead.identifiability.lp.intervals`)."""
        return intervals(
            self.T,
            self.weights,
            kind=self.kind,
            embed_dim=self.embed_dim,
            eps=self.eps,
            tolerance=tolerance,
            functions=functions,
        )


def weight_domain(mechanism: Mechanism) -> str:
    """The set of possible weights of a mechanism, as `glasshead.identifiability.WEIGHT_DOMAINS` names it.

    Raises:
        InputError: if weights are changed after the activation, since their rows have no such form.
    """
    if mechanism.position.changes_weights:
        raise InputError(
            f"{mechanism.name} changes the weights after its activation, so the weights that it can produce "
            "have no simple form: intervals exist only for early adjustments"
        )
    return weight_domain_of_activation(mechanism.activation, mechanism.signed)


def weight_domain_of_activation(activation: Activation, signed: bool) -> str:
    """The weight domain of an activation alone; ``signed`` is false where no score is negative.

    Raises:
        InputError: if weights do not depend on scores.
    """
    if activation.rows_sum_to_one and not activation.normalised:
        # Each weight depends on its own score at most, and their sum on none.
        raise InputError("these weights do not depend on the scores, so the head cannot produce others")
    if activation.rows_sum_to_one and not signed:
        return "simplex"
    if signed:
        return "cross" if activation.normalised else "any"
    return "below-one" if activation.normalised else "nonnegative"
