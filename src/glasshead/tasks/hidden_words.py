"""A model that was trained to guess hidden words, asked about one: which token stands there?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import (
    AutoModelForMaskedLM,
    FillMaskPipeline,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, encode
from glasshead.errors import InputError
from glasshead.huggingface import (
    At,
    Inputs,
    NextTokenClassifier,
    PairsNeeded,
    Target,
    TaskModel,
    class_names,
    vocabulary_names,
)
from glasshead.tasks.next_tokens import TextQuestions
from glasshead.tasks.places import PlaceModel, characters_at, find_word, first_tokens
from glasshead.tasks.task import QUESTIONS, Chosen, Task, question_rows

if TYPE_CHECKING:
    from datasets import Dataset


class HiddenTokenClassifier(PlaceModel, NextTokenClassifier):
    """The logits of the token that stands where a text has ``mask``, the token for hidden words."""

    pairs: PairsNeeded = "possible"

    def __init__(
        self,
        model: PreTrainedModel,
        vocabulary: Sequence[str],
        mask: int,
        candidates: Sequence[int] | None = None,
    ) -> None:
        super().__init__(model, vocabulary, candidates)
        self.mask = mask

    def asking(self, model: PreTrainedModel, candidates: Sequence[int] | None) -> HiddenTokenClassifier:
        """The same question for another model, or with other candidates."""
        return HiddenTokenClassifier(model, self.vocabulary, self.mask, candidates)

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:  # type: ignore[override]
        """Logits [b, K] of the tokens that may stand at the hidden word."""
        if question is None:
            raise ValueError("there is no question: name the hidden word")
        return self.read_at(question.argmax(dim=1), **inputs)

    def place(self, encoded: Encoded, row: int) -> slice:
        """The token of the hidden word."""
        assert encoded.question is not None
        place = int(encoded.question[row].argmax())
        return slice(place, place + 1)

    def hidden_at(self, encoded: Encoded) -> tuple[Int[Tensor, " words"], Int[Tensor, " words"]]:
        """Of all hidden words the number of the text, and the token."""
        texts, places = ((encoded.ids == self.mask) & encoded.mask).nonzero(as_tuple=True)
        return texts, places

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about the hidden words of each text; in one without any, hide the word ``at`` a place, its
        number from 0 or as it is written, or each of its words in turn.

        Raises:
            InputError: if a text has no such word, or its hidden words are not read.
        """
        inputs, starts = hide_words(inputs, self.mask, at)
        rows, places = self.hidden_at(inputs.encoded)
        if at is not None:
            begins = inputs.encoded.offsets[rows.numpy(), places.numpy(), 0]
            asked = torch.from_numpy(begins == np.array(starts)[rows.numpy()])
            rows, places = rows[asked], places[asked]
        if missing := {*range(len(inputs.texts))} - {*rows.tolist()}:
            text = inputs.joined(min(missing))
            raise InputError(f"the hidden word of {text[:40]!r} is beyond the model's maximum length")
        inputs = inputs.take(rows.tolist())
        return inputs._replace(encoded=self.about(inputs.encoded, places)), target

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """About the first hidden word of each input; if there is none, the one in the middle is hidden."""
        encoded = inputs.encoded
        begins, ids = first_tokens(encoded), encoded.ids.clone()
        places = torch.zeros(len(ids), dtype=torch.long)
        for row, own in enumerate(ids):
            hidden = (own == self.mask).nonzero()[:, 0]
            words = begins[row].nonzero()[:, 0]
            if len(hidden) or not len(words):
                places[row] = hidden[0] if len(hidden) else 0
                continue
            places[row] = words[len(words) // 2]
            word = encoded.words[row]
            own[torch.from_numpy(word == word[places[row]])] = self.mask
        return self.about(replace(encoded, ids=ids), places)

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """About the hidden word of each row."""
        return self.about(inputs.encoded, (inputs.encoded.ids == self.mask).long().argmax(dim=1))


def hide_words(inputs: Inputs, mask: int, at: At) -> tuple[Inputs, list[int]]:
    """The texts with one word hidden each, and where it begins: the one at a place or, where none is named,
    each in turn. Texts that have hidden words stay, unless a place is named.

    Raises:
        InputError: if there is no such word.
    """
    encoded, token = inputs.encoded, str(inputs.tokenizer.convert_ids_to_tokens(mask))
    begins = first_tokens(encoded)
    rows: list[int] = []
    spans: list[tuple[int, int] | None] = []
    for row in range(len(inputs.texts)):
        if at is not None:
            places = [find_word(encoded, row, inputs.joined(row), at)]
        elif token in inputs.joined(row):
            places = []
        else:
            places = begins[row].nonzero()[:, 0].tolist()
        own: list[tuple[int, int] | None] = [characters_at(encoded, row, place) for place in places]
        rows += [row] * max(len(own), 1)
        spans += own or [None]
    inputs = inputs.take(rows)
    texts, pairs = list(inputs.texts), None if inputs.pairs is None else list(inputs.pairs)
    for number, span in enumerate(spans):
        if span is not None:
            behind = len(texts[number]) + 1  # where the second text begins
            if pairs is None or span[0] < behind:
                texts[number] = texts[number][: span[0]] + token + texts[number][span[1] :]
            else:
                start, end = span[0] - behind, span[1] - behind
                pairs[number] = pairs[number][:start] + token + pairs[number][end:]
    hidden = Inputs(inputs.tokenizer, texts, pairs, encode(inputs.tokenizer, texts, pairs, unit=encoded.unit))
    return hidden, [0 if span is None else span[0] for span in spans]


def no_blanks(encoded: Encoded, row: int) -> list[int]:
    """The tokens of a text without blanks that are tokens of their own, as some tokenizers have one before a
    hidden word."""
    blank = (encoded.words[row] >= 0) & (encoded.offsets[row, :, 0] == encoded.offsets[row, :, 1])
    kept: list[int] = encoded.ids[row][encoded.mask[row] & ~torch.from_numpy(blank)].tolist()
    return kept


HIDDEN = "in each text one random word of a single token is hidden, and the model predicts it"
LACKS = "a word of one token among others, which is not hidden yet"


class HiddenWords(TextQuestions, Task):
    """Which token is hidden?"""

    head = "ForMaskedLM"
    auto = AutoModelForMaskedLM
    model = HiddenTokenClassifier
    pipeline = FillMaskPipeline

    def serves(self, config: PreTrainedConfig) -> bool:
        """Encoder–decoders fill gaps, too, by writing."""
        return super().serves(config) and not getattr(config, "is_encoder_decoder", False)

    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> HiddenTokenClassifier:
        """The model, asked about one hidden word.

        Raises:
            InputError: if its tokenizer has no token for hidden words, or it no map onto its vocabulary.
        """
        kind = type(model).__name__
        if tokenizer.mask_token_id is None:
            raise InputError(f"the tokenizer of {kind} has no token for hidden words (mask_token)")
        if model.get_output_embeddings() is None:
            raise InputError(f"{kind} has no map onto its vocabulary that can be read")
        names = vocabulary_names(tokenizer, model.config.get_text_config().vocab_size)
        return HiddenTokenClassifier(model, names, int(tokenizer.mask_token_id))

    def printed(
        self, pipeline: Any, model: TaskModel, tokenizer: PreTrainedTokenizerBase, text: str
    ) -> tuple[Tensor, Tensor]:
        """The probabilities of the likeliest tokens at the end of the text."""
        text = f"{text} {tokenizer.mask_token}"
        assert isinstance(model, HiddenTokenClassifier)
        encoded = model.ask_usual(Inputs.read(tokenizer, [text], None))
        with torch.no_grad():
            logits = model(**encoded.inputs(device=model.device)).logits[0]
        printed = torch.tensor([row["score"] for row in pipeline(text, top_k=5)])
        return printed, logits.softmax(dim=-1).topk(len(printed)).values

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """Each text with a word hidden that is drawn among those of one token, and this token as the label.

        A text that the tokenizer would split otherwise once the word is hidden is not taken so.

        Raises:
            InputError: if no text has such a word.
        """
        assert isinstance(model, HiddenTokenClassifier)
        encoded = encode(tokenizer, chosen.rows)
        begins = first_tokens(encoded).numpy()
        asked: dict[int, dict[str, Any]] = {}
        for row, text in enumerate(chosen.rows):
            words, ids = encoded.words[row], encoded.ids[row]
            alone = [place for place in begins[row].nonzero()[0] if (words == words[place]).sum() == 1]
            if begins[row].sum() < 2 or bool((ids == model.mask).any()):
                continue
            for place in chosen.random(row).permutation(alone).tolist():
                start, end = characters_at(encoded, row, place)
                hidden = text[:start] + str(tokenizer.mask_token) + text[end:]
                expected = encoded.ids.clone()
                expected[row, place] = model.mask
                before, again = replace(encoded, ids=expected), encode(tokenizer, [hidden])
                if ids[place] != tokenizer.unk_token_id and no_blanks(again, 0) == no_blanks(before, row):
                    asked[row] = {"text": hidden, "label": int(ids[place])}
                    break
        return question_rows(class_names(model), chosen, asked, HIDDEN, LACKS)


QUESTIONS.register("hidden-words")(HiddenWords())
