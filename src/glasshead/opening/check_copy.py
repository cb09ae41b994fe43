"""Whether the copy that is read predicts as the model does."""

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import encode
from glasshead.errors import InputError, brief
from glasshead.huggingface import HALVES, class_name, isolated_copy
from glasshead.tasks import SimilarityModel, task_of
from glasshead.trace import forward, logits_of


class CopyError(InputError):
    """What is read computes differently from the model, or cannot."""


COPY_TOLERANCE = 1e-3
"""How far logits may move, relative to the largest, when a text is padded or softmax is eager."""
HALF_TOLERANCE = 0.1
"""How far they may move between a model in half precision and its copy in float32."""
SAMPLE_TEXTS = ("a", "a longer text than the first, so that one of them is padded")


MOST_WORDS = 16
"""Words of the longest text that is tried where a model cannot read a shorter one."""


def tolerance_for(dtype: torch.dtype) -> float:
    """How far a copy's logits may be from those of a model in this precision, relative to the largest."""
    return HALF_TOLERANCE if dtype in HALVES else COPY_TOLERANCE


def check_copy(
    model: PreTrainedModel,
    read: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    tolerance: float | None = None,
) -> float:
    """How far the logits of the copy are from those of the model, at most.

    Raises:
        CopyError: if by more than a tolerance (left out: that of its precision).
    """
    kind, gap = class_name(model), 0.0
    for text, original in short_texts(isolated_copy(model), tokenizer):
        with torch.no_grad():
            alone = numbers_of(read, sample(read, tokenizer, text))[0]
        if alone.ndim != 1 and task_of(model) is None:
            raise InputError(f"{kind} gives no number for each class of a text")
        check_finite(kind, alone, original)
        if not are_close(alone, original, tolerance or tolerance_for(model.dtype)):
            raise CopyError(
                f"{kind} predicts differently when its attention is computed step by step, which is "
                "necessary to read it"
            )
        gap = max(gap, float((alone - original).abs().max()))
    return gap


def check_finite(kind: str, *logits: Tensor) -> None:
    """Raise CopyError if a model predicts what is not a number."""
    if not all(bool(own.isfinite().all()) for own in logits):
        raise CopyError(f"{kind} predicts NaN or infinity: fix its weights first")


@torch.no_grad()
def reads_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether padding changes what a model predicts of a short text, or of one that fills several of the
    parts in which some read texts (Reformer)."""
    longer = SAMPLE_TEXTS[1]
    own = numbers_of(model, sample(model, tokenizer, longer))[0].float()
    beside_longer = [(text, alone, longer) for text, alone in short_texts(model, tokenizer)]
    for text, alone, other in [*beside_longer, (longer, own, f"{longer} {longer}")]:
        inputs = sample(model, tokenizer, text, other)
        beside = numbers_of(model, inputs)[0].float()
        if not are_close(beside[: len(alone)], alone, COPY_TOLERANCE):
            return True
    return False


def sample(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *texts: str) -> dict[str, Tensor]:
    """Texts as a model reads them; of a model of pairs each with itself."""
    task = task_of(model)
    pairs = list(texts) if task is not None and task.model.pairs == "needed" else None
    return encode(tokenizer, list(texts), pairs).inputs(device=model.device)


def numbers_of(model: PreTrainedModel, inputs: dict[str, Tensor]) -> Tensor:
    """All that a model predicts: the logits, the vectors of texts, or what its task reads."""
    if isinstance(model, SimilarityModel):
        return model.embed(**inputs)[1]
    task = task_of(model)
    if task is None:
        return logits_of(model, inputs)
    return task.numbers(forward(model, task.shaped(inputs)))


def are_close(logits: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Whether no logit is farther away than a part of the largest, or of 1."""
    largest = float(expected.abs().max().clamp(min=1.0))
    return float((logits - expected).abs().max()) <= tolerance * largest


@torch.no_grad()
def short_texts(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[tuple[str, Tensor]]:
    """The shortest text that a model reads, with its logits. Where that is more than a word, the next longer
    one as well: a model that pools pairs of tokens reads padding behind every other length.

    Raises:
        InputError: if it reads none.
    """
    pairs: list[tuple[str, Tensor]] = []
    failure: Exception | None = None
    for words in range(1, MOST_WORDS + 1):
        text = " ".join([SAMPLE_TEXTS[0]] * words)
        try:
            pairs.append((text, numbers_of(model, sample(model, tokenizer, text))[0].float()))
        except (InputError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever somebody's model raises
            failure = error
            continue
        if words == 1 or len(pairs) > 1:
            return pairs
    reason = brief(failure)
    raise CopyError(
        f"{class_name(model)} fails on every text of up to {MOST_WORDS} words ({reason}): check that it "
        "runs without Glasshead on the tokens of this tokenizer"
    ) from failure
