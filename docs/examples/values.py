"""What explain, audit and compare give shows itself, converts and saves."""

import glasshead

explained = glasshead.explain("runs/tanhmax", ["a charming film with a dull ending", ""])
print(explained)
explained.save("texts.html")
explained.save("texts.png")

card = glasshead.audit("runs/tanhmax", "my_reviews.csv", audits=["agreement"], limit=60)
card.save("card.svg")

compared = glasshead.compare("audits/softmax", "audits/tanhmax")
clear = compared.to_pandas().query("verdict in ['higher', 'lower']")
print(f"{compared}, {len(clear)} of them clear")
compared.save("both.html")
compared.save("both.pdf")
