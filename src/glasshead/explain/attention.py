"""Attention weights as an explanation, and the contribution that does not depend on their sign gauge."""

from jaxtyping import Float
from torch import Tensor

from glasshead.explain.explainer import Explainer, View, register
from glasshead.models import target_polarity


def contribution(view: View) -> Float[Tensor, "texts tokens"]:
    """a_i · o_i: what the token adds to the score of the target class; the same in either gauge."""
    return view.observation.weights * target_polarity(view.observation.polarity, view.target)


class Attention(Explainer):
    """The weights a_i in the canonical gauge; the map is coloured by a_i · o_i."""

    description = "attention weights (canonical sign), coloured by contribution"
    citation = "Huang, Yang and Wang 2024, section 5.2"

    def importance(self, view: View) -> Float[Tensor, "texts tokens"]:
        weights = view.observation.weights  # refuses models without a gauge
        return view.model.config.gauge * weights

    def contributions(self, view: View) -> Float[Tensor, "texts tokens"]:
        return contribution(view)

    def signed(self, view: View) -> bool:
        return view.observation.activation.signed


class Contribution(Explainer):
    """a_i · o_i with o_i = v_iᵀ W: exact for a single attention layer, Σ_i a_i o_i + b = z."""

    description = "attention weight × polarity: the token's exact share of the class score"
    citation = "this project; polarity: Sun and Lu 2020"

    def importance(self, view: View) -> Float[Tensor, "texts tokens"]:
        return contribution(view)


register("attention", Attention())
register("contribution", Contribution())
