"""Audits and runs compared, and the slices of one audit."""
