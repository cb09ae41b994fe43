# How fast would attention alone make all tokens alike, in this model and with random weights?
glasshead plot collapse my-bert my_reviews.csv --split all --texts 6 --seeds 2 --out collapse.svg --data collapse.csv
# Without a model: Gaussian weights, and the rank of log |A|.
glasshead plot collapse --attention softmax,sigsoftmax,tanhmax --out activations.png
