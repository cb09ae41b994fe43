"""Hugging Face's Trainer, whose checkpoints hold the weights by the names that the model gives them."""

from __future__ import annotations

from functools import partial
from typing import Any

from transformers import Trainer

from glasshead.errors import InputError
from glasshead.spelling import spell


class OwnNamesTrainer(Trainer):
    """The Trainer; what it saves is what it loads.

    `save_pretrained` writes weights by the names of the files that a model came from, which of a ViT are not
    those that it has in memory. `from_pretrained` turns them back, the Trainer does not: it would warn, and
    go on, or end, with the weights that are there.
    """

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        model: Any = self.model
        model.save_pretrained = partial(model.save_pretrained, save_original_format=False)
        try:
            super()._save(output_dir, state_dict)
        finally:
            del model.save_pretrained

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Stop where a checkpoint lacks weights.

        Raises:
            InputError: if weights are missing that no other ones are tied to.
        """
        model: Any = self.model
        tied = {
            *(getattr(model, "all_tied_weights_keys", None) or {}),
            *(model._keys_to_ignore_on_save or ()),
        }
        if missing := sorted(set(load_result.missing_keys) - tied):
            raise InputError(
                f"the checkpoint lacks {len(missing)} weights of the model, such as {missing[0]}: "
                f"train without {spell('resume')}"
            )
        super()._issue_warnings_after_load(load_result)
