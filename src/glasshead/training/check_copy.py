"""Whether the copy that is read predicts as the model does."""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import HALVES, class_name, isolated_copy
from glasshead.trace import logits_of

SAME = 1e-3
"""How far logits may move, relative to the largest, when padding is beside a text or softmax is eager."""
HALF_SAME = 0.1
"""The same of a model in half precision and its copy in float32."""
SAMPLE = ("a", "a longer text than the first, so that one of them is padded")


def check_copy(model: PreTrainedModel, read: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Raise InputError if the copy predicts otherwise than the model, or padding changes a prediction."""
    kind = class_name(model)
    short, both = (encode(tokenizer, texts).inputs(device=read.device) for texts in (SAMPLE[:1], SAMPLE))
    with torch.no_grad():
        alone = logits_of(read, short)[0]
        padded = logits_of(read, both)[0]
        original = logits_of(isolated_copy(model), short)[0].float()
    if alone.ndim != 1:
        raise InputError(f"{kind} gives no number for each class of a text")
    if not all(bool(logits.isfinite().all()) for logits in (alone, padded, original)):
        raise InputError(f"{kind} predicts numbers that are none (NaN or infinite): mend its weights first")
    largest = float(alone.abs().max().clamp(min=1.0))
    if float((alone - padded).abs().max()) > SAME * largest:
        raise InputError(
            f"{kind} predicts otherwise when a text stands beside a longer one: it reads padding, so batches "
            "cannot be trusted"
        )
    allowed = SAME if model.dtype not in HALVES else HALF_SAME
    if float((alone - original).abs().max()) > allowed * largest:
        raise InputError(
            f"{kind} predicts otherwise when its attention is computed step by step, as it has to be to be "
            "read"
        )
