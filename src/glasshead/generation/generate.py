"""Let a language model write, and read afterwards what it wrote."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from glasshead.checkpoints import checkpoint
from glasshead.data import (
    TextImages,
    TextWithImages,
    as_texts,
    chat_note,
    check_utf8,
    is_chat,
    reader_of,
    render_chat,
)
from glasshead.errors import InputError, brief
from glasshead.generation.answer_tokens import chances_of, describe_tokens
from glasshead.generation.explain import WrittenWithModel
from glasshead.generation.own_strategy import choose_strategy, resolve_strategy
from glasshead.generation.reading import answer_logits
from glasshead.generation.spans import PromptTokens, answer_spans, lay_out, read_prompt
from glasshead.huggingface import (
    NextTokenClassifier,
    class_name,
    decoder_start,
    image_inputs,
    isolated_copy,
    own_model,
    positions_of,
    silence_transformers,
    with_same_images,
)
from glasshead.opening import NoClassError, OpenOptions, open_subject
from glasshead.random_numbers import use_seed
from glasshead.requests import GenerateRequest, WritingRequest, takes
from glasshead.results import ARROW, OtherAnswer
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject

SEED_END = 2**31
LARGEST_GAP = 0.2
"""Between log-probabilities of one token, in half precision."""

WRITES_NOTHING = (
    "{} writes no text: give a model that continues a text (…ForCausalLM), or an encoder–decoder that "
    "answers it (…ForConditionalGeneration)"
)
"""What is said of the class of a model."""


@takes(GenerateRequest)
def generate(request: GenerateRequest) -> Any:
    """Let a language model write at most ``tokens`` tokens after a prompt, then explain what it wrote; an
    encoder–decoder (T5, BART) answers the prompt.

    ``model`` is a folder, a Hub id, a `Subject` or a model with its ``tokenizer``; the caller's stays as it
    is. A ``prompt`` is a text, or a chat: a list of messages with ``role`` and ``content``, which the
    tokenizer's chat template turns into a text. If the model reads images, pass its processor as
    ``tokenizer``; a prompt may then be ``{"image": …, "text": …}``, ``{"images": [… , …], "text": …}``, or a
    chat with images. ``strategy`` is a name of `STRATEGIES`, with or without its number (``nucleus=0.9``),
    several joined by ``+``, or a `GenerationConfig`; the default is the model's own generation configuration,
    or else greedy. After writing, one pass over prompt and answer gives every log-probability
    log p(x_t | x_<t). If tokens are drawn and you give no ``seed``, one is drawn and kept, so that you can
    reproduce the text. Several prompts are written one by one, each from the same seed.

    Raises:
        InputError: if there is no such model or it writes no text, if the prompt is empty and the model has
            no token for the beginning of a text, if it leaves no place to write, on an unknown strategy or
            option, and on fewer than one token.
    """
    return run_generation(request)


@in_own_modes
def run_generation(request: GenerateRequest) -> WrittenWithModel | list[WrittenWithModel]:
    """Open the model of a request, and let it write.

    Raises:
        InputError: as `generate`.
    """
    check_writing(request)
    options = OpenOptions.of(request, dtype=request.dtype, images=True)
    subject = open_writer(request.model, request.tokenizer, options)
    if isinstance(request.prompt, str | Mapping) or is_chat(request.prompt):
        return generate_texts(subject, [request.prompt], request)[0]
    return generate_texts(subject, request.prompt, request)


def check_writing(request: WritingRequest) -> None:
    """Raise InputError for an unknown strategy before a model is opened."""
    if request.strategy is not None:
        resolve_strategy(request.strategy)


def open_writer(
    source: object, tokenizer: PreTrainedTokenizerBase | None = None, options: OpenOptions | None = None
) -> Subject:
    """What writes, opened.

    Raises:
        InputError: as `open_subject`, and on a model that writes no text.
    """
    try:
        subject = open_subject(source, tokenizer, replace(options or OpenOptions(), answers=True))
    except NoClassError as error:
        raise InputError(WRITES_NOTHING.format(str(error).split()[0])) from error
    writing_model(subject)
    return subject


def writing_model(subject: Subject) -> NextTokenClassifier:
    """The model of a subject; it must be able to write.

    Raises:
        InputError: if it writes no text.
    """
    model = subject.model
    if not isinstance(model, NextTokenClassifier) or model.asks_words:
        raise InputError(WRITES_NOTHING.format(class_name(model)))
    return model


def generate_texts(
    subject: Subject, prompts: Sequence[Any], request: WritingRequest
) -> list[WrittenWithModel]:
    """What an open model writes after each prompt: a text, a chat, or images with their text.

    Raises:
        InputError: as `generate`.
    """
    model, tokenizer = writing_model(subject), subject.tokenizer
    read = reader_of(tokenizer).inputs(prompts)
    texts = [render_chat(tokenizer, one, writes=True) if is_chat(one) else one for one in read]
    check_utf8(*as_texts(texts))
    chats = [text for text, prompt in zip(texts, read, strict=True) if is_chat(prompt)]
    notes = dict.fromkeys(note for text in chats if (note := chat_note(tokenizer, text)) is not None)
    subject = replace(subject, notes=(*subject.notes, *notes))
    classifier = isolated_copy(model)  # hooks and settings of generation are a module's
    config, name = choose_strategy(request.strategy, classifier.model.generation_config)
    seed = request.seed
    if seed is None and config.do_sample:
        seed = secrets.randbelow(SEED_END)
    writer = Writer(subject, classifier, request, config, name, seed)
    return [writer.seeing(text).write(text) for text in texts]


@dataclass(frozen=True)
class Writer:
    """A language model that writes behind prompts, by a strategy; ``images`` are what it sees."""

    subject: Subject
    classifier: NextTokenClassifier
    request: WritingRequest
    strategy: GenerationConfig
    strategy_name: str
    seed: int | None
    images: TextImages | None = None

    @property
    def model(self) -> PreTrainedModel:
        """The language model."""
        return own_model(self.classifier)

    @property
    def reader(self) -> PreTrainedModel:
        """What reads the texts that it wrote; it knows their images."""
        return self.classifier.model

    def seeing(self, prompt: str) -> Writer:
        """What writes behind a prompt that may have images."""
        if not isinstance(prompt, TextWithImages):
            return self
        classifier = with_same_images(self.classifier, prompt.images, len(self.read(prompt).ids))
        return replace(self, classifier=classifier, images=prompt.images)

    def write(self, prompt: str) -> WrittenWithModel:
        """The text, read."""
        tokenizer = self.subject.tokenizer
        before = self.read(prompt)
        start, room = len(before.ids), self.room(before)
        config = self.complete(copy.deepcopy(self.strategy), room, len(before.answer_start))
        output = self.run(torch.tensor([before.inputs], device=self.model.device), config)
        answer = self.cut(output.sequences[0, len(before.answer_start) :])
        ids = torch.tensor([[*before.ids, *answer]], device=self.model.device)
        if self.images is not None and self.images.token in answer:
            raise InputError(
                f"{self.subject.name} wrote an image token, so its text cannot be analysed: choose another "
                f"{spell('strategy')}, or fewer {spell('tokens')}"
            )
        with torch.no_grad():
            logits = answer_logits(self.reader, ids, start, source=before.source)[0]
        by_token = config.num_beams in (None, 1) and output.get("scores") is not None
        chances = chances_of(output.scores[: len(answer)], draws=config.do_sample) if by_token else None
        names = self.classifier.vocabulary
        joint = ARROW if before.source else ""
        text, spans = answer_spans(tokenizer, before.answer_start, answer, len(prompt + joint))
        layout = lay_out(
            tokenizer, prompt + joint + text, (*before.ids, *answer), (*before.offsets, *spans), self.images
        )
        shown = layout.pop("text")
        return WrittenWithModel(
            **layout,
            prompt=shown[: len(shown) - len(joint + text)],
            answer=text,
            start=start,
            answer_tokens=describe_tokens(logits, ids[0, start:], chances, names, self.request.alternatives),
            strategy=self.strategy_name,
            seed=self.seed if config.do_sample else None,
            stop=self.reason(answer, config, room),
            model=self.subject.name,
            other_answers=self.other_answers(output, before, config),
            notes=self.subject.notes + self.note_other_numbers(output, logits, answer) + self.image_notes,
            source=before.source,
            subject=self.subject,
            seen=self.images,
        )

    @property
    def image_notes(self) -> tuple[str, ...]:
        """What to know of the images."""
        return () if self.images is None else self.images.notes

    def read(self, prompt: str) -> PromptTokens:
        """The tokens of a prompt; of an empty one the token with which the model begins a text.

        Raises:
            InputError: if it has none.
        """
        before = read_prompt(self.subject.tokenizer, prompt)
        if before.ids and self.model.config.is_encoder_decoder:
            return before.with_answer_start(decoder_start(self.model), len(prompt + ARROW))
        if before.ids:
            return before
        begin = first_of(self.model.generation_config.bos_token_id, self.subject.tokenizer.bos_token_id)
        if begin is None or begin >= len(self.classifier.vocabulary):
            raise InputError(
                f"the prompt is empty, and {self.subject.name} has no token for the beginning of a text: "
                "write a first word"
            )
        return PromptTokens(prompt, (begin,), ((0, 0),))

    def room(self, before: PromptTokens) -> int | None:
        """How many tokens can still be written; None where nothing limits it.

        Raises:
            InputError: if there is no room.
        """
        positions = positions_of(self.model)
        length = len(before.inputs)
        # An encoder needs no place to write in.
        if positions is not None and length + (not before.source) > positions:
            raise InputError(
                f"the prompt has {length} tokens, and {self.subject.name} reads at most {positions}: "
                "shorten it, so that there is room to write"
            )
        # The last token is never read: it may stand one place behind what the model reads.
        return None if positions is None else positions - len(before.answer_start) + 1

    def complete(self, config: GenerationConfig, room: int | None, begun: int) -> GenerationConfig:
        """The strategy behind ``begun`` tokens, with the special tokens of the model, its end, and what is to
        be told of it."""
        limit = config.max_new_tokens or self.request.tokens
        config.max_new_tokens = limit if room is None else min(limit, room)
        least = config.min_new_tokens
        if least is None and config.min_length:
            least = config.min_length - begun
        if least is not None:  # a text that is cut has no end to wait for
            config.min_length, config.min_new_tokens = None, min(max(least, 0), config.max_new_tokens)
        config.use_cache = self.request.use_cache
        config.num_return_sequences = config.num_beams or 1
        config.return_dict_in_generate, config.output_scores = True, True
        config.eos_token_id = self.ends or None
        config.pad_token_id = first_of(self.subject.tokenizer.pad_token_id, *self.ends, 0)
        if self.model.config.is_encoder_decoder:
            config.decoder_start_token_id = decoder_start(self.model)
        return config

    @property
    def ends(self) -> list[int]:
        """The tokens with which the model ends a text."""
        end_ids = first_of(self.model.generation_config.eos_token_id, self.subject.tokenizer.eos_token_id)
        ends = end_ids if isinstance(end_ids, list) else [end_ids]
        return [end for end in ends if end is not None and end < len(self.classifier.vocabulary)]

    def run(self, ids: Tensor, config: GenerationConfig) -> Any:
        """What `transformers` writes.

        Raises:
            InputError: if it cannot.
        """
        try:
            return self.run_with(ids, config)
        except (InputError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever the code of a model raises
            checkpoint()  # a request that was cancelled ends here
            if config.use_cache:  # xLSTM and BLT fail with one
                without = copy.deepcopy(config)
                without.use_cache = False
                return self.run(ids, without)
            if self.strategy_name == "greedy":
                raise InputError(
                    f"{self.subject.name} writes nothing in Transformers ({brief(error)}): check that "
                    "model.generate works without Glasshead"
                ) from error
            raise InputError(
                f"Transformers cannot write with these settings and this tokenizer: {self.strategy_name}; "
                f"leave one out, or choose another {spell('strategy')}, such as 'greedy'"
            ) from error

    def run_with(self, ids: Tensor, config: GenerationConfig) -> Any:
        """What `transformers` writes; the caller's random numbers go on as if it had not."""
        model = self.model
        devices = [model.device] if model.device.type == "cuda" else []
        images = {} if self.images is None else image_inputs(model, ids, self.images)
        with use_seed(self.seed, devices), torch.no_grad(), silence_transformers():
            own, model.generation_config = model.generation_config, GenerationConfig()
            try:
                write: Any = model.generate
                asked = {} if "inputs" in signature(write).parameters else {"input_ids": ids}
                return write(
                    *([] if asked else [ids]),
                    **asked,
                    attention_mask=torch.ones_like(ids),
                    generation_config=config,
                    tokenizer=self.subject.tokenizer,
                    **images,
                )
            finally:
                model.generation_config = own

    def note_other_numbers(self, output: Any, logits: Tensor, answer: Sequence[int]) -> tuple[str, ...]:
        """What to know where the model predicted otherwise while it wrote than in one pass over the text:
        Transformers lets RoBERTa write with other positions, and Moshi's cache forgets."""
        if self.strategy_name != "greedy" or self.strategy.forced_bos_token_id is not None:
            return ()  # scores are no logits
        scores = torch.stack([step[0] for step in output.scores[: len(answer)]]).to(logits)
        tokens = torch.tensor(answer, device=logits.device)[:, None]
        gaps = (scores.log_softmax(dim=-1) - logits.log_softmax(dim=-1)).gather(-1, tokens).abs()
        if not float(gaps.max()) > LARGEST_GAP:
            return ()
        return (
            "the probabilities during writing differ from those of one pass over the text (log p by up to "
            f"{float(gaps.max()):.2g}): the numbers are those of the pass",
        )

    def cut(self, answer: Tensor) -> list[int]:
        """An answer up to the token that ends it, without padding."""
        ids: list[int] = answer.tolist()
        end = next((place for place, token in enumerate(ids) if token in self.ends), len(ids))
        return ids[: end + 1]

    def reason(self, answer: Sequence[int], config: GenerationConfig, room: int | None) -> str:
        """Why the text ends."""
        if answer[-1] in self.ends:
            return "the model ended the text"
        if room is not None and len(answer) == room:
            return f"{self.subject.name} reads no more tokens"
        if len(answer) == config.max_new_tokens:
            return f"{len(answer)} token{'s' if len(answer) > 1 else ''}, the requested number"
        return "the strategy ended it"

    def other_answers(
        self, output: Any, before: PromptTokens, config: GenerationConfig
    ) -> tuple[OtherAnswer, ...]:
        """What else beam search had, the most probable first."""
        others = []
        for sequence in output.sequences[1:] if (config.num_beams or 1) > 1 else ():
            answer = self.cut(sequence[len(before.answer_start) :])
            text, _ = answer_spans(self.subject.tokenizer, before.answer_start, answer, 0)
            ids = torch.tensor([[*before.ids, *answer]], device=self.model.device)
            with torch.no_grad():
                logits = answer_logits(self.reader, ids, len(before.ids), source=before.source)[0]
            logs = logits.double().log_softmax(dim=-1).gather(-1, ids[0, len(before.ids) :, None])
            others.append(OtherAnswer(text, float(logs.sum())))
        return tuple(others)


def first_of(*values: Any) -> Any:
    """The first that is there."""
    return next((value for value in values if value is not None), None)
