# Attention held constant: the relevance of tokens, places and biases together is the score.
glasshead explain my-bert "a charming film with a dull ending" --method cp-lrp
# Through attention too, which leaves a rest.
glasshead explain my-bert "a charming film with a dull ending" --method attn-lrp --out relevance.html
