"""Scores of tokens in context and alone, where an encoder lets the words around a token change them.

Sun and Lu 2020, G.1: the *local* score of a token is its mean over all places where it stands, the *global*
one is that of the token as a text of its own. Without an encoder they are the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike
from transformers import PreTrainedModel

from glasshead.data import Encoded, batches
from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import PooledClassifier
from glasshead.papers.dynamics.findings import NEUTRAL
from glasshead.statistics import (
    RESAMPLES,
    Estimate,
    auc_difference_interval,
    auc_interval,
    mean_interval,
    share_interval,
    tau_interval,
)
from glasshead.trace import eval_mode

ALL_TOKENS = "all"
POLAR = "polar"


@dataclass(frozen=True)
class TokenScores:
    """What a model makes of T kinds of token, in the order of their ids, in the canonical gauge.

    ``score`` [T] before the activation, ``polarity`` [T, K′] at weight 1 (K′ = 1 of two classes and of a
    rating), ``count`` [T] of the occurrences that they are the mean of. ``outputs`` names the K′ columns,
    ``signed`` says that scores of either sign may mean attention.
    """

    ids: Int[np.ndarray, " T"]
    score: Float[np.ndarray, " T"]
    polarity: Float[np.ndarray, "T K"]
    count: Int[np.ndarray, " T"]
    outputs: tuple[str, ...]
    signed: bool

    def quantities(self) -> dict[str, Float[np.ndarray, " T"]]:
        """Every number of a token by name."""
        return {"score": self.score} | dict(zip(self.outputs, self.polarity.T, strict=True))

    def attention(self) -> tuple[str, Float[np.ndarray, " T"]]:
        """The score that rises with attention, and its name: its size where weights have a sign."""
        return ("|score|", np.abs(self.score)) if self.signed else ("score", self.score)


def require_pooled(model: PreTrainedModel) -> PooledClassifier:
    """The model, if its tokens have one score each.

    Raises:
        InputError: if they do not, with what there is instead.
    """
    if isinstance(model, PooledClassifier):
        return model
    raise InputError(
        "local and global scores are those of a model with one attention output (the model 'pooled'), not of "
        f"{type(model).__name__}: audit or explain it to see its attention"
    )


@torch.inference_mode()
def local_scores(model: PreTrainedModel, encoded: Encoded) -> TokenScores:
    """Mean score and polarity of every token that occurs, over all its occurrences in the texts.

    a_e = Σ_{(t,j): e_j = e} a_j / n_e, and likewise s_e, with the hidden vector that the encoder gives the
    token in its text. Sums run on in float64, so memory does not grow with the texts.

    Raises:
        InputError: if the model is not a pooled classifier.

    Source: Sun and Lu 2020, G.1.
    """
    model = require_pooled(model)
    outputs = model.classifier.out_features
    sums = torch.zeros(model.config.vocab_size, 1 + outputs, dtype=torch.float64)
    counts = torch.zeros(model.config.vocab_size, dtype=torch.int64)
    with eval_mode(model):
        for _, inputs in batches(encoded, device=model.device):
            output = model(**inputs, output_attentions=True)
            mask = inputs["attention_mask"].bool()
            values = torch.cat([output.scores[..., None], output.polarity], dim=-1)[mask]  # [tokens, 1 + K']
            ids = inputs["input_ids"][mask].cpu()
            sums.index_add_(0, ids, values.double().cpu())
            counts += torch.bincount(ids, minlength=len(counts))
    occurring = counts.nonzero().squeeze(1)
    means = model.config.gauge * (sums[occurring] / counts[occurring, None]).numpy()
    return TokenScores(
        ids=occurring.numpy(),
        score=means[:, 0],
        polarity=means[:, 1:],
        count=counts[occurring].numpy(),
        outputs=("polarity",) if outputs == 1 else tuple(f"polarity {name}" for name in class_names(model)),
        signed=model.activation.signed,
    )


def global_scores(model: PreTrainedModel, ids: ArrayLike) -> TokenScores:
    """Score and polarity of each of these tokens as a text of its own, in the order of the ids.

    Raises:
        InputError: if the model is not a pooled classifier.
        ValueError: if an id is none of the vocabulary.

    Source: Sun and Lu 2020, G.1.
    """
    kinds = np.unique(np.asarray(ids, dtype=np.int64))
    size = require_pooled(model).config.vocab_size
    if len(kinds) and not (kinds[0] >= 0 and kinds[-1] < size):
        raise ValueError(f"ids must be those of {size} tokens, not {kinds[0]} … {kinds[-1]}")
    alone = torch.from_numpy(kinds)[:, None]
    words = np.zeros(alone.shape, dtype=np.int64)
    offsets = np.zeros((*alone.shape, 2), dtype=np.int64)
    return local_scores(model, Encoded(alone, torch.ones_like(alone, dtype=torch.bool), words, offsets))


class Disagreement(NamedTuple):
    """How far one quantity of the tokens of a group is another one alone than in context.

    ``tau`` is Kendall's τ-b between the two, ``difference`` the mean of |local − global|, ``flipped`` the
    share of tokens whose sign differs, each over ``n`` tokens, which the intervals resample.
    """

    quantity: str
    group: str
    tau: Estimate
    difference: Estimate
    flipped: Estimate


def disagreement(
    local: TokenScores,
    alone: TokenScores,
    groups: ArrayLike | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Disagreement]:
    """Every quantity of all tokens, and of those of each group, in context against alone.

    ``groups`` [T] names the group of each token, "" for none (`glasshead.data.token_groups` of the
    whole vocabulary, at the ids).

    Raises:
        ValueError: if the two are not about the same tokens.
    """
    rng = np.random.default_rng([seed, 1])
    parts = {ALL_TOKENS: np.ones(len(local.ids), dtype=bool)} | group_masks(local, alone, groups)
    return [
        Disagreement(
            quantity,
            group,
            tau_interval(first[part], second[part], rng=rng, resamples=resamples),
            mean_interval(np.abs(first - second)[part], rng=rng, resamples=resamples),
            share_interval((np.sign(first) != np.sign(second))[part]),
        )
        for quantity, first, second in compare_in_context(local, alone)
        for group, part in parts.items()
    ]


class Prominence(NamedTuple):
    """How often a token of a group gets more attention than a neutral one: in context, alone, and the gain.

    ``local`` and ``alone`` are the probabilities P(first > second) + ½ P(equal), 0.5 where attention tells
    nothing; ``gain`` is alone − local, with the same tokens drawn for both. ``quantity`` is the score, or its
    size where weights have a sign.
    """

    quantity: str
    group: str
    local: Estimate
    alone: Estimate
    gain: Estimate


def measure_prominence(
    local: TokenScores, alone: TokenScores, groups: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> list[Prominence]:
    """How much the tokens of classes, all together and group by group, stand out from the neutral ones.

    Sun and Lu (2020, G.1) find the pattern "more apparent for the global attention scores": a gain whose
    interval lies above zero says so.

    Raises:
        ValueError: if the two are not about the same tokens.
    """
    rng = np.random.default_rng([seed, 2])
    parts = group_masks(local, alone, groups)
    neutral = parts.pop(NEUTRAL, np.zeros(len(local.ids), dtype=bool))
    if len(parts) > 1:
        parts = {POLAR: np.logical_or.reduce(list(parts.values()))} | parts
    name, first = local.attention()
    _, second = alone.attention()
    rows = []
    for group, part in parts.items():
        in_context, on_its_own = ((scores[part], scores[neutral]) for scores in (first, second))
        rows.append(
            Prominence(
                name,
                f"{group} vs {NEUTRAL}",
                auc_interval(*in_context, rng=rng, resamples=resamples),
                auc_interval(*on_its_own, rng=rng, resamples=resamples),
                auc_difference_interval(in_context, on_its_own, rng=rng, resamples=resamples),
            )
        )
    return rows


def compare_in_context(
    local: TokenScores, alone: TokenScores
) -> Iterator[tuple[str, Float[np.ndarray, " T"], Float[np.ndarray, " T"]]]:
    """The name of each quantity, its values in context and alone."""
    for name, values in local.quantities().items():
        yield name, values, alone.quantities()[name]


def group_masks(
    local: TokenScores, alone: TokenScores, groups: ArrayLike | None
) -> dict[str, Bool[np.ndarray, " T"]]:
    """Where the tokens of every group stand."""
    if not np.array_equal(local.ids, alone.ids):
        raise ValueError(
            "local and global scores are about different tokens: use global_scores(model, local.ids)"
        )
    if groups is None:
        return {}
    names = np.asarray(groups)
    if names.shape != local.ids.shape:
        raise ValueError(f"groups of {names.shape} do not name those of {len(local.ids)} tokens")
    return {name: names == name for name in sorted(set(names.tolist()) - {""})}
