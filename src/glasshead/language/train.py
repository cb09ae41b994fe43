"""Train a language model on a corpus into a folder that appears whole or not at all.

config.json, model.safetensors   the model, as Hugging Face saves it
tokenizer.json, …                its tokenizer
metrics.json                     loss, perplexity and accuracy on dev with intervals and floor, dev per epoch
dynamics/                        how its layers developed, if that was watched
language-model.json              settings, corpus and its fingerprint, versions, seed, wall time
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, Trainer, TrainerCallback
from transformers.utils import ModelOutput

from glasshead.files import check_writable
from glasshead.language.build import new_language_model
from glasshead.language.config import LanguageModelConfig
from glasshead.language.corpus import Corpus, cut_blocks, pack
from glasshead.language.perplexity import perplexity
from glasshead.language.rows import IGNORED, BlockDataset, Blocks, Masking
from glasshead.language.scores import perplexity_of, score_blocks, unigram_scores
from glasshead.language.tokenizers import tokenizer_for
from glasshead.torch_modes import in_own_modes
from glasshead.training import (
    MeasuredTrainer,
    TrainingRun,
    half_precision,
    training_arguments,
    training_run,
)

LANGUAGE_RECORD = "language-model.json"
RUN_KIND = "language model"
WARM_UP = 0.05
"""The share of steps over which the learning rate grows; it falls as a cosine afterwards."""


@in_own_modes
def train_language_model(
    corpus: Corpus,
    config: LanguageModelConfig,
    out: str | Path,
    *,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Path:
    """Train from new weights, keep the epoch with the lowest loss on dev, and write the folder ``out``.

    The loss is the mean of −log p(x_{t+1} | x_{1…t}) over a block, or of −log p of its hidden tokens. The
    folder holds a model that ``glasshead.open`` and, if nothing is plugged, any ``from_pretrained`` reads.
    Work in progress is in ``out.partial``; ``resume`` continues from the last complete epoch.

    Raises:
        InputError: if ``out`` exists, the corpus is shorter than one block, the model cannot be built or
            plugged, or there is nothing to resume.
    """
    out = Path(out)
    check_writable(out, overwrite=overwrite, resume=resume)
    plan = {
        "what": RUN_KIND,
        "recipe": config.as_dict(),
        "seed": seed,
        "data": (source or {}) | corpus.facts(),
    }
    options = {"resume": resume, "overwrite": overwrite}
    with training_run(out, plan, callbacks, record=LANGUAGE_RECORD, **options) as run:
        _train_into(run, corpus, config)
    return out


def _train_into(run: TrainingRun, corpus: Corpus, config: LanguageModelConfig) -> None:
    """Train, and write what came out."""
    seed = run.seed
    tokenizer = tokenizer_for(config, corpus.train)
    tokens = {"train": pack(tokenizer, corpus.train), "dev": pack(tokenizer, corpus.dev)}
    masking = Masking.of(tokenizer, config.masked_fraction) if config.masked else None
    blocks = {split: cut_blocks(ids, config.block_size, split) for split, ids in tokens.items()}
    train, dev = BlockDataset(blocks["train"], masking), BlockDataset(blocks["dev"], masking)
    held_out = dev.frozen(seed)
    model = new_language_model(config, tokenizer)
    run.attach(model=model, tokenizer=tokenizer, rows=train, recipe=config)
    trainer = make_language_trainer(model, config, train, held_out, run.checkpoints, seed, run.callbacks)
    run.train(trainer)
    metrics = score_blocks(model, held_out, masked=config.masked).summary(seed)
    never = () if masking is None else masking.special_tokens
    floor = unigram_scores(tokens["train"], held_out, len(tokenizer), masked=config.masked, never=never)
    metrics["unigram"] = floor.summary(seed)
    if not config.masked:
        score = perplexity(model, tokens["dev"], window=config.block_size)
        metrics["sliding_window"] = vars(score)
    model.config.use_cache = True
    unknown = {split: share_of_unknown(tokenizer.unk_token_id, ids) for split, ids in tokens.items()}
    facts = {
        "tokens": {split: len(ids) for split, ids in tokens.items()},
        "blocks": {"train": len(train), "dev": len(dev)},
        "vocabulary": len(tokenizer),
        "unknown_tokens": unknown,
        "parameters": model.num_parameters(),
        "steps": trainer.state.global_step,
    }
    run.write(model, tokenizer, {"dev": metrics, "epochs": epochs_of(trainer)}, facts)


def share_of_unknown(unknown: int | None, ids: torch.Tensor) -> float:
    """The share of tokens that the vocabulary lacks: a perplexity over them is lower than it looks."""
    return 0.0 if unknown is None else float((ids == unknown).double().mean())


def epochs_of(trainer: Trainer) -> list[dict[str, float]]:
    """Loss and perplexity on dev after each epoch."""
    return [
        {"epoch": entry["epoch"], "loss": entry["eval_loss"], "perplexity": entry["eval_perplexity"]}
        for entry in trainer.state.log_history
        if "eval_loss" in entry
    ]


class LanguageTrainer(MeasuredTrainer):
    """Computes the loss of hidden tokens from their logits alone, where the model can (``hidden_alone``)."""

    hidden_alone: bool

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        if not self.hidden_alone or return_outputs:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        assert isinstance(model, PreTrainedModel)
        labels = inputs["labels"]
        wanted = labels[labels != IGNORED]
        logits = logits_at_hidden(model, inputs["input_ids"], labels).float()
        total = torch.nn.functional.cross_entropy(logits, wanted, reduction="sum")
        return total / (len(wanted) if num_items_in_batch is None else num_items_in_batch)


def make_language_trainer(
    model: PreTrainedModel,
    config: LanguageModelConfig,
    train: BlockDataset,
    held_out: Blocks,
    folder: Path,
    seed: int,
    callbacks: Sequence[TrainerCallback],
) -> LanguageTrainer:
    """AdamW with a warm-up and a cosine schedule, gradients clipped to 1; it is evaluated on dev after
    every epoch, and the best epoch is kept."""

    def measure(model: PreTrainedModel) -> dict[str, float]:
        loss = score_blocks(model, held_out, masked=config.masked).loss
        return {"loss": loss, "perplexity": perplexity_of(loss)}

    model.config.use_cache = False  # keys and values that nobody reads again
    trainer = LanguageTrainer(
        model,
        training_arguments(
            config,
            folder,
            seed,
            best="loss",
            greatest=False,
            bf16=half_precision(),
            weight_decay=config.weight_decay,
            lr_scheduler_type="cosine",
            warmup_steps=WARM_UP,
            max_grad_norm=1.0,
        ),
        train,
        measure,
        callbacks=list(callbacks),
    )
    trainer.hidden_alone = config.masked and asks_hidden_alone(model)
    return trainer


def logits_at_hidden(
    model: PreTrainedModel, ids: Int[Tensor, "b n"], labels: Int[Tensor, "b n"]
) -> Float[Tensor, "hidden vocabulary"]:
    """Logits at the tokens to be found, in the order of the batch.

    The last layer's other rows never meet the map onto the vocabulary, which costs a small model with
    15 % of its tokens hidden more than all its layers.
    """
    wanted = labels != IGNORED

    def keep_hidden(_module: torch.nn.Module, _args: object, output: ModelOutput) -> ModelOutput:
        output["last_hidden_state"] = output["last_hidden_state"][wanted][None]
        return output

    handle = model.base_model.register_forward_hook(keep_hidden)
    try:
        logits: Tensor = model(input_ids=ids).logits
    finally:
        handle.remove()
    return logits[0]


@torch.no_grad()
def asks_hidden_alone(model: PreTrainedModel) -> bool:
    """Whether the model's head reads token by token what its layers return, tried on two short rows."""
    training = model.training
    model.eval()
    ids = torch.arange(8, device=model.device).view(2, 4) % model.config.get_text_config().vocab_size
    labels = ids.masked_fill(ids % 3 > 0, IGNORED)
    try:
        some, every = (logits_at_hidden(model, ids, labels), model(input_ids=ids).logits[labels != IGNORED])
    except (KeyError, IndexError, RuntimeError, TypeError, ValueError):  # a head of another kind
        return False
    finally:
        model.train(training)
    return some.shape == every.shape and torch.allclose(some.float(), every.float(), rtol=1e-3, atol=1e-4)
