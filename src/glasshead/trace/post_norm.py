"""The layer norm behind an attention block, where it normalises the sum of the residual and the attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glasshead.attention import ACTIVE_HOOKS, TracedCall
from glasshead.huggingface import MECHANISM
from glasshead.trace.hooks import AttentionHook

NORM_TOLERANCE = 1e-4
"""By how much the parts of a sum may miss it, of its largest entry."""


@dataclass(frozen=True)
class BlockNorm:
    """The input of an attention module, and the layer norm that ran next: its module and its input.

    If the norm follows in the same block, both have the same shape. A norm of another part of the model (of
    a document's sentences, after its words) has another shape and is not a post-norm.
    """

    hidden: Float[Tensor, "*read"]
    norm: nn.LayerNorm
    before: Float[Tensor, "*normed"]

    def is_post_norm(self, attended: Float[Tensor, "r n d"], real: Bool[Tensor, "r n"]) -> bool:
        """Whether the norm reads residual + attention + a bias, and attention reads that residual itself.

        ``attended`` is Σ_h A_h T_h, ``real`` which rows count. If attention reads the output of another
        norm (pre-norm), the difference is not a constant vector.
        """
        if not self.before.shape == self.hidden.shape == attended.shape:
            return False
        rest = (self.before - self.hidden - attended)[real]
        spread = (rest - rest.mean(dim=0)).abs().max()
        return bool(spread <= NORM_TOLERANCE * self.before[real].abs().max())

    def linear(self, vectors: Float[Tensor, "r q k d"], rows: slice) -> Float[Tensor, "r q k d"]:
        """γ (v − mean v) / σ_i: the output of the norm for a part of its input, with its standard deviation
        held constant.

        Source: Kobayashi et al. (2021), eq. 10.
        """
        variance = self.before[:, rows].var(dim=-1, unbiased=False)
        scale = torch.rsqrt(variance + self.norm.eps)[:, :, None, None]
        centred = (vectors - vectors.mean(dim=-1, keepdim=True)) * scale
        return centred if self.norm.weight is None else centred * self.norm.weight.to(centred)

    def output(self, rows: slice) -> Float[Tensor, "r q d"]:
        """The output of the norm."""
        normalised: Tensor = self.norm(self.before[:, rows])
        return normalised


class NormWatcher(AttentionHook):
    """Keeps, for every attention call, what its module read and the first layer norm that runs after it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, None)
        self.blocks: dict[int, BlockNorm] = {}
        self.last_input: Tensor | None = None
        self.open: tuple[int, Tensor] | None = None

    def before(self, traced_call: TracedCall) -> None:
        layer = self.number(traced_call)
        if layer is not None and self.last_input is not None:
            self.open = layer, self.last_input

    def hooks(self) -> list[RemovableHandle]:
        """Those of attention modules and norms too."""
        handles = super().hooks()
        for module in self.model.modules():
            if isinstance(module, nn.LayerNorm):
                handles.append(module.register_forward_pre_hook(self._enter_norm))
            if hasattr(module, MECHANISM):
                handles.append(module.register_forward_pre_hook(self._enter_attention, with_kwargs=True))
        return handles

    def _enter_attention(self, module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        if self not in ACTIVE_HOOKS.get():
            return  # another thread runs the same model
        hidden = args[0] if args else options.get("hidden_states")
        self.last_input = hidden.detach() if isinstance(hidden, Tensor) else None

    def _enter_norm(self, module: nn.LayerNorm, args: tuple[Any, ...]) -> None:
        if self in ACTIVE_HOOKS.get() and self.open is not None and args:
            layer, hidden = self.open
            self.blocks[layer] = BlockNorm(hidden, module, args[0].detach())
            self.open = None
