# Exit code 1 if the lower end of the 95 % interval is below 0.3. Repeat the option for more bars.
glasshead audit runs/tanhmax my_reviews.csv --out audits/gate \
  --audits agreement,performance \
  --fail-under agreement.contribution.gradient=0.3 \
  --fail-under performance.accuracy=0.6
