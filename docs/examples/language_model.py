"""A language model from Python: trained, measured on a long text, and probed for what its features tell."""

import glasshead
from glasshead.data import load
from glasshead.language import (
    LanguageModelConfig,
    linear_probe,
    pack,
    perplexity,
    read_corpus,
    train_language_model,
)

corpus = read_corpus("my_reviews.csv")
config = LanguageModelConfig(model="gpt2", attention="tanhmax", vocab_size=400, block_size=32, epochs=2)
run = train_language_model(corpus, config, "runs/my-lm")
subject = glasshead.open(run)

tokens = pack(subject.tokenizer, corpus.dev)
print(f"perplexity {perplexity(subject.model, tokens, window=32, stride=16).value:.1f}")

probe = linear_probe(subject.model, subject.tokenizer, load("my_reviews.csv"), pooling="mean")
print(f"accuracy {probe.accuracy:.2f}, by new weights {probe.random_weights:.2f}, guessing {probe.guess:.2f}")
