"""The head of a masked model reads hidden tokens alone, and says of them what it says of all."""

import pytest
import torch
from corpora import TINY, sentences
from torch.nn.functional import cross_entropy

from glasshead.language import (
    BlockDataset,
    LanguageModelConfig,
    Masking,
    cut_blocks,
    new_language_model,
    pack,
    tokenizer_for,
)
from glasshead.language.rows import IGNORED
from glasshead.language.train import asks_hidden_alone, logits_at_hidden, make_language_trainer

FAMILIES = ("bert", "roberta", "distilbert", "electra", "modernbert", "eurobert", "albert")


def recipe(model):
    return LanguageModelConfig(**TINY, model=model, objective="masked", tokenizer="word", batch_size=4)


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_for(recipe("bert"), sentences())


@pytest.fixture(scope="module")
def rows(tokenizer):
    return BlockDataset(cut_blocks(pack(tokenizer, sentences(100)), 16, "train"), Masking.of(tokenizer, 0.15))


@pytest.mark.parametrize("model_type", FAMILIES)
def test_loss_and_gradients_are_those_of_all_logits(model_type, tokenizer, rows, tmp_path):
    model = new_language_model(recipe(model_type), tokenizer).eval()
    batch = rows.frozen(0)
    ids, labels = batch["input_ids"][:4], batch["labels"][:4]
    assert asks_hidden_alone(model)
    trainer = make_language_trainer(model, recipe(model_type), rows, rows.frozen(0), tmp_path, 0, ())
    ours = trainer.compute_loss(model, {"input_ids": ids, "labels": labels})
    whole = cross_entropy(model(input_ids=ids).logits.transpose(1, 2), labels, ignore_index=IGNORED)
    torch.testing.assert_close(ours, whole, rtol=1e-5, atol=1e-6)
    weight = model.get_input_embeddings().weight
    torch.testing.assert_close(*(torch.autograd.grad(loss, weight)[0] for loss in (ours, whole)))


def test_a_hook_is_gone_afterwards(tokenizer, rows):
    model = new_language_model(recipe("bert"), tokenizer)
    batch = rows.frozen(0)
    asked = logits_at_hidden(model, batch["input_ids"], batch["labels"])
    assert asked.shape == ((batch["labels"] != IGNORED).sum(), len(tokenizer))
    assert model(input_ids=batch["input_ids"]).logits.shape[:2] == batch["labels"].shape


class MixesTokens(torch.nn.Module):
    """A head that is no map token by token."""

    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, states):
        return self.head(states - states.mean(dim=1, keepdim=True))


def test_a_head_that_reads_other_tokens_is_asked_for_all(tokenizer):
    model = new_language_model(recipe("bert"), tokenizer)
    model.cls = MixesTokens(model.cls)
    assert not asks_hidden_alone(model)
    assert model.training
