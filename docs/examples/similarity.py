"""Which words make two sentences similar; the model is a Hub id or a folder.

python similarity.py sentence-transformers/all-MiniLM-L6-v2
"""

import sys

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

import glasshead

words = Transformer(sys.argv[1])
model = SentenceTransformer(modules=[words, Pooling(words.get_embedding_dimension())], device="cpu")

first, second = "a cat sleeps on the sofa", "the kitten is resting"
print(glasshead.explain(model, first, pairs=second, method="erasure-mask-token"))
model.save("my-sentences")
