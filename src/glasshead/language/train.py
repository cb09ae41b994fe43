"""Train a language model on a corpus into a folder that appears whole or not at all.

config.json, model.safetensors   the model, as Hugging Face saves it
tokenizer.json, …                its tokenizer
metrics.json                     loss, perplexity and accuracy on dev with intervals and floor, dev per epoch
dynamics/                        how its layers developed, if that was watched
language-model.json              settings, corpus and its fingerprint, versions, seed, wall time
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PrinterCallback, Trainer, TrainerCallback, set_seed
from transformers.utils import ModelOutput

from glasshead.errors import InputError
from glasshead.files import check_writable, remove
from glasshead.huggingface import silence_transformers
from glasshead.language.build import build
from glasshead.language.config import LanguageModelConfig
from glasshead.language.corpus import Corpus, blocks_of, pack
from glasshead.language.perplexity import perplexity
from glasshead.language.rows import IGNORED, Batch, BlockDataset, Masking
from glasshead.language.scores import perplexity_of, score_blocks, unigram_scores
from glasshead.language.tokenizers import tokenizer_for
from glasshead.opening import MEASURED
from glasshead.torch_modes import in_own_modes
from glasshead.training import (
    CHECKPOINTS,
    WATCHED,
    OwnNamesTrainer,
    RunAwareCallback,
    half_precision,
    training_arguments,
    versions,
    whole_batch,
    workspace,
    write_json,
)

LANGUAGE_RECORD = "language-model.json"
WHAT = "language model"
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
    """Train from new weights, keep the epoch of the least loss on dev, and write the folder ``out``.

    The loss is the mean of −log p(x_{t+1} | x_{1…t}) over a block, or of −log p of its hidden tokens. The
    folder holds a model that ``glasshead.open`` and, if nothing is plugged, any ``from_pretrained`` reads.
    Work in progress lives in ``out.partial``; ``resume`` goes on from the last whole epoch.

    Raises:
        InputError: if ``out`` exists, the corpus is shorter than one block, the model cannot be built or
            plugged, or there is nothing to resume.
    """
    out = Path(out)
    check_writable(out, overwrite=overwrite, resume=resume)
    plan = {
        "what": WHAT,
        "recipe": config.as_dict(),
        "seed": seed,
        "data": (source or {}) | corpus.facts(),
    }
    for callback in callbacks:
        if isinstance(callback, RunAwareCallback):
            plan[WATCHED] = callback.facts
    options = {"resume": resume, "overwrite": overwrite}
    with (
        silence_transformers(),
        workspace(out, plan, record=LANGUAGE_RECORD, **options) as (work, checkpoint),
    ):
        _fill(work, corpus, config, plan, checkpoint, callbacks)
    return out


def _fill(
    work: Path,
    corpus: Corpus,
    config: LanguageModelConfig,
    plan: dict[str, Any],
    checkpoint: Path | None,
    callbacks: Sequence[TrainerCallback],
) -> None:
    """Train into the work folder, from a checkpoint or from the start."""
    started = time.perf_counter()
    seed = plan["seed"]
    set_seed(seed)
    tokenizer = tokenizer_for(config, corpus.train)
    tokens = {"train": pack(tokenizer, corpus.train), "dev": pack(tokenizer, corpus.dev)}
    masking = Masking.of(tokenizer, config.masked_fraction) if config.masked else None
    blocks = {split: blocks_of(ids, config.block_size, split) for split, ids in tokens.items()}
    train, dev = BlockDataset(blocks["train"], masking), BlockDataset(blocks["dev"], masking)
    held_out = dev.frozen(seed)
    model = build(config, tokenizer)
    for callback in callbacks:
        if isinstance(callback, RunAwareCallback):
            callback.attach(work, model=model, tokenizer=tokenizer, rows=train, recipe=config)
    trainer = make_trainer(model, config, train, held_out, work / CHECKPOINTS, seed, callbacks)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    metrics = score_blocks(model, held_out, masked=config.masked).summary(seed)
    never = () if masking is None else masking.special_tokens
    floor = unigram_scores(tokens["train"], held_out, len(tokenizer), masked=config.masked, never=never)
    metrics["unigram"] = floor.summary(seed)
    if not config.masked:
        found = perplexity(model, tokens["dev"], window=config.block_size)
        metrics["sliding_window"] = vars(found)
    model.config.use_cache = True
    model.save_pretrained(work)
    tokenizer.save_pretrained(work)
    write_json(work / MEASURED, {"dev": metrics, "epochs": epochs_of(trainer)})
    unknown = {split: unknown_share(tokenizer.unk_token_id, ids) for split, ids in tokens.items()}
    facts = {
        "tokens": {split: len(ids) for split, ids in tokens.items()},
        "blocks": {"train": len(train), "dev": len(dev)},
        "vocabulary": len(tokenizer),
        "unknown_tokens": unknown,
        "parameters": model.num_parameters(),
        "steps": trainer.state.global_step,
        "seconds": round(time.perf_counter() - started, 2),
        "resumed": checkpoint is not None,
        "versions": versions(),
    }
    write_json(work / LANGUAGE_RECORD, plan | facts)


def unknown_share(unknown: int | None, ids: torch.Tensor) -> float:
    """The share of tokens that the vocabulary lacks: a perplexity over them is lower than it looks."""
    return 0.0 if unknown is None else float((ids == unknown).double().mean())


def epochs_of(trainer: Trainer) -> list[dict[str, float]]:
    """Loss and perplexity on dev after each epoch."""
    return [
        {"epoch": entry["epoch"], "loss": entry["eval_loss"], "perplexity": entry["eval_perplexity"]}
        for entry in trainer.state.log_history
        if "eval_loss" in entry
    ]


class LanguageTrainer(OwnNamesTrainer):
    """Hugging Face's Trainer, which knows dev by the mean loss of its tokens to be found."""

    held_out: Batch
    masked: bool
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
        logits = hidden_logits(model, inputs["input_ids"], labels).float()
        total = torch.nn.functional.cross_entropy(logits, wanted, reduction="sum")
        return total / (len(wanted) if num_items_in_batch is None else num_items_in_batch)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        assert isinstance(self.model, PreTrainedModel)
        loss = score_blocks(self.model, self.held_out, masked=self.masked).loss
        if not np.isfinite(loss):
            remove(Path(str(self.args.output_dir)))  # no number to go on from
            raise InputError("the training diverged to values that are no numbers: lower `learning_rate`")
        metrics = {f"{metric_key_prefix}_loss": loss, f"{metric_key_prefix}_perplexity": perplexity_of(loss)}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


def make_trainer(
    model: PreTrainedModel,
    config: LanguageModelConfig,
    train: BlockDataset,
    held_out: Batch,
    folder: Path,
    seed: int,
    callbacks: Sequence[TrainerCallback],
) -> LanguageTrainer:
    """AdamW with a warm-up and a cosine, gradients clipped to 1; dev after every epoch, the best is kept."""
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
        data_collator=whole_batch,
        train_dataset=train,
        eval_dataset=train,  # never read: `evaluate` reads dev
        callbacks=list(callbacks),
    )
    trainer.held_out, trainer.masked = held_out, config.masked
    trainer.hidden_alone = config.masked and asks_hidden_alone(model)
    trainer.remove_callback(PrinterCallback)
    return trainer


def hidden_logits(
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
        found, whole = hidden_logits(model, ids, labels), model(input_ids=ids).logits[labels != IGNORED]
    except (KeyError, IndexError, RuntimeError, TypeError, ValueError):  # a head of another kind
        return False
    finally:
        model.train(training)
    return found.shape == whole.shape and torch.allclose(found.float(), whole.float(), rtol=1e-3, atol=1e-4)
