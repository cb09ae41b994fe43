"""Trainings whose attention was recorded: how it came about, step by step."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from glasshead.errors import InputError
from glasshead.papers.dynamics import findings, load_history
from glasshead.papers.report import DynamicsSummary, dynamics_page
from glasshead.papers.results import (
    HISTORY_FOLDER,
    History,
    Ledger,
    ledger_terms,
    mean_ledger,
    read_history,
    token_ledger,
)
from glasshead.serve import Answer, Measured

LEDGER_QUANTITIES = ("score", "polarity")


class LedgerAnswer(Answer):
    """The ledger of a token or a group: what every term has added up to at every step, null where the
    training had no numbers any more."""

    of: str
    quantity: str
    steps: list[float]
    terms: dict[str, list[Measured]]
    meanings: dict[str, str]
    rest: list[Measured]
    measured: list[Measured]


class RunFacts(Answer):
    """A recorded training: its steps, and the tokens and groups that have a ledger, or why there is none."""

    name: str
    title: str
    steps: list[int]
    quantities: list[str]
    groups: list[str]
    tokens: list[str]
    problem: str = ""


class RecordedRun:
    """A run folder with a history, read when it is first asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder

    @cached_property
    def history(self) -> History:
        """What was recorded.

        Raises:
            InputError: if it is damaged.
        """
        return read_history(self.folder)

    @cached_property
    def facts(self) -> RunFacts:
        """What there is to be seen of it."""
        try:
            history = self.history
        except InputError as error:
            return RunFacts(
                name=self.name, title="", steps=[], quantities=[], groups=[], tokens=[], problem=str(error)
            )
        known, problem = [], ""
        for quantity in LEDGER_QUANTITIES:
            try:
                ledger_terms(history, quantity)
                known.append(quantity)
            except InputError as error:
                problem = str(error)
        tokens = list(dict.fromkeys(history.tokens["token"].tolist())) if known else []
        return RunFacts(
            name=self.name,
            title=self.folder.name,
            steps=[int(step) for step in history.steps],
            quantities=known,
            groups=[group for group in history.groups if known and (history.tokens["group"] == group).any()],
            tokens=tokens,
            problem="" if known else problem,
        )

    def ledger(self, of: str, quantity: str, *, group: bool) -> LedgerAnswer:
        """What every term has added to the score or polarity of a token, or to the mean of a group.

        Raises:
            InputError: if there is no such token, group or ledger.
        """
        history = self.history
        meanings = ledger_terms(history, quantity)
        known = self.facts.groups if group else self.facts.tokens
        if of not in known:
            raise InputError(
                f"the training of {self.name} followed no {'group' if group else 'token'} {of!r}"
            )
        ledger: Ledger = (
            mean_ledger(history, quantity, of)
            if group
            else token_ledger(history, quantity, history.token(of))
        )
        return LedgerAnswer(
            of=of,
            quantity=quantity,
            steps=ledger.steps.tolist(),
            terms={name: values.tolist() for name, values in ledger.added.items()},
            meanings=meanings,
            rest=ledger.rest.tolist(),
            measured=ledger.measured.tolist(),
        )

    @cached_property
    def page(self) -> str:
        """The page of `glasshead dynamics`.

        Raises:
            InputError: as `load_history`.
        """
        loaded = load_history(self.folder, contexts=False)
        summary = DynamicsSummary(
            loaded.title, loaded.history, findings(loaded.history, step=None), (), None, loaded.remarks
        )
        return dynamics_page(summary)


def is_recorded(source: str) -> bool:
    """Whether a model that is served is a run with a history."""
    return (Path(source) / HISTORY_FOLDER).is_dir()
