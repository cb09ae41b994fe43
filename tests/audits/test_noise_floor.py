"""Audits whose products are of halves: intervals hold what float32 says, and no verdict turns round."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from datasets import Dataset
from scipy import stats

import glasshead
from classifier_families import FAMILIES, labelled_data, planted
from glasshead.audits import judge
from glasshead.audits.judging.border import estimated
from glasshead.audits.judging.summary import StatSummary, floor_of
from glasshead.audits.measuring.noise_floor import FLOOR_INPUTS
from glasshead.errors import InputError
from glasshead.huggingface import half_weights
from glasshead.report.slice_tables import slice_tables
from glasshead.results import AuditCard, PairedDifference

pytestmark = pytest.mark.usefixtures("quiet")
AUDITS = ["agreement", "faithfulness", "performance", "perturbation"]


def decided(name="Bert"):
    """A model whose prediction rests on one token, and its tokenizer."""
    model, tokenizer = planted("funny") if name == "planted" else (
        FAMILIES[name].build(labels=2, id2label={0: "bad", 1: "good"}),
        FAMILIES[name].tokenizer(),
    )  # fmt: skip
    model.config.id2label = {0: "bad", 1: "good"}
    return model, tokenizer


def audited(name, dtype, **options):
    model, tokenizer = decided(name)
    options = {"audits": AUDITS, "draws": 4, "limit": 40} | options
    return glasshead.audit(model, labelled_data(60), tokenizer=tokenizer, dtype=dtype, **options)


def side(finding):
    """On which side of its null a finding lies, by the interval on which its verdict rests; 0: on neither."""
    sides = set()
    for null, pair in finding.over_null.items():
        if pair.interval is not None:
            sides.add((null, 1 if pair.interval[0] > 0 else -1 if pair.interval[1] < 0 else 0))
    return sides


def turned_round(fine, coarse):
    """Whether both findings are evidence, and say another thing where both lie on a side of a null."""
    if fine.status != "evidence" or coarse.status != "evidence" or fine.verdict == coarse.verdict:
        return False
    return any((null, -way) in side(coarse) for null, way in side(fine) if way)


@pytest.fixture(
    scope="module",
    params=[
        "planted",
        "Bert",
        pytest.param("GPT2", marks=pytest.mark.slow),
        pytest.param("T5", marks=pytest.mark.slow),
        pytest.param("Llama", marks=pytest.mark.slow),
        pytest.param("Deberta", marks=pytest.mark.slow),
    ],
)
def both(request):
    """The same audit in float32, and with products of bfloat16."""
    return audited(request.param, "float32"), audited(request.param, "bfloat16")


@pytest.mark.slow
def test_float32_lies_within_the_floor_and_no_verdict_turns_round(both):
    fine, coarse = both
    others = {finding.name: finding for finding in coarse.findings}
    assert list(others) == [finding.name for finding in fine.findings]
    held = []
    for finding in fine.findings:
        own = others[finding.name]
        assert not turned_round(finding, own), finding.name
        if finding.group == "all":
            pairs = [
                (finding, own),
                *((finding.over_null[null], own.over_null[null]) for null in own.over_null),
            ]
            held += [
                abs(one.estimate - other.estimate) <= other.floor
                for one, other in pairs
                if one.estimate is not None and other.floor is not None
            ]
    assert len(held) > 20
    assert np.mean(held) >= 0.95


def test_a_reversed_verdict_is_noticed(both):
    """The null of the test above: a finding on the other side of its null, in other words."""
    _, coarse = both
    finding = next(
        one for one in coarse.findings if one.status == "evidence" and any(w for _, w in side(one))
    )
    others = {
        null: replace(pair, interval=(-pair.interval[1], -pair.interval[0]))
        for null, pair in finding.over_null.items()
    }
    assert turned_round(replace(finding, over_null=others, verdict="the opposite"), finding)
    assert not turned_round(finding, finding)


def test_every_finding_says_how_large_a_change_could_be_seen(both):
    fine, coarse = both
    assert {finding.floor for finding in fine.findings} == {None}
    known = [finding for finding in coarse.findings if finding.interval is not None]
    assert known
    assert all(0 < finding.floor < math.inf for finding in known)
    note = coarse.facts["notes"][0]
    assert note.startswith(
        f"Matrix products are computed in bfloat16, all else in float32. {FLOOR_INPUTS} texts were also "
        "measured in float32, and the predictions of 40. "
    )
    assert "Deleting one token of 8 texts changes" in note
    assert coarse.facts["products"] == "bfloat16"
    assert "products" not in fine.facts


def test_the_fact_about_guessing_is_the_verdict(both):
    for card in both:
        finding = card.finding("performance.accuracy.all")
        assert tuple(card.facts["guessing"]["interval"]) == finding.over_null["majority"].interval


@pytest.mark.parametrize("audits", [["performance"], ["agreement"]])
def test_a_model_that_is_better_than_guessing_is_so_in_halves(audits):
    """Whether performance is among the audits or not."""
    model, tokenizer = planted("funny")
    texts = [f"a {'funny' if row % 3 else 'dull'} film of star {row}" for row in range(60)]
    fine = glasshead.explain(model, texts, tokenizer=tokenizer)
    labels = [int(one.predicted == model.config.id2label[1]) for one in fine]
    data = Dataset.from_dict({"text": texts, "label": labels})
    card = glasshead.audit(model, data, tokenizer=tokenizer, dtype="bfloat16", audits=audits)
    assert 0 < sum(labels) < 60
    assert card.facts["against_guessing"] == "better"
    finding = card.finding("performance.accuracy.all")
    assert (finding is None) == (audits == ["agreement"])
    assert finding is None or finding.verdict.startswith("better than")


def test_the_planted_token_is_found_in_halves():
    coarse = audited("planted", "bfloat16", audits=["faithfulness"])
    finding = coarse.finding("faithfulness.comprehensiveness.all")
    assert finding.status == "evidence"
    assert finding.over_null["random"].interval[0] > 0


@pytest.mark.slow
def test_where_products_are_exact_the_floor_is_what_a_sample_leaves_open(monkeypatch):
    """The null: nothing is rounded, so halves say what float32 says."""
    monkeypatch.setattr(half_weights, "PRODUCT_NAMES", set())
    monkeypatch.setattr(half_weights, "is_plain", lambda weight: False)
    fine, same = (audited("Bert", dtype, audits=["agreement"]) for dtype in ("float32", "bfloat16"))
    for one, other in zip(fine.findings, same.findings, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-9, nan_ok=True)
        if other.interval is not None:
            assert other.floor >= 1 - 0.025 ** (1 / FLOOR_INPUTS) - 1e-9


def test_a_floor_is_the_shift_that_inputs_allow():
    shifts = [0.01, 0.03, 0.02]
    spread = np.std(shifts, ddof=1) / math.sqrt(3)
    for level in (0.95, 0.995):
        quantile = stats.t.ppf((1 + level) / 2, 2)
        assert floor_of(shifts, level, 1.0) == pytest.approx(0.02 + quantile * spread)
    assert floor_of(shifts[:2], 0.95, 1.0) is None


@pytest.mark.parametrize(("changed", "n"), [(0, 16), (1, 16), (3, 16), (0, 200)])
def test_of_few_changes_a_floor_is_exact(changed, n):
    """Clopper and Pearson's upper end, by SciPy; changes of both signs must not cancel."""
    shifts = [(-1.0) ** place for place in range(changed)] + [0.0] * (n - changed)
    exact = stats.binomtest(changed, n).proportion_ci(0.95, "exact").high
    assert floor_of(shifts, 0.95, 1.0) >= exact - 1e-12
    assert changed > 1 or floor_of(shifts, 0.95, 1.0) == pytest.approx(exact)
    assert floor_of([0.0] * n, 0.95, math.inf) is None


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_a_floor_of_counts_holds_at_any_rate_of_changes(rate):
    rng = np.random.default_rng(0)
    samples = rng.random((400, 16)) < rate
    held = [floor_of(row.astype(float).tolist(), 0.95, 1.0) >= rate for row in samples]
    assert np.mean(held) >= 0.93


def test_the_floor_of_a_root_bounds_its_shift():
    """√mean e² moves by at most √mean δ², in its own unit."""
    rng = np.random.default_rng(0)
    errors = rng.normal(size=4000)
    for noise in (0.01, 0.3):
        moved = np.abs(errors) - np.abs(errors + noise * rng.normal(size=4000))
        other = np.sqrt(np.mean((np.abs(errors) - moved) ** 2))
        floor = floor_of(moved[:16].tolist(), 0.95, math.inf, rooted=True)
        assert abs(np.sqrt(np.mean(errors**2)) - other) <= floor <= 3 * noise


def test_intervals_are_wider_by_the_floor_within_what_is_possible():
    pair = PairedDifference(0.1, (0.05, 0.15), 30)
    summary = StatSummary(0.9, 0.1, (0.85, 0.95), {}, 30, {"random": pair})
    wide = summary.above(0.1, {"random": 0.02}, (0.0, 1.0))
    assert wide.interval == pytest.approx((0.75, 1.0))
    assert wide.over_null["random"].interval == pytest.approx((0.03, 0.17))
    assert wide.floor == 0.1
    unknown = summary.above(None, {}, (0.0, 1.0))
    assert unknown.interval is None
    assert unknown.over_null["random"].interval is None


def test_more_inputs_do_not_narrow_the_noise():
    pair = PairedDifference(0.1, (-0.1, 0.3), 30, floor=0.05)
    assert estimated(pair, 0.95).ends(1e12) == pytest.approx((0.05, 0.15), abs=1e-6)
    assert estimated(replace(pair, floor=None), 0.95).ends(1e12) == pytest.approx((0.1, 0.1), abs=1e-6)


@pytest.mark.slow
def test_it_is_judged_again_with_the_same_floors(tmp_path):
    model, tokenizer = decided()
    out = tmp_path / "audit"
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    labelled_data(60).to_csv(tmp_path / "data.csv")
    from typer.testing import CliRunner

    from glasshead.cli.app import app

    asked = [
        "audit",
        tmp_path / "model",
        tmp_path / "data.csv",
        "--dtype",
        "bfloat16",
        "--audits",
        "agreement",
    ]
    result = CliRunner().invoke(app, [*map(str, asked), "--limit", "24", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "Noise floor: " in result.output
    written = AuditCard.load(out)
    assert [one.floor for one in judge(out).findings] == [one.floor for one in written.findings]
    assert [one.interval for one in judge(out).findings] == [one.interval for one in written.findings]
    finer = judge(out, level=0.999)
    pairs = list(zip(written.findings, finer.findings, strict=True))
    assert any(one.floor is not None for one, _ in pairs)
    assert all(one.floor is None or other.floor > one.floor for one, other in pairs)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "noise floor" in page


@pytest.mark.parametrize("name", ["adversarial", "identifiability"])
def test_what_needs_finer_numbers_says_so(name):
    with pytest.raises(InputError, match=r"half precision|too coarse"):
        audited("Bert", "float16", audits=[name])


@pytest.mark.slow
def test_a_comparison_is_wider_by_the_floors_of_both():
    """Of two audits in float32 the difference of a model from itself is exactly nothing."""
    fine, coarse = (audited("Bert", dtype, audits=["agreement"]) for dtype in ("float32", "bfloat16"))
    comparison = glasshead.compare(fine, coarse)
    floors = {finding.name: finding.floor for finding in coarse.findings}
    known = [one for one in comparison.differences if one.interval is not None and floors[one.name]]
    assert known
    for one in known:
        assert one.interval[1] - one.interval[0] >= min(floors[one.name], 1.0)
        assert one.interval[0] <= 0 <= one.interval[1]


@pytest.mark.slow
def test_a_comparison_without_a_floor_has_no_interval():
    card = audited("Bert", "bfloat16", audits=["agreement"])
    unknown = replace(card, findings=[replace(one, floor=None) for one in card.findings])
    comparison = glasshead.compare(card, unknown)
    assert comparison.differences
    assert all(one.interval is None for one in comparison.differences)


@pytest.fixture(scope="module")
def rated():
    """A rating model whose products are of halves, and in float32."""
    model, tokenizer = FAMILIES["Bert"].build(labels=1), FAMILIES["Bert"].tokenizer()
    texts = labelled_data(60)["text"]
    data = Dataset.from_dict({"text": texts, "label": np.random.default_rng(0).normal(size=60).tolist()})
    options = {"tokenizer": tokenizer, "audits": ["performance"]}
    return [glasshead.audit(model, data, dtype=dtype, **options) for dtype in ("float32", "bfloat16")]


@pytest.mark.slow
def test_the_floor_of_a_root_mean_squared_error_is_in_its_own_unit(rated):
    fine, coarse = (card.finding("performance.rmse.all") for card in rated)
    assert 0 < coarse.floor < 0.05
    assert abs(fine.estimate - coarse.estimate) <= coarse.floor
    wider = [fine.interval[0] - coarse.interval[0], coarse.interval[1] - fine.interval[1]]
    assert wider == pytest.approx([coarse.floor] * 2, rel=0.3)
    own, exact = coarse.over_null["mean"], fine.over_null["mean"]
    assert own.floor == pytest.approx(coarse.floor, rel=0.3)
    wider = [exact.interval[0] - own.interval[0], own.interval[1] - exact.interval[1]]
    assert wider == pytest.approx([own.floor] * 2, rel=0.3)


def test_a_difference_of_root_mean_squared_errors_is_wider_by_the_floor(rated):
    fine, coarse = rated
    differences = {one.name: one for one in glasshead.compare(fine, coarse).differences}
    low, high = differences["performance.rmse.all"].interval
    assert high - low >= 2 * coarse.finding("performance.rmse.all").floor


@pytest.mark.slow
def test_slices_are_not_tested_against_each_other_in_halves():
    fine, coarse = (
        audited("Bert", dtype, audits=["agreement"], by=["length"]) for dtype in ("float32", "bfloat16")
    )
    assert fine.slice_tests
    assert coarse.slice_tests == []
    assert "Slices use the floors of all texts, and are not tested" in coarse.facts["notes"][0]
    (table,) = slice_tables(coarse)
    assert table.summary == "Slices are not tested against each other if products are in bfloat16."


@pytest.mark.slow
def test_what_has_no_floor_in_halves_has_no_interval_and_what_reads_float32_keeps_its_own():
    audits = ["tokens", "identifiability"]
    fine, coarse = (
        audited("Bert", dtype, audits=audits, train=labelled_data(60), limit=24)
        for dtype in ("float32", "bfloat16")
    )
    for one, other in zip(fine.findings, coarse.findings, strict=True):
        if one.statistic in ("separation", "sign"):
            assert other.interval is None
            assert other.verdict.startswith(one.verdict if one.status == "not evidence" else "undecided")
        elif one.audit == "identifiability":
            assert (other.interval, other.floor) == (one.interval, None)
    differences = {one.name: one for one in glasshead.compare(fine, coarse).differences}
    assert differences["identifiability.identifiable.all"].interval is not None


@pytest.mark.slow
def test_an_overflow_of_the_last_text_alone_is_refused():
    model, tokenizer = decided()
    texts = ["a good film", "bad film", "a dull film"] * 8 + ["a funny film of one star"]
    with torch.no_grad():
        sizes = [model(**tokenizer(text, return_tensors="pt")).logits.abs().max() for text in texts]
        assert sizes[-1] > max(sizes[:-1])
        for weight in model.classifier.parameters():
            weight.mul_(2 * 65504 / (sizes[-1] + max(sizes[:-1])))
    data = Dataset.from_dict({"text": texts, "label": [row % 2 for row in range(len(texts))]})
    options = {"tokenizer": tokenizer, "audits": ["performance"]}
    with pytest.raises(InputError, match="the model overflows in float16"):
        glasshead.audit(model, data, dtype="float16", **options)
    assert glasshead.audit(model, data, dtype="bfloat16", **options).findings
