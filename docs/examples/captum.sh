# Captum is an extra of its own: pip install "glasshead[captum]"
glasshead explain runs/softmax "a charming film with a dull ending" --method captum:integrated-gradients
glasshead explain runs/softmax "a charming film with a dull ending" --method captum:kernel-shap
glasshead explain runs/softmax "a charming film with a dull ending" \
  --method captum:integrated-gradients+n_steps=200+baselines=mask
glasshead audit runs/softmax my_reviews.csv --method captum:integrated-gradients --limit 60 \
  --out audits/integrated-gradients
