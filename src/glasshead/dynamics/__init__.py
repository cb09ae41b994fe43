"""Training dynamics of attention: gradients in closed form, and a callback that records them."""

from glasshead.dynamics.callback import DynamicsCallback
from glasshead.dynamics.caveats import best_step, interval_for_curves, interval_for_terms, loss_plateau
from glasshead.dynamics.class_ratios import coupling_by_ratio
from glasshead.dynamics.context_comparison import context_findings, reads_context, with_contexts
from glasshead.dynamics.findings import findings
from glasshead.dynamics.followed_tokens import UntrackedToken, split_followed_tokens
from glasshead.dynamics.forms.form import FORMS
from glasshead.dynamics.forms.select import no_closed_form_reason
from glasshead.dynamics.loaded_history import LoadedHistory, load_history
from glasshead.dynamics.observers import dynamics_callback
from glasshead.dynamics.post_hoc import check_not_regression, config_of, history_from_trained_run, token_score
from glasshead.dynamics.token_groups import groups_from_source

__all__ = [
    "FORMS",
    "DynamicsCallback",
    "LoadedHistory",
    "UntrackedToken",
    "best_step",
    "check_not_regression",
    "config_of",
    "context_findings",
    "coupling_by_ratio",
    "dynamics_callback",
    "findings",
    "groups_from_source",
    "history_from_trained_run",
    "interval_for_curves",
    "interval_for_terms",
    "load_history",
    "loss_plateau",
    "no_closed_form_reason",
    "reads_context",
    "split_followed_tokens",
    "token_score",
    "with_contexts",
]
