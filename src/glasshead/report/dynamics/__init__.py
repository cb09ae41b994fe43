"""How attention developed, in words: what the page and the terminal share."""
