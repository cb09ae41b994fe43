"""The terms of the flow add up to how scores change, exactly per unit of time and in real steps of SGD."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from written_out import (
    NAMES,
    assert_exact,
    autograd_gradients,
    cases,
    random_batch,
    random_parameters,
    step,
    tokens_of,
)

from glasshead.data import LoadOptions, SyntheticOptions, load, planted_groups
from glasshead.papers.dynamics.callback import DynamicsCallback
from glasshead.papers.dynamics.forms.form import FORMS, Batch, directional_change, form_gradients, score_flow
from glasshead.papers.dynamics.forms.select import form_of, read_parameters
from glasshead.papers.dynamics.observers.pooled import PooledObserver
from glasshead.papers.results import read_history
from glasshead.training import TRAINING_PRESETS, penalty_of, train
from glasshead.training.trainer import make_scaled_loss
from small import random_model

RATES = [2.0**-power for power in range(6, 14)]


def assert_tokens(found, expected):
    assert_exact(found.polarity, expected[0])
    assert_exact(found.score, expected[1])


def assert_first_order(errors):
    """Half the step has half the error: the slope of log error over log η is 1."""
    assert min(errors) > 0
    slope = np.polyfit(np.log(RATES), np.log(errors), 1)[0]
    assert slope == pytest.approx(1, abs=0.03)
    assert errors[-1] / errors[-2] == pytest.approx(0.5, abs=0.01)


def per_time(after, before, rate):
    return [(a - b) / rate for a, b in zip(after, before, strict=True)]


def distance(found, expected):
    return max(float((a - b).abs().max()) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_terms_add_up_to_the_change_along_minus_the_gradient(name, data):
    """The gradient is that of autograd, and the change along it a derivative that knows of no term."""
    p, batch = data.draw(cases(name))
    downhill = {key: -each for key, each in autograd_gradients(name, p, batch).items()}
    total = score_flow(FORMS[name], p, batch).total()
    assert_tokens(total, directional_change(FORMS[name], p, batch.temperature, downhill))

    def read(*leaves):
        return tokens_of(name, p.with_tensors(dict(zip(downhill, leaves, strict=True))), batch.temperature)

    _, change = torch.func.jvp(read, tuple(p.leaves().values()), tuple(downhill.values()))
    assert_tokens(total, change)


@pytest.mark.parametrize("name", NAMES)
def test_every_term_is_what_it_is_called(name):
    """Each term is the change along the part of −∂ℓ/∂θ that it is said to come from."""
    p, batch = random_parameters(name, classes=3), random_batch(classes=3)
    form = FORMS[name]
    flow = score_flow(form, p, batch)
    assert list(flow.polarity) == list(form.polarity_terms)
    assert list(flow.score) == list(form.score_terms)
    downhill = {key: -each for key, each in form_gradients(form, p, batch).items()}

    def only(parameter):
        return directional_change(form, p, batch.temperature, {parameter: downhill[parameter]})

    assert_exact(flow.polarity["C"], only("output").polarity)
    assert_exact(flow.score["F"], only("context").score)
    own = only("embeddings")
    assert_exact(flow.polarity["A"] + flow.polarity["B"], own.polarity)
    assert_exact(flow.score["D"] + flow.score["E"], own.score)
    if name != "DP":
        through = only("map")
        mapped = [
            sum(each for key, each in terms.items() if key.startswith("M")) for terms in vars(flow).values()
        ]
        assert_exact(mapped[1], through.score)
        if name == "DP-A":
            assert_exact(mapped[0], through.polarity)
        else:
            assert not through.polarity.any()
    # Without leads (all polarities alike) only what comes from labels is left, and the other way round.
    alike = p.with_tensors({"embeddings": p.embeddings[:1].expand_as(p.embeddings)})
    flow = score_flow(form, alike, batch)
    for each in (flow.polarity["A"], flow.score["E"], flow.score["F"]):
        assert each.abs().max() < 1e-12
    assert flow.polarity["B"].abs().max() > 1e-3


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_measured_change_of_sgd(name, classes):
    p, batch = random_parameters(name, classes=classes), random_batch(classes=classes, loss_scale=2.0)
    total = score_flow(FORMS[name], p, batch).total()
    before = tokens_of(name, p, batch.temperature)
    errors = [
        distance(
            per_time(tokens_of(name, step(name, p, batch, rate), batch.temperature), before, rate), total
        )
        for rate in RATES
    ]
    assert_first_order(errors)
    assert errors[-1] < 0.01 * max(float(each.abs().max()) for each in total)


@pytest.mark.parametrize("left_out", ["A", "B", "C", "D", "E", "F"])
def test_no_term_can_be_left_out(left_out):
    """The same measurement, without one of the terms, does not get better with smaller steps."""
    p, batch = random_parameters("DP"), random_batch()
    flow = score_flow(FORMS["DP"], p, batch)
    missing = flow.polarity.get(left_out, flow.score.get(left_out)).abs().max()
    for terms in (flow.polarity, flow.score):
        if left_out in terms:
            terms[left_out] = torch.zeros_like(terms[left_out])
    before = tokens_of("DP", p, batch.temperature)
    errors = [
        distance(
            per_time(tokens_of("DP", step("DP", p, batch, rate), batch.temperature), before, rate),
            flow.total(),
        )
        for rate in RATES
    ]
    assert errors[-1] == pytest.approx(float(missing), rel=0.05)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("score", "encoder", "penalties"),
    [
        ("context", "none", {"context-output": 0.3}),
        ("additive", "none", {"context-output": 0.3}),
        ("context", "affine", {"context-output": 0.3, "encoder": 0.1}),
    ],
)
def test_a_penalty_is_a_term_of_its_own(score, encoder, penalties, classes):
    """The trained model, its loss and its penalties, and torch's own SGD."""
    ids, mask, labels = *random_batch(vocabulary=17)[:2], torch.arange(6) % classes
    ids = torch.where(mask, ids.clamp(min=5), 0)  # words, and padding

    def fresh():
        model = random_model(classes=classes, score=score, encoder=encoder, temperature=2.0).double()
        return model, make_scaled_loss(1.0, rated=False)(model(ids, mask), labels)

    model, _ = fresh()
    form, p, batch = form_of(model), read_parameters(model), Batch(ids, mask, labels, 2.0)
    penalty_of(model, penalties).backward()
    uphill = read_parameters(
        model, read=lambda each: torch.zeros_like(each) if each.grad is None else each.grad
    ).leaves()
    added = directional_change(form, p, 2.0, {key: -each for key, each in uphill.items()})
    terms = score_flow(form, p, batch).total()
    before, total = form.tokens(p, 2.0), [a + b for a, b in zip(terms, added, strict=True)]
    errors, without = [], []
    for rate in RATES:
        model, loss = fresh()
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        (loss + penalty_of(model, penalties)).backward()
        optimizer.step()
        change = per_time(form.tokens(read_parameters(model), 2.0), before, rate)
        # Padding has no gradient of the loss, and none of a penalty on V, W and M.
        errors.append(distance(change, total))
        without.append(distance(change, terms))
    assert_first_order(errors)
    assert without[-1] == pytest.approx(max(float(each.abs().max()) for each in added), rel=0.05)


GENERATOR = {"instances": 80, "polar_words": 3, "neutral_words": 12, "neutral_per_instance": 5, "noise": 0.05}
TIME = 10.0
"""τ, the sum of the learning rates of all steps."""


def watched(out, rate, *, classes, empty=0, **settings):
    """A training by full batches, watched at every step, until τ = TIME; ``empty`` texts of five have no
    word."""
    options = SyntheticOptions(**GENERATOR, classes=classes)
    data = load("synthetic", LoadOptions(generator=GENERATOR | {"classes": classes}))
    if empty:
        data = data.map(lambda row, at: {"text": row["text"] * (at % 5 >= empty)}, with_indices=True)
    recipe = TRAINING_PRESETS["s4"].with_settings(
        {
            "epochs": round(TIME / rate),
            "learning_rate": rate,
            "batch_size": len(data["train"]),
            "embedding_size": 8,
            "hidden_size": 8,
            "head_dim": 8,
            "temperature": 4.0,
            "initializer_range": 0.5,
        }
        | settings
    )
    train(
        data,
        recipe,
        out,
        callbacks=[DynamicsCallback(partial(PooledObserver, truth=planted_groups(options)), every=1)],
    )
    return read_history(out)


def told_and_measured(history):
    """Per quantity: what the terms of every followed token have added up to at every step, and its change."""
    steps = len(history.steps)
    for quantity in ("polarity", "score"):
        named = [name for name in history.tokens if name.startswith(f"added {quantity} ")]
        told = sum(history.tokens[name].astype(float) for name in named).reshape(steps, -1)
        value = history.tokens[quantity].astype(float).reshape(steps, -1)
        yield quantity, named, told, value - value[0]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The histories of one training with large and with small steps; two tests read the same ones."""
    made = {}

    def both(classes, settings):
        key = str((classes, settings))
        if key not in made:
            folder = tmp_path_factory.mktemp("watched")
            made[key] = {r: watched(folder / str(r), r, classes=classes, **settings) for r in (1.0, 0.5)}
        return made[key]

    return both


@pytest.mark.parametrize(
    ("settings", "classes"),
    [
        ({}, 2),
        ({"bias": True, "loss_scale": 2.0}, 3),
        ({"encoder": "affine"}, 2),
        ({"score": "additive"}, 2),
        ({"penalties": {"context-output": 0.2}}, 2),
        ({"encoder": "affine", "penalties": {"context-output": 0.2, "encoder": 0.02}}, 2),
        ({"empty": 2, "bias": True}, 2),
    ],
)
def test_a_watched_training(both, settings, classes):
    """Planted words, a real training: the terms tell where every followed token went, the better the smaller
    the steps, and words of a class go towards it."""
    remainders = []
    for rate, history in both(classes, settings).items():
        assert history.facts["exact"]
        assert len(history.steps) == round(TIME / rate) + 1
        found = {}
        for quantity, named, told, measured in told_and_measured(history):
            assert (f"added {quantity} R" in named) == ("penalties" in settings)
            assert not told[0].any()
            moved = np.abs(measured[-1]).max()
            assert moved > 1e-3  # float32 would show, not the remainder
            found[quantity] = np.abs(told - measured).max() / moved
        remainders.append(found)
    for quantity in ("polarity", "score"):
        coarse, fine = (each[quantity] for each in remainders)
        assert fine < 0.05
        assert fine / coarse == pytest.approx(0.5, abs=0.1)
    if classes == 2:
        (change,) = (each[-1] for name, _, _, each in told_and_measured(history) if name == "polarity")
        groups = history.tokens["group"][: len(change)]
        assert change[groups == "positive"].mean() > 0.02 > -0.02 > change[groups == "negative"].mean()


@pytest.mark.parametrize(
    ("settings", "classes"),
    [
        ({}, 2),
        ({"bias": True, "loss_scale": 2.0}, 3),
        ({"encoder": "affine", "penalties": {"context-output": 0.2, "encoder": 0.02}}, 2),
        ({"score": "additive"}, 2),
    ],
)
def test_the_parts_of_dot_products_add_up_to_their_change(both, settings, classes):
    """Mean Ω of every pair of groups at every step, against its rates integrated by the trapezoidal rule."""
    remainders = []
    for rate, history in both(classes, settings).items():
        products = {name: each[history.products["of"] == "e"] for name, each in history.products.items()}
        missing, moved = [], []
        for pair in dict.fromkeys(products["pair"].tolist()):
            mean = products["mean"][products["pair"] == pair]
            parts = {name: history.curve(f"Ω {name}", pair)["mean"] for name in ("A", "B", "R")}
            assert len(parts["R"]) == (len(history.steps) if "penalties" in settings else 0)
            assert not parts["R"].any()  # no penalty of ours is one on the embeddings
            total = parts["A"] + parts["B"]
            told = np.concatenate([[0.0], np.cumsum(rate * (total[1:] + total[:-1]) / 2)])
            missing.append(np.abs(told - (mean - mean[0])).max())
            moved.append(np.abs(mean - mean[0]).max())
        assert len(missing) == (classes + 1) * (classes + 2) / 2  # with the neutral tokens
        assert max(moved) > 1e-2
        remainders.append(max(missing) / max(moved))
    coarse, fine = remainders
    assert fine < 0.05
    assert fine / coarse == pytest.approx(0.5, abs=0.1)
