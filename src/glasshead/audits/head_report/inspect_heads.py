"""What every head of a model does: `glasshead.heads`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.audits.head_report.conclusion import conclude_heads
from glasshead.audits.head_report.head_agreement import AgreementSums
from glasshead.audits.head_report.layer_summaries import summarise_layer, summarise_layers, summarise_pairs
from glasshead.audits.head_report.random_heads import random_nulls
from glasshead.audits.head_report.read_texts import HeadTexts, read_head_texts
from glasshead.audits.head_report.relations import follow_relations
from glasshead.audits.head_report.shown_texts import draw_head_texts
from glasshead.audits.head_report.summaries import summarise_heads
from glasshead.audits.head_report.text_statistics import LayerStatistics, gather_statistics
from glasshead.audits.head_report.token_kinds import make_token_table
from glasshead.audits.head_report.views import Score
from glasshead.audits.memory import check_memory
from glasshead.audits.open_request import with_datasets
from glasshead.audits.progress import StageProgress, no_progress
from glasshead.data import Encoded, batches, coverage, encode, heads_of, reader_of
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import TARGETS, ExplanationContext, make_context, value_change
from glasshead.huggingface import class_name, isolated_copy
from glasshead.identifiability import RowSelector, value_ranks
from glasshead.models import HierarchicalClassifier, PooledClassifier, is_regression
from glasshead.nouns import INPUTS
from glasshead.opening import NoClassError, OpenOptions, dtype_of, open_subject
from glasshead.requests import HeadsRequest, takes
from glasshead.results import REGRESSION, HeadReport
from glasshead.statistics import simultaneous_level
from glasshead.torch_modes import in_own_modes
from glasshead.trace import ResumedPasses, Subject, find_shortcut, list_attention_calls, zero_heads
from glasshead.training import versions

TEXTS_SHOWN = 2
"""Maps of so many texts are kept to be drawn."""
NO_PREDICTION = (
    "The model predicts no class of {a_text}, so the effects of its heads on predictions are not measured: "
    "no importance, no gradients."
)
NO_LABELS = "Your data has no labels and none are needed: effects are measured on the predicted class."
BETWEEN_SENTENCES = (
    "The model reads sentences one by one. Its heads inside sentences are here; those between sentences are "
    "left out: they look at no tokens."
)
POOLED_NOTE = (
    "A pooled classifier has one learned query, so only shares and breadth are measured: the query has no "
    "place in the text, its words are not joined, and nothing is left without its only head."
)


@takes(HeadsRequest)
def heads(request: HeadsRequest) -> HeadReport:
    """Say of every head of a model what it looks at, how much it matters, and which others are like it.

    ``model`` is what `glasshead.audit` takes, or a model without a classifier, of which nothing is said about
    predictions. ``data`` is a data set, with or without labels, or a CoNLL-U file: then also which dependency
    relation every head follows. ``limit`` is the size of a random part of the texts (None: 50, or all
    sentences for relations). ``texts``, or files of images, are drawn in the place of the first ones of the
    data.

    Raises:
        InputError: if the model cannot be opened or shows no attention, if the data cannot be read, and on an
            unknown option.
    """
    return run_heads(request)


class TextPredictions(NamedTuple):
    """A model before texts, the class that it predicts of each, and the range of what it predicts."""

    context: ExplanationContext
    predicted: Tensor
    scale: float


@in_own_modes
def run_heads(request: HeadsRequest) -> HeadReport:
    """Open the model and the data of a request, and look at every head.

    Raises:
        InputError: as `heads`.
    """
    started = time.perf_counter()
    stages = StageProgress(request.progress or no_progress)
    request = with_datasets(request)
    subject, predicts = open_requested_model(request)
    texts = read_head_texts(request, subject)
    tokenizer = reader_of(subject.tokenizer).with_limit(request.max_length, None)
    encoded = encode(tokenizer, texts.firsts, texts.seconds)
    nouns = stages.nouns = encoded.nouns
    if not encoded.mask.any():
        raise InputError("there is no text to look at: every text is empty")
    dtype = dtype_of(request.dtype)
    check_memory(subject.model, encoded, dtype)
    model = isolated_copy(subject.model, dtype)
    if not isinstance(model, PooledClassifier):
        list_attention_calls(model, encoded.inputs(slice(0, 1), model.device))
    predictions = predict_texts(model, encoded, replace(subject, tokenizer=tokenizer)) if predicts else None
    stages.begin("rows")
    kinds, score = make_token_table(tokenizer, encoded, texts.shown), target_scores(predictions)
    agreement_sums = AgreementSums(request.seed)
    layers = gather_statistics(model, encoded, kinds, score, agreement_sums, stages)
    random, random_entropies = random_nulls(model, encoded, kinds, score, request.seed, stages)
    names = [(layer.facts.layer, head) for layer in layers for head in range(layer.facts.num_heads)]
    more, unread = head_effects(model, encoded, layers, predictions if request.effects else None, stages)
    stages.begin("comparing")
    rng = np.random.default_rng([request.seed, 17])
    level = simultaneous_level(len(names))
    scale = 1.0 if predictions is None else predictions.scale
    task = REGRESSION if predictions is not None and predictions.context.is_regression else None
    summaries = [
        head
        for layer in layers
        for head in summarise_heads(
            layer,
            more[layer.facts.layer],
            random.get(layer.facts.layer, {}),
            level=level,
            task=task,
            scale=scale,
            rng=rng,
            nouns=nouns,
        )
    ]
    layer_summaries = [
        summarise_layer(layer, random.get(layer.facts.layer, {}), simultaneous_level(len(layers)), rng)
        for layer in layers
    ]
    findings = [*summarise_layers(layers, random, rng), *summarise_pairs(agreement_sums.of_texts, rng)]
    agreement = agreement_sums.agreement(names)
    relations, relation_notes = follow_relations(model, tokenizer, texts.sentences, request.seed, stages)
    remarks = [
        *(f"{note}." for note in subject.notes),
        *([] if predictions is not None else [nouns.fill(NO_PREDICTION)]),
        *([] if texts.labelled or predictions is None else [NO_LABELS]),
        *([BETWEEN_SENTENCES] if isinstance(model, HierarchicalClassifier) else []),
        *([POOLED_NOTE] if isinstance(model, PooledClassifier) else []),
        *([] if not unread else [f"Which heads are identifiable is not known: {unread}."]),
        *note_signs(layers),
        *relation_notes,
        *coverage(tokenizer, texts.firsts, texts.seconds, encoded).lines("read"),
    ]
    stages.begin("drawing")
    return HeadReport(
        facts=report_facts(request, subject, texts, level)
        | {INPUTS: nouns.texts, "heads": len(names), "seconds": round(time.perf_counter() - started, 2)},
        layers=layer_summaries,
        heads=summaries,
        agreement=agreement,
        findings=findings,
        relations=relations,
        conclusion=conclude_heads(
            layer_summaries,
            summaries,
            agreement,
            findings,
            relations,
            random_entropies=random_entropies,
            texts=len(texts.firsts),
            nouns=nouns,
        ),
        remarks=remarks,
        texts=list(draw_requested_texts(request, model, tokenizer, texts)),
    )


def open_requested_model(request: HeadsRequest) -> tuple[Subject, bool]:
    """The model of a request, and whether it predicts anything of a text.

    Raises:
        InputError: as `heads`.
    """
    try:
        return open_subject(request.model, request.tokenizer, OpenOptions.of(request)), True
    except NoClassError:
        opening = OpenOptions.of(request, classifies=False)
        return open_subject(request.model, request.tokenizer, opening), False


def predict_texts(model: PreTrainedModel, encoded: Encoded, subject: Subject) -> TextPredictions:
    """What the model predicts of every text."""
    context = make_context(model, encoded, subject.tokenizer)
    if is_regression(model.config):
        spread = float(np.ptp(context.logits[:, 0].numpy()))
        return TextPredictions(context, context.target, spread or 1.0)
    return TextPredictions(context, context.logits.argmax(dim=-1), 1.0)


def target_scores(predictions: TextPredictions | None) -> Callable[[Tensor], Score] | None:
    """What is differentiated of the texts: the log-odds of the predicted class, or the rating.

    None where nothing is predicted.
    """
    if predictions is None:
        return None
    name = "rating" if predictions.context.is_regression else "log-odds"
    return lambda texts: lambda logits: TARGETS[name](logits, predictions.predicted[texts].to(logits.device))


def head_effects(
    model: PreTrainedModel, encoded: Encoded, layers: list[LayerStatistics],
    predictions: TextPredictions | None, stages: StageProgress,
) -> tuple[dict[int, list[dict[str, NDArray[np.float64]]]], str]:  # fmt: skip
    """What is known of each layer and head beside its rows: changes of predictions, and whether it is
    identifiable; and why that is not known, where it is not."""
    more: dict[int, list[dict[str, NDArray[np.float64]]]] = {
        layer.facts.layer: [{} for _ in range(layer.facts.num_heads)] for layer in layers
    }
    if predictions is not None and not isinstance(model, PooledClassifier):
        names = [(layer, head) for layer, ones in more.items() for head in range(len(ones))]
        stages.begin("predictions without each head")
        removals = [(layer, (head,)) for layer, head in names]
        drops = ablate_heads(predictions.context, predictions.predicted, removals, stages.on_share)
        for place, (layer, head) in enumerate(names):
            more[layer][head] |= {"removal": drops[:, place], "removal-size": np.abs(drops[:, place])}
        for statistics in layers:
            importance = np.abs(statistics.by_head(("gradient-importance", "")))
            for head, one in enumerate(more[statistics.facts.layer]):
                one["gradient-importance"] = importance[:, head]
    stages.begin("identifiability")
    known, reason = identifiable_heads(model, encoded, layers)
    for layer, values in known.items():
        for head, one in enumerate(more[layer]):
            one["identifiable"] = values[:, head]
    return more, reason


def note_signs(layers: Sequence[LayerStatistics]) -> list[str]:
    """That the sizes of signed weights are read."""
    if not any(layer.facts.signed for layer in layers):
        return []
    return ["Weights have signs here: shares and breadth are those of their sizes |a|."]


def report_facts(request: HeadsRequest, subject: Subject, texts: HeadTexts, level: float) -> dict[str, Any]:
    """What was looked at, by which protocol."""
    return {
        "name": " · ".join(filter(None, (subject.name, Path(str(texts.facts.get("data", ""))).name))),
        "run": str(subject.folder or subject.name),
        "model": class_name(subject.model),
        "examples": len(texts.firsts),
        "head_seed": request.seed,
        "interval_level": level,
        "dtype": str(dtype_of(request.dtype)).removeprefix("torch."),
        "versions": versions(),
        "date": date.today().isoformat(),
        **texts.facts,
    }


def draw_requested_texts(
    request: HeadsRequest, model: PreTrainedModel, tokenizer: Any, texts: HeadTexts
) -> Any:
    """The texts, or images, of the request, or the first ones of the data."""
    if not request.texts:
        seconds = None if texts.seconds is None else texts.seconds[:TEXTS_SHOWN]
        return draw_head_texts(model, tokenizer, texts.firsts[:TEXTS_SHOWN], seconds)
    if texts.seconds is not None:
        raise ParameterError("texts", "is for models of single texts: of pairs the first ones are drawn")
    return draw_head_texts(model, tokenizer, reader_of(tokenizer).inputs(request.texts))


HeadRemoval = tuple[int, tuple[int, ...]]
"""A layer, and which of its heads are taken out together."""


def ablate_heads(
    context: ExplanationContext, target: Int[Tensor, " texts"], removals: Sequence[HeadRemoval],
    on_edits: Callable[[int, int], None],
) -> NDArray[np.float64]:  # fmt: skip
    """ŷ(x) − ŷ(x without the heads) [texts, removals] of the ``target`` class, or of the rating: their
    weights are zero. ``on_edits`` is told how many of texts × removals are done.

    The model is entered at the layer that is edited, where it can be. Source: Michel, Levy and Neubig (2019),
    eq. 1.
    """
    model, encoded = context.model, context.encoded
    drops = np.zeros((len(encoded.ids), len(removals)))
    lengths = encoded.mask.sum(dim=1)
    ends = torch.stack([lengths.argmax(), lengths.argmin()])
    layers = sorted({layer for layer, _ in removals})
    shortcuts = {layer: find_shortcut(model, encoded.inputs(ends, model.device), layer) for layer in layers}
    done, total = 0, len(lengths) * len(removals)
    for texts, inputs in batches(encoded, device=model.device, maps=heads_of(model.config)):
        for layer in layers:
            passes = ResumedPasses(model, inputs, shortcuts[layer])
            unchanged = passes.logits(lambda number, weights, call: weights).cpu()
            for place, (number, heads) in enumerate(removals):
                if number == layer:
                    drops[texts.numpy(), place] = drop(
                        context, unchanged, passes.logits(zero_heads(*heads)), target[texts]
                    )
                    done += len(texts)
                    on_edits(done, total)
    return drops


def drop(
    context: ExplanationContext,
    before: Float[Tensor, "b classes"],
    after: Float[Tensor, "b classes"],
    target: Int[Tensor, " b"],
) -> NDArray[np.float64]:
    """How much smaller the predicted number of each text has become."""
    return np.asarray(value_change(context.sized_fn, before, after.cpu(), target).double().numpy())


def identifiable_heads(
    model: PreTrainedModel, encoded: Encoded, layers: list[LayerStatistics]
) -> tuple[dict[int, NDArray[np.float64]], str]:
    """1 by layer where the null space of the head's values is empty, 0 where it is not [texts, heads], NaN of
    texts that were not read; and a reason where the values cannot be had.

    Weights that sum to one are the only ones if LN([T, 1]) = {0}, others if LN(T) = {0}. A text in several
    parts is identifiable where all of them are. Source: Bhardwaj et al. (2021), section 2.2.
    """
    known = {layer.facts.layer: layer for layer in layers}
    results = {
        number: np.full((layer.texts, layer.facts.num_heads), np.nan) for number, layer in known.items()
    }
    try:
        for ranks in value_ranks(model, encoded, RowSelector()):
            if ranks.layer not in known:
                continue
            null = ranks.null_with_ones if known[ranks.layer].facts.sums_to_one else ranks.null
            np.fmin.at(results[ranks.layer], ranks.texts, (null == 0).astype(float))
    except InputError as error:
        return {}, str(error)
    return results, ""
