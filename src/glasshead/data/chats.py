"""Chat messages as the text that a model reads of them: the tokenizer's chat template writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from transformers import PreTrainedTokenizerBase

from glasshead.data.aligned_pieces import offsets_of
from glasshead.data.encode import begins_twice
from glasshead.errors import InputError

Chat = Sequence[Mapping[str, Any]]
"""Messages with their ``role`` and ``content``, in order."""
Span = tuple[int, int]


class ChatText(str):
    """The text of a chat, directly followed by the answer."""

    __slots__ = ()


def is_chat(value: object) -> TypeGuard[Chat]:
    """Whether a value is messages with their roles."""
    parts = value if isinstance(value, list | tuple) else []
    return bool(parts) and all(isinstance(one, Mapping) and "role" in one for one in parts)


def render_chat(tokenizer: PreTrainedTokenizerBase, chat: Chat, *, writes: bool) -> str:
    """The text of a chat, as ``apply_chat_template`` gives it. For a model that ``writes``, it ends where
    the next message begins or, if the assistant has begun one, where that continues.

    Raises:
        InputError: if the tokenizer has no chat template, or its template does not take these messages.
    """
    if getattr(tokenizer, "chat_template", None) is None:
        raise InputError(
            "the tokenizer has no chat template, so it cannot read a list of messages: give the text that "
            "the model reads as a string"
        )
    from jinja2.exceptions import TemplateError

    for number, message in enumerate(chat, start=1):
        if not {"content", "tool_calls"} & set(message):
            raise InputError(f"message {number} of the chat has no content (it has: {', '.join(message)})")
    begun = writes and chat[-1]["role"] == "assistant"
    options: dict[str, Any] = {"add_generation_prompt": writes and not begun, "continue_final_message": begun}
    try:
        text = tokenizer.apply_chat_template(list(map(dict, chat)), tokenize=False, **options)
    except (TemplateError, TypeError, ValueError, KeyError) as error:
        why = str(error).strip().partition("\n")[0][:120] or type(error).__name__
        raise InputError(
            f"the chat template of the tokenizer does not take these messages ({why}): change the messages, "
            "or give the text that the model reads as a string"
        ) from error
    assert isinstance(text, str)
    return text


def message_spans(tokenizer: PreTrainedTokenizerBase, chat: Chat, *, writes: bool) -> list[Span]:
    """The spans of the contents of messages in the text of their chat; empty ones are left out.

    The template renders the chat a second time with other contents. What stays the same belongs to the
    template.

    Raises:
        InputError: as `render_chat`, and where the template changes what a message says.
    """
    text = render_chat(tokenizer, chat, writes=writes)
    contents = [one["content"] for one in chat if isinstance(one.get("content"), str)]
    if len(contents) < len(chat):
        raise InputError("a message is one unit only if its content is a text: name the parts as segments")
    stand_ins = [f"\ue000{number}\ue001" for number in range(len(chat))]
    other = [{**one, "content": stand_in} for one, stand_in in zip(chat, stand_ins, strict=True)]
    frame = render_chat(tokenizer, other, writes=writes)
    for said in (contents, [one.strip() for one in contents]):  # many templates strip
        spans, built, rest = list[Span](), "", frame
        for stand_in, content in zip(stand_ins, said, strict=True):
            before, found, rest = rest.partition(stand_in)
            built += before
            spans.append((len(built), len(built) + len(content)))
            built += content if found else stand_in
        if built + rest == text:
            return [(start, end) for start, end in spans if text[start:end].strip()]
    raise InputError(
        "the chat template changes these messages, so the place of each one in the text is unknown: name "
        "the parts as segments"
    )


def chat_note(tokenizer: PreTrainedTokenizerBase, text: str) -> str | None:
    """Which tokens the tokenizer adds around the text of a chat, although its template does not have them;
    None: the model reads what ``apply_chat_template`` tokenises."""
    ids, _ = offsets_of(tokenizer, text)
    ids = list(ids)[int(begins_twice(tokenizer, ids)) :]
    own: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    if ids == own:
        return None
    return "the tokenizer adds special tokens around the chat, which its template does not have"


def read_chats(text: str) -> list[Chat] | None:
    """The chats of a JSON file: one, a list of several, or one on each line; each a list of messages, or an
    object with ``messages``. None: the file holds no chats."""
    try:
        whole = json.loads(text)
    except ValueError:
        try:
            whole = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return None
    chats = list(chats_in(whole))
    if not chats and isinstance(whole, list):
        chats = [chat for one in whole for chat in chats_in(one)]
        if len(chats) != len(whole):
            return None
    return chats or None


def chats_in(value: object) -> Iterator[Chat]:
    """The chat that a value is, or has as its ``messages``, if there is one."""
    own = value.get("messages") if isinstance(value, dict) else value
    if is_chat(own):
        yield own
