"""What is served of a model: what it can be asked, and texts to begin with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from glasshead.data import CaptionReader, ImageTextReader, LoadOptions, UnitReader, load, reader_of
from glasshead.errors import InputError
from glasshead.escaping import sendable
from glasshead.explainers import EXPLAINERS, explain_texts
from glasshead.generation import open_writer
from glasshead.huggingface import NextTokenClassifier, PairsNeeded, TaskModel, usual_class
from glasshead.models import TextClassifier
from glasshead.opening import NoClassError, OpenOptions, open_subject
from glasshead.requests import MethodRequest
from glasshead.serve.fields import Images, Kind
from glasshead.trace import Subject

EXPLAINED = ("classifier", "language model", "guesser", "answerer", "image classifier")
"""Kinds of which predictions are explained."""
EXAMPLES = 20
"""Texts of the model's own data that are offered."""
TRIAL_TEXT = "it was good"
TRIAL_ANSWER = "good"
TRIAL_PAIR = "it was good\nit was bad"
"""For a model that chooses, two choices."""
TRIAL_IMAGE = np.linspace(0, 255, 64 * 64 * 3).reshape(64, 64, 3).astype(np.uint8)
TRIAL_SECONDS = 5.0
"""Methods are tried for at most this long; those that are not reached stay on offer."""


@dataclass(frozen=True)
class OpenedModel:
    """A model with what it can be asked (its ``kind``), the ``source`` that it was opened from, and
    ``examples`` of its own test texts; the methods that are ``refused`` cannot explain it.

    A classifier is explained; a language model too, of its next token or a given answer, and it writes; a
    guesser, such as BERT, of a hidden word; an answerer, such as T5, writes, and is explained of a given
    answer; of an encoder without a class to predict only heads are shown. An image classifier reads no text
    alone; a language model may read images, too.
    """

    subject: Subject
    kind: Kind
    source: str
    examples: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()

    @property
    def pairs(self) -> PairsNeeded:
        """Whether it reads a second text: our own models say so, others may."""
        model = self.subject.model
        if isinstance(model, TextClassifier):
            return "needed" if model.texts_per_example == 2 else "none"
        if isinstance(model, TaskModel):
            return model.pairs
        return "possible" if self.kind in ("classifier", "encoder") else "none"

    @property
    def reads_images(self) -> Images:
        """Whether it reads images, and with which texts."""
        tokenizer = self.subject.tokenizer
        if isinstance(tokenizer, CaptionReader):
            return "with captions"
        if isinstance(tokenizer, UnitReader):
            return "by place" if getattr(self.subject.model, "asks_places", False) else "alone"
        return "with text" if isinstance(reader_of(tokenizer), ImageTextReader) else ""

    @property
    def second_text(self) -> str:
        """What its second text is called."""
        model = self.subject.model
        return model.second_text if isinstance(model, TaskModel) else TaskModel.second_text

    @property
    def labels(self) -> list[str]:
        """The classes that may be a target; none of a language model, whose classes are tokens."""
        return self.subject.labels if self.kind in ("classifier", "image classifier") else []

    @property
    def asks_words(self) -> bool:
        """Whether it is asked about one word of a text."""
        return isinstance(self.subject.model, TaskModel) and self.subject.model.asks_words

    @property
    def usual_class(self) -> str:
        """The class that is explained unless one is chosen, in words; nothing where there is no choice."""
        if not self.labels:
            return ""
        return usual_class(self.subject.model)

    @property
    def layers(self) -> int:
        """How many layers of attention it has, as far as its configuration says."""
        return self._size("num_hidden_layers")

    @property
    def heads(self) -> int:
        """How many heads a layer has, as far as its configuration says."""
        return self._size("num_attention_heads")

    def _size(self, name: str) -> int:
        config = self.subject.model.config.get_text_config(decoder=True)
        return int(getattr(config, name, None) or 1)


def open_served_model(source: str) -> OpenedModel:
    """Open a folder or a Hub id for whatever it can be asked.

    Raises:
        InputError: if it cannot be opened at all (`glasshead.open`), or if the name of a class is not a text.
    """
    try:
        subject = open_subject(source, options=OpenOptions(images=True))
        kind = kind_of(subject)
    except NoClassError:
        try:
            subject, kind = open_writer(source), "answerer"
        except InputError:
            subject, kind = open_subject(source, options=OpenOptions(classifies=False)), "encoder"
    if kind in ("classifier", "image classifier"):
        for name in subject.labels:
            if name != sendable(name):
                raise InputError(f"the class {name!r} is not valid UTF-8: rename it in config.json")
    opened = OpenedModel(subject, kind, source, tuple(own_texts(subject)))
    if kind not in EXPLAINED:
        return opened
    return replace(opened, refused=find_refused_methods(opened))


def kind_of(subject: Subject) -> Kind:
    """What a model can be asked of which predictions are explained."""
    if isinstance(subject.tokenizer, UnitReader):
        return "image classifier"
    if not isinstance(subject.model, NextTokenClassifier):
        return "classifier"
    return "guesser" if subject.model.asks_words else "language model"


def own_texts(subject: Subject) -> Sequence[str]:
    """Texts of the test part of the data that a run was trained on; none where they are not at hand."""
    data = subject.record.get("data", {})
    if "source" not in data:
        return ()
    try:
        test = load(data["source"], LoadOptions(**data.get("options", {})))["test"]
        texts = test.select(range(min(EXAMPLES, len(test))))["text"]
    except (InputError, LookupError, TypeError, ValueError, AttributeError, OSError):  # whatever is in it
        return ()
    return [text for text in texts if isinstance(text, str) and text.strip()]


def opener(source: str | Path) -> Callable[[], OpenedModel]:
    """Opens the model when it is called."""
    return lambda: open_served_model(str(source))


def find_refused_methods(opened: OpenedModel, *, seconds: float = TRIAL_SECONDS) -> frozenset[str]:
    """The names of the methods that cannot explain a model: each explains one short text, or a pair, or an
    answer to it, or an image. If all fail, the text is to blame, such as one of which the model knows no
    word."""
    tried, refused, end = set(), set(), time.monotonic() + seconds
    subject, asks_image = opened.subject, opened.kind == "image classifier"
    text = subject.tokenizer.inputs([TRIAL_IMAGE])[0] if asks_image else TRIAL_TEXT
    pair = [TRIAL_PAIR] if opened.pairs == "needed" and not asks_image else None
    answer = TRIAL_ANSWER if opened.kind == "answerer" else None
    choices = ("one", "two") if opened.reads_images == "with captions" else None
    for name, explainer in EXPLAINERS.items():
        if time.monotonic() > end:
            break
        if explainer.package is not None and find_spec(explainer.package) is None:
            continue
        tried.add(name)
        try:
            request = MethodRequest(method=name, answer=answer, choices=choices)
            explain_texts(subject, [text], pair, request)
        except Exception:  # whatever it is: one method is no reason to serve none of the others
            refused.add(name)
    return frozenset(refused if refused < tried else ())
