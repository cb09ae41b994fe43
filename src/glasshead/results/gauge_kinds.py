"""Where the sign of signed weights lives: the kinds of a gauge, as runs and audit cards record them."""

ONE_SIGN = "one sign"
"""All weights have one sign: it lives in the values."""
SIGN_IN_WEIGHTS = "sign in the weights"
UNDECIDED = "undecided"
MIN_TEXTS_PER_CLASS = 30
"""Texts from which on a class has a say in the kind."""
