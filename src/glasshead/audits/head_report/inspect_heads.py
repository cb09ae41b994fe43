"""What every head of a model does: `glasshead.heads`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.head_report.conclusion import conclude_heads
from glasshead.audits.head_report.head_agreement import agree
from glasshead.audits.head_report.layer_summaries import summarise_layer, summarise_layers, summarise_pairs
from glasshead.audits.head_report.read_texts import (
    HeadSample,
    describe_layers,
    masks_of_tokens,
    read_head_sample,
)
from glasshead.audits.head_report.relations import (
    RELATIONS,
    RelationRows,
    follow_relations,
    layers_between,
)
from glasshead.audits.head_report.rows import (
    DIRECT,
    IDENTIFIABLE,
    PAIRS,
    RATING,
    REMOVAL,
    STATISTICS,
    DirectRows,
    HeadRows,
    PairRows,
    RemovalRows,
)
from glasshead.audits.head_report.shown_texts import draw_head_texts, text_maps
from glasshead.audits.head_report.summaries import summarise_heads
from glasshead.audits.head_report.text_statistics import (
    LayerFacts,
    LayerStatistics,
    columns_of,
    direct_effects_by_chance,
    full_lists,
    layer_statistics,
    names_of_heads,
    places_of_heads,
    random_entropies,
    random_nulls,
    received_by_kind,
)
from glasshead.audits.judge import Wanted
from glasshead.audits.judging.base import Measure
from glasshead.audits.judging.reference_facts import Reference
from glasshead.audits.judging.table import Table
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.measured_with import find_measurements
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.workers import check_workers, measure_missing
from glasshead.audits.open_request import open_asked, with_datasets
from glasshead.data import reader_of
from glasshead.errors import ParameterError
from glasshead.huggingface import class_name, measured_on
from glasshead.inside import predicts_next_tokens
from glasshead.models import HierarchicalClassifier, PooledClassifier
from glasshead.nouns import INPUTS
from glasshead.opening import NoClassError, OpenOptions, dtype_of, open_subject
from glasshead.requests import HeadsRequest, takes
from glasshead.results import GIVEN_ANSWER, REGRESSION, HeadReport, HeadText
from glasshead.statistics import simultaneous_level
from glasshead.tasks import LikelihoodModel
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject, check_one_pass, decodes_answer
from glasshead.training import versions

TEXTS_SHOWN = 2
"""Maps of so many texts are kept to be drawn."""
NO_PREDICTION = (
    "The model predicts no class of {a_text}, so the effects of its heads on predictions are not measured: "
    "no importance, no gradients."
)
NO_LABELS = "Your data has no labels and none are needed: effects are measured on the predicted class."
MEASURED_ON = "Effects are measured on {}."
BETWEEN_SENTENCES = (
    "The model reads sentences one by one. This report has its heads inside sentences; those between "
    "sentences are left out, because they do not look at tokens."
)
OF_THE_SOURCE = (
    "This report has the heads of the encoder. Those of the decoder are left out, because they look at "
    "answers."
)
POOLED_NOTE = (
    "A pooled classifier has one learned query and one head, so only shares and breadth are measured."
)


@takes(HeadsRequest)
def heads(request: HeadsRequest) -> HeadReport:
    """Find out what every head of a model looks at, how much it matters, and which heads are alike.

    ``model`` is what `glasshead.audit` takes, or a model without a classifier, whose predictions are not
    analysed. ``data`` is a data set, with or without labels, or a CoNLL-U file, which also shows which
    dependency relation every head follows. ``limit`` is the size of a random part of the texts (None: 50, or
    all sentences for relations). The maps of ``texts``, or of image files, are drawn instead of those of
    the first inputs of the data.

    Raises:
        InputError: if the model cannot be opened or shows no attention, if the data cannot be read, and on an
            unknown option.
    """
    return run_heads(request)


@in_own_modes
def run_heads(request: HeadsRequest) -> HeadReport:
    """Open the model and the data of a request, and look at every head.

    Raises:
        InputError: as `heads`.
    """
    check_workers(request)
    started = time.perf_counter()
    stages = StageProgress(request.tell)
    request = with_datasets(request)
    subject, predicts = open_requested_model(request)
    sample, texts, asked = read_head_sample(request, subject, predicts)
    nouns = stages.nouns = sample.encoded.nouns
    kept = find_measurements(request.store, sample, request)
    facts = describe_layers(sample)
    measures = measures_of(request, sample, facts)
    count, nothing = int(asked.sum()), np.zeros(0, dtype=np.int64)
    wanted = {Wanted(key, measure): None if key == RELATIONS else count for key, measure in measures.items()}
    view = sample.view(nothing).but(reference=Reference())
    measure_missing(request, sample, wanted, kept, stages, view, nothing)
    stages.begin("comparing")
    chosen = sample.some(np.flatnonzero(asked))
    table, shared = kept.read(STATISTICS, chosen.ids, HeadRows.columns)
    if REMOVAL in measures:
        table = {**table, **kept.read(REMOVAL, chosen.ids, RemovalRows.columns).columns}
    untold: list[str] = []
    if DIRECT in measures:
        direct, reasons = kept.read(DIRECT, chosen.ids, DirectRows.columns)
        table, untold = {**table, **direct}, list(reasons.values())
    task = (GIVEN_ANSWER if view.rates_answers else REGRESSION) if RATING in table else None
    scale = float(np.ptp(table[RATING])) or 1.0 if task == REGRESSION else 1.0
    names, random = names_of_heads(facts), random_nulls(facts, table)
    layers = [
        replace(layer, received=received)
        for layer, received in zip(
            layer_statistics(facts, columns_of(table, len(names)), len(chosen.texts)),
            received_by_kind(facts, table, masks_of_tokens(chosen)),
            strict=True,
        )
    ]
    more = head_effects(layers, table)
    rng = np.random.default_rng([request.seed, 17])
    level = simultaneous_level(len(names))
    by_chance = direct_effects_by_chance(facts, table, level)
    layers = [replace(layer, direct_by_chance=by_chance.get(layer.facts.layer)) for layer in layers]
    summaries = [
        head
        for layer in layers
        for head in summarise_heads(
            layer,
            more[layer.facts.layer],
            random[layer.facts.layer],
            level=level,
            task=task,
            scale=scale,
            rng=rng,
            nouns=nouns,
        )
    ]
    layer_summaries = [
        summarise_layer(layer, random[layer.facts.layer], simultaneous_level(len(layers)), rng)
        for layer in layers
    ]
    agreement, pairs = agree((shard for shard, _ in kept.shards(PAIRS)), chosen.ids, len(names))
    findings = [*summarise_layers(layers, random, rng), *summarise_pairs(pairs, rng)]
    relations, relation_notes = follow_relations(sample, facts, kept, request.seed)
    about = measured_on(sample.model, request.classes)
    remarks = [
        *(f"{note}." for note in subject.notes),
        *([] if predicts else [nouns.fill(NO_PREDICTION)]),
        *([] if texts.labelled or not predicts or about else [NO_LABELS]),
        *([] if about is None else [MEASURED_ON.format(about)]),
        *([] if texts.note is None else [f"{texts.note}."]),
        *([BETWEEN_SENTENCES] if isinstance(sample.model, HierarchicalClassifier) else []),
        *([OF_THE_SOURCE] if decodes_answer(sample.model) else []),
        *([POOLED_NOTE] if isinstance(sample.model, PooledClassifier) else []),
        *(f"It is not known which heads are identifiable: {reason}." for reason in shared.values()),
        *(f"Direct effects of heads are not known: {reason}." for reason in untold),
        *note_signs(facts),
        *relation_notes,
        *chosen.coverage.lines("read"),
    ]
    stages.begin("drawing")
    return HeadReport(
        facts=report_facts(request, subject, len(chosen.texts), texts.facts, level)
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
            random_entropies=random_entropies(facts, table),
            texts=len(chosen.texts),
            nouns=nouns,
        ),
        remarks=remarks,
        texts=list(draw_requested_texts(request, chosen)),
    )


def measures_of(
    request: HeadsRequest, sample: HeadSample, layers: tuple[LayerFacts, ...]
) -> dict[str, Measure]:
    """What is measured of every text."""
    rows = HeadRows(layers, sample.predicts)
    measures: dict[str, Measure] = {STATISTICS: rows, PAIRS: PairRows(rows)}
    if sample.predicts and request.effects and not isinstance(sample.model, PooledClassifier):
        measures[REMOVAL] = RemovalRows(layers)
    if sample.predicts and request.effects and predicts_next_tokens(sample.model):
        measures[DIRECT] = DirectRows(layers)
    if between := layers_between(sample, layers):
        measures[RELATIONS] = RelationRows(between)
    return measures


def open_requested_model(request: HeadsRequest) -> tuple[Subject, bool]:
    """The model of a request, and whether it predicts anything of a text.

    Raises:
        InputError: as `heads`.
    """
    try:
        subject = open_asked(request)
        check_one_pass(subject.model)
        return subject, True
    except NoClassError:
        opening = OpenOptions.of(request, classifies=False)
        return open_subject(request.model, request.tokenizer, opening), False


def head_effects(layers: Sequence[LayerStatistics], table: Table) -> dict[int, list[dict[str, Floats]]]:
    """What is known of each layer and head next to its rows, by text: changes of predictions, and whether it
    is identifiable."""
    facts = [layer.facts for layer in layers]
    width = len(names_of_heads(facts))
    columns = {
        name: full_lists(table[name], width) for name in (REMOVAL, DIRECT, IDENTIFIABLE) if name in table
    }
    if REMOVAL in columns:
        importance = [layer.by_head(("gradient-importance", "")) for layer in layers]
        columns = {
            REMOVAL: columns[REMOVAL],
            "removal-size": np.abs(columns[REMOVAL]),
            "gradient-importance": np.abs(np.concatenate(importance, axis=1)),
            **columns,
        }
    return {
        layer: [{name: values[:, head] for name, values in columns.items()} for head in range(width)[heads]]
        for layer, heads in places_of_heads(facts).items()
    }


def note_signs(layers: Sequence[LayerFacts]) -> list[str]:
    """That the sizes of signed weights are read."""
    if not any(layer.signed for layer in layers):
        return []
    return ["Weights have signs here: shares and breadth are those of their sizes |a|."]


def report_facts(
    request: HeadsRequest, subject: Subject, texts: int, data_facts: Mapping[str, Any], level: float
) -> dict[str, Any]:
    """What was looked at, by which protocol."""
    return {
        "name": " · ".join(filter(None, (subject.name, Path(str(data_facts.get("data", ""))).name))),
        "run": str(subject.folder or subject.name),
        "model": class_name(subject.model),
        "examples": texts,
        "head_seed": request.seed,
        "interval_level": level,
        "dtype": str(dtype_of(request.dtype)).removeprefix("torch."),
        "versions": versions(),
        "date": date.today().isoformat(),
        **data_facts,
    }


def draw_requested_texts(request: HeadsRequest, sample: Sample) -> Iterator[HeadText]:
    """The texts, or images, of the request, or the first ones of the data."""
    (firsts, seconds), reader = sample.inputs, sample.subject.tokenizer
    if not request.texts:
        for row in range(min(TEXTS_SHOWN, len(firsts))):
            encoded = sample.encoded.some(np.array([row]))
            if encoded.mask.any():
                pair = None if seconds is None else seconds[row]
                yield text_maps(sample.model, reader, encoded, str(firsts[row]), pair)
        return
    if seconds is not None:
        raise ParameterError("texts", "is for models of single texts: for pairs, the first ones are drawn")
    if isinstance(sample.model, LikelihoodModel):
        raise ParameterError("texts", "have no answers: the first ones of the data are drawn, leave this out")
    yield from draw_head_texts(sample.model, reader, reader_of(reader).inputs(request.texts))
