"""Perplexity of a long text by a sliding window."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.errors import ParameterError
from glasshead.huggingface import own_model
from glasshead.language.rows import IGNORED
from glasshead.language.scores import LOGITS
from glasshead.torch_modes import in_own_modes


@dataclass(frozen=True)
class Perplexity:
    """exp of the mean of −log p over ``tokens``, read in windows of ``window`` tokens, ``stride`` apart."""

    value: float
    tokens: int
    window: int
    stride: int


@in_own_modes
@torch.no_grad()
def perplexity(
    model: PreTrainedModel, tokens: Int[Tensor, " tokens"], *, window: int, stride: int | None = None
) -> Perplexity:
    """The perplexity of a text longer than the model's maximum.

    Windows begin at 0, stride, 2·stride, …; in each, only tokens after the end of the previous window
    count, and the others are context: exp(Σ_w c_w·l_w / Σ_w c_w) with l_w the mean of −log p over the new
    tokens of window w. As in the recipe of Transformers, c_w is their number minus one, so that numbers can
    be compared; a mean over single tokens would differ slightly, by about 1/stride of the differences
    between windows. The default ``stride`` is half a window.

    Raises:
        ParameterError: if the window or the stride is too small, or the text has fewer than two tokens.

    Source: Transformers, "Perplexity of fixed-length models".
    """
    stride = max(window // 2, 2) if stride is None else stride
    if window < 2:
        raise ParameterError("window", f"must be at least 2, not {window}")
    if not 2 <= stride <= window:
        raise ParameterError("stride", f"must lie between 2 and the window of {window}, not {stride}")
    if len(tokens) < 2:
        raise ParameterError("tokens", f"must be at least two, not {len(tokens)}")
    model = own_model(model)
    training = model.training
    model.eval()
    starts = [0]
    while starts[-1] + window < len(tokens):
        starts.append(starts[-1] + stride)
    total, count = 0.0, 0
    size = max(1, LOGITS // (window * model.config.get_text_config().vocab_size))
    *full, last = starts  # the last window alone may be shorter
    groups = [full[first : first + size] for first in range(0, len(full), size)] + [[last]]
    for group in groups:
        ids = torch.stack([tokens[start : start + window] for start in group]).to(model.device)
        labels = ids.clone()
        for row, start in zip(labels, group, strict=True):
            context = 0 if start == 0 else window - stride
            row[:context] = IGNORED
        logits = model(input_ids=ids).logits[:, :-1].float()
        wanted = labels[:, 1:]
        losses = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
        ).double()
        scored = (wanted != IGNORED).sum(1)
        weights = (labels != IGNORED).sum(1) - 1
        kept = (scored > 0) & (weights > 0)
        total += float((losses.sum(1) / scored.clamp(min=1) * weights)[kept].sum())
        count += int(weights[kept].sum())
    model.train(training)
    return Perplexity(math.exp(total / count), count, window, stride)
