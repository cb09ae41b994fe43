"""Which passages an answer came from, and how sure that is: `glasshead.cite`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from glasshead.errors import InputError
from glasshead.generation import (
    MapRequest,
    ReadText,
    check_methods,
    make_map,
    open_writer,
    writing_model,
)
from glasshead.huggingface import NextTokenClassifier, class_name, decoder_start, lend_copy
from glasshead.opening import OpenOptions
from glasshead.requests import CiteRequest, takes
from glasshead.results import Cited, Foretelling, SourceSpan, Statement, passage_name
from glasshead.sources.answer import AnswerTokens, tokenize_answer, write_answer
from glasshead.sources.datamodeling_score import (
    can_be_foretold,
    foretell,
    foretell_by_sum,
    surrogate_predictions,
)
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
from glasshead.sources.passages import read_passages
from glasshead.sources.prompts import choose_frame, describe
from glasshead.sources.removals import LogProbs, Masks, Part, PassageRemover
from glasshead.sources.scores import AnswerScorer
from glasshead.sources.sentence_spans import Span, sentence_spans, word_spans
from glasshead.torch_modes import in_own_modes

STRONGEST = 4
"""So many passages are removed in pairs."""
MOST_WORDS = 60
"""A sentence of more words is not taken apart."""
Say = Callable[..., None]


@takes(CiteRequest)
def cite(request: CiteRequest) -> Cited:
    """Which passages of a context an answer came from, with doubt: the whole answer and each of its
    sentences.

    The model answers behind all passages (or ``answer`` is given), and log p of these tokens is read again
    with passages removed. ``contextcite`` keeps each with probability ½ and fits a sparse linear surrogate
    to the log-odds; ``shapley`` is the mean over orders of what a passage adds where it joins;
    ``leave-one-out`` the fall without it alone. A passage is a source if its 95 % interval, for all passages
    at once, lies above a tenth of what all passages add, and if the answer is less probable without it, or
    by it alone at least half as probable as by all. The strongest are also removed in pairs: either may be
    enough, or both needed. Within sources, sentences and then words are deleted one by one.

    Raises:
        InputError: if the model cannot be opened or writes no text, if the context holds no passage, and if
            passages cannot be masked (``removal``).
    """
    return run_citing(request)


@in_own_modes
def run_citing(request: CiteRequest) -> Cited:
    """Open the model of a request, let it answer, remove passages, judge.

    Raises:
        InputError: as `cite`.
    """
    check_methods(request.beside)
    passages = read_passages(request.context, request.split)
    say: Say = request.progress or (lambda *told: None)
    say("loading")
    subject = open_writer(request.model, request.tokenizer, OpenOptions.of(request, dtype=request.dtype))
    model = writing_model(subject)
    frame = choose_frame(subject.tokenizer, passages, request.question, request.prompt)
    started = time.perf_counter()
    prompt = frame.render([one.text for one in passages])
    say("writing" if request.answer is None else "reading")
    answer = write_answer(subject, prompt, request) if request.answer is None else request.answer
    with lend_copy(model) as classifier:
        read = tokenize_answer(classifier, subject.tokenizer, frame, prompt, answer)
        scorer = AnswerScorer(
            classifier.model,
            read.ids,
            decoder_start(classifier.model) if classifier.model.config.is_encoder_decoder else None,
            subject.tokenizer.pad_token_id or 0,
        )
        remover = PassageRemover(frame, scorer, request.neutral)
        if request.removal == "mask":
            remover.check_masks()
        citing = Citing(request, remover, read, say)
        statements, notes = beside(citing, classifier, subject.tokenizer, citing.statements())
    facts = {
        "method": request.method,
        "removal": request.removal,
        "draws": request.draws,
        "placed": describe(frame),
        "written": request.answer is None,
        "passes": scorer.passes,
        "tokens": scorer.tokens_read,
        "seconds": time.perf_counter() - started,
        "seed": request.seed,
        "class": class_name(subject.model),
    }
    question = request.question if isinstance(request.question, str) else request.question[-1]["content"]
    return Cited(
        subject.name,
        question,
        read.text,
        tuple(passages),
        tuple(statements),
        prompt,
        facts,
        (*subject.notes, *notes),
    )


@dataclass(frozen=True)
class Citing:
    """One answer before its passages."""

    request: CiteRequest
    remover: PassageRemover
    answer: AnswerTokens
    say: Say

    def statements(self) -> list[Statement]:
        """The whole answer and, if it has several, each of its sentences."""
        count = len(self.remover.frame.passages)
        everything, nothing = np.ones((1, count), bool), np.zeros((1, count), bool)
        alone = ~np.eye(count, dtype=bool)
        fixed = np.concatenate([everything, nothing, alone, ~alone])
        subsets = self.subsets(count)
        scored = self.score(np.concatenate([fixed, subsets]), "removing passages")
        base, drawn = scored[: len(fixed)], scored[len(fixed) :]
        spans = sentence_spans(self.answer.text)
        parts = [(0, len(self.answer.text)), *(spans if len(spans) > 1 else ())]
        tokens = [self.answer.tokens_of(part) for part in parts]
        return [
            self.statement(part, own, base[:, own].sum(axis=1), subsets, drawn[:, own].sum(axis=1))
            for part, own in zip(parts, tokens, strict=True)
            if own
        ]

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
        if request.method == "contextcite":
            return draw_masks(count, request.draws, request.seed)
        if request.method == "leave-one-out":
            return np.zeros((0, count), bool)
        if count <= MOST_EXACT:
            return draw_masks(count, 2**MOST_EXACT, request.seed)
        return subsets_of_orders(draw_orders(count, request.draws, request.seed), count)

    def effects(self, base: Any, subsets: Masks, drawn: Any, tokens: int) -> tuple[Effects, float]:
        """What each passage adds, and what all add, in the same units."""
        request, count = self.request, subsets.shape[1]
        gain = float(base[0] - base[1])
        if request.method == "leave-one-out":
            return Effects(base[0] - base[2 : 2 + count]), gain
        if request.method == "contextcite":
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


def beside(
    citing: Citing,
    classifier: NextTokenClassifier,
    tokenizer: PreTrainedTokenizerBase,
    statements: Sequence[Statement],
) -> tuple[list[Statement], list[str]]:
    """The statements with what other methods say of the passages, as shares of what they give to all tokens
    of the prompt, and how well these and the method foretell ablations; and why one says nothing."""
    request, remover, answer = citing.request, citing.remover, citing.answer
    notes: list[str] = []
    maps: dict[str, Any] = {}
    try:
        spans = remover.token_spans() if request.beside else []
    except InputError as error:
        spans = []
        notes.append(f"{', '.join(request.beside)}: left out, since {error}")
    prompt = remover.tokens([one.text for one in remover.frame.passages])
    start, source = len(prompt), 0
    if remover.scorer.decoder_start is not None:
        source, prompt = start, (*prompt, remover.scorer.decoder_start)
        start += 1
    ids = torch.tensor([[*prompt, *answer.ids]], device=classifier.device)
    text = ReadText(classifier, tokenizer, ids, start, source=source)
    for name in request.beside if spans else ():
        try:
            made = make_map(text, MapRequest(name))
        except InputError as error:
            notes.append(f"{name} is left out: {error}")
            continue
        if made.reading:
            notes.append(f"{name}: {made.reading}")
        maps[name] = np.abs(np.nan_to_num(made.matrix))
    found = []
    for statement in statements:
        own = answer.tokens_of((statement.start, statement.stop))
        shares = {}
        for name, matrix in maps.items():
            rows = matrix[own].sum(axis=0)
            total = float(rows[: source or len(prompt)].sum()) or 1.0
            shares[name] = tuple(float(rows[a:b].sum()) / total for a, b in spans)
        foretold = foretell_all(*citing.ablations(own), shares, len(own), request)
        found.append(replace(statement, maps=shares, foretells=foretold))
    return found, notes


def foretell_all(
    subsets: Masks, outputs: Any, shares: dict[str, tuple[float, ...]], tokens: int, request: CiteRequest
) -> dict[str, Foretelling]:
    """How well the surrogate and the shares foretell ablations, where these can show it."""
    if not can_be_foretold(subsets, outputs):
        return {}
    found = {}
    if request.method == "contextcite":
        predicted = surrogate_predictions(subsets, outputs, tokens, request.seed)
        found["contextcite"] = foretell(predicted, outputs, request.seed)
    for name, own in shares.items():
        found[name] = foretell_by_sum(np.array(own), subsets, outputs, request.seed)
    return found
