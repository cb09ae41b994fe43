"""A language model read as a classifier: its classes are tokens, its input is what stands before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
import transformers
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import (
    AutoModelForMultimodalLM,
    AutoModelForTextToWaveform,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.huggingface.isolated_copy import isolated_copy
from glasshead.huggingface.task_model import PairsNeeded, TaskModel, as_asked
from glasshead.huggingface.vocabulary_at import vocabulary_at

WRITERS = ("ForCausalLM", "LMHeadModel", "ModelWithLMHead", "GenerationDecoder")
"""How Transformers calls the classes of models that write from left to right (the last two: Reformer and
BertGeneration)."""
SEES = "ForConditionalGeneration"
"""How it calls those that write from left to right behind images or sounds and text, if they are not
encoder–decoders."""
ANSWERERS = ("ForConditionalGeneration", "MTModel", "EncoderDecoderModel")
"""How Transformers calls those of encoder–decoders that write."""


class NextTokenClassifier(TaskModel):
    """The logits of the token after the last one of each text, z = f(x)_T: a classifier of K tokens.

    ``candidates`` are the tokens between which the model chooses, its classes in this order; None: the
    whole vocabulary, with the names in ``vocabulary``. For two candidates, log ŷ₁/ŷ₀ is the contrast log
    p(t₁ | x) − log p(t₀ | x) of the language model, since the sum over the vocabulary cancels.

    For an encoder–decoder it is the first token of the decoder's answer.
    """

    main_input_name = "input_ids"
    pairs: PairsNeeded = "none"

    def __init__(
        self, model: PreTrainedModel, vocabulary: Sequence[str], candidates: Sequence[int] | None = None
    ) -> None:
        super().__init__(model)
        self.vocabulary = tuple(vocabulary)
        self.candidates = None if candidates is None else tuple(candidates)
        self.config.id2label = dict(enumerate(self.names))
        self.config.label2id = {name: index for index, name in enumerate(self.names)}
        self.config.problem_type = "single_label_classification"

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called."""
        if self.candidates is None:
            return self.vocabulary
        named = tuple(self.vocabulary[token] for token in self.candidates)
        if len(named) != 2:
            return named
        return f"{named[0]} rather than {named[1]}", f"{named[1]} rather than {named[0]}"

    @property
    def asks_whole_texts(self) -> bool:
        """The continuation of a text depends on the text only."""
        return not self.asks_words

    @property
    def predicts_next_tokens(self) -> bool:
        """True for a decoder without an encoder."""
        return not (self.asks_words or self.config.is_encoder_decoder)

    @property
    def target_fn(self) -> str:
        """The log-probability, or with two candidates their contrast log p(t₁ | x) − log p(t₀ | x)."""
        return "log-odds" if len(self.names) == 2 else "log-probability"

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """The same for every input."""
        return self.names

    def rebuild(self, config: PreTrainedConfig) -> NextTokenClassifier:
        """The question, put to a language model of another configuration, with new weights."""
        return self.asking(type(self.model)(config), self.candidates)

    def get_output_embeddings(self) -> nn.Module | None:
        head: nn.Module | None = self.model.get_output_embeddings()
        return head

    def between(self, candidates: Sequence[int]) -> NextTokenClassifier:
        """The language model as a classifier of some tokens of its vocabulary."""
        return self.asking(isolated_copy(self).model, candidates)

    def put_to(self, model: PreTrainedModel) -> NextTokenClassifier:
        """The same question to another model."""
        return self.asking(model, self.candidates)

    def asking(self, model: PreTrainedModel, candidates: Sequence[int] | None) -> NextTokenClassifier:
        """The same question for another model, or with other candidates."""
        return NextTokenClassifier(model, self.vocabulary, candidates)

    def forward(
        self,
        input_ids: Int[Tensor, "b n"] | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """Logits [b, K] of the next token; only the last token of each text is mapped to the vocabulary."""
        inputs = input_ids if input_ids is not None else inputs_embeds
        assert inputs is not None
        last = last_places(inputs, attention_mask)
        if self.config.is_encoder_decoder:
            begins = torch.full((len(inputs), 1), decoder_start(self.model), device=inputs.device)
            kwargs, last = {"decoder_input_ids": begins} | kwargs, torch.zeros_like(last)
        texts = {"input_ids": input_ids, "attention_mask": attention_mask, "inputs_embeds": inputs_embeds}
        return self.read_at(last, **texts, use_cache=False, **kwargs)

    def read_at(self, places: Int[Tensor, " b"], **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] at one place of each text."""

        def at_place(hidden: Tensor) -> Tensor:
            rows = torch.arange(len(places), device=hidden.device)
            return hidden[rows, places.to(hidden.device)][:, None]

        with vocabulary_at(self.model, at_place):
            output = self.model(**inputs)
        logits: Tensor = output.logits[:, 0]
        if self.candidates is not None:
            logits = logits[:, list(self.candidates)]
        return as_asked(output, logits)


def last_places(
    inputs: Float[Tensor, "b n *d"] | Int[Tensor, "b n"], mask: Tensor | None
) -> Int[Tensor, " b"]:
    """Where the last real token of each text stands."""
    if mask is None or mask.ndim != 2:
        return torch.full((len(inputs),), inputs.shape[1] - 1)
    return (mask * torch.arange(1, mask.shape[1] + 1, device=mask.device)).amax(dim=1).sub(1).clamp(min=0)


def is_writer(config: PreTrainedConfig) -> bool:
    """Whether a saved language model writes from left to right."""
    saved = (config.architectures or [""])[0]
    if getattr(config, "is_encoder_decoder", False) or not saved.endswith((*WRITERS, SEES)):
        return False
    cls = find_class(config)
    return saved.endswith(WRITERS) or cls is None or (writes_behind_text(cls) and not speaks(config, cls))


def find_class(config: PreTrainedConfig) -> type[PreTrainedModel] | None:
    """The class in Transformers of the model that was saved; None if it is in code of its own."""
    cls = getattr(transformers, (config.architectures or [""])[0], None)
    return cls if isinstance(cls, type) and issubclass(cls, PreTrainedModel) else None


def writes_behind_text(cls: type[PreTrainedModel]) -> bool:
    """Whether models of a class write behind texts alone; BLIP needs an image."""
    return cls.main_input_name == "input_ids" and bool(cls.can_generate())


def speaks(config: PreTrainedConfig, cls: type[PreTrainedModel]) -> bool:
    """Whether models of a class write sounds, and no text."""
    writes_text, writes_sounds = (
        cls.__name__ in class_names_in(getattr(auto, "_model_mapping", {}), config)
        for auto in (AutoModelForMultimodalLM, AutoModelForTextToWaveform)
    )
    return writes_sounds and not writes_text


def class_names_in(mapping: Any, config: PreTrainedConfig) -> list[str]:
    """The class names of a configuration, given such a mapping."""
    if type(config) not in mapping:
        return []
    classes = mapping[type(config)]
    return [cls.__name__ for cls in (classes if isinstance(classes, tuple) else (classes,))]


def is_answerer(config: PreTrainedConfig) -> bool:
    """Whether a saved model is an encoder–decoder that reads one text and writes another."""
    saved = (config.architectures or [""])[0]
    return saved.endswith(ANSWERERS) and bool(getattr(config, "is_encoder_decoder", False))


def decoder_start(model: PreTrainedModel) -> int:
    """The token with which the decoder begins every answer.

    Raises:
        InputError: if the model does not say.
    """
    for name in ("decoder_start_token_id", "bos_token_id"):
        for config in (model.generation_config, model.config):
            if isinstance(token := getattr(config, name, None), int):
                return token
    raise InputError(
        f"{type(model).__name__} does not say how an answer begins: set decoder_start_token_id in its "
        "configuration"
    )


def vocabulary_names(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """The text of each token, in quotes, since a blank before a word belongs to its token; tokens without
    whole characters, or with the same text as others, are spelled as in the vocabulary."""
    tokens = [token or "" for token in tokenizer.convert_ids_to_tokens(list(range(size)))]
    texts = tokenizer.batch_decode([[index] for index in range(size)])
    times = Counter(texts)
    return [
        quote(text) if times[text] == 1 and text and "�" not in text else f"token {index} {token}".strip()
        for index, (text, token) in enumerate(zip(texts, tokens, strict=True))
    ]


def quote(text: str) -> str:
    """A token in quotes, so that its blank can be seen."""
    return f"“{text}”"


def token_id(tokenizer: PreTrainedTokenizerBase, text: str) -> int:
    """The id of a text that is one token; " are" and "are" may be different tokens.

    Raises:
        InputError: if it is not exactly one token.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{text!a} is not a token of this model: it contains half a character")
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
        return int(ids[0])
    known = tokenizer.get_vocab().get(text)  # a special token, or one as the vocabulary spells it
    if known is not None:
        return int(known)
    if not ids or (len(ids) == 1):
        raise InputError(f"{text!r} is not a token of this model")
    parts = ", ".join(repr(tokenizer.decode([index])) for index in ids)
    raise InputError(
        f"{text!r} is {len(ids)} tokens of this model ({parts}): give one, perhaps with a blank before it"
    )
