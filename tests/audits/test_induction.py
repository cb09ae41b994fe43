"""Attention to what followed an earlier copy of a token: A B … A → B."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from glasshead.audits.head_report.row_statistics import Rows, TextTokens, repeat_shares
from glasshead.data import as_encoded


@pytest.mark.parametrize("causal", [True, False])
def test_the_share_is_what_two_loops_find(causal):
    generator = torch.Generator().manual_seed(0)
    ids, words = [5, 7, 3, 5, 7, 7, 5, 2, 3], [0, 1, 2, 3, 4, 5, 6, -1, 7]
    n = len(ids)
    allowed = torch.ones(n, n).tril().bool() if causal else torch.ones(n, n).bool()
    shares = torch.rand(2, n, n, generator=generator) * allowed
    shares /= shares.sum(dim=-1, keepdim=True)
    uniform = allowed / allowed.sum(dim=-1, keepdim=True)
    kinds, encoded = np.array([""] * n, object), as_encoded(torch.tensor([ids]))
    special, asking = np.array(words) < 0, np.zeros(n, bool)
    tokens = TextTokens(np.array(ids), np.array(words), kinds, special, asking, encoded, None)
    view = SimpleNamespace(allowed=allowed.expand(2, n, n))
    real = torch.ones(2, n).bool()
    sums = {
        each.statistic: each
        for each in repeat_shares(Rows(view, shares, uniform.expand(2, n, n), real, tokens))
    }

    found, null, rows = torch.zeros(2), 0.0, 0
    for query in range(n):
        keys = [
            copy + 1
            for copy in range(query)
            if ids[copy] == ids[query] and words[copy] >= 0 and allowed[query, copy + 1]
        ]
        rows += bool(keys)
        found += shares[:, query, keys].sum(dim=-1)
        null += float(uniform[query, keys].sum())
    assert rows > 3
    torch.testing.assert_close(sums["induction"].total, found)
    torch.testing.assert_close(sums["induction"].null, torch.full((2,), null))
    assert sums["induction"].rows.tolist() == [rows, rows]
