"""How attention came about in words: what the page and the terminal share."""
