"""When a token counts as one of a class, or as neutral: thresholds of γ and of occurrences."""

TYPICAL_GAMMA = 0.5
"""|γ| of a token of a class is above this."""
NEUTRAL_GAMMA = 0.1
"""|γ| of a neutral token is below this."""
MIN_OCCURRENCES = 5
"""Occurrences in its class that a token must exceed; also the bound on a neutral token's difference."""
