"""Read or replace what attention is made of while a model runs, and say which attention is meant."""

from glasshead.trace.attention_blocks import BlockRun, run_blocks
from glasshead.trace.attention_site import (
    HEAD_COMBINATIONS,
    LEVELS,
    READ,
    ROWS,
    AttentionSelector,
    AttentionSite,
    KeyUnit,
    combine_heads,
    find_layer,
    find_site,
    find_site_among,
    forward,
    is_causal,
    list_attention_calls,
    logits_of,
    modules_with_attention,
    no_sentences,
)
from glasshead.trace.attention_stack import (
    DECODER,
    ROW_SUM_TOLERANCE,
    SUMMARY,
    AttentionStack,
    StackLayer,
    connect,
    decodes_answer,
    no_shares,
    record_stack,
)
from glasshead.trace.attention_use import attention_use, entropies, without_padding
from glasshead.trace.distance_layers import read_learned_positions
from glasshead.trace.eval_mode import eval_mode
from glasshead.trace.gradients import gradients_that_pass, slopes_of
from glasshead.trace.head_gauges import head_gauges, head_signs_of
from glasshead.trace.head_weights import head_maps
from glasshead.trace.hooks import AttentionHook, attach_hook, substitute_forward, thread_hook
from glasshead.trace.intervene import Edit, intervene
from glasshead.trace.interventions import (
    Noise,
    TextNoise,
    draw_noise,
    permute,
    replace,
    uniform,
    zero_heads,
)
from glasshead.trace.known_states import KnownStates
from glasshead.trace.output_projection import linear_maps
from glasshead.trace.post_norm import BlockNorm
from glasshead.trace.read_attention import ReadAttention, find_read_attention
from glasshead.trace.read_rows import ReadRows, RowProbe, find_read_rows
from glasshead.trace.record import record, record_graph_of
from glasshead.trace.records import ForwardPass, LayerRecord, Trace
from glasshead.trace.resume import ResumedPasses, Shortcut, find_shortcut, find_shortcut_for, not_known
from glasshead.trace.sign_gauge import (
    ClassSigns,
    Gauge,
    class_sides,
    default_target,
    fix_gauge,
    fix_gauges,
    target_polarity,
    target_score,
    text_sums,
)
from glasshead.trace.subject import Subject
from glasshead.trace.token_layout import TokenLayout, token_layout
from glasshead.trace.word_map import unit_of_each, word_map, word_means, word_pieces, word_sums

__all__ = [
    "DECODER",
    "HEAD_COMBINATIONS",
    "LEVELS",
    "READ",
    "ROWS",
    "ROW_SUM_TOLERANCE",
    "SUMMARY",
    "AttentionHook",
    "AttentionSelector",
    "AttentionSite",
    "AttentionStack",
    "BlockNorm",
    "BlockRun",
    "ClassSigns",
    "Edit",
    "ForwardPass",
    "Gauge",
    "KeyUnit",
    "KnownStates",
    "LayerRecord",
    "Noise",
    "ReadAttention",
    "ReadRows",
    "ResumedPasses",
    "RowProbe",
    "Shortcut",
    "StackLayer",
    "Subject",
    "TextNoise",
    "TokenLayout",
    "Trace",
    "attach_hook",
    "attention_use",
    "class_sides",
    "combine_heads",
    "connect",
    "decodes_answer",
    "default_target",
    "draw_noise",
    "entropies",
    "eval_mode",
    "find_layer",
    "find_read_attention",
    "find_read_rows",
    "find_shortcut",
    "find_shortcut_for",
    "find_site",
    "find_site_among",
    "fix_gauge",
    "fix_gauges",
    "forward",
    "gradients_that_pass",
    "head_gauges",
    "head_maps",
    "head_signs_of",
    "intervene",
    "is_causal",
    "linear_maps",
    "list_attention_calls",
    "logits_of",
    "modules_with_attention",
    "no_sentences",
    "no_shares",
    "not_known",
    "permute",
    "read_learned_positions",
    "record",
    "record_graph_of",
    "record_stack",
    "replace",
    "run_blocks",
    "slopes_of",
    "substitute_forward",
    "target_polarity",
    "target_score",
    "text_sums",
    "thread_hook",
    "token_layout",
    "uniform",
    "unit_of_each",
    "without_padding",
    "word_map",
    "word_means",
    "word_pieces",
    "word_sums",
    "zero_heads",
]
