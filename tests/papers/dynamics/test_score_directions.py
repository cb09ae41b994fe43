"""Which way scores move: against small steps, and where the answer is planted."""

import numpy as np
import pytest
import torch

from glasshead.data import LoadOptions, SyntheticOptions, load, planted_groups
from glasshead.errors import InputError
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.papers.dynamics import direction_callback, score_motion
from glasshead.papers.dynamics.score_directions import same_sign
from glasshead.papers.results import read_history
from glasshead.training import LOSSES, preset_config, train

VOCABULARY, TEXTS, LENGTH = 12, 30, 6


def random_model(**changes):
    settings = {
        "vocab_size": VOCABULARY, "embedding_size": 5, "hidden_size": 5, "head_dim": 4, "value_dim": 4,
        "temperature": 1.0, "initializer_range": 1.0, "activation": "tanhmax", "score": "query-key",
    }  # fmt: skip
    torch.manual_seed(0)
    return PooledClassifier(PooledConfig(**settings | changes)).double().eval()


def random_batch():
    rng = torch.Generator().manual_seed(1)
    ids = torch.randint(1, VOCABULARY, (TEXTS, LENGTH), generator=rng)
    mask = torch.ones_like(ids)
    mask[::3, -2:] = 0  # padding, whatever stands there
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.arange(TEXTS) % 2}


def token_scores(model):
    with torch.no_grad():
        table = model.embedding.weight[None]
        return model.pooling.score(model.encoder(table, torch.ones(1, VOCABULARY, dtype=torch.bool)))[0]


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("score", ["context", "query-key", "bilinear", "additive"])
def test_the_rate_is_that_of_a_small_step(score, loss):
    model, batch = random_model(score=score), random_batch()
    rate = score_motion(model, batch, loss).rate
    output = model(batch["input_ids"], batch["attention_mask"])
    LOSSES[loss](output.logits, batch["labels"]).backward()
    before, step = token_scores(model), 1e-6
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= step * parameter.grad
    torch.testing.assert_close((token_scores(model) - before) / step, rate, rtol=1e-3, atol=1e-6)


def test_the_pull_is_the_gradient_of_a_free_score():
    """A number added to the scores of one token, at every place where it stands."""
    model, batch = random_model(), random_batch()
    pull = score_motion(model, batch, "squared").pull
    free = torch.zeros(VOCABULARY, dtype=torch.float64, requires_grad=True)
    mask = batch["attention_mask"].bool()
    hidden = model.embedding(batch["input_ids"])
    pooled = model.pooling
    scores = pooled.score(hidden) + free[batch["input_ids"]]
    weights = pooled.activation.weights(scores, mask)
    z = model.classifier(torch.einsum("bk,bkd->bd", weights, pooled.value(hidden)))
    loss = LOSSES["squared"](torch.cat([torch.zeros_like(z), z], dim=1), batch["labels"])
    torch.testing.assert_close(pull, -torch.autograd.grad(loss, free)[0])


def test_tokens_that_share_nothing_move_as_they_are_pulled():
    """Wide one-hot vectors: each token has its own columns of the maps, as Proposition 1 has it."""
    model = random_model(embedding_size=VOCABULARY, hidden_size=VOCABULARY)
    with torch.no_grad():
        model.embedding.weight.copy_(1e3 * torch.eye(VOCABULARY))
        for part in (model.pooling.score.query, model.pooling.score.key, model.pooling.value):
            part.weight.div_(1e3)
    motion = score_motion(model, random_batch())
    assert np.nanmean(same_sign(motion.rate, motion.pull)) == 1.0


def test_tokens_that_share_all_move_one_way():
    model = random_model()
    with torch.no_grad():
        model.embedding.weight[1:] = model.embedding.weight[1].clone()
        model.embedding.weight.add_(1e-3 * torch.randn(VOCABULARY, 5, dtype=torch.float64))
    motion = score_motion(model, random_batch())
    assert len(set(motion.rate[1:].sign().tolist())) == 1
    assert 0.2 < np.nanmean(same_sign(motion.rate, motion.pull)[1:]) < 0.8


def test_what_does_not_move_has_no_sign():
    signs = same_sign(torch.tensor([1.0, -1.0, 0.0]), torch.tensor([2.0, 3.0, 1.0]))
    np.testing.assert_array_equal(signs, [1.0, 0.0, np.nan])


def test_scores_that_read_their_text_are_refused():
    with pytest.raises(InputError, match="separate scores only without an LSTM"):
        score_motion(random_model(encoder="lstm", hidden_size=6), random_batch())


def test_a_training_is_watched(tmp_path):
    """Its own loss has its own sign, and cross-entropy nearly that of the squared error."""
    made = {"instances": 200, "polar_words": 5, "neutral_words": 30}
    data = load("synthetic", LoadOptions(generator=made))
    recipe = preset_config("s0-paper", None).with_changes(epochs=2, loss="squared", learning_rate=0.01)
    truth = planted_groups(SyntheticOptions(**made))
    history = read_history(train(data, recipe, tmp_path / "run", callbacks=[direction_callback(truth, 2)]))
    for group in ("positive", "negative", "neutral"):
        assert set(history.curve("as squared", group)["mean"]) == {1.0}
        assert history.curve("as cross-entropy", group)["mean"].mean() > 0.8
        assert ((share := history.curve("follows", group)["mean"]) >= 0).all()
        assert (share <= 1).all()
