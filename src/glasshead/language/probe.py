"""Linear probe: what a frozen model's features tell a linear classifier about whole texts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import batches, encode, has_ratings, heads_of
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import own_model, random_twin
from glasshead.registry import did_you_mean
from glasshead.statistics import share_interval
from glasshead.torch_modes import in_own_modes

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PROBE_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""C of scikit-learn, the inverse of the strength of the L2 penalty, of standardised features."""
PROBE_POOLINGS = ("last", "mean")


@dataclass(frozen=True)
class Probe:
    """Accuracy on the n texts of ``split`` with its exact 95 % interval; that of the commonest class of
    train (``guess``); and that of the same probe on a model of the same class with new weights
    (``random_weights``)."""

    accuracy: float
    interval: tuple[float, float]
    n: int
    split: str
    guess: float
    random_weights: float
    layer: int
    pooling: str
    C: float


@in_own_modes
def linear_probe(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    data: "DatasetDict",
    *,
    layer: int = -1,
    pooling: str = "last",
    seed: int = 0,
) -> Probe:
    """Logistic regression of the label on f^(layer)(x); the model is not trained.

    p(c | x) = softmax(W f + b)_c, where f [d_e] is f^(layer) at the last token of a text, the only one in a
    decoder that has seen all of it, or its ``mean`` over tokens. Layer 0 is the embedding, −1 the output of
    the stack. Features are standardised by train; dev chooses C. It is measured on test, or else on dev.

    Raises:
        InputError: if the labels are ratings, or the model has no such layer.

    Source: Alain and Bengio 2017; "train a regressor on f^(L)", as language models are used for classes.
    """
    if pooling not in PROBE_POOLINGS:
        raise InputError(f"unknown pooling {pooling!r}: {did_you_mean(pooling, PROBE_POOLINGS)}")
    if has_ratings(data["train"]):
        raise InputError(
            "a linear probe predicts classes, but these labels are ratings: give data with classes"
        )
    split = "test" if "test" in data else "dev"
    parts = {name: data[name] for name in ("train", "dev", split)}
    labels = {name: np.asarray(part["label"][:]) for name, part in parts.items()}

    def fit(frozen: PreTrainedModel) -> tuple[np.ndarray, float]:
        features = {
            name: features_of(frozen, tokenizer, part, layer, pooling) for name, part in parts.items()
        }
        return fit_probe(features, labels, split)

    model = own_model(model)
    right, C = fit(model)
    null, _ = fit(random_twin(model, seed))
    accuracy = share_interval(right)
    assert accuracy.interval is not None
    guess = np.bincount(labels["train"]).argmax()
    return Probe(
        accuracy=float(right.mean()),
        interval=accuracy.interval,
        n=len(right),
        split=split,
        guess=float((labels[split] == guess).mean()),
        random_weights=float(null.mean()),
        layer=layer,
        pooling=pooling,
        C=C,
    )


@torch.no_grad()
def features_of(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: "Dataset",
    layer: int,
    pooling: str,
) -> Float[np.ndarray, "texts d"]:
    """f^(layer) of each text, at its last token or as the mean over its tokens."""
    pairs = rows["text_pair"][:] if "text_pair" in rows.column_names else None
    encoded = encode(tokenizer, rows["text"][:], pairs)
    training = model.training
    model.eval()
    result: Float[np.ndarray, "texts d"] | None = None
    for places, inputs in batches(encoded, device=model.device, maps=heads_of(model.config)):
        states = model(**inputs, output_hidden_states=True).hidden_states
        if not -len(states) <= layer < len(states):
            raise ParameterError("layer", f"must lie between 0 and {len(states) - 1}, or be -1, not {layer}")
        hidden, mask = states[layer].float(), inputs["attention_mask"].bool()
        if pooling == "mean":
            real = mask[..., None].float()
            pooled = (hidden * real).sum(1) / real.sum(1).clamp(min=1)
        else:
            steps = torch.arange(mask.shape[1], device=mask.device)
            last = (mask.long() * steps).amax(dim=1)
            pooled = hidden[torch.arange(len(hidden), device=hidden.device), last]
        if result is None:
            result = np.zeros((len(rows), pooled.shape[1]))
        result[places.numpy()] = pooled.cpu().numpy()
    model.train(training)
    assert result is not None
    return result


def fit_probe(
    features: dict[str, Float[np.ndarray, "texts d"]], labels: dict[str, np.ndarray], split: str
) -> tuple[np.ndarray, float]:
    """Which texts of the split are classified rightly, with the C that is best on dev; and this C."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scale = StandardScaler().fit(features["train"])
    ready = {name: scale.transform(values) for name, values in features.items()}
    best, right, chosen = -1.0, np.zeros(0, bool), PROBE_PENALTIES[0]
    for C in PROBE_PENALTIES:
        probe = LogisticRegression(C=C, max_iter=5000).fit(ready["train"], labels["train"])
        score = float(probe.score(ready["dev"], labels["dev"]))
        if score > best:
            best, right, chosen = score, probe.predict(ready[split]) == labels[split], C
    return right, chosen
