"""The prompt in which a model reads passages and a question, with or without any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from glasshead.data import is_chat, render_chat
from glasshead.errors import InputError, ParameterError
from glasshead.results import Passage
from glasshead.spelling import spell

CONTEXT, QUESTION = "{context}", "{question}"
CHAT_PROMPT = f"{CONTEXT}\n\n{QUESTION}"
PLAIN_PROMPT = f"{CONTEXT}\n\n{QUESTION}\n"
Span = tuple[int, int]


@dataclass(frozen=True)
class PromptFrame:
    """How passages and a question become what the model reads.

    ``template`` is a text with {context} and {question} in it, or None: the chat template of the tokenizer
    has a place for documents. For a ``chat``, the last message of the user holds the question.
    """

    tokenizer: PreTrainedTokenizerBase
    passages: Sequence[Passage]
    question: Any
    template: str | None
    as_chat: bool

    def render(self, texts: Sequence[str | None]) -> str:
        """The prompt with these texts of the passages; None: the passage is left out with its title."""
        kept = [(one.title, text) for one, text in zip(self.passages, texts, strict=True) if text is not None]
        if self.template is None:
            documents = [{"title": title, "text": text} for title, text in kept]
            return render_documents(self.tokenizer, chat_of(self.question), documents)
        context = "\n\n".join(f"{title}\n{text}" if title else text for title, text in kept)
        if not self.as_chat:
            return fill(self.template, context, self.question)
        *before, last = chat_of(self.question)
        asked = {**last, "content": fill(self.template, context, last["content"])}
        return render_chat(self.tokenizer, [*before, asked], writes=True)

    def spans(self) -> list[Span] | None:
        """Where the texts of all passages stand in the whole prompt; None: the template changes them."""
        texts = [one.text for one in self.passages]
        whole = self.render(texts)
        marks = [f"\ue000{number}\ue001" for number in range(len(texts))]
        frame = self.render(marks)
        for said in (texts, [text.strip() for text in texts]):
            spans, built, rest = list[Span](), "", frame
            for mark, text in zip(marks, said, strict=True):
                before, found, rest = rest.partition(mark)
                if not found:
                    return None
                built += before
                spans.append((len(built), len(built) + len(text)))
                built += text
            if built + rest == whole:
                return spans
        return None


def fill(template: str, context: str, question: str) -> str:
    """A template with its context and its question; without passages also without the blank line below."""
    if not context:
        template = template.replace(f"{CONTEXT}\n\n", CONTEXT)
    before, _, after = template.partition(CONTEXT)
    return before.replace(QUESTION, question) + context + after.replace(QUESTION, question)


def chat_of(question: Any) -> list[dict[str, Any]]:
    """A question as a chat."""
    return [{"role": "user", "content": question}] if isinstance(question, str) else list(map(dict, question))


def render_documents(
    tokenizer: PreTrainedTokenizerBase, chat: list[dict[str, Any]], documents: list[dict[str, str]]
) -> str:
    """A chat as the tokenizer's template writes it behind documents."""
    text = tokenizer.apply_chat_template(
        chat, documents=documents, tokenize=False, add_generation_prompt=True
    )
    assert isinstance(text, str)
    return text


def choose_frame(
    tokenizer: PreTrainedTokenizerBase, passages: Sequence[Passage], question: Any, template: str | None
) -> PromptFrame:
    """The frame that was asked for, else the place for documents of the chat template, else a chat, else a
    plain text.

    Raises:
        InputError: if a template has no place for the context or the question, if there is no question, and
            if a chat is given and the tokenizer has no chat template.
    """
    if not (question.strip() if isinstance(question, str) else is_chat(question)):
        raise ParameterError("question", "must be a text, or a chat that ends with one")
    if is_chat(question) and not isinstance(question[-1].get("content"), str):
        raise ParameterError("question", "must end with a message whose content is text")
    has_template = getattr(tokenizer, "chat_template", None) is not None
    if is_chat(question) and question[-1].get("role") != "user":
        raise ParameterError("question", "must end with a user message")
    if is_chat(question) and not has_template:
        raise InputError("the tokenizer has no chat template: give the question as a text")
    if template is not None:
        if template.count(CONTEXT) != 1 or QUESTION not in template:
            raise InputError(
                f"{spell('prompt')} must contain {CONTEXT} once, and {QUESTION}: {template[:60]!r} does not"
            )
        return PromptFrame(tokenizer, passages, question, template, as_chat=has_template)
    if has_template and writes_documents(tokenizer, question):
        return PromptFrame(tokenizer, passages, question, None, as_chat=True)
    return PromptFrame(
        tokenizer, passages, question, CHAT_PROMPT if has_template else PLAIN_PROMPT, as_chat=has_template
    )


def writes_documents(tokenizer: PreTrainedTokenizerBase, question: Any) -> bool:
    """Whether the chat template has a place for documents, found by trying: it writes each of two, and
    without any it leaves out these alone, no instruction next to them."""
    frame = PromptFrame(tokenizer, [Passage(""), Passage("")], question, None, as_chat=True)
    marks = ["\ue0000\ue001", "\ue0001\ue001"]
    try:
        none, one, both = (frame.render(texts) for texts in ([None, None], [marks[0], None], marks))
    except Exception:  # whatever a template raises that has no place for documents
        return False
    writes = all(both.count(mark) == 1 for mark in marks) and marks[1] not in one
    return writes and len(both) - len(one) == len(one) - len(none)


def describe(frame: PromptFrame) -> str:
    """How passages stand before the model, in words."""
    if frame.template is None:
        return "as documents of the chat template"
    return "in the message of the user" if frame.as_chat else "in a plain text"
