# Readers whose next click follows what they read at both ends of their history.
glasshead recommend generate logs --interest long --users 200 --seed 1
glasshead recommend train logs/train --dev logs/dev --attention distance-aware --epochs 3 --out runs/news
glasshead recommend evaluate runs/news logs/test --out news.json
