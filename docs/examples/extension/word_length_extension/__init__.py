"""An extension of Glasshead: an explainer, an audit, a plot and a command about the length of words."""
