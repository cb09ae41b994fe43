"""How likely an answer is behind many prompts: what they begin with in common is read once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import Cache, DynamicCache, PreTrainedModel

from glasshead.checkpoints import checkpoint
from glasshead.generation import keeps_every_token
from glasshead.huggingface import vocabulary_at

Ids = tuple[int, ...]
OnScored = Callable[[int, int], None]
"""(prompts scored, of so many)"""
PASS_TOKENS = {"cpu": 1024}
"""Tokens of a pass: on a CPU larger ones leave its cache and take longer; elsewhere `LARGE_PASS`."""
LARGE_PASS = 16_384
KEPT_BYTES = {"cpu": 2**30}
"""Keys and values of all rows of a pass; elsewhere `LARGE_KEPT`."""
LARGE_KEPT = 2**32
LOGITS = 2**25
"""Numbers in the logits of a pass."""
SAME = 1e-3
"""Log-probabilities of an answer behind a prefix that was read once, and in a whole pass, differ by less."""


@dataclass
class AnswerScorer:
    """log p(y_t | prompt, y_<t) of an answer's tokens y behind any prompt, [prompts, tokens].

    A decoder reads prompts in the order of their tokens, so that each shares the longest beginning with the
    one before; its keys and values are kept. Padding stands behind all that is read, where no token of a
    causal model sees it. Whether a model keeps every token's keys and values, and gives the same numbers
    behind them, is tried at the first prompt; otherwise each is read whole.
    """

    model: PreTrainedModel
    answer: Ids
    decoder_start: int | None = None
    padding: int = 0
    shares_prefix: bool = True
    passes: int = 0
    tokens_read: int = 0
    known: dict[Any, NDArray[np.float64]] = field(default_factory=dict)
    past: DynamicCache | None = None
    prefix: Ids = ()
    is_tried: bool = False
    bytes_kept: int = 0

    def __call__(self, prompts: Sequence[Ids], progress: OnScored | None = None) -> NDArray[np.float64]:
        """The log-probabilities behind each prompt; one that was scored before is not read again."""
        new = sorted({prompt for prompt in prompts if prompt not in self.known})
        with torch.no_grad():
            done = 0
            for some in self.chunks(new):
                checkpoint()
                scores = self.read_pairs(some) if self.decoder_start is not None else self.read(some)
                self.known.update(zip(some, scores.double().cpu().numpy(), strict=True))
                done += len(some)
                if progress is not None:
                    progress(done, len(new))
        self.forget()
        return np.stack([self.known[prompt] for prompt in prompts])

    def masked(
        self,
        prompt: Ids,
        hidden: Sequence[Sequence[tuple[int, int]]],
        progress: OnScored | None = None,
    ) -> NDArray[np.float64]:
        """The log-probabilities behind one prompt where no token sees some of its tokens, by their places."""
        rows = []
        for done, spans in enumerate(hidden):
            checkpoint()
            if progress is not None:
                progress(done, len(hidden))
            key = (prompt, tuple(spans))
            if key not in self.known:
                mask = torch.ones(1, len(prompt) + self.behind, device=self.model.device, dtype=torch.long)
                for start, stop in spans:
                    mask[:, start:stop] = 0
                with torch.no_grad():
                    scores = self.one_pass([prompt], mask)
                self.known[key] = scores[0].double().cpu().numpy()
            rows.append(self.known[key])
        return np.stack(rows)

    @property
    def behind(self) -> int:
        """How many tokens of the answer are read behind a prompt."""
        return 0 if self.decoder_start is not None else len(self.answer) - 1

    def chunks(self, prompts: Sequence[Ids]) -> Iterator[list[Ids]]:
        """Prompts in order, as many as make a pass."""
        tokens = PASS_TOKENS.get(self.model.device.type, LARGE_PASS)
        most_kept = KEPT_BYTES.get(self.model.device.type, LARGE_KEPT)
        rows = max(LOGITS // (len(self.answer) * int(self.model.config.get_text_config().vocab_size)), 1)
        some: list[Ids] = []
        for prompt in prompts:
            longest = max(map(len, [*some, prompt])) + len(self.answer)
            shared = common_prefix([some[0], prompt]) if some and self.shares_prefix else 0
            kept = (len(some) + 1) * longest * self.bytes_kept if self.shares_prefix else 0
            if some and (
                len(some) == rows or (len(some) + 1) * (longest - shared) > tokens or kept > most_kept
            ):
                yield some
                some = []
            some.append(prompt)
        if some:
            yield some

    def read(self, prompts: Sequence[Ids]) -> Float[Tensor, "prompts answer"]:
        """Score prompts of a decoder behind what they begin with in common."""
        self.shares_prefix = self.shares_prefix and keeps_every_token(DynamicCache(config=self.model.config))
        if not self.shares_prefix:
            return self.one_pass(prompts)
        if len(prompts) == 1:
            begun = min(common_prefix([self.prefix, prompts[0]]), len(prompts[0]) - 1)
            past = self.begin(begun)
        else:
            begun = min(common_prefix(prompts), min(map(len, prompts)) - 1)
            own = self.read_prefix(prompts[0][:begun])
            past = copy.deepcopy(own)
            past.batch_repeat_interleave(len(prompts))
        scores = self.one_pass([prompt[begun:] for prompt in prompts], past=past)
        if not self.is_tried:
            self.try_sharing(prompts, scores, past, begun)
            if not self.shares_prefix:
                return self.one_pass(prompts)
        if len(prompts) == 1:
            cut(past, len(prompts[0]))
            self.past, self.prefix = past, prompts[0]
        return scores

    def try_sharing(self, prompts: Sequence[Ids], scores: Tensor, past: Cache, begun: int) -> None:
        """Whether every token's keys and values were kept, and the model gives the same numbers behind
        them."""
        length = max(map(len, prompts)) + len(self.answer) - 1
        if keeps_every_token(past) and past.get_seq_length():
            layers: list[Any] = past.layers
            held = sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)
            self.bytes_kept = held // (len(prompts) * past.get_seq_length())
        kept = keeps_every_token(past) and past.get_seq_length() == length
        if kept and begun:
            self.is_tried = True
            whole = self.one_pass(prompts[:1])
            kept = torch.allclose(whole[0], scores[0], atol=SAME, rtol=SAME)
        if not kept:
            self.shares_prefix = False
            self.forget()

    def begin(self, length: int) -> DynamicCache:
        """Keys and values of so many tokens of the prefix."""
        if self.past is None or not length:
            return DynamicCache(config=self.model.config)
        cut(self.past, length)
        return self.past

    def read_prefix(self, prefix: Ids) -> DynamicCache:
        """Keys and values of a beginning: those that are there, cut to what it shares, and read on."""
        kept = common_prefix([self.prefix, prefix])
        past = self.begin(kept)
        if kept < len(prefix):
            ids = torch.tensor([prefix[kept:]], device=self.model.device)
            mask = torch.ones(1, len(prefix), dtype=torch.long, device=self.model.device)
            self.model.base_model(input_ids=ids, attention_mask=mask, past_key_values=past, use_cache=True)
            self.passes, self.tokens_read = self.passes + 1, self.tokens_read + len(prefix) - kept
        self.past, self.prefix = past, prefix
        return past

    def forget(self) -> None:
        """Free the keys and values."""
        self.past, self.prefix = None, ()

    def one_pass(
        self, prompts: Sequence[Ids], mask: Tensor | None = None, past: Cache | None = None
    ) -> Float[Tensor, "prompts answer"]:
        """Score prompts, or what is left of them behind a ``past``, in one pass."""
        if self.decoder_start is not None:
            return self.read_pairs(prompts, mask)
        device = self.model.device
        rows = [(*prompt, *self.answer[:-1]) for prompt in prompts]
        ids = pad(rows, self.padding, device)
        starts = torch.tensor([len(prompt) - 1 for prompt in prompts], device=device)
        places = starts[:, None] + torch.arange(len(self.answer), device=device)
        if mask is None:
            length = ids.shape[1] + (0 if past is None else past.get_seq_length())
            mask = torch.ones(len(ids), length, dtype=torch.long, device=device)
        return self.log_probs(
            places, use_cache=past is not None, input_ids=ids, attention_mask=mask, past_key_values=past
        )

    def read_pairs(
        self, prompts: Sequence[Ids], mask: Tensor | None = None
    ) -> Float[Tensor, "prompts answer"]:
        """Score prompts of an encoder–decoder in one pass."""
        device = self.model.device
        ids = pad(prompts, self.padding, device)
        if mask is None:
            lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
            mask = (torch.arange(ids.shape[1], device=device) < lengths[:, None]).long()
        assert self.decoder_start is not None
        begun = torch.tensor([[self.decoder_start, *self.answer[:-1]]], device=device)
        places = torch.arange(len(self.answer), device=device).expand(len(prompts), -1)
        return self.log_probs(
            places,
            use_cache=False,
            input_ids=ids,
            attention_mask=mask,
            decoder_input_ids=begun.expand(len(prompts), -1),
        )

    def log_probs(self, places: Tensor, **inputs: Any) -> Float[Tensor, "prompts answer"]:
        """log p of the answer's tokens, predicted at these places; the vocabulary is asked there only."""
        rows = torch.arange(len(places), device=places.device)[:, None]

        def at_places(hidden: Tensor) -> Tensor:
            return hidden[rows.to(hidden.device), places.to(hidden.device)]

        with vocabulary_at(self.model, at_places):
            logits: Tensor = self.model(**inputs).logits
        self.passes += 1
        self.tokens_read += inputs["input_ids"].numel()
        wanted = torch.tensor(self.answer, device=logits.device).expand(len(places), -1)
        result = logits.float() if logits.dtype != torch.float64 else logits
        return nn.functional.log_softmax(result, dim=-1).gather(-1, wanted[..., None])[..., 0]


def cut(past: Cache, length: int) -> None:
    """Keep so many tokens of a cache."""
    if (more := past.get_seq_length() - length) > 0:
        past.crop(-more)


def pad(rows: Sequence[Ids], padding: int, device: torch.device) -> Tensor:
    """Rows of tokens as one tensor, padded behind."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows], device=device)


def common_prefix(rows: Sequence[Ids]) -> int:
    """How many tokens all rows begin with in common; of rows in order the first and last show it."""
    first, last = min(rows), max(rows)
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return place
    return min(len(first), len(last))
