"""A model that gives every word a tag, asked about one word: which tag has it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from datasets import ClassLabel, Dataset, Features, Value
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModelForTokenClassification, PreTrainedConfig, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import PLACE, QUESTION, RANK, Encoded, TaggedText, batches, encode
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import Asked, At, Target, TaskModel, class_names, new_like
from glasshead.registry import did_you_mean

TAGS = "tags"
"""What the task is called."""
TAGGERS = "ForTokenClassification"
"""How Transformers calls the classes of models that give every token a class."""
OUTSIDE = ("o", "outside", "other", "none")
"""What the tag of a word is called that is no part of anything."""


def predicts_tags(config: PreTrainedConfig) -> bool:
    """Whether a model was saved that gives every token a class."""
    saved = (config.architectures or [""])[0]
    mapping = getattr(AutoModelForTokenClassification, "_model_mapping", {})
    return saved.endswith(TAGGERS) or (bool(saved) and saved in str(mapping.get(type(config), "")))


class TagClassifier(TaskModel):
    """The tag of one word: logits [b, K] at its first token, where the ``question`` [b, n] is 1."""

    main_input_name = "input_ids"

    def rebuild(self, config: PreTrainedConfig) -> TagClassifier:
        """The questions, put to a model of another configuration, with new weights."""
        return TagClassifier(new_like(self.model, config))

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] of the tags of the words that are asked about."""
        if question is None:
            raise ValueError("say which word is asked about: question")
        output = self.model(**inputs)
        places = question.argmax(dim=1).to(output.logits.device)
        return SequenceClassifierOutput(
            logits=output.logits[torch.arange(len(places), device=places.device), places],
            hidden_states=getattr(output, "hidden_states", None),
            attentions=getattr(output, "attentions", None),
        )

    def place(self, encoded: Encoded, row: int) -> slice:
        """The tokens of the word that an input is asked about."""
        assert encoded.question is not None
        first = int(encoded.question[row].argmax())
        words = encoded.words[row]
        return slice(first, first + int((words == words[first]).sum()))

    def about(self, encoded: Encoded, places: Int[Tensor, " texts"]) -> Encoded:
        """Inputs, each asked about the word that begins at a token."""
        question = torch.zeros_like(encoded.ids).scatter(1, places[:, None], 1)
        return replace(encoded, question=question, asks_place=True)

    def ask_usual(self, encoded: Encoded) -> Encoded:
        """About the word of each input that is most likely to have a tag beside that of no entity."""
        return self.about(encoded, self.entity_scores(encoded).argmax(dim=1))

    def ask_rows(self, encoded: Encoded, split: Dataset) -> Encoded:
        """About the word of each row of a split that begins at its character."""
        starts = torch.from_numpy(encoded.offsets[..., 0]) == torch.tensor(split[WORD_AT][:])[:, None]
        return self.about(encoded, (starts & first_tokens(encoded)).long().argmax(dim=1))

    def ask(self, encoded: Encoded, texts: Sequence[str], target: Target, at: At = None) -> Asked:
        """Ask about the word ``at`` a place of each text: its number, from 0, or the word as it is written.
        Left out, about every word that has a tag beside that of no entity; in texts without one, the word
        that is most likely to have one.

        Raises:
            InputError: if a text has no such word.
        """
        if at is not None:
            found = [find_word(encoded, row, text, at) for row, text in enumerate(texts)]
            rows, places = np.arange(len(texts)), torch.tensor(found)
        else:
            scores = self.entity_scores(encoded)
            chosen = scores > 0
            chosen[torch.arange(len(scores)), scores.argmax(dim=1)] = True
            row, places = chosen.nonzero(as_tuple=True)
            rows = row.numpy()
        return Asked(self.about(encoded.take(rows), places), rows, target)

    @property
    def outside(self) -> int | None:
        """The tag of words that are no part of anything; None where every word has one of its own."""
        names = [name.casefold() for name in class_names(self)]
        return next((names.index(name) for name in OUTSIDE if name in names), None)

    @torch.no_grad()
    def entity_scores(self, encoded: Encoded) -> Float[Tensor, "texts tokens"]:
        """By how much the first token of each word is rather a part of something than not: the largest logit
        of a tag minus that of no entity; −∞ at all other tokens."""
        scores = torch.full(encoded.ids.shape, -torch.inf)
        plain = replace(encoded, question=None, asks_place=False)
        begins = first_tokens(encoded)
        for rows, inputs in batches(plain, device=self.model.device):
            logits = self.model(**inputs).logits.float().cpu()[:, : inputs["attention_mask"].shape[1]]
            n = logits.shape[1]
            if self.outside is None:
                own = torch.ones(logits.shape[:2])
            else:
                others = logits.clone()
                others[..., self.outside] = -torch.inf
                own = others.amax(dim=-1) - logits[..., self.outside]
            scores[rows, :n] = own.masked_fill(~begins[rows, :n], -torch.inf)
        return scores


def first_tokens(encoded: Encoded) -> Bool[Tensor, "texts tokens"]:
    """Which tokens begin a word."""
    before = np.concatenate([np.full((len(encoded.words), 1), -1), encoded.words[:, :-1]], axis=1)
    return torch.from_numpy((encoded.words >= 0) & (encoded.words != before)) & encoded.mask


def find_word(encoded: Encoded, row: int, text: str, at: int | str) -> int:
    """The first token of a word, by its number or as it is written.

    Raises:
        ParameterError: if the text, as far as it is read, has no such word, or several.
    """
    places = first_tokens(encoded)[row].nonzero()[:, 0].tolist()
    spelled, name = [word_at(encoded, row, text, place) for place in places], str(at)
    found = [number for number, word in enumerate(spelled) if word == name]
    if len(found) > 1:
        several = ", ".join(map(str, found))
        raise ParameterError("at", f"is {name!r}, which is there more than once: give its number ({several})")
    if not found and name.isdecimal() and int(name) < len(places):
        found = [int(name)]
    if not found:
        meant = did_you_mean(name, spelled)
        raise ParameterError("at", f"is {name!r}, which is no word of {text[:40]!r}: {meant}")
    return int(places[found[0]])


def word_at(encoded: Encoded, row: int, text: str, place: int) -> str:
    """How the word is written that begins at a token."""
    own: NDArray[np.int64] = encoded.offsets[row][encoded.words[row] == encoded.words[row][place]]
    return text[int(own[:, 0].min()) : int(own[:, 1].max())]


WORD_AT = "first character of the word"
"""The column of where the word begins that a row is asked about."""
TAGGED = (
    "each text is asked about one word, drawn at random: with even chances one that has a tag or one that "
    "has none"
)
ANY_WORD = "each text is asked about one word, drawn at random"


def tag_data(
    model: TagClassifier,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[TaggedText],
    places: NDArray[np.int64],
    ranks: NDArray[np.int64],
    seed: int,
) -> tuple[Dataset, str]:
    """One row for each text: one of the words that are read of it, and its tag as the label; and a sentence
    about that. ``places`` are where the texts are in the data, ``ranks`` in their random order; what is drawn
    follows from the seed and the place.

    Raises:
        InputError: if a tag is none of the model, or no text has a word.
    """
    names, outside = class_names(model), model.outside
    encoded = encode(tokenizer, [one.text for one in texts])
    begins = first_tokens(encoded).numpy()
    rows: dict[str, list[Any]] = {name: [] for name in ("text", "label", QUESTION, WORD_AT, PLACE, RANK)}
    for row, (one, place, rank) in enumerate(zip(texts, places.tolist(), ranks.tolist(), strict=True)):
        tags = [tag_number(tag, names) for tag in one.tags]
        read = {*encoded.offsets[row, begins[row], 0].tolist()}
        words = [number for number, (start, _) in enumerate(one.spans) if start in read]
        kinds = [
            [number for number in words if (tags[number] == outside) == is_outside]
            for is_outside in (False, True)
        ]
        kinds = [kind for kind in kinds if kind]
        if not kinds:
            continue
        random = np.random.default_rng([seed, place])
        number = int(random.choice(kinds[random.integers(len(kinds))]))
        start, end = one.spans[number]
        cells = one.text, tags[number], one.text[start:end], start, place, rank
        for name, cell in zip(rows, cells, strict=True):
            rows[name].append(cell)
    if not rows["text"]:
        raise InputError("no text has a word that is read")
    kinds_of = {"text": Value("string"), QUESTION: Value("string"), "label": ClassLabel(names=names)}
    features = Features({name: kinds_of.get(name, Value("int64")) for name in rows})
    return Dataset.from_dict(rows, features=features), ANY_WORD if outside is None else TAGGED


def tag_number(tag: str | int, names: Sequence[str]) -> int:
    """The model's class of a tag, by name or by number.

    Raises:
        InputError: if it has none.
    """
    folded = [name.casefold() for name in names]
    if str(tag) in names:
        return names.index(str(tag))
    if str(tag).casefold() in folded:
        return folded.index(str(tag).casefold())
    if str(tag).isdecimal() and int(tag) < len(names):
        return int(tag)
    meant = did_you_mean(str(tag), names)
    raise InputError(f"the data have the tag {tag!r}, which is none of the model: {meant}")
