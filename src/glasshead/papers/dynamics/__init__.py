"""Training dynamics of attention: gradients in closed form, and a callback that records them."""

from glasshead.papers.dynamics.callback import DynamicsCallback
from glasshead.papers.dynamics.caveats import interval_for_curves, interval_for_terms, loss_plateau, stop_step
from glasshead.papers.dynamics.class_ratios import coupling_by_ratio
from glasshead.papers.dynamics.context_comparison import context_findings, reads_context, with_contexts
from glasshead.papers.dynamics.embedding_products import rate_products
from glasshead.papers.dynamics.findings import findings
from glasshead.papers.dynamics.followed_tokens import UntrackedToken, split_followed_tokens
from glasshead.papers.dynamics.forms.additive import linear_terms
from glasshead.papers.dynamics.forms.form import FORMS, Batch, FormParameters, output_gradients, score_flow
from glasshead.papers.dynamics.forms.select import no_closed_form_reason
from glasshead.papers.dynamics.loaded_history import LoadedHistory, load_history, read_trained
from glasshead.papers.dynamics.observers import dynamics_callback
from glasshead.papers.dynamics.post_hoc import (
    check_not_regression,
    config_of,
    history_from_trained_run,
    token_score,
)
from glasshead.papers.dynamics.score_directions import ScoreMotion, direction_callback, score_motion
from glasshead.papers.dynamics.score_update import general_update, tanhmax_update
from glasshead.papers.dynamics.token_groups import groups_from_source

__all__ = [
    "FORMS",
    "Batch",
    "DynamicsCallback",
    "FormParameters",
    "LoadedHistory",
    "ScoreMotion",
    "UntrackedToken",
    "check_not_regression",
    "config_of",
    "context_findings",
    "coupling_by_ratio",
    "direction_callback",
    "dynamics_callback",
    "findings",
    "general_update",
    "groups_from_source",
    "history_from_trained_run",
    "interval_for_curves",
    "interval_for_terms",
    "linear_terms",
    "load_history",
    "loss_plateau",
    "no_closed_form_reason",
    "output_gradients",
    "rate_products",
    "read_trained",
    "reads_context",
    "score_flow",
    "score_motion",
    "split_followed_tokens",
    "stop_step",
    "tanhmax_update",
    "token_score",
    "with_contexts",
]
