# Two mechanisms that read the same input, each until dev is flat; run.json says how many steps that took.
glasshead train my_reviews.csv --preset transformer-small --epochs 12 --patience 2 --out runs/vanilla-fair
glasshead train my_reviews.csv --preset da-transformer-small --epochs 12 --patience 2 --out runs/distance-fair
# What is left without places, and without attention that chooses.
glasshead train my_reviews.csv --preset transformer-small --set positions=none --epochs 2 --out runs/no-places
glasshead train my_reviews.csv --preset transformer-small --attention uniform --set pooling=mean --epochs 2 --out runs/uniform-mean
# Sinusoids beside distances; w starts on both sides of zero, and far from it.
glasshead train my_reviews.csv --preset da-transformer-small --set positions=sinusoidal --epochs 2 --out runs/wide-start \
  --attention '{"position": {"name": "distance-aware", "initial_w": [-1, 1]}}'
