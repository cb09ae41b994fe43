"""Is this the only attention map that gives the output of its head?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.identifiability_verdicts import (
    CERTIFICATES,
    ONLY_AT,
    judge_maps,
    keys_verdict,
    may_move,
    only_map,
    other_weights,
    width_verdict,
)
from glasshead.audits.judging.map_statistics import Columns, floats, mean_per_text, statistics_per_map
from glasshead.audits.judging.measurements import FOLDER, Measurements
from glasshead.audits.judging.question import ANY_SIZE, SHARE, SIZE, Outcome, Question
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import (
    Nulls,
    StatSummary,
    null_column,
)
from glasshead.audits.judging.table import Column, DType, Table, lists
from glasshead.errors import pluralise
from glasshead.identifiability import SCHEMAS, IntervalOptions, RowSelector, line_table
from glasshead.nouns import Nouns
from glasshead.requests import AuditRequest
from glasshead.results import CLEAR_RANK_MARGIN, TOO_FEW_EXAMPLES, AuditCard, Finding, Verdict
from glasshead.statistics import LEVEL

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView
    from glasshead.data import Encoded
    from glasshead.trace import ReadRows

IDENTIFIABILITY = "identifiability"
"""The one audit that needs no prediction."""
MAX_TEXTS = 50  # where nobody asked for more: linear programs are most of a card's time
LENGTH_BINS = (16, 32, 64, 128, 256, 512, 1024)  # ends of the groups by number of keys
FEW_KINDS = 2
LINES: dict[str, DType] = {
    name: "texts" if name in ("kind", "given_keys", "given_keys_reason") else "floats"
    for name in SCHEMAS["heads"].names
    if name != "text"
}
WEIGHT_LINES: dict[str, DType] = {
    name: "texts" if name in ("token", "failed") else "floats"
    for name in SCHEMAS["weights"].names
    if name != "text"
}
"""What is known of every map of a text, and of every weight of these."""
CITATION = "Brunner et al. 2019; Bhardwaj et al. 2021"


@dataclass(frozen=True)
class Identifiability(Audit):
    """The interval, for every weight, of values that give the same output of the head, by linear programs.

    ``row_options`` are the fields of `RowSelector` that were chosen; the others are those of the selected
    attention, with all heads. It covers at most ``max_texts`` texts (None: all). ``store`` is the folder of
    an audit that can be resumed (None: a temporary one). Per text the numbers are means over its heads and
    rows; intervals resample texts.
    """

    question = "is this the only attention map that gives the head's output?"
    citation = CITATION
    title = "Identifiability"
    uses_products = False
    about = (
        "Is this the only attention map that gives the head's output? For every weight, "
        "the smallest and largest value with which the head gives the same "
        "output, by linear programs; means over the heads "
        "and rows of each {text}. The null has the same weights over random values of the "
        "same size. Given the keys: could this head give the same output with other weights nearby?"
    )
    place = 90
    words: ClassVar = {
        "identifiable": "share of maps that are the only one",
        "width": "mean width of the intervals",
        "may-be-zero": "share of the five largest weights that could be zero",
        "another-first": "share of maps in which another {token} could be first",
        "given-keys": "share of maps that are alone, given the keys",
    }
    questions = (
        Question(
            "identifiable",
            title="Is this the only attention map that gives the head's output?",
            unit="share of maps",
            within=SHARE,
            counts=True,
            no_number=ANY_SIZE,
            claim="these are the only weights that give the output of the head",
            holds=only_map,
            claim_at=ONLY_AT,
        ),
        Question(
            "another-first",
            title="Could another {token} be the most attended one?",
            unit="share of maps",
            within=SHARE,
            counts=True,
            low_is_good=True,
            no_number=ANY_SIZE,
        ),
        Question(
            "may-be-zero",
            title="Could the largest weights be zero, with the same output?",
            unit="share of the five largest",
            within=SHARE,
            counts=True,
            low_is_good=True,
            no_number=ANY_SIZE,
        ),
        Question(
            "width",
            unit="weight",
            within=SIZE,
            low_is_good=True,
            borders=(at(0.0, minus="random", applies=may_move),),
        ),
        Question(
            "given-keys",
            unit="share of maps",
            within=SHARE,
            counts=True,
            no_null="decided by ranks alone",
            no_number=ANY_SIZE,
        ),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether other weights would have given the same output."""
        return other_weights(card)

    row_options: Mapping[str, Any] = field(default_factory=dict)
    interval_options: IntervalOptions = field(default_factory=IntervalOptions)
    max_texts: int | None = MAX_TEXTS
    processes: int = 1
    store: Path | None = None

    @classmethod
    def of(cls, request: AuditRequest) -> Identifiability:
        """The audit that a request asks for. It covers as many texts as the request names.

        Raises:
            InputError: on rows that no model has.
        """
        rows = {name: getattr(request, name) for name in ("layers", "heads", "rows")}
        row_options: dict[str, Any] = {
            name: None if name != "rows" and value == "all" else value
            for name, value in rows.items()
            if value is not None
        }
        RowSelector(**row_options)
        return cls(
            row_options=row_options,
            interval_options=IntervalOptions(request.top, request.tolerance),
            max_texts=MAX_TEXTS if request.limit is None and request.budget is None else None,
            processes=1 if request.has_workers else request.processes or 1,
            store=request.store,
        )

    columns = (
        Column("maps.identifiable*", "float", "share", "maps that are the only one, or its null"),
        Column("maps.width*", "float", "weight", "the mean width of the intervals, or its null"),
        Column(
            "maps.may-be-zero*", "float", "share", "the five largest weights that may be zero, or its null"
        ),
        Column(
            "maps.another-first*", "float", "share", "maps in which another token may be first, or its null"
        ),
        Column("maps.given-keys*", "float", "share", "maps that are alone, given the keys"),
        *(
            Column(f"lines.{name}", kind, "", f"{name} of every map", shown=False)
            for name, kind in LINES.items()
        ),
        *(
            Column(f"weights.{name}", kind, "", f"{name} of every weight", shown=False)
            for name, kind in WEIGHT_LINES.items()
        ),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        """Why intervals have no meaning for this subject."""
        if not view.explainer.reads_weights:
            return NO_WEIGHTS.format(view.method)
        from glasshead.audits.measuring.map_intervals import reason_without_bounds

        return reason_without_bounds(view.trained_model, view.explanation.site)

    def compute_intervals(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        encoded: Encoded,
        default_rows: RowSelector,
        seed: int,
        on_texts: Callable[[int, int], None],
        read: ReadRows | None = None,
    ) -> tuple[Columns, dict[str, Any]]:
        """The columns about heads, and the facts that follow; ``read`` are the rows that the predictions
        read by default, where these are known."""
        from glasshead.identifiability import rows_in_words, solve_batches

        row_selector = replace(default_rows, **self.row_options)
        read = None if self.row_options else read
        options = replace(self.interval_options, processes=self.processes)
        with tempfile.TemporaryDirectory() as folder:
            heads = solve_batches(
                model, tokenizer, encoded, row_selector, options,
                self.store or Path(folder), seed=seed, progress=on_texts, read=read,
            ).heads()  # fmt: skip
        words = rows_in_words(model, encoded, row_selector, read)
        return heads, {"identifiability": map_facts(heads, self.interval_options, words)}

    def most(self, settings: Settings) -> int | None:
        return self.max_texts

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.map_intervals import rows_for_site, rows_known
        from glasshead.identifiability import rows_in_words, solve_batches

        count = len(view.labels)
        row_selector = replace(rows_for_site(view.explanation.site), **self.row_options)
        read = None if self.row_options else rows_known(view.explanation)
        encoded, ids = view.explanation.encoded, view.ids.tolist()
        with tempfile.TemporaryDirectory() as folder:
            store = solve_batches(
                view.trained_model, view.explanation.tokenizer, encoded, row_selector,
                replace(self.interval_options, processes=self.processes), Path(folder),
                seed=view.seed, ids=ids, progress=view.explanation.progress, read=read,
            )  # fmt: skip
            heads, weights = store.heads(), store.weights()
        columns: dict[str, NDArray[Any]] = {**columns_per_text(heads, np.arange(count), count)}
        columns |= {f"lines.{name}": per_text(heads, name, kind, count) for name, kind in LINES.items()}
        columns |= {
            f"weights.{name}": per_text(weights, name, kind, count) for name, kind in WEIGHT_LINES.items()
        }
        facts = {
            "rows": rows_in_words(view.trained_model, encoded, row_selector, read),
            "top": self.interval_options.top,
            "tolerance": self.interval_options.tolerance,
        }
        return Measured(columns, {IDENTIFIABILITY: facts})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        sample = np.flatnonzero(table["asked"])
        heads = line_columns(table, sample)
        slices = [group._replace(members=group.members[sample]) for group in settings.groups if group.by]
        rng = settings.rng(IDENTIFIABILITY)
        findings = list(map_findings(heads, len(sample), rng, settings.nouns, slices, settings.level))
        words = settings.facts[IDENTIFIABILITY]["rows"]
        return AuditResult(
            findings, facts={"identifiability": map_facts(heads, self.interval_options, words)}
        )


def per_text(lines: Columns, name: str, kind: DType, count: int) -> NDArray[np.object_]:
    """A column of lines about texts as a list for each of so many texts."""
    values = lines[name] if kind == "texts" else floats(lines[name])
    order = np.argsort(lines["text"], kind="stable")
    sizes = np.bincount(lines["text"].astype(np.int64), minlength=count)
    return lists(np.split(values[order], np.cumsum(sizes)[:-1]))


def line_columns(table: Table, sample: NDArray[np.int64]) -> Columns:
    """The lines about all maps of these texts, whose numbers are their places among them."""
    own = {name: [table[f"lines.{name}"][text] for text in sample] for name in LINES}
    sizes = [len(part) for part in own["layer"]]
    columns = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in own.items()}
    for name in ("layer", "head", "row", "part", "tokens", "nullity", "expected", "failed", "unbounded"):
        columns[name] = columns[name].astype(np.int64)
    return columns | {"text": np.repeat(np.arange(len(sample)), sizes)}


def write_lines(folder: Path, ids: Sequence[int]) -> None:
    """Write what was measured of every map and every weight to ``heads.parquet`` and ``weights.parquet`` in
    the ``folder`` of an audit, shard by shard; no file if nothing was measured. A text is known by its
    place among ``ids``."""
    kept, place = Measurements(folder / FOLDER), {number: row for row, number in enumerate(ids)}
    for name, start, kinds in (("heads", "lines.", LINES), ("weights", "weights.", WEIGHT_LINES)):
        with ExitStack() as stack:
            writer: pq.ParquetWriter | None = None
            for shard, _ in kept.shards(IDENTIFIABILITY, ["id", *(start + column for column in kinds)]):
                rows = [row for row, number in enumerate(shard["id"].tolist()) if number in place]
                if writer is None:
                    path = folder / f"{name}.parquet"
                    writer = stack.enter_context(pq.ParquetWriter(path, SCHEMAS[name]))
                sizes = [len(shard[f"{start}layer"][row]) for row in rows]
                columns: dict[str, Any] = {
                    column: [value for row in rows for value in shard[start + column][row].tolist()]
                    for column in kinds
                }
                columns["text"] = np.repeat([place[shard["id"][row]] for row in rows], sizes).tolist()
                writer.write_table(line_table(name, columns))


AUDITS.register(IDENTIFIABILITY)(Identifiability())


def columns_per_text(heads: Columns, sample: NDArray[np.int64], texts: int) -> dict[str, AnyFloats]:
    """Every statistic per example, the mean over its maps, and its null; NaN where no one asked, or there is
    none."""
    columns = {}
    nulls = {null_column(statistic, "random"): lines for statistic, lines in nulls_per_map(heads).items()}
    for name, lines in (statistics_per_map(heads) | nulls).items():
        values = np.full(texts, np.nan)
        values[sample] = mean_per_text(heads["text"], lines, len(sample))
        columns[f"maps.{name}"] = values
    return columns


def nulls_per_map(heads: Columns) -> dict[str, AnyFloats]:
    """The numbers of every map over random values, where there are such."""
    return {
        "identifiable": (heads["expected"] <= 0).astype(float),
        "width": floats(heads["random_width"]),
        "may-be-zero": floats(heads["random_may_be_zero"]),
        "another-first": floats(heads["random_another_first"]),
    }


def describe_rows(heads: Columns, options: IntervalOptions, rows: str) -> str:
    """Which maps were read, in words: those of the ``rows`` that were chosen."""
    layers = len(np.unique(heads["layer"]))
    numbers = len({*zip(heads["layer"].tolist(), heads["head"].tolist(), strict=True)})
    learned = heads["learned"].astype(bool)
    if learned.all():
        rows = "row of the learned query"
    elif learned.any():
        rows += ", and that of the learned query"
    return (
        f"{pluralise(len(learned), 'map')} by {pluralise(numbers, 'head')} in {pluralise(layers, 'layer')}, "
        f"{rows}"
        + (f", the {options.top} largest weights of each" if options.top else "")
        + (
            f"; outputs may move by {100 * options.tolerance:g} % along each direction"
            if options.tolerance
            else ""
        )
    )


def map_facts(heads: Columns, options: IntervalOptions, rows: str) -> dict[str, Any]:
    """Which maps were read, up to which length every one was the only one, and what T was."""
    lengths = heads["tokens"]
    fails = np.equal(heads["identifiable"], False)
    doubtful = lengths[~np.equal(heads["identifiable"], True)]
    longest = int(lengths.max(initial=0))
    shortest_failing = int(lengths[fails].min()) if fails.any() else None
    sure = lengths[lengths < doubtful.min()] if len(doubtful) else lengths
    projected = heads["projected"].astype(bool)
    return {
        "maps": len(lengths),
        "read": describe_rows(heads, options, rows),
        "tolerance": options.tolerance,
        "largest weights of a row": options.top or "all",
        "identifiable up to (keys)": int(sure.max(initial=0)) or None,
        "not identifiable from (keys)": shortest_failing,
        "longest row (keys)": longest,
        "T": "V times the output projection" if projected.all() else "V" if not projected.any() else "mixed",
        "weights without a solution": int(heads["failed"].sum()),
        "weights without bounds": int(heads["unbounded"].sum()),
        RANK_UNCLEAR: int(is_rank_unclear(heads).sum()),
    }


def map_groups(heads: Columns, slices: Iterable[Group], level: float = LEVEL) -> Iterator[Group]:
    """All lines, those of each layer, those of rows of similar length, and those of slices of the texts."""
    every = np.ones(len(heads["text"]), dtype=bool)
    yield Group("all", every, level=level)
    layers = np.unique(heads["layer"])
    if len(layers) >= FEW_KINDS:
        for layer in layers:
            yield Group(f"layer {layer}", heads["layer"] == layer, level=level)
    bins = np.searchsorted(LENGTH_BINS, heads["tokens"])
    if len(np.unique(bins)) >= FEW_KINDS:
        for number in np.unique(bins):
            low = 1 if number == 0 else LENGTH_BINS[number - 1] + 1
            high = f"{LENGTH_BINS[number]}" if number < len(LENGTH_BINS) else "more"
            yield Group(f"{low} to {high} tokens", bins == number, level=level)
    for group in slices:
        yield group._replace(members=group.members[heads["text"]])


def map_findings(
    heads: Columns,
    texts: int,
    rng: np.random.Generator,
    nouns: Nouns,
    slices: Iterable[Group] = (),
    level: float = LEVEL,
) -> Iterator[Finding]:
    """Every statistic of every group; a unit is a text."""
    statistics = statistics_per_map(heads)
    random = nulls_per_map(heads)
    for group in map_groups(heads, slices, level):
        members = group.members
        text = heads["text"][members]
        values = [mean_per_text(text, lines[members], texts) for lines in statistics.values()]
        nulls: list[Nulls] = [
            {"random": mean_per_text(text, random[name][members], texts)} if name in random else {}
            for name in statistics
        ]
        names = [(statistic, "") for statistic in statistics]
        summaries = Identifiability().summarise(names, values, nulls, rng=rng, level=group.level)
        for (statistic, lines), summary in zip(statistics.items(), summaries, strict=True):
            maps = {name: column[members] for name, column in heads.items()}
            undefined = count_maps_without_number(statistic, lines[members], maps)
            verdict = (
                map_verdict(statistic, summary, lines[members], maps, nouns)
                if members.any()
                else TOO_FEW_EXAMPLES
            )
            yield summary.finding(
                "identifiability",
                statistic,
                verdict or verdict_without_answer(undefined),
                group=group,
                citation=CITATION,
                undefined=undefined,
            )


def count_maps_without_number(statistic: str, lines: AnyFloats, heads: Columns) -> dict[str, int]:
    """How many maps had no such number, by reason."""
    missing = np.isnan(lines)
    if statistic == "given-keys":
        reasons = [CERTIFICATES.get(certificate, certificate) for certificate in heads["given_keys"][missing]]
    else:
        signed = np.isin(heads["kind"][missing], SIGNED) & (statistic == "another-first")
        failed = heads["failed"][missing] > 0
        rounding = (is_rank_unclear(heads) & (heads["nullity"] <= 0))[missing] & (statistic == "identifiable")
        reasons = [
            "maps of signed weights, which have no largest" if sign
            else RANK_UNCLEAR if close
            else UNSOLVED if lost
            else "maps without bounds or weights, or that were analysed only in part"
            for sign, close, lost in zip(signed, rounding, failed, strict=True)
        ]  # fmt: skip
    names, counts = np.unique(np.array(reasons, dtype=str), return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def is_rank_unclear(heads: Columns) -> NDArray[np.bool_]:
    """Which maps have a rank that is close to rounding, so that no end of an interval is certain."""
    return np.asarray(floats(heads["margin"]) < CLEAR_RANK_MARGIN, dtype=bool)


def map_verdict(
    statistic: str, summary: StatSummary, lines: AnyFloats, heads: Columns, nouns: Nouns
) -> Verdict | None:
    """Judge maps from intervals and from how many maps were decided; None where nothing was asked."""
    if statistic == "given-keys":
        return keys_verdict(summary.reliable_interval, heads["given_keys"])
    if not summary.n:
        return None
    if statistic == "width":
        return width_verdict(summary, lines, int(is_rank_unclear(heads).sum()), nouns)
    return judge_maps(statistic, summary.reliable_interval, lines, nouns)


def verdict_without_answer(reasons: Mapping[str, int]) -> Verdict:
    """The verdict on a statistic that no map has, by the ``reasons``."""
    words = " or ".join(reasons)
    if OPEN_REASONS & reasons.keys():
        return Verdict(f"undecided: {words}", "undecided", "unsolved")
    return Verdict(f"not tested: {words}", "not evidence", "not tested")


SIGNED = ("cross", "any")
RANK_UNCLEAR = "maps whose rank is close to rounding"
UNSOLVED = "maps without a solution by the solver"
OPEN_REASONS = {RANK_UNCLEAR, UNSOLVED}
