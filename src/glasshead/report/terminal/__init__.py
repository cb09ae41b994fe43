"""Tables and coloured texts for a terminal, as rich renderables."""
