"""What is served: models and audits, each by a name that an address may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from glasshead.registry import did_you_mean
from glasshead.serve.answers import method_facts
from glasshead.serve.audit_shelf import ShelvedAudit
from glasshead.serve.jobs import Readers
from glasshead.serve.opened_model import EXPLAINED, OpenedModel
from glasshead.serve.questions import MethodFacts, ModelFacts
from glasshead.serve.served_model import NotReadyError, ServedModel

AUDIT_EXAMPLES = 20
Served = TypeVar("Served")


class UnknownNameError(Exception):
    """There is nothing of that name."""


@dataclass(frozen=True)
class Catalogue:
    """Models and audits by name. The server sets the names; a request can only choose among them."""

    models: Mapping[str, ServedModel]
    audits: Mapping[str, ShelvedAudit] = field(default_factory=dict)
    readers: Readers = field(default_factory=Readers)

    def start(self) -> None:
        """Start opening the models, one after the other."""
        self.readers.start()
        for model in self.models.values():
            model.start()

    def stop(self) -> None:
        """Stop the models, and answer no more requests."""
        self.readers.stop()
        for model in self.models.values():
            model.stop()

    def model(self, name: str) -> ServedModel:
        """The model of that name, ready or not.

        Raises:
            UnknownNameError: if there is no such model.
        """
        return find_served(name, self.models, "model")

    def audit(self, name: str) -> ShelvedAudit:
        """The audit of that name.

        Raises:
            UnknownNameError: if there is no such model.
        """
        return find_served(name, self.audits, "audit")

    def find_opened_model(self, name: str) -> OpenedModel:
        """The facts of a model that is ready.

        Raises:
            UnknownNameError: if there is no such model.
            NotReadyError: if it is not open.
        """
        served = self.model(name)
        if served.opened is None:
            raise NotReadyError(f"{name} is not ready: {served.message}")
        return served.opened

    def facts(self) -> list[ModelFacts]:
        """All models with the choices for each."""
        return [self.model_facts(served) for served in self.models.values()]

    def model_facts(self, served: ServedModel) -> ModelFacts:
        """The facts of one model."""
        opened = served.opened
        if opened is None:
            return ModelFacts(
                name=served.name, source=served.source, state=served.state, message=served.message
            )
        explained = opened.kind in EXPLAINED
        methods = [kind for kind in list_installed_methods() if explained and kind.name not in opened.refused]
        return ModelFacts(
            name=served.name,
            source=served.source,
            state=served.state,
            message=served.message,
            kind=opened.kind,
            pairs=opened.pairs,
            second_text=opened.second_text,
            labels=opened.labels,
            usual_class=opened.usual_class,
            asks_words=opened.asks_words,
            reads_images=opened.reads_images,
            layers=opened.layers,
            heads=opened.heads,
            methods=methods,
            examples=self.examples(served.name),
        )

    def examples(self, name: str) -> list[str]:
        """Texts from a model's own data, or else from an audit of it."""
        opened = self.find_opened_model(name)
        if opened.examples:
            return list(opened.examples)
        return self.find_audited_texts(opened)

    def find_audited_texts(self, opened: OpenedModel) -> list[str]:
        """The first texts of the first audit of a model."""
        names = {opened.subject.name, str(opened.subject.folder or "")}
        for audit in self.audits.values():
            facts = audit.facts
            if not facts.problem and {facts.model, Path(facts.model).name} & names:
                return [one.text for one in audit.texts("", "", "", 0).texts[:AUDIT_EXAMPLES]]
        return []


def find_served(name: str, known: Mapping[str, Served], what: str) -> Served:
    """A served item, by its name.

    Raises:
        UnknownNameError: if there is no such model.
    """
    if name not in known:
        raise UnknownNameError(f"there is no {what} {name!r}: {did_you_mean(name, known)}")
    return known[name]


def list_installed_methods() -> list[MethodFacts]:
    """Every method whose package is there."""
    return method_facts(lambda package: find_spec(package) is not None)
