"""The transition from positional to semantic attention in a solvable model."""
