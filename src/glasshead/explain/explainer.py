"""The shape of every explanation method: texts in, one Attribution per text out."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data.encode import Encoded, encode
from glasshead.errors import InputError
from glasshead.explain.observation import Observation, observe
from glasshead.explain.targets import TARGETS, Target
from glasshead.models import class_names, default_target
from glasshead.registry import Registry, nearest
from glasshead.results import Attribution


@dataclass(frozen=True)
class View:
    """A batch of encoded texts before a model, with the target of each."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    encoded: Encoded
    logits: Float[Tensor, "texts classes"]
    target: Int[Tensor, " texts"]
    of: Target

    @cached_property
    def observation(self) -> Observation:
        """Attention from the inside; read only by the methods that need it."""
        return observe(self.model, self.encoded.ids, self.encoded.mask)

    def value(self, logits: Float[Tensor, "*d texts classes"]) -> Float[Tensor, "*d texts"]:
        """The explained number ŷ for other logits of the same texts."""
        return self.of(logits, self.target.expand(logits.shape[:-1]))


class Explainer(ABC):
    """One number per token: how much it mattered for the target.

    ``importance`` is the method; calling the object does the rest (tokenising once, batches, packing).
    """

    name: str
    description: str
    citation: str

    @abstractmethod
    def importance(self, view: View) -> Float[Tensor, "texts tokens"]:
        """Importance of every token; what stands on padding is ignored."""

    def signed(self, view: View) -> bool:
        """Whether the sign carries meaning."""
        return True

    def contributions(self, view: View) -> Float[Tensor, "texts tokens"] | None:
        """The invariant numbers that colour the map, where they differ from the importance."""
        return None

    def __call__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        texts: Sequence[str],
        *,
        target: int | str | None = None,
        of: str = "probability",
        batch_size: int = 256,
    ) -> list[Attribution]:
        """Explain texts for one target class (None: class 1 of a binary task, else the predicted class).

        Raises:
            InputError: on an unknown target class or target function, or a model that the method cannot read.
        """
        results: list[Attribution] = []
        for start in range(0, len(texts), batch_size):
            batch = texts[start : start + batch_size]
            with evaluating(model):
                view = look(model, encode(tokenizer, batch), tokenizer, target=target, of=of)
                results += pack(self, view, batch, self.importance(view), self.contributions(view))
        return results


EXPLAINERS: Registry[Explainer] = Registry("explainer")


def register(name: str, explainer: Explainer) -> None:
    """File an explainer under its name, which its attributions carry as ``method``."""
    explainer.name = name
    EXPLAINERS.register(name)(explainer)


def look(
    model: PreTrainedModel,
    encoded: Encoded,
    tokenizer: PreTrainedTokenizerFast,
    *,
    target: int | str | None = None,
    of: str = "probability",
) -> View:
    """Predict, and settle what is to be explained."""
    with torch.no_grad(), evaluating(model):
        logits = torch.cat(
            [
                model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device)).logits.cpu()
                for ids, mask in zip(encoded.ids.split(512), encoded.mask.split(512), strict=True)
            ]
        )
    chosen = (
        default_target(logits) if target is None else torch.full((len(logits),), class_index(model, target))
    )
    return View(model, tokenizer, encoded, logits, chosen, TARGETS[of])


@contextmanager
def evaluating(model: PreTrainedModel) -> Iterator[None]:
    """Dropout off inside the block, and as the caller had it afterwards."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def class_index(model: PreTrainedModel, target: int | str) -> int:
    """The index of a class given by index or name.

    Raises:
        InputError: if the model has no such class.
    """
    names = class_names(model)
    if isinstance(target, str) and target in names:
        return names.index(target)  # a class may be called "0": a name goes before an index
    if str(target) in map(str, range(len(names))):
        return int(target)
    raise InputError(f"the model has no class {target!r}: {nearest(str(target), names)}")


def pack(
    explainer: Explainer,
    view: View,
    texts: Sequence[str],
    importance: Float[Tensor, "texts tokens"],
    contributions: Float[Tensor, "texts tokens"] | None,
) -> list[Attribution]:
    """Tensors → plain values, one Attribution per text, padding dropped."""
    names = class_names(view.model)
    probabilities = view.logits.softmax(dim=-1)
    predicted = view.logits.argmax(dim=-1)
    mask = view.encoded.mask.numpy()
    signed = explainer.signed(view)
    results = []
    for index, text in enumerate(texts):
        keep = mask[index]
        ids = view.encoded.ids[index].numpy()[keep].tolist()
        target = int(view.target[index])
        results.append(
            Attribution(
                text=text,
                tokens=tuple(view.tokenizer.convert_ids_to_tokens(ids)),
                ids=tuple(ids),
                words=tuple(view.encoded.words[index][keep].tolist()),
                offsets=tuple((int(a), int(b)) for a, b in view.encoded.offsets[index][keep]),
                scores=_numbers(importance[index], keep),
                signed=signed,
                target=names[target],
                predicted=names[int(predicted[index])],
                prediction=float(probabilities[index, target]),
                method=explainer.name,
                contributions=None if contributions is None else _numbers(contributions[index], keep),
            )
        )
    return results


def _numbers(values: Tensor, keep: np.ndarray) -> tuple[float, ...]:
    return tuple(values.detach().cpu().numpy()[keep].tolist())
