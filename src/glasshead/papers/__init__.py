"""The wing: what only the five papers need.

It attaches through `glasshead.extensions`; nothing outside imports it, and the rest works without it.
"""
