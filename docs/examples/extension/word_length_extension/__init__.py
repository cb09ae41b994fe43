"""An extension of Glasshead: an explainer, a plot and a command about the length of words."""
