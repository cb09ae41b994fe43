"""A model that gives every word a tag, asked about one word: which tag has it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import (
    AutoModelForTokenClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    TokenClassificationPipeline,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import QUESTION, Encoded, LoadOptions, TaggedText, batches, encode, read_tagged
from glasshead.errors import InputError
from glasshead.huggingface import At, Inputs, Target, TaskModel, as_asked, class_names, new_like
from glasshead.registry import did_you_mean
from glasshead.tasks.places import WORD_AT, PlaceModel, at_places, find_words, first_tokens, places_of_rows
from glasshead.tasks.task import QUESTIONS, Chosen, Task, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

OUTSIDE = ("o", "outside")
"""What the tag of a word is called that is not part of anything."""


class TagClassifier(PlaceModel):
    """The tag of one word: logits [b, K] at its first token, where the ``question`` [b, n] is 1."""

    def rebuild(self, config: PreTrainedConfig) -> TagClassifier:
        """The questions for a model of another configuration, with new weights."""
        return TagClassifier(new_like(self.model, config))

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] of the tags of the words that are asked about."""
        output = self.model(**inputs)
        return as_asked(output, at_places(output.logits, question))

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """About the word of each input that is most likely to have a tag next to that of no entity."""
        return self.about(inputs.encoded, self.entity_scores(inputs.encoded).argmax(dim=1))

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """About the word of each row of a split that begins at its character."""
        return self.about(inputs.encoded, places_of_rows(inputs.encoded, split[WORD_AT][:]))

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about the word ``at`` a place of each text: its number, from 0, or the word as it is written.
        Left out, about every word that has a tag next to that of no entity; in texts without one, the word
        that is most likely to have one.

        Raises:
            InputError: if a text has no such word.
        """
        if at is not None:
            places = find_words(inputs, at)
        else:
            scores = self.entity_scores(inputs.encoded)
            chosen = scores > 0
            chosen[torch.arange(len(scores)), scores.argmax(dim=1)] = True
            rows, places = chosen.nonzero(as_tuple=True)
            inputs = inputs.take(rows.tolist())
        return inputs._replace(encoded=self.about(inputs.encoded, places)), target

    @property
    def outside(self) -> int | None:
        """The tag of words that are not part of anything; None where every word has one of its own."""
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


TAGGED = (
    "each text is about one word, drawn at random: as often one with a tag as one without, where there "
    "are both"
)
ANY_WORD = "each text is about one word, drawn at random"


class Tags(Task):
    """Which tag has a word?"""

    head = "ForTokenClassification"
    auto = AutoModelForTokenClassification
    model = TagClassifier
    pipeline = TokenClassificationPipeline
    cuts = True

    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> TagClassifier:
        """The model, asked about one word."""
        return TagClassifier(model)

    def printed(
        self, pipeline: Any, model: TaskModel, tokenizer: PreTrainedTokenizerBase, text: str
    ) -> tuple[Tensor, Tensor]:
        """The probability of the tag of each token."""
        encoded = encode(tokenizer, [text])
        with torch.no_grad():
            logits = model.model(**encoded.inputs(device=model.device)).logits[0]
        own = logits.softmax(dim=-1).amax(dim=-1)[torch.from_numpy(encoded.words[0] >= 0)]
        rows = pipeline(text, aggregation_strategy="none", ignore_labels=[])
        return torch.tensor([float(row["score"]) for row in rows]), own

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[TaggedText]:
        """Texts of which every word has a tag."""
        return read_tagged(source, split, options)

    def texts(self, rows: Sequence[TaggedText]) -> tuple[list[str], None]:
        """The texts."""
        return [one.text for one in rows], None

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One of the words that are read of each text, and its tag as the label.

        Raises:
            InputError: if a tag is none of the model, or no text has a word.
        """
        assert isinstance(model, TagClassifier)
        names, outside = class_names(model), model.outside
        encoded = encode(tokenizer, [one.text for one in chosen.rows])
        begins = first_tokens(encoded).numpy()
        asked = {}
        for row, one in enumerate(chosen.rows):
            tags = [tag_number(tag, names) for tag in one.tags]
            read = {*encoded.offsets[row, begins[row], 0].tolist()}
            words = [number for number, (start, _) in enumerate(one.spans) if start in read]
            kinds = [
                [number for number in words if (tags[number] == outside) == is_outside]
                for is_outside in (False, True)
            ]
            if kinds := [kind for kind in kinds if kind]:
                random = chosen.random(row)
                number = int(random.choice(kinds[random.integers(len(kinds))]))
                start, end = one.spans[number]
                asked[row] = {
                    "text": one.text, "label": tags[number], QUESTION: one.text[start:end], WORD_AT: start,
                }  # fmt: skip
        note = ANY_WORD if outside is None else TAGGED
        return question_rows(names, chosen, asked, note, "a word that the model reads")


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
    raise InputError(f"the data have the tag {tag!r}, which the model lacks: {meant}")


QUESTIONS.register("tags")(Tags())
