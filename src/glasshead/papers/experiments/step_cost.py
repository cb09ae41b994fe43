"""What a step of training costs."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from transformers import PreTrainedTokenizerBase

from glasshead.language import BlockDataset, LanguageModelConfig, make_language_trainer, new_language_model

TIMED_STEPS = 5


def step_seconds(
    config: LanguageModelConfig, tokenizer: PreTrainedTokenizerBase, rows: BlockDataset
) -> float:
    """CPU seconds of one step: forward, backward and AdamW on the first batch, the least of five.

    CPU time, which other work on the machine hardly changes, and of new weights, so that a training that was
    resumed says the same.
    """
    model = new_language_model(config, tokenizer).train()
    with TemporaryDirectory() as folder:
        trainer = make_language_trainer(model, config, rows, rows.frozen(0), Path(folder), 0, ())
        optimizer = trainer.create_optimizer()
        batch = rows.__getitems__(range(min(config.batch_size, len(rows))))
        costs = []
        for _ in range(TIMED_STEPS):
            before = time.process_time()
            trainer.compute_loss(model, dict(batch)).backward()
            optimizer.step()
            optimizer.zero_grad()
            costs.append(time.process_time() - before)
    return min(costs)
