"""Which passages an answer came from: remove them, and see how likely it still is.

Passages are read as people have them, put before the model as its chat template has it, and removed: at
random, one by one, along orders, in pairs, sentence by sentence, word by word. Over many questions, methods
that name sources are ranked, and attention and place are audited.
"""

from glasshead.sources.audit_sources import audit_sources, run_source_audit
from glasshead.sources.cite import cite, run_citing
from glasshead.sources.passages import read_passages

__all__ = ["audit_sources", "cite", "read_passages", "run_citing", "run_source_audit"]
