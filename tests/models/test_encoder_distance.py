"""A task that only distance can solve, and what is learned of it."""

import pytest
import torch

from glasshead.models import EncoderClassifier, EncoderConfig

LENGTH, WORDS, KEY, QUERY, NEAR = 12, 20, 5, 6, 3


def texts(number, seed):
    """Shuffled words with one key and one query token; are they within three positions? Half of them are."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(7, WORDS, (number, LENGTH), generator=generator)
    places = torch.rand(number, LENGTH, generator=generator).argsort(dim=1)[:, :2]
    distance = (places[:, 0] - places[:, 1]).abs()
    ids.scatter_(1, places[:, :1], KEY).scatter_(1, places[:, 1:], QUERY)
    return ids, (distance <= NEAR).long()


def accuracy(attention, steps=250):
    torch.manual_seed(0)
    model = EncoderClassifier(
        EncoderConfig(
            vocab_size=WORDS,
            hidden_size=32,
            num_attention_heads=4,
            intermediate_size=64,
            positions="none",
            attention=attention,
            dropout=0.0,
            num_labels=2,
        )
    )
    ids, labels = texts(4000, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        rows = torch.arange(step * 64, step * 64 + 64) % len(ids)
        loss = model(input_ids=ids[rows], labels=labels[rows]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, labels = texts(1000, seed=2)
    model.eval()
    with torch.no_grad():
        found = model(input_ids=ids).logits.argmax(dim=1)
    return float((found == labels).float().mean()), float(labels.float().mean())


@pytest.mark.slow
def test_distance_aware_attention_solves_what_attention_without_positions_cannot():
    aware, share = accuracy("distance-aware")
    blind, _ = accuracy("softmax")
    guess = max(share, 1 - share)
    assert guess < 0.56
    assert aware > 0.9
    assert blind < guess + 0.05
