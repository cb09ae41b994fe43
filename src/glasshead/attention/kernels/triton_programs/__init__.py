"""Triton programs; nothing in here is imported before a call needs it."""
