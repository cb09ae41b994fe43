"""Models of several layers in training: their numbers against the formulas, written out."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from classifier_families import FAMILIES
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.huggingface import plug
from glasshead.opening import load_run
from glasshead.papers.dynamics import dynamics_callback
from glasshead.papers.dynamics.observers.transformer import TransformerObserver, head_residuals, row_entropies
from glasshead.papers.dynamics.post_hoc import history_from_trained_run
from glasshead.papers.results import read_history
from glasshead.trace import entropies, record
from glasshead.training import preset_config, train
from glasshead.training.build_model import build_classifier, encoded_split, label_tensor
from glasshead.training.tensor_dataset import TensorDataset
from kinds import data, recipe, saved

pytestmark = pytest.mark.usefixtures("no_bars")


@pytest.fixture
def no_bars():
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    yield
    logging.set_verbosity(before)


def observed(kind, folder=None):
    built = build_classifier(recipe(kind, folder), data(kind))
    train_split = data(kind)["train"]
    rows = TensorDataset(encoded_split(built.tokenizer, train_split), label_tensor(train_split))
    built.model.eval()
    made = TransformerObserver(
        model=built.model, tokenizer=built.tokenizer, rows=rows, recipe=recipe(kind, folder)
    )
    return built, made


@pytest.mark.parametrize("kind", ["encoder", "pair-encoder", "hierarchical", "ratings", "tuned"])
def test_numbers_are_the_formulas(kind, tmp_path):
    built, made = observed(kind, saved(tmp_path / "bert"))
    look = made.snapshot(built.model)
    told = {(quantity, group): (mean, n) for quantity, group, mean, _, n in look.curves}
    with torch.no_grad(), record(built.model) as trace:
        built.model(**made.encoded.inputs())
    assert {group for quantity, group in told if quantity == "entropy"} == {
        f"layer {layer.layer}" for layer in trace
    }
    for layer in trace:
        found, apart = [], []
        allowed = layer.allowed.expand_as(layer.weights)
        for text in range(len(layer.weights)):
            for head in range(layer.weights.shape[1]):
                rows = [row for row in range(layer.weights.shape[2]) if allowed[text, head, row].any()]
                if layer.weights.shape[2] == layer.weights.shape[3]:  # nobody attends to padding
                    rows = [row for row in rows if allowed[text, head, :, row].any()]
                for row in rows:
                    p = layer.weights[text, head, row][allowed[text, head, row]].abs().double()
                    if len(p) > 1 and p.sum() > 0:
                        p = p / p.sum()
                        found.append(-sum(float(x) * math.log(x) for x in p if x > 0) / math.log(len(p)))
                output = layer.output[text, head, rows].double()
                if len(rows) > 1 and output.norm() > 0:
                    apart.append(float((output - output.mean(dim=0)).norm() / output.norm()))
        name = f"layer {layer.layer}"
        assert told["entropy", name] == (pytest.approx(np.mean(found), abs=1e-5), len(found))
        if apart:  # a layer with one query has one row
            assert told["residual", name] == (pytest.approx(np.mean(apart), abs=1e-5), len(apart))
        else:
            assert ("residual", name) not in told


@pytest.mark.parametrize("kind", ["encoder", "ratings"])
def test_agreement_is_the_mean_tau_of_explanations(kind):
    built, made = observed(kind)
    told = {
        quantity: (mean, n) for quantity, group, mean, _, n in made.snapshot(built.model).curves if not group
    }
    texts = built.tokenizer.batch_decode(made.encoded.ids, skip_special_tokens=True)
    pairs = [
        [each.scores for each in EXPLAINERS[name](built.model, built.tokenizer, texts)]
        for name in ("attention", "gradient-after-norm")
    ]
    taus = [kendalltau(a, g).statistic for a, g in zip(*pairs, strict=True)]
    defined = [tau for tau in taus if not math.isnan(tau)]
    assert told["agreement"] == (pytest.approx(np.mean(defined), abs=1e-6), len(defined))


def test_agreement_of_ratings_is_that_with_the_gradients_of_the_rating():
    """From the formulas: τ-b of the attention on a text's tokens and x·∂rating/∂x, by plain autograd."""
    built, made = observed("ratings")
    built.model.words.embedding_norm = torch.nn.Identity()  # behind it, x would be no word's vector
    (agreement,) = (row for row in made.snapshot(built.model).curves if row[0] == "agreement")
    view = make_context(built.model, made.encoded, built.tokenizer)
    vectors = built.model.get_input_embeddings()(made.encoded.ids).detach().requires_grad_()
    rating = built.model(inputs_embeds=vectors, **made.encoded.inputs()).logits[:, 0]
    (slopes,) = torch.autograd.grad(rating.sum(), vectors)
    gradient = (slopes * vectors).sum(dim=-1)
    attention = EXPLAINERS["attention"].importance(view)
    taus = [
        kendalltau(attention[text][real], gradient[text][real].detach()).statistic
        for text, real in enumerate(made.encoded.mask)
    ]
    defined = [tau for tau in taus if not math.isnan(tau)]
    assert agreement[2] == pytest.approx(np.mean(defined), abs=1e-6)
    assert agreement[4] == len(defined)


def test_planted_entropies():
    weights = torch.tensor([[1.0, 0, 0], [1 / 3, 1 / 3, 1 / 3], [-0.5, 0.5, 9.0], [0.7, 9.0, 9.0]])
    mask = torch.tensor([[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0]], dtype=torch.bool)
    entropy = entropies(weights, mask)
    torch.testing.assert_close(entropy[:3], torch.tensor([0.0, 1.0, 1.0]))
    assert entropy[3].isnan()


def test_uniform_attention_has_collapsed():
    from glasshead.trace import intervene, uniform

    built, made = observed("encoder")
    with torch.no_grad(), intervene(built.model, uniform), record(built.model) as trace:
        built.model(**made.encoded.inputs())
    for layer in trace:
        assert len(head_residuals(layer)) == (
            0 if layer.weights.shape[2] == 1 else layer.output[:, :, 0, 0].numel()
        )
        assert (head_residuals(layer) < 1e-5).all()
        torch.testing.assert_close(row_entropies(layer), torch.ones(len(row_entropies(layer))))


@pytest.mark.slow
def test_a_watched_tuning(tmp_path):
    tuned = recipe("tuned", saved(tmp_path / "bert"))
    out = train(data("tuned"), tuned, tmp_path / "run", callbacks=[dynamics_callback(every=3)])
    history = read_history(out)
    assert history.facts["kind"] == "layers"
    assert set(history.quantities()) == {"entropy", "residual", "agreement"}
    assert history.steps[0] == 0
    assert history.steps[-1] == history.facts["steps"]
    moved = history.curve("entropy", "layer 0")["mean"]
    assert np.ptp(moved) > 0
    assert load_run(out).record["watched"] == {"every": 3}


@pytest.mark.parametrize("watching", [True, False])
def test_ratings_of_a_model_of_layers(tmp_path, watching):
    """Watched, or looked at once after the training."""
    callbacks = [dynamics_callback(every=3)] if watching else []
    short = recipe("ratings").with_changes(epochs=2)
    out = train(data("ratings"), short, tmp_path / "run", callbacks=callbacks)
    if watching:
        history = read_history(out)
        assert np.ptp(history.curve("entropy", "layer 0")["mean"]) > 0
    else:
        run, split = load_run(out), data("ratings")["train"]
        rows = TensorDataset(encoded_split(run.tokenizer, split), label_tensor(split))
        history = history_from_trained_run(run, rows)
        assert history.steps.tolist() == [0]
    assert history.facts["kind"] == "layers"
    assert set(history.quantities()) == {"entropy", "residual", "agreement"}


def test_a_model_that_hides_its_attention_is_refused_before_any_work(tmp_path):
    hidden = preset_config(None, str(saved(tmp_path / "bert"))).with_changes(epochs=1)
    assert hidden.attention is None
    with pytest.raises(InputError, match="name a mechanism, `attention='softmax'`"):
        train(data("tuned"), hidden, tmp_path / "run", callbacks=[dynamics_callback(every=3)])
    assert [each.name for each in tmp_path.iterdir()] == ["bert"]


def test_rows_of_padding_are_not_counted():
    """A batch of a short and a long text has the rows that each has alone."""
    family = FAMILIES["Bert"]
    model, tokenizer = plug(family.build(labels=2), "softmax"), family.tokenizer()
    texts = ["a good film", "a long and very bad film without any end"]
    with torch.no_grad(), record(model) as trace:
        model(**encode(tokenizer, texts).inputs())
    alone = []
    for text in texts:
        with torch.no_grad(), record(model) as short:
            model(**encode(tokenizer, [text]).inputs())
        alone.append(list(short))
    for layer, *ones in zip(trace, *alone, strict=True):
        for numbers in (row_entropies, head_residuals):
            torch.testing.assert_close(
                numbers(layer), torch.cat([numbers(one) for one in ones]), atol=1e-5, rtol=1e-4
            )
