"""The searches of the audit `adversarial` against other optimisers, and how what they find is printed."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from scipy.optimize import minimize
from scipy.special import softmax

from glasshead.audits import audit, build_view
from glasshead.audits.adversary import Setting, free_distances, producible_distances
from glasshead.audits.adversary.forward_adversary import ForwardAdversary, ProducibleForward
from glasshead.audits.adversary.free import forward_texts
from glasshead.audits.adversary.producible import in_units, read_pooled_keys
from glasshead.cli.fail_under import check_threshold, finding_for_threshold
from glasshead.errors import InputError
from glasshead.opening import open_subject
from glasshead.report.documents.audits import claim_numbers
from planted_heads import tokenizer_of
from short_search import shorten_search
from small import WORDS, as_run, random_model, split

NAMES = ("negative", "positive", "mixed")


def drawn_texts(words, count, longest, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, size=n)) for n in rng.integers(4, longest, count)]


def setting_of(model, texts, classes):
    labels = [row % classes for row in range(len(texts))]
    return Setting(
        build_view(open_subject(as_run(model, texts, labels)), split(texts, labels, NAMES[:classes]))
    )


def divergence(own, other):
    other = np.maximum(other, 1e-12)
    mean = (own + other) / 2
    return (own * np.log(own / mean) + other * np.log(other / mean)).sum(axis=-1) / 2


def by_slsqp(own, polarity, bias, epsilon, starts=10):
    """The farthest weights of the simplex whose prediction stays within ε, from several random starts."""
    prediction, n, best = softmax(own @ polarity + bias), len(own), 0.0
    rng = np.random.default_rng(0)

    def left(x):
        return epsilon - np.abs(softmax(x @ polarity + bias) - prediction).sum() / 2

    constraints = [{"type": "eq", "fun": lambda x: x.sum() - 1}, {"type": "ineq", "fun": left}]
    for _ in range(starts):
        solved = minimize(
            lambda x: -divergence(own, x),
            rng.dirichlet(np.full(n, 0.3)),
            bounds=[(0, 1)] * n,
            constraints=constraints,
            method="SLSQP",
        )
        other = np.clip(solved.x, 0, None)
        other /= other.sum()
        if left(other) >= -1e-6:
            best = max(best, divergence(own, other))
    return best


def seeds(count):
    return np.arange(count) + 100


def test_of_three_classes_the_search_finds_what_slsqp_finds():
    texts = drawn_texts(WORDS, 8, 12, 3)
    setting = setting_of(random_model(classes=3), texts, 3)
    readout = setting.context.readout
    found = free_distances(setting, np.arange(len(texts)), seeds(len(texts)))
    expected = []
    for text, mask in enumerate(readout.mask.numpy()):
        own, polarity = (each[text].double().numpy()[mask] for each in (readout.weights, readout.polarity))
        expected.append(by_slsqp(own, polarity, readout.bias.double().numpy(), setting.search.epsilon))
    assert min(expected) > 0.1
    assert (found.distances["own"] >= np.array(expected) - 0.01).all()
    assert found.distances["own"].mean() >= np.mean(expected) - 0.002
    assert not found.exact
    assert (found.converged == 1).all()


@pytest.mark.parametrize("head_dim", [1, 2])
def test_of_a_query_of_one_or_two_numbers_what_is_found_is_what_a_grid_finds(head_dim):
    """A plain polar grid over all queries, which feasible ones lie on by chance alone."""
    texts = drawn_texts(WORDS, 6, 14, 0)
    setting = setting_of(random_model(score="additive", head_dim=head_dim), texts, 2)
    readout, every = setting.context.readout, torch.arange(len(texts))
    found = producible_distances(setting, every.numpy(), seeds(len(texts)))
    assert found.exact
    if head_dim == 1:
        directions = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
        sizes = torch.linspace(0, 200, 400_000, dtype=torch.float64)
    else:
        angles = torch.linspace(0, 2 * np.pi, 361, dtype=torch.float64)[:-1]
        directions = torch.stack([angles.cos(), angles.sin()], dim=1)
        sizes = torch.logspace(-1.5, 3.5, 800, dtype=torch.float64)
    best = np.zeros(len(texts))
    for places, keys in read_pooled_keys(setting.context, every):
        keys = in_units(keys.to(readout.scores), readout.mask[places]).double()
        for place, text in enumerate(places.tolist()):
            mask = readout.mask[text]
            own, polarity = readout.weights[text, mask].double(), readout.polarity[text, mask, 0].double()
            steps = directions @ keys[place, mask].T
            weights = (readout.scores[text, mask].double() + sizes[:, None, None] * steps).softmax(dim=-1)
            answer, answers = (torch.sigmoid(rows @ polarity + readout.bias[0]) for rows in (own, weights))
            change = (answers - answer).abs()
            feasible = weights[change <= setting.search.epsilon].numpy()
            best[text] = divergence(own.numpy(), feasible).max(initial=0.0)
    assert best.mean() > 0.1
    assert (found.distances["own"] >= best - 1e-6).all()
    assert (
        found.distances["own"] <= best + 0.05
    ).all()  # the grid meets the curve of feasible queries nearly


def small_bert(count=20):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=40, hidden_size=32, num_attention_heads=2, num_hidden_layers=2, intermediate_size=32,
        max_position_embeddings=32, num_labels=2, initializer_range=0.5,
        id2label=dict(enumerate(NAMES[:2])),
    )  # fmt: skip
    words = [f"w{number}" for number in range(30)]
    texts = drawn_texts(words, count, 10, 0)
    data = split(texts, [row % 2 for row in range(len(texts))])
    return hf.BertForSequenceClassification(config).eval(), data, tokenizer_of(words)


def audited():
    model, data, tokenizer = small_bert()
    return audit(model, data, tokenizer=tokenizer, audits=["adversarial"])


@pytest.fixture(scope="module")
def card():
    """Of one short search, which is not repeated with more starts."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_search(patch)
        return audited()


def by_lbfgs(adversary, starts, epsilon, fewer):
    """The largest distance that L-BFGS reaches under ever larger penalties, and back to what is feasible."""
    scale = float(np.log(2))

    def loss(flat, mu):
        at = torch.from_numpy(flat.astype(np.float32)).reshape(starts.shape).requires_grad_()
        with torch.enable_grad():
            weights = adversary.weights(at)
            change = adversary.setting.change(adversary.before, adversary.logits(weights))
            beyond = (change - 0.99 * epsilon).clamp_min(0)
            value = (mu * beyond.square() + beyond - adversary.distances(weights) / scale).sum()
            (slope,) = torch.autograd.grad(value, at)
        return float(value.detach()), slope.double().numpy().ravel()

    point = starts.double().numpy().ravel()
    for mu in (10.0, 1e3, 1e5):
        point = minimize(loss, point, (mu,), jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    with torch.no_grad():
        end = torch.from_numpy(point.astype(np.float32)).reshape(starts.shape)
        best = 0.0
        for share in np.linspace(1, 0.8, 41).tolist():
            weights = adversary.weights(fewer(end, share))
            change = adversary.setting.change(adversary.before, adversary.logits(weights))
            feasible = adversary.distances(weights)[change <= epsilon]
            best = max(best, float(feasible.max()) if len(feasible) else 0.0)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ForwardAdversary, ProducibleForward])
def test_in_a_bert_the_search_finds_what_lbfgs_finds_from_200_starts(kind):
    model, data, tokenizer = small_bert()
    context = build_view(open_subject(model, tokenizer), data)
    setting, texts = Setting(context), np.arange(3)
    generator = torch.Generator().manual_seed(0)
    ask = free_distances if kind is ForwardAdversary else producible_distances
    found = ask(setting, texts, seeds(len(texts))).distances["own"]
    expected = np.zeros(len(texts))
    for place, observed, passes, _ in forward_texts(setting, context.explanation.observation, texts):
        adversary = kind(setting, observed, passes, torch.zeros(200, dtype=torch.long))
        size = adversary.call.q.shape[-1] if kind is ProducibleForward else adversary.own.shape[1]
        starts = 2 * torch.randn(len(adversary.own), size, generator=generator)
        own = adversary.own.clamp_min(1e-12).log() if kind is ForwardAdversary else 0.0
        expected[place] = by_lbfgs(
            adversary, starts, setting.search.epsilon, lambda end, share, own=own: own + share * (end - own)
        )
    assert expected.min() > 0.3  # its last digits differ from CPU to CPU, and where it ends with them
    assert (found >= expected - 0.02).all()
    assert found.mean() >= expected.mean() - 0.005


@pytest.mark.slow
def test_a_bert_whose_heads_can_draw_other_maps_is_said_to_have_them():
    """Four starts of eighty steps found them for one text of eight."""
    model, data, tokenizer = small_bert()
    setting = Setting(build_view(open_subject(model, tokenizer), data))
    found = producible_distances(setting, np.arange(12), seeds(12))
    assert (found.distances["own"] >= 0.5 * setting.largest).mean() >= 0.9
    assert found.distances["own"].mean() > 0.95 * setting.largest
    assert found.converged.mean() > 0.3


@pytest.mark.slow
def test_what_a_search_found_is_a_lower_bound_without_an_interval(card, tmp_path):
    searched = [
        finding
        for finding in card.findings
        if finding.statistic in ("jsd", "found") and finding.group == "all"
    ]
    assert {finding.against for finding in searched} == {"free", "same-output", "producible"}
    for finding in searched:
        assert (finding.bound, finding.interval, finding.over_null) == ("lower", None, {})
        assert finding.limit <= finding.estimate
    for name in ("adversarial.flat.all", "adversarial.bound.same-output.all"):
        assert (card.finding(name).bound, card.finding(name).interval) == ("upper", None)
    assert card.facts["adversarial"]["free"].startswith("search; it converged for ")
    assert set(card.examples["adversarial.converged.free"]) <= {0.0, 1.0}
    assert min(card.examples["adversarial.starts.producible"]) >= 1
    card.save(tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text()
    assert "≥\u00a0" in page
    assert "lower bound" in page
    (claim,) = (one for one in card.conclusion.claims if one.finding == "adversarial.found.free.all")
    assert claim_numbers(card, claim).startswith("≥\u00a0")


def test_a_bar_under_a_bound_rests_on_what_was_found(card):
    lines = []
    finding = finding_for_threshold(card, "adversarial.found.free")
    assert check_threshold(finding, 0.1, lines.append)
    assert "the mean is at least" in lines[0]
    assert not check_threshold(finding, 1.1)
    with pytest.raises(InputError, match="upper bound"):
        finding_for_threshold(card, "adversarial.flat")


@pytest.mark.parametrize("gap", [0.1, 0.01, 0.001])
def test_keys_that_are_nearly_tied_are_told_apart_far_away(gap):
    """One number draws all weight to the third key only between queries that two nearly equal keys part."""
    from glasshead.audits.adversary.linear_adversary import ProducibleLinear
    from glasshead.audits.adversary.producible import by_plane

    model = random_model(0, score="additive", head_dim=1)
    setting = setting_of(model, ["the film was good", "a plot"], 2)
    readout = setting.context.readout
    n = readout.mask.shape[1]
    polarity, keys, scores = (torch.zeros(size) for size in ((1, n, 1), (1, n, 1), (1, n)))
    polarity[0, :4, 0] = torch.tensor([3.0, 0.0, 3.0, 0.0])
    keys[0, :4, 0] = torch.tensor([-1.2, 0.0, 1.0, 1.0 + gap])
    scores[0, 1] = 12.0
    readout = replace(readout, polarity=readout.polarity * 0, bias=readout.bias * 0, scores=readout.scores)
    readout.polarity[:1] = polarity.to(readout.polarity)
    one = torch.tensor([0])
    adversary = ProducibleLinear(setting, readout, one, scores.to(readout.scores), keys.to(readout.scores))
    found = by_plane(setting, adversary)[0]
    far = np.geomspace(1e-2, 1e6, 4001)
    weights = softmax(
        scores[0, :4].numpy() + np.concatenate([far, -far])[:, None] * keys[0, :4, 0].numpy(), axis=1
    )
    own = softmax(scores[0, :4].double().numpy())
    z = 1 / (1 + np.exp(-(np.concatenate([weights, own[None]]) @ polarity[0, :4, 0].numpy())))
    stay = weights[np.abs(z[:-1] - z[-1]) <= setting.search.epsilon]
    assert found == pytest.approx(max(divergence(own, row) for row in stay), abs=0.01)
