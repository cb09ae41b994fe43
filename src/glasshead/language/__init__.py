"""Train language models: a corpus in blocks, a model from its configuration, perplexity."""

from glasshead.language.build import new_language_model
from glasshead.language.config import LanguageModelConfig
from glasshead.language.corpus import Corpus, cut_blocks, pack, read_corpus
from glasshead.language.model_types import OBJECTIVES, language_model_types, model_fields, objective_of
from glasshead.language.perplexity import Perplexity, perplexity
from glasshead.language.probe import Probe, linear_probe
from glasshead.language.rows import BlockDataset, Blocks, Masking
from glasshead.language.scores import BlockScores, score_blocks, unigram_scores
from glasshead.language.tokenizers import tokenizer_for
from glasshead.language.train import LANGUAGE_RECORD, make_language_trainer, train_language_model

__all__ = [
    "LANGUAGE_RECORD",
    "OBJECTIVES",
    "BlockDataset",
    "BlockScores",
    "Blocks",
    "Corpus",
    "LanguageModelConfig",
    "Masking",
    "Perplexity",
    "Probe",
    "cut_blocks",
    "language_model_types",
    "linear_probe",
    "make_language_trainer",
    "model_fields",
    "new_language_model",
    "objective_of",
    "pack",
    "perplexity",
    "read_corpus",
    "score_blocks",
    "tokenizer_for",
    "train_language_model",
    "unigram_scores",
]
