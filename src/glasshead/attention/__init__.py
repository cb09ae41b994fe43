"""How scores become weights."""

from glasshead.attention import activations  # importing the folder registers every activation
from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.layers import AttentionPooling, Pooled
from glasshead.attention.scores import SCORES

__all__ = ["ACTIVATIONS", "SCORES", "Activation", "AttentionPooling", "Pooled", "activations"]
