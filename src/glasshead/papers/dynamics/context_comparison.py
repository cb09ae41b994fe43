"""What a trained model makes of its tokens in their texts and alone: a table of a history, and findings."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.data import Encoded
from glasshead.opening import Run
from glasshead.papers.dynamics.context_scores import (
    NEUTRAL,
    POLAR,
    TokenScores,
    disagreement,
    global_scores,
    local_scores,
    measure_prominence,
)
from glasshead.papers.dynamics.findings import gap_finding, sign_of_interval
from glasshead.papers.results import MIN_TOKENS_PER_GROUP, History, versus
from glasshead.results import Finding, Verdict
from glasshead.statistics import Estimate
from glasshead.trace import target_polarity

CONTEXTUAL = ("lstm",)
"""Encoders of pooled classifiers that read the words around a token."""
TOKENS_COMPARED = 500
COMPARISON_RESAMPLES = 500
"""Fewer than elsewhere, for the sake of τ: every resample sorts all tokens."""


def reads_context(history: History) -> bool:
    """Whether the scores of a token depend on its texts."""
    return history.facts.get("encoder") in CONTEXTUAL


def with_contexts(history: History, run: Run, texts: Encoded) -> History:
    """The history with the scores and polarities of tokens in these texts and alone, by the trained model.

    The tokens are the most frequent followed ones of every group. Polarities are those of the history:
    towards the positive class of two, or else towards the commonest class of a token, against the mean of
    all. Signs are those of the canonical gauge. The table stays empty where none of the tokens occurs.

    Source: Sun and Lu 2020, G.1.
    """
    group_of = frequent_tokens(history)
    local = local_scores(run.model, texts)
    names = run.tokenizer.convert_ids_to_tokens(local.ids.tolist())
    selected = np.array([name in group_of for name in names], dtype=bool)
    if not selected.any():
        return history
    ids = local.ids[selected]
    alone = global_scores(run.model, ids)
    tokens = np.array(names)[selected]
    own_class = np.ones(len(ids), dtype=np.int64) if len(run.labels) == 2 else run.counts.argmax(axis=0)[ids]
    contexts = {
        "token": tokens,
        "group": np.array([group_of[token] for token in tokens.tolist()]),
        "count": local.count[selected],
        "local score": local.score[selected],
        "local polarity": class_polarity(local.polarity[selected], own_class),
        "global score": alone.score,
        "global polarity": class_polarity(alone.polarity, own_class),
    }
    return History(
        history.facts | {"signed": local.signed}, history.curves, history.products, history.tokens, contexts
    )


def frequent_tokens(history: History) -> dict[str, str]:
    """Token → group, of the most frequent followed tokens of every group."""
    last = history.tokens["step"] == history.steps[-1]
    token, group, count = (history.tokens[name][last] for name in ("token", "group", "count"))
    group_of: dict[str, str] = {}
    for name in history.groups:
        members = np.flatnonzero(group == name)
        frequent = members[np.argsort(-count[members], kind="stable")][:TOKENS_COMPARED]
        group_of |= dict.fromkeys(token[frequent].tolist(), name)
    return group_of


def class_polarity(polarity: NDArray[np.float64], own_class: NDArray[np.int64]) -> NDArray[np.float64]:
    """[T, K′] → [T]: each token's polarity towards a class of its own."""
    classes = torch.from_numpy(own_class)[None]
    towards: NDArray[np.float64] = target_polarity(torch.from_numpy(polarity)[None], classes)[0].numpy()
    return towards


def context_findings(history: History, *, seed: int = 0) -> list[Finding]:
    """Findings from the table of contexts, for all its tokens and group by group:

    - ``order``: τ-b between a token's score (or polarity) in its texts and alone;
    - ``flipped``: the share of tokens whose polarity (and score, where weights have a sign) changes sign
      when the token is alone;
    - ``prominence``: how often a token of a class gets more attention than a neutral one (AUC), in its texts
      (``local``), ``alone``, and the ``gain`` from one to the other.

    Intervals are over tokens: exact for shares, bootstrap for everything else. No contexts: no findings.
    """
    if not history.contexts:
        return []
    local, alone = (score_tokens(history, kind) for kind in ("local", "global"))
    groups = history.contexts["group"]
    findings = []
    for row in disagreement(local, alone, groups, seed=seed, resamples=COMPARISON_RESAMPLES):
        findings.append(estimate_finding("order", row.quantity, row.group, row.tau))
        if row.quantity != "score" or local.signed:  # without a sign of weights that of a score means nothing
            findings.append(estimate_finding("flipped", row.quantity, row.group, row.flipped))
    findings += prominence_findings(local, alone, groups, seed)
    return findings


def score_tokens(history: History, kind: str) -> TokenScores:
    """The tokens of the table, in their texts (``local``) or alone (``global``)."""
    table = history.contexts
    return TokenScores(
        ids=np.arange(len(table["token"])),
        score=table[f"{kind} score"],
        polarity=table[f"{kind} polarity"][:, None],
        count=table["count"],
        outputs=("polarity",),
        signed=history.facts["signed"],
    )


def prominence_findings(
    local: TokenScores, alone: TokenScores, groups: NDArray[np.str_], seed: int
) -> Iterator[Finding]:
    """How far the tokens of classes stand out from the neutral ones, where there are both."""
    higher, lower = ("larger", "smaller") if local.signed else ("higher", "lower")
    of_pair = {versus(name, NEUTRAL): name for name in (POLAR, *np.unique(groups).tolist())}
    for row in measure_prominence(local, alone, groups, seed=seed, resamples=COMPARISON_RESAMPLES):
        if row.gain.mean is None:
            continue
        first = of_pair[row.group]
        polar = groups != NEUTRAL if first == POLAR else groups == first
        few = min(polar.sum(), (groups == NEUTRAL).sum()) < MIN_TOKENS_PER_GROUP
        for where, estimate, words in (
            ("local", row.local, f"in their texts, {first} tokens get"),
            ("alone", row.alone, f"alone, {first} tokens get"),
        ):
            above, below = (
                f"{words} {which} attention scores than neutral ones" for which in (higher, lower)
            )
            yield estimate_finding("prominence", where, row.group, estimate, above, below, null=0.5, few=few)
        yield estimate_finding(
            "prominence", "gain", row.group, row.gain,
            f"alone, {first} tokens stand out more than in their texts",
            f"alone, {first} tokens stand out less than in their texts",
            few=few,
        )  # fmt: skip


def estimate_finding(
    statistic: str,
    against: str,
    group: str,
    estimate: Estimate,
    above: str = "",
    below: str = "",
    *,
    null: float = 0.0,
    few: bool = False,
) -> Finding:
    """An estimate as a finding; the verdict, if any, says on which side of ``null`` its interval is; of few
    tokens it says nothing."""
    bounds = estimate.interval
    shifted = None if bounds is None or few else (bounds[0] - null, bounds[1] - null)
    verdict = sign_of_interval(shifted, above, below) if above else Verdict("")
    return gap_finding(statistic, against, group, estimate.mean, bounds, estimate.n, verdict, estimate.std)
