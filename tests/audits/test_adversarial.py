"""The audit `adversarial` on models whose truth is known, and on what it cannot be asked of."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from classifier_families import FAMILIES, labelled_data
from glasshead import nouns
from glasshead.audits import AUDITS, audit, build_view
from glasshead.audits.adversarial import Adversarial
from glasshead.audits.adversary import (
    Judgement,
    Search,
    Setting,
    free_distances,
    producible_distances,
    same_output_distances,
)
from glasshead.audits.adversary.climb import Climb
from glasshead.audits.adversary.free import (
    FreeStarts,
    bases_of,
    exact_distances,
    search_forward,
    search_linear,
)
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.weight_families import WEIGHT_FAMILIES, two_token_parameters
from glasshead.audits.judging.slices import Group
from glasshead.errors import InputError
from glasshead.explainers.forward_observation import observe_by_forward
from glasshead.opening import open_subject
from glasshead.training import train
from kinds import data, recipe
from planted_decoration import decorated_texts, decoration
from planted_heads import DECIDES, IDLE, as_data
from planted_heads import planted_model as heads_model
from planted_heads import planted_texts as heads_texts
from small import TEXTS, WORDS, as_run, planted_model, planted_texts, random_model, split, tokenizer

COUNTS = pytest.mark.parametrize(
    "counts",
    [pytest.param((20, 20), id="balanced", marks=pytest.mark.slow), pytest.param((36, 4), id="9 to 1")],
)
AUDIT = ["adversarial"]


def card_of(model, texts, labels, audits=AUDIT):
    return audit(as_run(model, texts, labels), split(texts, labels), audits=audits)


@pytest.mark.usefixtures("short_search")
@COUNTS
def test_where_the_weights_decide_no_map_is_far_and_shuffled_ones_change_the_prediction(counts):
    texts, labels = planted_texts(counts=counts)
    model = planted_model("softmax")
    with torch.no_grad():
        model.classifier.weight.fill_(2.0)  # a prediction far from 1, where nothing could change it
    card = card_of(model, texts, labels, ["adversarial", "perturbation"])
    found = card.finding("adversarial.found.free.all")
    assert (found.estimate, found.bound) == (0.0, "")  # two classes: exact
    assert found.verdict == "a very different map exists for hardly any text"
    assert found.null["uniform"] > 0.5  # of uniform weights there are such maps
    # A number per token, 0 of most: any weights have others with the same output.
    same, drawn = (card.finding(f"adversarial.jsd.{kind}.all").null for kind in ("same-output", "producible"))
    assert set(same) == set(drawn) == {"random", "uniform"}
    assert min(same["uniform"], drawn["uniform"]) > 0.1
    assert card.finding("adversarial.jsd.free.all").interval[1] < 0.1 * np.log(2)
    assert card.finding("perturbation.permutation.absolute.all").interval[0] > 0.2


@pytest.mark.usefixtures("short_search")
@COUNTS
def test_where_the_weights_are_decoration_there_is_another_map_for_every_text(counts):
    texts, labels = decorated_texts(counts)
    card = card_of(decoration(), texts, labels, ["adversarial", "perturbation"])
    found = card.finding("adversarial.found.free.all")
    flat = card.finding("adversarial.flat.all")
    assert found.n + found.undefined.get("flat prediction", 0) == len(texts)
    assert found.interval[0] > 0.6
    assert flat.estimate == pytest.approx(found.undefined.get("flat prediction", 0) / len(texts))
    assert card.finding("perturbation.permutation.absolute.all").interval[1] < 0.05


@pytest.mark.usefixtures("short_search")
@pytest.mark.slow
def test_flat_predictions_and_single_tokens_are_undecided_with_the_reason():
    model = decoration()
    with torch.no_grad():
        model.pooling.value.weight.sign_()
    texts, labels = decorated_texts((20, 20))
    texts[0], texts[1] = WORDS[0], ""
    card = card_of(model, texts, labels)
    finding = card.finding("adversarial.jsd.free.all")
    assert (finding.n, finding.undefined) == (0, {"one token": 2, "flat prediction": 38})
    assert finding.status == "undecided"
    flat = card.finding("adversarial.flat.all")
    assert (flat.estimate, flat.n) == (1.0, 38)
    assert flat.verdict == "nearly every prediction stays within 0.01 under all weights"


@pytest.mark.usefixtures("short_search")
def test_one_token_that_decides_among_many_is_no_flat_prediction():
    """Three classes, so that there is a search: uniform attention, and one word of many that has a value."""
    model = random_model(classes=3)
    ids = tokenizer().convert_tokens_to_ids(["good", "bad"])
    with torch.no_grad():
        for parameter in model.pooling.score.parameters():
            parameter.zero_()
        model.embedding.weight.mul_(0.0)
        model.embedding.weight[ids] = torch.eye(model.config.embedding_size)[:2] * 40
    rng = np.random.default_rng(0)
    texts = [" ".join([*rng.choice(WORDS[2:], size=50), ("good", "bad")[row % 2]]) for row in range(6)]
    labels = [row % 3 for row in range(6)]
    card = audit(
        as_run(model, texts, labels), split(texts, labels, ("negative", "positive", "mixed")), audits=AUDIT
    )
    assert card.finding("adversarial.flat.all").estimate == 0.0
    assert card.finding("adversarial.found.free.all").n == 6


def exact_setting(model, texts):
    labels = [row % 2 for row in range(len(texts))]
    context = build_view(open_subject(as_run(model, texts, labels)), split(texts, labels))
    return Setting(context)


def seeds(count):
    return np.arange(count) + 10


@pytest.mark.parametrize("activation", ["softmax", pytest.param("tanhmax", marks=pytest.mark.slow)])
def test_climbs_reach_95_percent_of_the_exact_distance(activation):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=n)) for n in rng.integers(3, 20, 16)]
    setting = exact_setting(random_model(activation=activation), texts)
    readout, every = setting.context.readout, np.arange(len(texts))
    bases = bases_of(readout, every, seeds(len(texts)))
    exact = exact_distances(setting, readout, bases, every)
    reached = search_linear(setting, readout, bases, every, seeds(len(texts)))
    assert (reached.converged == 1).mean() > 0.7
    for base, distances in exact.distances.items():
        assert (reached.distances[base] <= distances + 1e-6).all()
        # The first start is the exact answer; a climb keeps away from the end of what is allowed.
        assert reached.distances[base].mean() >= 0.998 * distances.mean()
    adversary, starts = random_climbs(setting, 8)
    climbs = Climb(setting)(adversary, starts)
    found = climbs.distances.reshape(8, len(every)).amax(dim=0).numpy()
    assert (found <= exact.distances["own"] + 1e-6).all()
    assert found.mean() >= 0.95 * exact.distances["own"].mean()


def random_climbs(setting, times):
    """An adversary with variants of every text, and random parameters."""
    readout = setting.context.readout
    every = torch.arange(len(readout.mask)).repeat(times)
    adversary = LinearAdversary(setting, readout, every, readout.weights[every])
    starts = FreeStarts(setting, [(0, text) for text in range(len(readout.mask))])
    numbers = torch.arange(times).repeat_interleave(len(readout.mask))
    return adversary, starts(adversary, every, 2 * numbers + 2)


@pytest.mark.parametrize("classes", [2, 4])
def test_every_map_that_a_climb_returns_is_feasible(classes):
    setting = exact_setting(random_model(classes=classes), [text for text in TEXTS if text][:5])
    adversary, starts = random_climbs(setting, 2)
    climbs = Climb(setting)(adversary, starts)
    changes = setting.change(adversary.before, adversary.logits(climbs.weights))
    assert (changes <= setting.search.epsilon + 1e-12).all()
    assert (climbs.weights >= 0).all()
    np.testing.assert_allclose(climbs.weights.sum(dim=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(adversary.distances(climbs.weights), climbs.distances, atol=1e-9)
    assert (climbs.distances > 0.01).any()


@pytest.mark.parametrize("domain", list(WEIGHT_FAMILIES))
def test_families_stay_in_their_domain_and_come_near_its_corners(domain):
    mask = torch.tensor([[True, True, True, False], [True, False, False, False]])
    noise = torch.rand(2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    starts = two_token_parameters(mask, noise, noise < 0.5, domain)
    for parameters in (starts, 30 * starts, torch.zeros(2, 4)):
        weights = WEIGHT_FAMILIES[domain](parameters, mask)
        assert (weights[~mask] == 0).all()
        total = weights.abs().sum(dim=1)
        assert (total <= 1 + 1e-6).all()
        if domain != "cross":
            assert (weights >= 0).all()
        if domain == "simplex":
            np.testing.assert_allclose(total, 1.0, atol=1e-6)
    assert WEIGHT_FAMILIES[domain](30 * starts, mask).abs().amax() > 0.99


@pytest.mark.parametrize("activation", ["relu", "dot-product"])
def test_weights_without_bounds_are_refused(activation):
    texts, labels = planted_texts(20)
    with pytest.raises(InputError, match="they have no bounds"):
        card_of(random_model(activation=activation), texts, labels)


@pytest.mark.parametrize("options", [{"epsilon": 0.0}, {"epsilon": 1.5}, {"texts": 0}, {"pass_texts": 0}])
def test_settings_without_a_meaning_are_refused(options):
    with pytest.raises(InputError):
        Adversarial(**options)


@pytest.mark.usefixtures("short_search")
@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers():
    texts, labels = planted_texts(20)
    cards = [card_of(random_model(classes=2), texts, labels) for _ in range(2)]
    one, other = ([(f.name, f.estimate, f.interval) for f in card.findings] for card in cards)
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize(("head", "found", "flat"), [(DECIDES, 0.0, 0.0), (IDLE, None, 1.0)])
@pytest.mark.usefixtures("short_search")
def test_a_head_that_decides_has_no_other_map_and_one_that_nobody_reads_has_all(head, found, flat):
    words = ["good", "bad", *(f"w{number}" for number in range(20))]
    model, tokens = heads_model(words)
    card = audit(
        model,
        as_data(heads_texts(words, 6)),
        tokenizer=tokens,
        audits=AUDIT,
        layer=0,
        head=head,
    )
    bound = card.finding("adversarial.flat.all")
    assert (bound.estimate, bound.bound) == (flat, "upper")
    finding = card.finding("adversarial.found.free.all")
    if found is None:
        assert (finding.n, finding.undefined) == (0, {"flat prediction": 6})
    else:
        assert (finding.estimate, finding.bound, finding.interval) == (found, "lower", None)
        assert finding.null["random"] > 0.9


@pytest.mark.slow
def test_the_search_by_passes_finds_what_that_in_a_readout_finds(tmp_path):
    """A learned query is linear in its weights; as a model that is run again it must give the same."""
    run = train(data("encoder"), recipe("encoder"), tmp_path / "run")
    context = build_view(open_subject(run), data("encoder")["test"])
    setting, every = Setting(context, Search(starts=4, waves=2)), np.arange(3)
    linear = free_distances(setting, every, seeds(3))
    explanation = context.explanation
    observed = observe_by_forward(
        explanation.model, explanation.encoded, explanation.site, explanation.rows, explanation.logits
    )
    by_passes = search_forward(setting, observed, every, seeds(3))
    np.testing.assert_array_equal(linear.flat, by_passes.flat)
    for base in ("own", "uniform"):
        np.testing.assert_allclose(by_passes.distances[base], linear.distances[base], rtol=0.1)


def distances_of(ask, setting, texts, seeds):
    found = ask(setting, np.array(texts), np.array(seeds))
    found = found[0] if isinstance(found, tuple) else found
    return {base: dict(zip(texts, values, strict=True)) for base, values in found.distances.items()}


def check_rows(ask, setting, count, tolerance):
    """Texts alone, in reversed order and among others."""
    all_seeds = seeds(count)
    every = distances_of(ask, setting, range(count), all_seeds)
    for texts in (range(count)[::-1], [1], [0, 3]):
        some = distances_of(ask, setting, list(texts), all_seeds[list(texts)])
        for base, values in some.items():
            for text, value in values.items():
                assert value == pytest.approx(every[base][text], abs=tolerance), (base, text)


@pytest.mark.parametrize("ask", [free_distances, producible_distances, same_output_distances])
def test_no_text_changes_what_is_found_of_another(ask):
    """In a readout, in float64, where all texts climb together."""
    texts = [" ".join(np.random.default_rng(n).choice(WORDS, size=n)) for n in (3, 5, 4, 9)]
    setting = exact_setting(random_model(classes=3, score="additive"), texts)
    check_rows(ask, replace(setting, search=Search(starts=2, passes=60, waves=1)), 4, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("ask", [free_distances, producible_distances])
def test_no_text_changes_what_is_found_of_another_by_passes(ask):
    family = FAMILIES["Bert"]
    model, data = family.build(labels=2, id2label={0: "bad", 1: "good"}), labelled_data(4)
    setting = Setting(build_view(open_subject(model, family.tokenizer()), data))
    check_rows(ask, replace(setting, search=Search(starts=2, passes=10, waves=1)), 4, 1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("short_search")
def test_a_model_that_shows_no_values_is_asked_what_it_can_be_asked():
    family = FAMILIES["DebertaV2"]
    model, data = family.build(labels=2, id2label={0: "bad", 1: "good"}), labelled_data(6)
    card = audit(model, data, audits=AUDIT, tokenizer=family.tokenizer())
    assert set(card.facts["adversarial"]["left_out"]) == {"same-output", "producible"}
    assert {finding.against for finding in card.findings} == {"free", ""}


@pytest.mark.slow
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("kind", ["pair-encoder", "hierarchical", "ratings", "pooled ratings"])
def test_every_kind_of_classifier_is_asked(kind, tmp_path):
    run = train(data(kind), recipe(kind).with_changes(epochs=1), tmp_path / "run")
    card = audit(run, data(kind), audits=AUDIT, limit=8)
    finding = card.finding("adversarial.jsd.free.all")
    left_out = finding.undefined.get("flat prediction", 0) + finding.undefined.get("one token", 0)
    assert finding.n + left_out == 8
    same = card.finding("adversarial.jsd.same-output.all")
    assert same.estimate <= card.finding("adversarial.bound.same-output.all").estimate + 1e-9
    assert "producible" in card.facts["adversarial"] or "producible" in card.facts["adversarial"]["left_out"]


@pytest.mark.parametrize("exact", [True, False])
def test_what_a_search_did_not_find_is_never_said_not_to_exist(exact):
    """Judged from numbers and facts alone."""
    count = 60
    numbers = {"jsd": 0.01, "converged": 1.0, "starts": 8.0}
    columns = {f"adversarial.{name}.free": np.full(count, value) for name, value in numbers.items()}
    columns |= {name: np.zeros(count) for name in ("adversarial.one", "adversarial.flat")}
    columns["adversarial.converged.free"][:3] = 0.0
    facts = {"epsilon": 0.01, "distance": "jsd", "largest": np.log(2), "exact": ["free"] if exact else []}
    groups = [Group("all", np.ones(count, dtype=bool))]
    judgement = Judgement(
        columns, facts, groups, nouns.TEXTS, np.random.default_rng(0), AUDITS["adversarial"]
    )
    found = {finding.name: finding for finding in judgement.findings()}["adversarial.found.free.all"]
    summary = judgement.summary()["free"]
    if exact:
        assert found.verdict == "a very different map exists for hardly any text"
        assert (found.bound, summary) == ("", "exact")
    else:
        assert "there may be more" in found.verdict
        assert (found.bound, found.interval) == ("lower", None)
        assert summary == "search; it converged for 57 of 60 texts, from 8 to 8 starts each"
