"""The tuned lens: an affine map for each layer, fitted so that its states look like the last.

The maps are a weighted ridge regression in closed form, A, b = argmin Σ ‖A x + b − y‖² / ‖y‖² + λ ‖A − I‖²,
over the tokens of texts: x is a token's state behind the layer and y that behind the last. Errors are
relative, since what follows the last layer begins with a norm, and without data the map is the plain lens.
How much nearer the predictions are to the model's is measured on texts that were left out.

Source: Belrose et al. (2023), who fit the same maps by gradient descent on the divergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Inputs, LoadOptions, encode, read_plain
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import TaskModel, class_name
from glasshead.inside.layer_states import read_states
from glasshead.results import LensFit
from glasshead.spelling import spell
from glasshead.statistics import mean_interval

RIDGE = 1e-2
"""λ, as a part of the mean variance of an entry of x."""
HELD_OUT = 0.25
"""So large a part of the texts is left out of the fit."""
FEWEST = 20
"""Fewer texts fit nothing that holds of others."""
TINY = 1e-12


@dataclass(frozen=True)
class AffineMaps:
    """A and b of every layer but the last, whose map is the identity; x is a row."""

    matrices: Float[Tensor, "l d d"]
    biases: Float[Tensor, "l d"]

    def __call__(self, states: Float[Tensor, "l+1 n d"]) -> Float[Tensor, "l+1 n d"]:
        mapped = states[:-1].double() @ self.matrices + self.biases[:, None]
        return torch.cat([mapped.to(states), states[-1:]])


class Moments:
    """Weighted sums over tokens of what the regressions of all layers read."""

    def __init__(self) -> None:
        self.sums: list[Tensor] = []

    def add(self, states: Float[Tensor, "l+1 n d"]) -> None:
        """Add the tokens of a text."""
        x, y = states[:-1].double(), states[-1].double()
        weights = 1 / y.square().sum(dim=-1).clamp(min=TINY)  # [n]
        scaled = x * weights[:, None]
        new = [
            weights.sum(),
            scaled.sum(dim=1),
            (y * weights[:, None]).sum(dim=0),
            x.transpose(1, 2) @ scaled,
            scaled.transpose(1, 2) @ y,
        ]
        self.sums = [one + more for one, more in zip(self.sums, new, strict=True)] if self.sums else new

    def fit(self) -> AffineMaps:
        """The maps that are best before all of them."""
        total, sum_x, sum_y, squares, products = self.sums
        x, y = sum_x / total, sum_y / total
        variance = squares / total - x[:, :, None] * x[:, None]  # [l, d, d]
        covariance = products / total - x[:, :, None] * y
        identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        size = variance.diagonal(dim1=1, dim2=2).mean(dim=1).clamp(min=TINY)
        ridge = RIDGE * size[:, None, None] * identity
        matrices = identity + torch.linalg.solve(variance + ridge, covariance - variance)
        return AffineMaps(matrices, y - (x[:, None] @ matrices)[:, 0])


def fit_lens(
    model: PreTrainedModel, tokenizer: Any, source: Any, seed: int = 0
) -> tuple[AffineMaps, LensFit]:
    """The maps of a model, and how far predictions are from its own on texts that were left out.

    Raises:
        InputError: if the texts cannot be read or are too few, or if the model needs more than a text.
    """
    if isinstance(model, TaskModel) and not model.asks_whole_texts:
        raise InputError(
            f"the tuned lens works for language models and text classifiers only; {class_name(model)} needs "
            f"more than a text: leave {spell('tuned')} out for the plain lens"
        )
    every = [encode(tokenizer, [text]) for text in read_texts(source)]
    every = [encoded for encoded in every if bool(encoded.mask.any())]
    if len(every) < FEWEST:
        raise ParameterError("tuned", f"has {len(every)} texts, but the maps need at least {FEWEST}")
    texts = [encoded.inputs(device=model.device) for encoded in every]
    order = np.random.default_rng(seed).permutation(len(texts))
    held_out, fitted = np.split(order, [max(1, int(HELD_OUT * len(texts)))])
    moments = Moments()
    for number in fitted:
        moments.add(torch.cat(read_states(model, texts[number]).all))
    maps = moments.fit()
    found = [divergences(model, texts[number], maps) for number in held_out]
    plain, tuned = (np.stack(one) for one in zip(*found, strict=True))
    rng = np.random.default_rng(seed)
    means = [mean_interval(gain, rng=rng) for gain in (plain - tuned).T]
    return maps, LensFit(
        fitted=len(fitted),
        held_out=len(held_out),
        plain=tuple(plain.mean(axis=0).tolist()),
        tuned=tuple(tuned.mean(axis=0).tolist()),
        gains=tuple(one.interval_or_point for one in means),
    )


def divergences(
    model: PreTrainedModel, inputs: Inputs, maps: AffineMaps
) -> tuple[Float[np.ndarray, " l"], Float[np.ndarray, " l"]]:
    """KL(model ‖ layer) of every layer but the last, the mean over the places of a text: plain and tuned."""
    states = read_states(model, inputs)
    layers = torch.cat(states.all)
    own = states.predict(layers[-1:])[0].double().log_softmax(dim=-1)
    found = []
    for some in (layers, maps(layers)):
        logs = states.predict(some[:-1]).double().log_softmax(dim=-1)
        found.append((own.exp() * (own - logs)).sum(dim=-1).mean(dim=-1).cpu().numpy())
    return found[0], found[1]


def read_texts(source: Any) -> Sequence[str]:
    """The texts of a list, a file or a folder.

    Raises:
        InputError: if it is none of these.
    """
    if isinstance(source, str | Path):
        if not Path(source).exists():
            raise InputError(f"no such file or folder: {source}")
        return list(map(str, read_plain(Path(source), LoadOptions()).firsts))
    if not isinstance(source, Sequence) or not all(isinstance(text, str) for text in source):
        raise ParameterError("tuned", "takes texts: a file, or a list of them")
    return source
