"""The shape of every audit: a question about a subject, answered with findings."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from glasshead.audits.context import AuditContext
from glasshead.registry import Registry
from glasshead.results import Finding

NO_WEIGHTS = "the method {!r} gives no attention weights to ask about"


@dataclass(frozen=True)
class AuditResult:
    """Findings, the columns per example and per token type that they were computed from, and facts."""

    findings: list[Finding]
    examples: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Audit(ABC):
    """One question, asked of one subject; deterministic under a seed."""

    question: ClassVar[str]
    citation: ClassVar[str]
    by_default: ClassVar[bool] = True
    """Whether it is asked where nobody names audits; what takes much longer than the others is not."""
    reads_marks: ClassVar[bool] = False
    """Whether it needs marks of people, which few data have: without them it is left out without a word."""
    of_tokens: ClassVar[bool] = False
    """Whether it compares the tokens of a text, so that an attention sink sways it."""
    collects: ClassVar[tuple[str, ...]] = ()
    """Other audits that are asked with it, as far as they have a meaning."""

    def unsupported_reason(self, context: AuditContext) -> str | None:
        """Why the question has no meaning for this subject; None if it has."""
        return None

    @abstractmethod
    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult: ...


AUDITS: Registry[Audit] = Registry("audit", "audits")
