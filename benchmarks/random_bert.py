"""A random classifier that is always the same, with a tokenizer of words w0, w1, …"""

from collections.abc import Iterable

import numpy as np
import torch
from datasets import ClassLabel, Dataset, Features, Value
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

WORDS = 1000


def random_classifier(
    layers: int, hidden_size: int, heads: int, words: int = WORDS
) -> BertForSequenceClassification:
    """A random BERT that is always the same."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=words + 5,
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden_size,
        initializer_range=0.1,
    )
    return BertForSequenceClassification(config)


def word_tokenizer(words: int = WORDS) -> PreTrainedTokenizerFast:
    """Words w0, w1, … between [CLS] and [SEP]."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *(f"w{i}" for i in range(words))])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{word.strip('[]').lower()}_token": word for word in special}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def random_texts(lengths: Iterable[int], words: int, rng: np.random.Generator) -> Dataset:
    """Texts of so many random words each, with labels that mean nothing."""
    texts = [" ".join(f"w{word}" for word in rng.integers(words, size=length)) for length in lengths]
    features = Features({"text": Value("string"), "label": ClassLabel(names=["LABEL_0", "LABEL_1"])})
    labels = rng.integers(2, size=len(texts)).tolist()
    return Dataset.from_dict({"text": texts, "label": labels}, features=features)
