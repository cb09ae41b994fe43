"""Load finished audits and write one page that compares them."""

from pathlib import Path

from glasshead.report import audit_page
from glasshead.results import AuditCard

cards = [AuditCard.load(Path("audits") / name) for name in ("softmax", "tanhmax")]
Path("both.html").write_text(audit_page(cards), encoding="utf-8")
print("both.html:", len(cards), "audits,", sum(len(card.findings) for card in cards), "findings")
