glasshead explain my-bert "a charming film with a dull ending" --method rollout
glasshead explain my-bert "a charming film with a dull ending" --method rollout+discard=0.5 --head max
glasshead explain my-bert "a charming film with a dull ending" --method gradient-attention-signed --target positive
# The most that any token looks at each word, and for each text the map that fits its prediction best.
glasshead explain my-bert "a charming film with a dull ending" --method layer-mean+reading=max-columns
glasshead explain my-bert "a charming film with a dull ending" --method layer-chosen
# Which of them rests on what decides?
glasshead rank my-bert my_reviews.csv --split all --limit 40 --removals delete \
  --methods rollout,alti,layer-chosen,value-zeroing --out all-layers.html
# One of them as the subject of an audit.
glasshead audit my-bert my_reviews.csv --method alti --limit 40 --audits agreement,faithfulness --out audits/alti
