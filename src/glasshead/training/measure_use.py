"""How a model uses its attention before and after training, on the same texts."""

import numpy as np
from transformers import PreTrainedModel

from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.results import LayerUse
from glasshead.trace import attention_use
from glasshead.training.tensor_dataset import TensorDataset

SAMPLE = 128
"""Texts of dev, evenly spaced, so that no random number is drawn; their labels are not read."""


def sample_evenly(rows: TensorDataset) -> Encoded:
    """Every k-th text."""
    places = np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).round().astype(int)
    return rows.encoded.some(places)


def measure_use(model: PreTrainedModel, texts: Encoded) -> list[LayerUse] | None:
    """`glasshead.trace.attention_use`; None where no attention can be read."""
    try:
        return attention_use(model, texts)
    except InputError:
        return None
