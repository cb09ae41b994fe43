"""What is seen of a model with several heads and layers: entropy, agreement with gradients, rank collapse."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.attention import to_name
from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.huggingface import shows_attention
from glasshead.language import LanguageModelConfig
from glasshead.nouns import INPUTS
from glasshead.papers.dynamics.sampling import choose_sample
from glasshead.papers.dynamics.snapshots import CurveRow, Snapshot, mean_curve
from glasshead.papers.results import Columns
from glasshead.spelling import spell
from glasshead.statistics import kendall_tau_b
from glasshead.trace import LayerRecord, entropies, record, without_padding
from glasshead.training import TensorDataset, TrainingConfig

SAMPLE = 32
"""Train texts that are looked at."""


class TransformerObserver:
    """Means per layer, over heads and texts: ``entropy`` of the rows of attention (0 one token, 1 all alike)
    and ``residual``, how far the output of a head is from a matrix of equal rows, ‖O − 1ō‖ / ‖O‖ in the
    Frobenius norm (0: collapsed; Dong et al. 2021). Over texts: ``agreement``, Kendall's τ-b of the attention
    that `glasshead explain` shows with gradient × input, of a rating with those of the rating.
    """

    def __init__(
        self,
        *,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        rows: TensorDataset,
        recipe: TrainingConfig,
    ) -> None:
        if not shows_attention(model):
            raise InputError(
                f"this model computes its attention itself: name a mechanism, {spell('attention', 'softmax')}"
            )
        self.encoded = rows.encoded.some(choose_sample(rows, SAMPLE).numpy())
        self.tokenizer = tokenizer
        self.token_facts: Columns = {}
        self.facts: dict[str, Any] = layer_facts(recipe, len(self.encoded.ids)) | {
            INPUTS: self.encoded.nouns.texts,
            "optimizer": recipe.optimizer,
        }

    def snapshot(self, model: PreTrainedModel) -> Snapshot:
        """What there is to see now."""
        curves = layer_curves(model, self.encoded)
        return Snapshot(curves + agreement_curve(model, self.encoded, self.tokenizer))


def layer_curves(model: PreTrainedModel, encoded: Encoded) -> list[CurveRow]:
    """Entropy and residual of every layer."""
    with torch.no_grad(), record(model) as trace:
        model(**encoded.inputs(device=model.device))
    curves: list[CurveRow] = []
    for layer in trace:
        name = f"layer {layer.layer}"
        curves += mean_curve("entropy", name, row_entropies(layer).numpy())
        curves += mean_curve("residual", name, head_residuals(layer).numpy())
    return curves


def agreement_curve(
    model: PreTrainedModel, encoded: Encoded, tokenizer: PreTrainedTokenizerFast
) -> list[CurveRow]:
    """Agreement of attention with gradient × input, over texts."""
    view = make_context(model, encoded, tokenizer)
    tau = kendall_tau_b(
        EXPLAINERS["attention"].importance(view).double().numpy(),
        EXPLAINERS["gradient-after-norm"].importance(view).double().numpy(),
        encoded.mask.numpy(),
    ).tau
    return mean_curve("agreement", "", tau[np.isfinite(tau)])


def layer_facts(recipe: TrainingConfig | LanguageModelConfig, texts: int) -> dict[str, Any]:
    """What a history of layers says of itself."""
    return {
        "kind": "layers",
        "form": None,
        "title": recipe.model,
        "why_no_form": "closed forms are known for the model 'pooled', with one learned query",
        "exact": False,
        "attention": None if recipe.attention is None else to_name(recipe.attention),
        "probe": texts,
        "groups": {},
        "terms": {},
    }


def row_entropies(layer: LayerRecord) -> Float[Tensor, " n"]:
    """The entropy of every row of attention, but for padding, that may attend to two tokens or more."""
    allowed = without_padding(layer.allowed.expand_as(layer.weights))
    entropy = entropies(layer.weights.float().cpu(), allowed.cpu())
    return entropy[~entropy.isnan()]


def head_residuals(layer: LayerRecord) -> Float[Tensor, " n"]:
    """‖O − 1ō‖ / ‖O‖ of the output O [rows, d_v] of every head before every text of two rows or more."""
    residual = []
    for output, real in texts(layer):
        rows = output[:, real]  # [h, r, d_v]
        size = rows.norm(dim=(1, 2))
        distance = (rows - rows.mean(dim=1, keepdim=True)).norm(dim=(1, 2))
        residual.append(distance[size > 0] / size[size > 0])
    return torch.cat(residual) if residual else torch.zeros(0)


def texts(layer: LayerRecord) -> Iterator[tuple[Float[Tensor, "h r d"], Bool[Tensor, " r"]]]:
    """Outputs of each text, and which of its rows attend to something real, where there are two of them."""
    allowed = without_padding(layer.allowed.expand_as(layer.weights))
    real = allowed.any(dim=1).any(dim=-1)  # [b, r]
    for output, rows in zip(layer.output.float().cpu(), real.cpu(), strict=True):
        if int(rows.sum()) > 1:
            yield output, rows
