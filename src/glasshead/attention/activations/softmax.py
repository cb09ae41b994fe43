"""Softmax: g = h = exp."""

from abc import abstractmethod

from jaxtyping import Bool, Float
from torch import Tensor, finfo, float32, promote_types

from glasshead.attention.activation import ACTIVATIONS, Activation


def softmax(
    scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
) -> Float[Tensor, "*rows keys"]:
    """Masked softmax, e^{s_i} / Σ_k e^{s_k} over the keys that the mask allows."""
    # The lowest finite number instead of −∞: a fully masked row stays finite and is then zeroed.
    weights = scores.masked_fill(~mask, finfo(scores.dtype).min).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


class TransformedSoftmax(Activation):
    """φ(s) = softmax(t(s)) with t the `exponent`, elementwise; t sees half precision as float32."""

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        # Masked scores are replaced before t: the gradient of t at NaN would be NaN, also times zero.
        safe = scores.masked_fill(~mask, 0.0).to(promote_types(scores.dtype, float32))
        return softmax(self.softmax_logits(safe), mask).to(scores.dtype)

    @abstractmethod
    def softmax_logits(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]: ...


@ACTIVATIONS.register("softmax")
class Softmax(Activation):
    """[φ(s)]_i = e^{s_i} / Σ_k e^{s_k} (Bahdanau, Cho and Bengio 2015)."""

    paper = "Bahdanau, Cho and Bengio 2015"
    signed = False
    rows_sum_to_one = True
    monotone = True
    log_nonlinear = False
    origin_symmetric = False
    normalised = True

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        return softmax(scores, mask)

    def softmax_logits(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return scores
