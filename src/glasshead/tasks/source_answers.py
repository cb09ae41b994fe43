"""An encoder–decoder, asked about an answer that somebody gives: how likely is it for the source?"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, longest
from glasshead.errors import InputError, ParameterError, pluralise
from glasshead.huggingface import (
    Inputs,
    NextTokenClassifier,
    as_asked,
    class_name,
    isolated_copy,
    new_like,
    positions_of,
)
from glasshead.tasks.answer_models import AnswerModel, AskedAnswer, log_p_at, names_of
from glasshead.tasks.spans import log_rest
from glasshead.tasks.unknown_words import unknown_labels, unknown_notes


class SourceAnswerClassifier(AnswerModel):
    """Whether an encoder–decoder gives an answer: log p = Σ_t log p(y_t | source, y_<t), logits log(1 − p)
    and log p.

    ``read`` are the tokens that its decoder reads where ``labels`` are those of the answer: the model's own
    shift of them. ``question`` [b, n] is the same at each token of a source: t for token t of the answer,
    counted from 1, and 0 for the whole.
    """

    decodes_answer = True

    def __init__(
        self, model: PreTrainedModel, answer: str, names: Sequence[str], read: list[int], labels: list[int]
    ) -> None:
        super().__init__(separate_decoder(model), names_of(answer))
        self.answer, self.names, self.read, self.labels = answer, tuple(names), read, labels

    def rebuild(self, config: PreTrainedConfig) -> SourceAnswerClassifier:
        """The question for a model of another configuration, with new weights."""
        return SourceAnswerClassifier(
            new_like(self.model, config), self.answer, self.names, self.read, self.labels
        )

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """The answer (or one token of it) and anything else."""
        token = asked_token(encoded, row)
        return names_of(self.names[token - 1] if token else self.answer)

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The answer, or one token of it, counted from 1."""
        token = asked_token(encoded, row)
        return f"token {token} of {self.answer}" if token else self.answer

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2]; the vocabulary is asked before the tokens that are asked about only."""
        if question is None:
            raise ValueError("no question: name the token of the answer")
        output, log_p = source_log_p(self.model, self.read, self.labels, question.amax(dim=1), **inputs)
        return as_asked(output, torch.stack([log_rest(log_p), log_p], dim=1))


def asked_token(encoded: Encoded, row: int) -> int:
    """The token of the answer that an input is asked about, counted from 1; 0: the whole."""
    assert encoded.question is not None
    return int(encoded.question[row].amax())


def source_log_p(
    model: PreTrainedModel,
    read: Sequence[int],
    labels: Sequence[int],
    asked: Int[Tensor, " b"],
    **inputs: Any,
) -> tuple[Any, Float[Tensor, " b"]]:
    """What the model gives, and log p of the token of an answer that each source is asked about, or, where
    this is 0, of all of them together."""
    each = torch.arange(1, len(labels) + 1, device=asked.device)
    rows, places = ((asked[:, None] == 0) | (asked[:, None] == each)).nonzero(as_tuple=True)
    begun = torch.tensor(read, device=asked.device).expand(len(asked), -1)
    tokens = torch.tensor(labels, device=asked.device)[places]
    return log_p_at(model, rows, places, tokens, len(asked), decoder_input_ids=begun, **inputs)


def separate_decoder(model: PreTrainedModel) -> PreTrainedModel:
    """The model, whose decoder looks words up in a table of its own with the same numbers: what it reads is
    the answer, which is not explained."""
    decoder: Any = model.get_decoder()
    table = decoder.get_input_embeddings()
    weight = nn.Parameter(table.weight.detach(), table.weight.requires_grad)
    decoder.set_input_embeddings(copy.deepcopy(table, {id(table.weight): weight}))
    return model


def ask_source_answer(model: NextTokenClassifier, sources: Inputs, answer: str) -> AskedAnswer:
    """Ask about an answer to each source: about the whole, and about each of its tokens if it has several.

    Raises:
        InputError: if it has no tokens, or more than the model writes.
    """
    own = isolated_copy(model).model
    labels, read = label_tokens(own, sources, answer)
    names = [token_name(sources.tokenizer, token) for token in labels]
    count = len(labels) if len(labels) > 1 else 0
    texts = len(sources.texts)
    inputs = sources.take([row for row in range(texts) for _ in range(1 + count)])
    asked = torch.arange(1 + count).repeat(texts)[:, None]
    about = replace(inputs.encoded, question=asked.expand_as(inputs.encoded.ids).contiguous())
    classifier = SourceAnswerClassifier(own, answer, names, read, labels)
    notes = unknown_notes(sources.tokenizer, unknown_labels(sources.tokenizer, answer, labels))
    return AskedAnswer(classifier, inputs._replace(encoded=about), sources, notes)


def label_tokens(model: PreTrainedModel, sources: Inputs, answer: str) -> tuple[list[int], list[int]]:
    """The tokens of an answer as labels, with those that end or begin it, and the tokens that the decoder
    reads for them.

    Raises:
        InputError: if there are none, or more than the model writes.
    """
    labels: list[int] = sources.tokenizer(text_target=answer, verbose=False)["input_ids"]
    positions = positions_of(model)
    if not labels:
        raise ParameterError("answer", "has no token of this model: give a text that it can write")
    if positions is not None and len(labels) > positions:
        tokens = pluralise(len(labels), "token")
        raise ParameterError("answer", f"has {tokens}, and the model writes {positions}: give a shorter one")
    read = decoder_tokens(model, sources.encoded, labels)
    # A decoder that reads one token looks like one that reads from both sides. What comes behind changes
    # nothing before.
    return labels, read if len(read) > 1 else [*read, labels[0]]


@torch.no_grad()
def decoder_tokens(model: PreTrainedModel, encoded: Encoded, labels: list[int]) -> list[int]:
    """What the decoder reads where these are the labels: watched, since every model shifts them itself.

    Raises:
        InputError: if it reads no tokens.
    """
    seen: list[Tensor | None] = []

    def watch(module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        seen.append(options.get("input_ids", args[0] if args else None))

    handle = model.get_decoder().register_forward_pre_hook(watch, with_kwargs=True)
    try:
        model(
            **longest(replace(encoded, question=None), model.device),
            labels=torch.tensor([labels], device=model.device),
            use_cache=False,
        )
    finally:
        handle.remove()
    if len(seen) != 1 or seen[0] is None or seen[0].shape != (1, len(labels)):
        raise InputError(
            f"the input of the decoder of {class_name(model)} cannot be found, so its answers cannot be "
            "explained"
        )
    read: list[int] = seen[0][0].tolist()
    return read


def token_name(tokenizer: PreTrainedTokenizerBase, token: int) -> str:
    """A token as it is written, or as the vocabulary has it where it is not a whole character."""
    text = str(tokenizer.decode([token]))
    return text if text.strip() and "�" not in text else str(tokenizer.convert_ids_to_tokens(token))
