"""Every activation trains the classifier with one attention output."""

import pytest
import torch

from glasshead.attention import ACTIVATIONS
from small import planted_texts, random_model, tokenizer


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_training_lowers_the_loss_and_stays_finite(name):
    """To nothing, except where negative scores have no weight and so no gradient (ReLU, the plain sum).

    There a text whose scores are all negative is never seen again: how far training gets depends on the seed.
    """
    model = random_model(activation=name, score="query-key", value_dim=6)
    texts, labels = planted_texts(n=40)
    batch = tokenizer()(texts, padding=True, return_tensors="pt")
    batch = {key: batch[key] for key in ("input_ids", "attention_mask")} | {"labels": torch.tensor(labels)}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        loss = model(**batch).loss
        losses.append(float(loss.detach()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    below = model.activation.weights(torch.full((3,), -1.0), torch.ones(3, dtype=torch.bool))
    assert losses[-1] < (0.05 if below.any() else 0.9) * losses[0]
    assert all(parameter.isfinite().all() for parameter in model.parameters())
