# Readers whose next click follows what they read at both ends of their history.
glasshead recommend generate logs --interest long --users 600 --seed 1
glasshead recommend train logs/train --dev logs/dev --attention distance-aware --set num_attention_heads=1 \
  --epochs 12 --out runs/news
glasshead recommend evaluate runs/news logs/test --out news.json
glasshead recommend rank runs/news logs/test --out prediction.txt
glasshead recommend explain runs/news logs/test --impression 7 --out why.html
glasshead recommend audit runs/news logs/test --out audits/news
