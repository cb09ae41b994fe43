"""How attention comes about: training dynamics in closed form, and a watcher that records them."""

from glasshead.dynamics.callback import Watcher
from glasshead.dynamics.context_comparison import context_findings, reads_context, with_contexts
from glasshead.dynamics.findings import findings
from glasshead.dynamics.forms.form import FORMS
from glasshead.dynamics.forms.select import why_not
from glasshead.dynamics.observers import watch
from glasshead.dynamics.post_hoc import own_numbers, recipe_of, refuse_ratings, trained_history

__all__ = [
    "FORMS",
    "Watcher",
    "context_findings",
    "findings",
    "own_numbers",
    "reads_context",
    "recipe_of",
    "refuse_ratings",
    "trained_history",
    "watch",
    "why_not",
    "with_contexts",
]
