# Do attention and gradient point at the words that are marked?
glasshead audit runs/softmax marked_reviews.jsonl --split all --audits plausibility --out audits/marked
glasshead audit runs/softmax marked_reviews.jsonl --split all --audits plausibility --out audits/marked-gradient \
  --method gradient --marks-column marks --fail-under plausibility.auprc=0.5
glasshead compare audits/marked audits/marked-gradient --out plausible.html
