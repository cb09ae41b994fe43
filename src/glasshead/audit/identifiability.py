"""Is the map the only one that its head could have drawn?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.subject import Floats, Subject
from glasshead.audit.summary import Nulls, Summary, summarise
from glasshead.errors import InputError, counted
from glasshead.explain import Place
from glasshead.identifiability import Question, Store, Where, kind_of, settings_of, survey
from glasshead.results import Finding

TEXTS = 200  # where nobody asked for more
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)  # ends of the groups by number of keys
FEW_KINDS = 2
CITATION = "Brunner et al. 2019; Bhardwaj et al. 2021"


@dataclass(frozen=True)
class Identifiability(Audit):
    """For every weight the interval of values that give the same output of the head, by linear programs.

    ``where`` None is where the subject's own attention is read, with all heads. ``texts`` is how many texts
    are asked about, at most (None: all), ``store`` the folder of an audit that can be resumed (None: one that
    goes again). Per text the numbers are means over its heads and rows; intervals resample texts.
    """

    question = "is the map the only one that its head could have drawn?"
    citation = CITATION

    where: Where | None = None
    asked: Question = field(default_factory=Question)
    texts: int | None = TEXTS
    processes: int = 1
    store: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None

    def refuses(self, subject: Subject) -> str | None:
        """Why intervals have no meaning for this subject."""
        place = subject.view.place
        try:
            for each in (place, place.above) if place is not None else ():
                if each is not None:
                    kind_of(each.mechanism)
        except InputError as error:
            return str(error)
        return None

    @contextmanager
    def opened(self, settings: Mapping[str, Any]) -> Iterator[Store]:
        """The store, or one that is gone after the block."""
        with tempfile.TemporaryDirectory() as folder:
            yield Store(self.store or Path(folder), settings)

    def __call__(self, subject: Subject, *, seed: int) -> Outcome:
        encoded = subject.view.encoded
        chosen = np.arange(len(encoded.ids))
        if self.texts is not None and len(chosen) > self.texts:
            chosen = np.sort(np.random.default_rng([seed, 7]).choice(len(chosen), self.texts, replace=False))
        where = self.where or of_place(subject.view.place)
        tokenizer = subject.view.tokenizer

        def tokens(text: int) -> list[str]:
            return list(tokenizer.convert_ids_to_tokens(encoded.ids[chosen[text]].tolist()))

        settings = settings_of(
            where, self.asked, seed=seed, texts=subject.indices[chosen].tolist(), run=str(subject.folder)
        )
        with self.opened(settings) as store:
            survey(
                subject.trained, encoded.some(chosen), tokens, where, self.asked, store,
                seed=seed, processes=self.processes, progress=self.progress,
            )  # fmt: skip
            heads = store.heads()
        found = list(findings(heads, len(chosen), np.random.default_rng([seed, 8])))
        return Outcome(
            found, columns(heads, chosen, len(encoded.ids)), facts={"identifiability": facts(heads, where)}
        )


AUDITS.register("identifiability")(Identifiability())


def of_place(place: Place | None) -> Where:
    """All heads of the attention that is read, and of that above it."""
    if place is None:
        return Where()
    layers = [place.layer] if place.above is None else [place.layer, place.above.layer]
    return Where(layers=tuple(layers), rows="all" if place.row == "mean" else place.row)


Columns = Mapping[str, NDArray[Any]]


def columns(heads: Columns, chosen: NDArray[np.int64], texts: int) -> dict[str, Floats]:
    """Per example the share of its maps that are the only one, and the mean width; NaN: nobody asked."""
    made = {}
    for name, column in (("identifiable", "identifiable"), ("interval_width", "width")):
        values = np.full(texts, np.nan)
        values[chosen] = by_text(heads["text"], floats(heads[column]), len(chosen))
        made[name] = values
    return made


def floats(column: NDArray[Any]) -> Floats:
    """Numbers; what is None becomes NaN."""
    return np.array([np.nan if each is None else float(each) for each in column.tolist()])


def by_text(text: NDArray[np.int64], values: Floats, texts: int) -> Floats:
    """The mean over the lines of each text that have a number; NaN where none has."""
    there = ~np.isnan(values)
    total = np.bincount(text[there], weights=values[there], minlength=texts)
    count = np.bincount(text[there], minlength=texts)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def said(heads: Columns, where: Where) -> str:
    """Which maps were read, in words."""
    layers, numbers = len(np.unique(heads["layer"])), len(np.unique(heads["head"]))
    rows = where.named or "numbers " + ", ".join(map(str, where.rows))
    told = {"first": "row of the first token", "last": "row of the last token", "all": "all rows"}
    told["pooled"] = "row of the learned query"
    return (
        f"{counted(len(heads['text']), 'map')}: {counted(layers, 'layer')} of {counted(numbers, 'head')}, "
        f"{told.get(rows, f'rows {rows}')}"
    )


def facts(heads: Columns, where: Where) -> dict[str, Any]:
    """Which maps were read, up to which length every one was the only one, and what T was."""
    lengths = heads["tokens"]
    failing = lengths[~heads["identifiable"].astype(bool)]
    longest = int(lengths.max(initial=0))
    shortest_failing = int(failing.min()) if len(failing) else None
    sure = lengths if shortest_failing is None else lengths[lengths < shortest_failing]
    projected = heads["projected"].astype(bool)
    return {
        "maps": len(lengths),
        "read": said(heads, where),
        "identifiable up to (keys)": int(sure.max(initial=0)) or None,
        "not identifiable from (keys)": shortest_failing,
        "longest row (keys)": longest,
        "T": "V times the output projection" if projected.all() else "V" if not projected.any() else "mixed",
        "weights without an answer": int(heads["failed"].sum()),
        "weights without bounds": int(heads["unbounded"].sum()),
    }


def groups(heads: Columns) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """All lines, those of each layer, and those of rows of similar length."""
    every = np.ones(len(heads["text"]), dtype=bool)
    yield "all", every
    layers = np.unique(heads["layer"])
    if len(layers) >= FEW_KINDS:
        for layer in layers:
            yield f"layer {layer}", heads["layer"] == layer
    bins = np.searchsorted(LENGTHS, heads["tokens"])
    if len(np.unique(bins)) >= FEW_KINDS:
        for each in np.unique(bins):
            low = 1 if each == 0 else LENGTHS[each - 1] + 1
            high = f"{LENGTHS[each]}" if each < len(LENGTHS) else "more"
            yield f"{low} to {high} tokens", bins == each


def findings(heads: Columns, texts: int, rng: np.random.Generator) -> Iterator[Finding]:
    """Every statistic of every group; a unit is a text."""
    sure = heads["given_keys"]
    told = {
        "identifiable": (floats(heads["identifiable"]), {"random": (heads["expected"] <= 0).astype(float)}),
        "width": (floats(heads["width"]), {"random": floats(heads["random_width"])}),
        "may-be-zero": (floats(heads["may_be_zero"]), {"random": floats(heads["random_may_be_zero"])}),
        "another-first": (floats(heads["another_first"]), {"random": floats(heads["random_another_first"])}),
        "given-keys": (
            np.where(np.isin(sure, ["unique", "not unique"]), (sure == "unique").astype(float), np.nan),
            {},
        ),
    }
    for group, members in groups(heads):
        text = heads["text"][members]
        values = [by_text(text, each[members], texts) for each, _ in told.values()]
        nulls: list[Nulls] = [
            {name: by_text(text, null[members], texts) for name, null in each.items()}
            for _, each in told.values()
        ]
        summaries = summarise(values, nulls, rng=rng)
        for (statistic, (lines, _)), summary in zip(told.items(), summaries, strict=True):
            yield Finding(
                audit="identifiability",
                statistic=statistic,
                against="",
                group=group,
                **summary.numbers,
                undefined=undefined(statistic, lines[members], heads, members),
                significant_fraction=None,
                citation=CITATION,
                verdict=VERDICTS[statistic](summary),
            )


def undefined(statistic: str, lines: Floats, heads: Columns, members: NDArray[np.bool_]) -> dict[str, int]:
    """How many maps had no such number, by reason."""
    missing = np.isnan(lines)
    if not missing.any():
        return {}
    if statistic == "given-keys":
        words, counts = np.unique(heads["given_keys"][members][missing].astype(str), return_counts=True)
        return {f"maps: {word}": int(count) for word, count in zip(words, counts, strict=True)}
    if (heads["failed"][members][missing] > 0).all():
        return {"maps without an answer of the solver": int(missing.sum())}
    return {"maps without bounds, without weights, or without an answer": int(missing.sum())}


def identifiable_verdict(summary: Summary) -> str:
    """Whether maps are the only ones."""
    if summary.judged is None:
        return TOO_FEW
    low, high = summary.judged
    if low >= 0.99:
        return "the output of the head fixes every weight"
    if high <= 0.01:
        return "none of the maps is the only one that its head could have drawn"
    return "some maps are the only ones that their heads could have drawn, others are not"


def width_verdict(summary: Summary) -> str:
    """How far weights can move."""
    if summary.judged is None:
        return TOO_FEW
    if summary.judged[1] <= 1e-6:
        return "every weight is certain"
    over = summary.over.get("random")
    if over is None or over[0] <= 0 <= over[1]:
        return "as wide as over random values"
    return "narrower than over random values" if over[1] < 0 else "wider than over random values"


def zero_verdict(summary: Summary) -> str:
    """Whether the tokens that a reader looks at may have no weight at all."""
    if summary.judged is None:
        return TOO_FEW
    low, high = summary.judged
    if high <= 0.05:
        return "hardly any of the largest weights may be zero"
    if low > 0.5:
        return "most of the largest weights may be zero"
    return (
        "fewer than half of the largest weights may be zero"
        if high < 0.5
        else "about half of them may be zero"
    )


def first_verdict(summary: Summary) -> str:
    """Whether the most attended token is sure to be that."""
    if summary.judged is None:
        return TOO_FEW
    low, high = summary.judged
    if high <= 0.05:
        return "the most attended token is hardly ever in doubt"
    if low > 0.5:
        return "in most maps another token could be the most attended one"
    return "in some maps another token could be the most attended one"


def keys_verdict(summary: Summary) -> str:
    """What the head's own keys leave open."""
    if summary.judged is None:
        return TOO_FEW
    low, high = summary.judged
    if low >= 0.99:
        return "no other query near by gives the same output with other weights"
    if high <= 0.01:
        return "other queries near by give the same output with other weights"
    return "in some maps other queries near by give the same output with other weights"


TOO_FEW = "undecided: too few examples"
VERDICTS: dict[str, Callable[[Summary], str]] = {
    "identifiable": identifiable_verdict,
    "width": width_verdict,
    "may-be-zero": zero_verdict,
    "another-first": first_verdict,
    "given-keys": keys_verdict,
}
