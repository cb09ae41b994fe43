from glasshead.data import load
from glasshead.papers.experiments import bag_of_words

floor = bag_of_words(load("my_reviews.csv"))
print(f"{floor['test']['accuracy']:.3f} with {floor['weighting']} of {floor['features']} words")
