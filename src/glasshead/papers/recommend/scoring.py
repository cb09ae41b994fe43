"""Click scores of all impressions: every title and every history is encoded once."""

from typing import Any

import numpy as np
import torch

from glasshead.papers.recommend.impressions import NewsTensors


@torch.inference_mode()
def click_scores(model: Any, tensors: NewsTensors, batch_size: int = 256) -> list[np.ndarray]:
    """The scores of the shown news of each impression, float64 [shown]; the model is left in evaluation."""
    model.eval()
    device = model.device
    news = []
    for start in range(0, len(tensors.ids), batch_size):
        mask = tensors.mask[start : start + batch_size]
        longest = max(int(mask.sum(dim=1).max()), 1)
        ids = tensors.ids[start : start + batch_size, :longest]
        news.append(model.encode_news(ids.to(device), mask[:, :longest].to(device))[0])
    vectors = torch.cat(news)
    users = [
        model.encode_users(vectors, histories.to(device))[0]
        for histories in tensors.history.split(batch_size)
    ]
    # In float64 and row by row, so that equal vectors tie and nothing else does (a matrix product may sum
    # its last rows in another order).
    at, by = vectors.double().cpu().numpy(), torch.cat(users).double().cpu().numpy()
    return [(at[shown] * user).sum(axis=1) for shown, user in zip(tensors.shown, by, strict=True)]
