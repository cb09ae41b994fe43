# How often does the letter between underscores occur? Two models that differ in what their scores read.
glasshead train histogram --option instances=400 --option letters=6 --option length=6 --model token-classifier \
  --set tied=true --set scores=positional --epochs 3 --out runs/positional
glasshead train histogram --option instances=400 --option letters=6 --option length=6 --model token-classifier \
  --set tied=true --set scores=semantic --epochs 3 --out runs/semantic
glasshead explain runs/semantic "d a b _a_ c a"
glasshead plot minima runs/positional runs/semantic --texts 20 --text "d a b a c a" --out minima.svg
