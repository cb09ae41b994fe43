"""What one explanation costs beside one pass of its model without gradients.

    python benchmarks/explain_call.py

Random BERTs with a vocabulary of 30,000 words: one of 2 layers of 128 before 12 words, opened once and given
as a model in memory with its tokenizer, and one of 6 layers of 384 before 512 tokens, opened once. All
alternate within one run; a ratio is the median over rounds, with the least and the largest.

Goal: at most 1.5 × the pass at 512 tokens, for attention and for rollout.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

import glasshead

ROUNDS = 11
WORDS = 30_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def elapsed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def word_tokenizer() -> PreTrainedTokenizerFast:
    """Words w0, w1, … between [CLS] and [SEP]."""
    words = [*SPECIAL, *(f"w{number}" for number in range(WORDS))]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{word.strip('[]').lower()}_token": word for word in SPECIAL}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)


def bert(layers: int, hidden_size: int) -> BertForSequenceClassification:
    """A random classifier of two classes with heads of 32."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS + len(SPECIAL),
        num_hidden_layers=layers,
        hidden_size=hidden_size,
        num_attention_heads=hidden_size // 32,
        intermediate_size=4 * hidden_size,
    )
    return BertForSequenceClassification(config).eval()


def text_of(words: int) -> str:
    numbers = np.random.default_rng(0).integers(0, WORDS, words)
    return " ".join(f"w{number}" for number in numbers)


def ways(layers: int, hidden_size: int, words: int) -> dict[str, Callable[[], object]]:
    """A pass, and explanations of one text; those of a model in memory where the text is short."""
    model, tokenizer, text = bert(layers, hidden_size), word_tokenizer(), text_of(words)
    subject = glasshead.open(model, tokenizer)

    def one_pass() -> None:
        with torch.no_grad():
            model(**tokenizer(text, return_tensors="pt"))

    works: dict[str, Callable[[], object]] = {
        "one pass": one_pass,
        "attention": lambda: glasshead.explain(subject, text),
        "rollout": lambda: glasshead.explain(subject, text, method="rollout"),
    }
    if words < 100:
        works["attention, model in memory"] = lambda: glasshead.explain(model, text, tokenizer=tokenizer)
    return works


def main() -> None:
    torch.set_num_threads(1)
    for layers, hidden_size, words in ((2, 128, 12), (6, 384, 510)):
        works = ways(layers, hidden_size, words)
        rounds = [{name: elapsed(work) for name, work in works.items()} for _ in range(ROUNDS + 1)][1:]
        print(f"{layers} layers of {hidden_size}, {words + 2} tokens")
        for name in works:
            seconds = statistics.median(each[name] for each in rounds)
            ratios = [each[name] / each["one pass"] for each in rounds]
            print(
                f"  {name:<28} {1000 * seconds:7.1f} ms   {statistics.median(ratios):5.2f} × "
                f"({min(ratios):.2f} to {max(ratios):.2f})"
            )


if __name__ == "__main__":
    main()
