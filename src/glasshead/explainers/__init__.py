"""Explanations of predictions: one file, one method.

Methods, each a subclass of `Explainer`: attention, effective_attention, erasure, gradient, random; through
all layers alti, attn_lrp, attention_flow, gradient_attention, layer_aggregation, rollout, value_norm,
value_zeroing; by Captum integrated_gradients, deep_lift and local_surrogates (LIME, KernelSHAP).

Where numbers are aggregated:

    over heads and query rows     forward_observation.py, `mean_weights`: the one attention that is chosen
    over layers (rollout, flow)   a method's own file, such as rollout.py, on stack_explainer.py
    from tokens to words          aggregate_words.py
    from tokens to sentences      aggregate_sentences.py
"""

from glasshead.explainers.aggregate_sentences import by_sentence, sentence_numbers
from glasshead.explainers.aggregate_words import by_word
from glasshead.explainers.attention_flow import FlowNetwork
from glasshead.explainers.attention_observation import AttentionObservation, OnTexts, not_watched
from glasshead.explainers.attn_lrp import LayerwiseRelevance
from glasshead.explainers.erasure import value_changes
from glasshead.explainers.explain import (
    check_method,
    explain,
    explain_texts,
)
from glasshead.explainers.explainer import (
    EXPLAINERS,
    FAMILIES,
    Explainer,
    check_heads,
    check_pairs,
    find_explainer,
    remarks_of,
    token_fields,
)
from glasshead.explainers.explanation_context import (
    ExplanationContext,
    make_context,
)
from glasshead.explainers.forward_observation import (
    ForwardObservation,
    edit_read_heads,
    head_signs,
)
from glasshead.explainers.gradient import REDUCTIONS, embedding_leaves, word_embeddings
from glasshead.explainers.image_sinks import changes_unread, not_read, sinks_among, weights_on_parts
from glasshead.explainers.intervals import IntervalVector, check_tolerance, require_weights, with_intervals
from glasshead.explainers.linear_readout import LinearReadout, SentenceReadout, observe_pooled
from glasshead.explainers.relevance_rules import (
    DEVIATIONS,
    ELEMENTWISE_CALLS,
    PRODUCT_CALLS,
    SUMS,
    NormRules,
    argument_tensors,
    as_constant,
    depends,
    is_composed_activation,
    is_constant,
    relevance_rules,
)
from glasshead.explainers.removals import REMOVALS, Removal, average_lookups, removable
from glasshead.explainers.rollout import Rollout
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.explainers.targets import TARGETS, probability, value_change
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "DEVIATIONS",
    "ELEMENTWISE_CALLS",
    "EXPLAINERS",
    "FAMILIES",
    "PRODUCT_CALLS",
    "REDUCTIONS",
    "REMOVALS",
    "SUMS",
    "TARGETS",
    "AttentionObservation",
    "Explainer",
    "ExplanationContext",
    "FlowNetwork",
    "ForwardObservation",
    "IntervalVector",
    "LayerwiseRelevance",
    "LinearReadout",
    "NormRules",
    "OnTexts",
    "Removal",
    "Rollout",
    "SentenceReadout",
    "StackExplainer",
    "argument_tensors",
    "as_constant",
    "average_lookups",
    "by_sentence",
    "by_word",
    "changes_unread",
    "check_heads",
    "check_method",
    "check_pairs",
    "check_tolerance",
    "depends",
    "edit_read_heads",
    "embedding_leaves",
    "explain",
    "explain_texts",
    "find_explainer",
    "head_signs",
    "is_composed_activation",
    "is_constant",
    "make_context",
    "not_read",
    "not_watched",
    "observe_pooled",
    "probability",
    "relevance_rules",
    "remarks_of",
    "removable",
    "require_weights",
    "sentence_numbers",
    "sinks_among",
    "token_fields",
    "value_change",
    "value_changes",
    "weights_on_parts",
    "with_intervals",
    "word_embeddings",
]
