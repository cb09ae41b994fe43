"""What you can claim about the attention of a model, for its README."""

import glasshead
from glasshead.report import model_card

card = glasshead.audit("runs/softmax", "my_reviews.csv", split="all", limit=40, audits=["explanation"])
print(model_card(card))
print([claim.says for claim in card.conclusion.claims if claim.holds == "undecided"])
