# Is the gradient a better explanation of this model than its attention? The same texts, two audits, paired.
glasshead audit runs/softmax my_reviews.csv --out audits/attention --audits performance,agreement
glasshead audit runs/softmax my_reviews.csv --out audits/gradient --method gradient-l2 \
  --fail-under agreement.gradient-l2-absolute.erasure-renormalise=0.05
glasshead compare audits/attention audits/gradient --out methods.html
