"""Attention in C++: a file for each pass, what both share, and how they are compiled and called."""
