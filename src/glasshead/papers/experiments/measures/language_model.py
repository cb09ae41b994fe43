"""Train a masked language model: how many hidden tokens it finds on test, and how it used its attention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase, set_seed

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import load
from glasshead.language import (
    LANGUAGE_RECORD,
    BlockDataset,
    Blocks,
    BlockScores,
    Corpus,
    LanguageModelConfig,
    Masking,
    cut_blocks,
    new_language_model,
    pack,
    score_blocks,
    tokenizer_for,
    train_language_model,
    unigram_scores,
)
from glasshead.opening import MEASURED, read_object, read_tokenizer
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import attention_numbers
from glasshead.papers.experiments.step_cost import step_seconds
from glasshead.trace import attention_use

MASK_SEED = 0
"""The seed of what is hidden in dev and test, the same for all: it is the model that differs."""
TEXTS_READ = 32
"""Texts of test whose attention is measured."""


@MEASURES.register("language-model")
def language_model(job: Job) -> Measured:
    """Accuracy and perplexity of hidden tokens on dev and test, cost of a step, and the use of attention.

    Entropies and standard deviations of scores are lists of [layer, before, after], over texts of test.
    """
    recipe = recipe_of(job)
    run = train_or_load(job, recipe)
    metrics, record = read_object(run / MEASURED), read_object(run / LANGUAGE_RECORD)
    model, tokenizer = load(run), read_tokenizer(str(run), {})
    test = score_blocks(
        model, hide_tokens(tokenizer, recipe, job_texts(job, "test"), "test"), masked=recipe.masked
    )
    dev = score_blocks(
        model, hide_tokens(tokenizer, recipe, job_texts(job, "dev"), "dev"), masked=recipe.masked
    )
    shown = draw_hidden_blocks(tokenizer, recipe, job_texts(job, "train"), "train")
    epochs = metrics["epochs"]
    numbers = score_numbers(test, dev) | {
        "epochs": len(epochs),
        "steps": record["steps"],
        "step_seconds": step_seconds(recipe, tokenizer, shown),
    }
    set_seed(job.seed)
    use = {
        "before": use_of(new_language_model(recipe, tokenizer), tokenizer, job),
        "after": use_of(model, tokenizer, job),
    }
    return Measured(numbers | attention_numbers(use if use["after"] else None))


@MEASURES.register("unigram-tokens")
def unigram_tokens(job: Job) -> Measured:
    """Scores of whoever knows only how often each token occurs, and that no special one is hidden:
    p(t) = (n_t + 1) / (n + D)."""
    recipe = recipe_of(job)
    tokenizer = tokenizer_for(recipe, job_texts(job, "train"))
    train_tokens = pack(tokenizer, job_texts(job, "train"))
    block_scores = [
        unigram_scores(
            train_tokens, rows, len(tokenizer), masked=recipe.masked, never=never_found(tokenizer, recipe)
        )
        for rows in (
            hide_tokens(tokenizer, recipe, job_texts(job, split), split) for split in ("test", "dev")
        )
    ]
    return Measured(score_numbers(*block_scores))


@MEASURES.register("bigram-tokens")
def bigram_tokens(job: Job) -> Measured:
    """Scores of whoever sees the token before as well, hidden or not:
    p(t | s) = (n_st + μ p(t)) / (n_s + μ) with the μ that is best on dev (MacKay and Peto 1995)."""
    recipe = recipe_of(job)
    tokenizer = tokenizer_for(recipe, job_texts(job, "train"))
    train_tokens = pack(tokenizer, job_texts(job, "train"))
    rows = {split: hide_tokens(tokenizer, recipe, job_texts(job, split), split) for split in ("test", "dev")}
    by_strength = [
        {
            split: bigram_scores(
                train_tokens, batch, len(tokenizer), strength, never=never_found(tokenizer, recipe)
            )
            for split, batch in rows.items()
        }
        for strength in STRENGTHS
    ]
    best = min(by_strength, key=lambda splits: splits["dev"].loss)
    return Measured(score_numbers(best["test"], best["dev"]))


STRENGTHS = (1.0, 10.0, 100.0, 1000.0)


def never_found(tokenizer: PreTrainedTokenizerBase, recipe: LanguageModelConfig) -> Sequence[int]:
    """Tokens that are never hidden."""
    return Masking.of(tokenizer, recipe.masked_fraction).special_tokens if recipe.masked else ()


def bigram_scores(
    train_tokens: torch.Tensor, rows: Blocks, vocabulary: int, strength: float, *, never: Sequence[int] = ()
) -> BlockScores:
    """−log p(t | s) of every hidden token t behind the token s that is shown before it; tokens that are
    ``never`` hidden have no share."""
    tokens = train_tokens.numpy()
    single = np.bincount(tokens, minlength=vocabulary) + 1.0
    single[list(never)] = 0.0
    share = single / single.sum()
    pairs: dict[int, NDArray[np.float64]] = {}
    before, behind = tokens[:-1], tokens[1:]
    order = np.argsort(before, kind="stable")
    starts = np.searchsorted(before[order], np.arange(vocabulary + 1))
    ids, labels = rows["input_ids"].numpy(), rows["labels"].numpy()
    totals = np.zeros((3, len(ids)))
    for block, place in zip(*np.nonzero(labels >= 0), strict=True):
        left = int(ids[block, place - 1]) if place else -1
        if left not in pairs:
            followers = behind[order[starts[left] : starts[left + 1]]] if left >= 0 else behind[:0]
            counts = np.bincount(followers, minlength=vocabulary)
            counts[list(never)] = 0
            pairs[left] = (counts + strength * share) / (counts.sum() + strength)
        wanted = labels[block, place]
        totals[:, block] += (-np.log(pairs[left][wanted]), 1, pairs[left].argmax() == wanted)
    return BlockScores(*totals)


def score_numbers(test: BlockScores, dev: BlockScores) -> dict[str, Any]:
    """Accuracy, loss and perplexity of both."""
    numbers = {}
    for prefix, part in (("", test), ("dev_", dev)):
        numbers[f"{prefix}accuracy"] = float(part.correct.sum() / part.tokens.sum())
        numbers[f"{prefix}loss"] = part.loss
        numbers[f"{prefix}perplexity"] = float(np.exp(part.loss))
    return numbers


def train_or_load(job: Job, recipe: LanguageModelConfig) -> Path:
    """The run of the cell's recipe; it is trained, or resumed, unless it exists."""
    corpus = Corpus(tuple(job_texts(job, "train")), tuple(job_texts(job, "dev")), "as the data set has them")
    return job.run_of(partial(train_language_model, corpus, recipe), LANGUAGE_RECORD, corpus.facts())


def recipe_of(job: Job) -> LanguageModelConfig:
    """The recipe of a cell, which is one of a language model."""
    if not isinstance(job.cell.recipe, LanguageModelConfig):
        raise InputError(f"{job.cell.name} trains a classifier: its measure is not for language models")
    return job.cell.recipe


def job_texts(job: Job, split: str) -> list[str]:
    """The texts of a split that hold something."""
    return [text for row in job.data[split]["text"][:] if (text := row.strip())]


def hide_tokens(
    tokenizer: PreTrainedTokenizerBase, recipe: LanguageModelConfig, texts: Sequence[str], split: str
) -> Blocks:
    """The blocks of a split, with the same hidden tokens for every model of the same tokenizer."""
    return draw_hidden_blocks(tokenizer, recipe, texts, split).frozen(MASK_SEED)


def draw_hidden_blocks(
    tokenizer: PreTrainedTokenizerBase, recipe: LanguageModelConfig, texts: Sequence[str], split: str
) -> BlockDataset:
    """The blocks of a split, whose hidden tokens are drawn."""
    blocks = cut_blocks(pack(tokenizer, texts), recipe.block_size, split)
    masking = Masking.of(tokenizer, recipe.masked_fraction) if recipe.masked else None
    return BlockDataset(blocks, masking)


def use_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, job: Job) -> Any:
    """How a model uses its attention before texts of test."""
    return attention_use(model.eval(), encode(tokenizer, job_texts(job, "test")[:TEXTS_READ]))
