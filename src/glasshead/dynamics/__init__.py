"""Training dynamics of attention: gradients in closed form, and a callback that records them."""

from glasshead.dynamics.callback import DynamicsCallback
from glasshead.dynamics.context_comparison import context_findings, reads_context, with_contexts
from glasshead.dynamics.findings import findings
from glasshead.dynamics.forms.form import FORMS
from glasshead.dynamics.forms.select import no_closed_form_reason
from glasshead.dynamics.observers import dynamics_callback
from glasshead.dynamics.post_hoc import check_not_regression, history_from_trained_run, recipe_of, token_score

__all__ = [
    "FORMS",
    "DynamicsCallback",
    "check_not_regression",
    "context_findings",
    "dynamics_callback",
    "findings",
    "history_from_trained_run",
    "no_closed_form_reason",
    "reads_context",
    "recipe_of",
    "token_score",
    "with_contexts",
]
