"""One answer before its passages: what each does, for the whole answer and each of its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from glasshead.huggingface import NextTokenClassifier, decoder_start
from glasshead.progress import OnProgress
from glasshead.requests import PassagesRequest
from glasshead.results import Passage, SourceSpan, Statement, passage_name
from glasshead.sources.answer import AnswerTokens, tokenize_answer, write_answer
from glasshead.sources.effects import (
    MOST_EXACT,
    Effects,
    draw_masks,
    draw_orders,
    exact_shapley,
    log_odds,
    sampled_shapley,
    subsets_of_orders,
    surrogate_effects,
)
from glasshead.sources.judge import Removals, compare_removals, find_pairs, judge_sources, says
from glasshead.sources.prompts import choose_frame
from glasshead.sources.removals import LogProbs, Masks, Part, PassageRemover
from glasshead.sources.scores import AnswerScorer
from glasshead.sources.sentence_spans import Span, sentence_spans, word_spans
from glasshead.trace import Subject

STRONGEST = 4
"""So many passages are removed in pairs."""
MOST_WORDS = 60
"""A sentence of more words is not taken apart."""


@dataclass(frozen=True)
class Citing:
    """One answer before its passages."""

    request: PassagesRequest
    method: str
    classifier: NextTokenClassifier
    remover: PassageRemover
    answer: AnswerTokens
    say: OnProgress

    @property
    def everything(self) -> list[int]:
        """The tokens of the whole answer."""
        return self.answer.tokens_of((0, len(self.answer.text)))

    def statements(self) -> list[Statement]:
        """The whole answer and, if it has several, each of its sentences."""
        base, subsets, drawn = self.removals()
        spans = sentence_spans(self.answer.text)
        parts = [(0, len(self.answer.text)), *(spans if len(spans) > 1 else ())]
        tokens = [self.answer.tokens_of(part) for part in parts]
        return [
            self.statement(part, own, base[:, own].sum(axis=1), subsets, drawn[:, own].sum(axis=1))
            for part, own in zip(parts, tokens, strict=True)
            if own
        ]

    def removals(self) -> tuple[LogProbs, Masks, LogProbs]:
        """Log-probabilities behind all passages, none, all but one and only one; the subsets that the method
        reads, and those behind each."""
        count = len(self.remover.frame.passages)
        everything, nothing = np.ones((1, count), bool), np.zeros((1, count), bool)
        alone = ~np.eye(count, dtype=bool)
        fixed = np.concatenate([everything, nothing, alone, ~alone])
        subsets = self.subsets(count)
        scored = self.score(np.concatenate([fixed, subsets]), "removing passages")
        return scored[: len(fixed)], subsets, scored[len(fixed) :]

    def score(self, kept: Masks, what: str, removal: Any = None) -> LogProbs:
        """Log-probabilities of the answer's tokens with subsets of the passages."""
        return self.remover.score(
            kept,
            removal or self.request.removal,
            lambda done, of: self.say(f"{what}: {of:,} prompts", done / max(of, 1)),
        )

    def subsets(self, count: int) -> Masks:
        """What the method reads."""
        request = self.request
        if self.method == "contextcite":
            return draw_masks(count, request.draws, request.seed)
        if self.method == "leave-one-out":
            return np.zeros((0, count), bool)
        if count <= MOST_EXACT:
            return draw_masks(count, 2**MOST_EXACT, request.seed)
        return subsets_of_orders(draw_orders(count, request.draws, request.seed), count)

    def effects(self, base: Any, subsets: Masks, drawn: Any, tokens: int) -> tuple[Effects, float]:
        """What each passage adds, and what all add, in the same units."""
        request, count = self.request, subsets.shape[1]
        gain = float(base[0] - base[1])
        if self.method == "leave-one-out":
            return Effects(base[0] - base[2 : 2 + count]), gain
        if self.method == "contextcite":
            odds = log_odds(base[:2])
            return surrogate_effects(subsets, drawn, tokens, request.seed), float(odds[0] - odds[1])
        if count <= MOST_EXACT:
            values = {tuple(map(bool, row)): float(value) for row, value in zip(subsets, drawn, strict=True)}
            return exact_shapley(values, count), gain
        orders = draw_orders(count, request.draws, request.seed)
        return sampled_shapley(orders, drawn, count), gain

    def statement(self, part: Span, own: list[int], base: Any, subsets: Masks, drawn: Any) -> Statement:
        """One part of the answer, judged."""
        passages = self.remover.frame.passages
        effects, scale = self.effects(base, subsets, drawn, len(own))
        alone = [float(base[0] - one) for one in base[2 : 2 + len(passages)]]
        by_itself = [float(one - base[1]) for one in base[2 + len(passages) :]]
        log_p = float(base[0])
        strongest = np.argsort(-np.maximum(alone, by_itself), kind="stable")[:STRONGEST]
        couples = list(combinations(sorted(map(int, strongest)), 2))
        both = self.without(couples, own, log_p)
        removals = Removals(log_p, float(base[1]), alone, by_itself, dict(zip(couples, both, strict=True)))
        pairs = find_pairs(removals)
        judged = judge_sources(effects, scale, removals, pairs)
        sources = [one.passage for one in judged if one.is_source]
        pairs = tuple(pair for pair in pairs if {pair.first, pair.second} <= {*sources})
        (fall,) = self.without([sources], own, log_p)
        names = [passage_name(place, one) for place, one in enumerate(passages)]
        subject = "The answer" if part == (0, len(self.answer.text)) else "This sentence"
        other = self.other(own, log_p)
        return Statement(
            *part,
            log_probability=log_p,
            without_any=float(base[1]),
            without_sources=log_p - fall,
            effects=judged,
            pairs=pairs,
            spans=self.spans(sources, own, log_p),
            other=other,
            says=says(removals, judged, pairs, log_p - fall, names, subject),
            remarks=compare_removals(removals, self.request.removal, other, names),
        )

    def ablations(self, own: list[int]) -> tuple[Masks, Any]:
        """The subsets that the method read, and the log-odds of a part behind each."""
        subsets = self.subsets(len(self.remover.frame.passages))
        if not len(subsets):
            return subsets, np.zeros(0)
        return subsets, log_odds(self.score(subsets, "removing passages")[:, own].sum(axis=1))

    def without(self, groups: Sequence[Sequence[int]], own: list[int], log_p: float) -> list[float]:
        """By how much log p of a part falls without each group of passages."""
        if not groups:
            return []
        kept = np.ones((len(groups), len(self.remover.frame.passages)), bool)
        for row, group in zip(kept, groups, strict=True):
            row[list(group)] = False
        scores = self.score(kept, "removing pairs")[:, own].sum(axis=1)
        return [log_p - float(score) for score in scores]

    def other(self, own: list[int], log_p: float) -> dict[str, tuple[float, ...]]:
        """By how much log p falls without each passage, by the other way to take its words away."""
        removal = "replace" if self.request.removal != "replace" else "delete"
        kept = ~np.eye(len(self.remover.frame.passages), dtype=bool)
        scores = self.score(kept, "removing in another way", removal)[:, own].sum(axis=1)
        return {removal: tuple(log_p - float(score) for score in scores)}

    def spans(self, sources: Sequence[int], own: list[int], log_p: float) -> tuple[SourceSpan, ...]:
        """The sentences of the sources and, of the one that matters most in each, the words."""
        sentences = [
            Part(passage, *span)
            for passage in sources
            for span in sentence_spans(self.remover.frame.passages[passage].text)
        ]
        falls = self.without_parts(sentences, own, log_p)
        found = [
            SourceSpan(part.passage, part.start, part.stop, "sentence", fall)
            for part, fall in zip(sentences, falls, strict=True)
        ]
        words = []
        for passage in sources:
            most = max((one for one in found if one.passage == passage), key=lambda one: one.removal)
            text = self.remover.frame.passages[passage].text
            inside = word_spans(text, most.start, most.stop)
            if len(inside) <= MOST_WORDS:
                words += [Part(passage, *span) for span in inside]
        falls = self.without_parts(words, own, log_p)
        return (
            *found,
            *(
                SourceSpan(part.passage, part.start, part.stop, "word", fall)
                for part, fall in zip(words, falls, strict=True)
            ),
        )

    def without_parts(self, parts: Sequence[Part], own: list[int], log_p: float) -> list[float]:
        """By how much log p falls without each part."""
        if not parts:
            return []
        scores = self.remover.without_parts(parts, lambda done, of: self.say("removing words", done / of))
        return [log_p - float(score) for score in scores[:, own].sum(axis=1)]


def set_up(
    subject: Subject,
    classifier: NextTokenClassifier,
    passages: Sequence[Passage],
    question: Any,
    answer: str | None,
    request: PassagesRequest,
    *,
    method: str,
    say: OnProgress,
) -> Citing:
    """Put passages and a question before a model, and its answer behind them, or the one that is given.

    Raises:
        InputError: as `glasshead.cite`, of a model that is open.
    """
    tokenizer = subject.tokenizer
    frame = choose_frame(tokenizer, passages, question, request.prompt)
    prompt = frame.render([one.text for one in passages])
    say("writing" if answer is None else "reading")
    written = write_answer(subject, prompt, request) if answer is None else answer
    read = tokenize_answer(classifier, tokenizer, frame, prompt, written)
    model = classifier.model
    start = decoder_start(model) if model.config.is_encoder_decoder else None
    scorer = AnswerScorer(model, read.ids, start, tokenizer.pad_token_id or 0)
    remover = PassageRemover(frame, scorer, request.neutral)
    if request.removal == "mask":
        remover.check_masks()
    return Citing(request, method, classifier, remover, read, say)
