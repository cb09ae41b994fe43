"""A copy that shares weights and nothing else."""

import torch

from classifier_families import FAMILIES
from glasshead.huggingface import isolated_copy, plug

IDS = torch.tensor([[3, 7, 8, 4]])


def test_weights_are_shared_and_all_else_is_not():
    model = FAMILIES["Bert"].build().train()
    copied = isolated_copy(model)
    assert not copied.training
    assert model.training
    assert copied.config is not model.config
    mine, theirs = dict(model.named_parameters()), dict(copied.named_parameters())
    assert mine.keys() == theirs.keys()
    assert all(theirs[name] is mine[name] for name in mine)
    before = model.eval()(IDS).logits
    plug(copied, "tanhmax")
    assert (copied(IDS).logits - before).abs().max() > 1e-3
    torch.testing.assert_close(model(IDS).logits, before)
    assert model.config._attn_implementation != "glasshead"


def test_tied_weights_stay_tied():
    model = FAMILIES["Bart"].build()
    copied = isolated_copy(model, torch.float64)
    assert copied.model.encoder.embed_tokens.weight is copied.model.decoder.embed_tokens.weight


def test_another_precision_has_weights_of_its_own():
    model = FAMILIES["Bert"].build()
    copied = isolated_copy(model, torch.float64)
    assert {weight.dtype for weight in copied.parameters()} == {torch.float64}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert isolated_copy(model, torch.float32).bert.pooler.dense.weight is model.bert.pooler.dense.weight


def test_a_module_may_keep_a_tensor_of_a_graph():
    model = FAMILIES["Bert"].build()
    model.kept = model(IDS).logits
    assert not isolated_copy(model).kept.requires_grad
    assert model.kept.requires_grad
