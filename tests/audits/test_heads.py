"""What heads are found to do, where it was built into them."""

import json

import numpy as np
import pytest
import torch

import glasshead
import planted_heads
import readable
from classifier_families import FAMILIES, labelled_data
from glasshead.errors import InputError
from model_state import model_state
from planted_heads import DECIDES, IDLE, ITSELF, NEXT, PREVIOUS, SAME, SEPARATOR, UNIFORM

WORDS = ["a", "b", "c", "d", "e", "good", "bad"]


@pytest.fixture(scope="module")
def report():
    model, tokenizer = planted_heads.planted_model(WORDS)
    texts = planted_heads.planted_texts(WORDS, 40)
    return glasshead.heads(
        model, planted_heads.as_data(texts), tokenizer=tokenizer, limit=30, dtype="float32"
    )


def share(report, head, statistic, against=""):
    return report.head(0, head).finding(statistic, against)


@pytest.mark.slow
def test_heads_are_named_for_what_they_were_built_to_look_at(report):
    patterns = [head.pattern for head in report.heads]
    expected = {
        PREVIOUS: "previous token",
        NEXT: "next token",
        ITSELF: "itself",
        SAME: "same token elsewhere",
        SEPARATOR: "[SEP]",
        UNIFORM: "uniform",
        DECIDES: "",
        IDLE: "",
    }
    assert {number: patterns[number] for number in expected} == expected


def test_shares_and_their_nulls(report):
    previous = share(report, PREVIOUS, "previous")
    assert previous.estimate == pytest.approx(1.0, abs=1e-4)
    assert previous.null["uniform"] == pytest.approx(1 / 12)  # ten words, [CLS] and [SEP]
    assert previous.over_null["uniform"].interval[0] > 0.9
    assert previous.n == 30
    assert share(report, PREVIOUS, "next").estimate < 0.02  # the first row looks at all alike
    assert share(report, UNIFORM, "entropy").estimate == pytest.approx(1.0)
    assert share(report, UNIFORM, "effective-tokens").estimate == pytest.approx(12.0, rel=1e-4)
    assert share(report, UNIFORM, "score-sd").estimate == pytest.approx(0.0, abs=1e-4)
    assert share(report, SEPARATOR, "effective-tokens").estimate == pytest.approx(1.0, abs=1e-3)


def test_random_weights_stand_beside_what_is_measured_of_every_head(report):
    """Random weights look at all tokens nearly alike; heads that were built do not, but for one."""
    for head in report.heads:
        for name in ("previous", "entropy", "effective-tokens", "score-sd", "gradient-importance"):
            assert "random weights" in head.finding(name).null, name
    entropy = share(report, PREVIOUS, "entropy")
    assert entropy.null["random weights"] > 0.95
    assert entropy.over_null["random weights"].interval[1] < -0.5
    assert share(report, UNIFORM, "entropy").over_null["random weights"].interval[0] > 0
    assert share(report, NEXT, "next").null["random weights"] == pytest.approx(1 / 12, abs=0.02)
    assert any(
        "7 of 8 heads look at fewer tokens than any head of 3 models" in one for one in report.conclusion
    )


def test_distance_profiles(report):
    for head, distance in ((PREVIOUS, -1), (ITSELF, 0), (NEXT, 1)):
        one = report.head(0, head)
        assert np.argmax(one.distance) == one.reach + distance
        assert sum(one.distance) == pytest.approx(1.0, abs=1e-3)


def test_a_head_that_nobody_reads_has_no_importance_and_the_one_that_decides_has_most(report):
    for statistic in ("removal", "removal-size", "gradient-importance"):
        values = [head.finding(statistic).estimate for head in report.heads]
        assert np.argmax(np.abs(values)) == DECIDES
        assert values[IDLE] == pytest.approx(0.0, abs=1e-6)
        assert values[DECIDES] > 0.1
    assert any(f"most without head 0-{DECIDES}" in sentence for sentence in report.conclusion)


def test_heads_that_are_built_alike_agree(report):
    agreement = report.agreement
    assert agreement.divergence[DECIDES, IDLE] == pytest.approx(0.0, abs=1e-4)
    assert agreement.divergence[PREVIOUS, SEPARATOR] > 0.7
    np.testing.assert_allclose(agreement.divergence, agreement.divergence.T)
    np.testing.assert_allclose(np.diag(agreement.divergence), 0.0, atol=1e-6)


def test_heads_are_held_against_unrelated_maps(report):
    """Rows with one key each at random places of twelve share it in one row of twelve; uniform rows say
    nothing about who is alike."""
    agreement = report.agreement
    assert agreement.null[PREVIOUS, SEPARATOR] == pytest.approx(11 / 12, abs=0.05)
    assert agreement.further[PREVIOUS, ITSELF]  # the previous token is never the token itself
    assert not (agreement.closer | agreement.further)[UNIFORM, UNIFORM]
    assert agreement.divergence[UNIFORM, NEXT] == pytest.approx(agreement.null[UNIFORM, NEXT], abs=1e-3)
    alike, *others = [pair for pair in agreement.pairs() if agreement.closer[pair]]
    assert alike == (DECIDES, IDLE)
    for pair in others:  # of eight rows they share one, where chance shares two thirds of one
        assert agreement.divergence[pair] == pytest.approx(agreement.null[pair], abs=0.1)
    low, high = agreement.interval
    pairs = tuple(np.triu_indices(len(low), k=1))
    assert (low[pairs] <= agreement.divergence[pairs] + 1e-6).all()
    assert (agreement.divergence[pairs] <= high[pairs] + 1e-6).all()
    (whole,) = [one for one in report.findings if one.statistic == "pair-divergence"]
    assert whole.estimate == pytest.approx(agreement.divergence[pairs].mean(), abs=1e-5)
    assert whole.null["unrelated maps"] == pytest.approx(agreement.null[pairs].mean(), abs=1e-5)
    assert whole.n == 30


def test_gradients_disagree_with_attention_to_the_separator(report):
    """One of eight heads looks at [SEP]; what decides does not."""
    (layer,) = report.layers
    found = {(one.statistic, one.against): one for one in layer.findings}
    assert found["relevance-share", "[SEP]"].estimate < 0.01
    assert found["inflation", "[SEP]"].interval[0] > 0.1
    assert found["joining", "special tokens"].estimate == pytest.approx(0.0, abs=1e-6)  # nothing is split


def test_maps_of_texts(report):
    first = report.texts[0]
    assert first.tokens[0] == "[CLS]"
    assert first.weights[0].shape == (8, 12, 12)
    np.testing.assert_allclose(np.diag(first.weights[0][PREVIOUS], k=-1), 1.0, atol=1e-4)
    q, k = first.query_vectors[0][NEXT], first.key_vectors[0][NEXT]
    assert (q @ k.T)[3].argmax() == 4
    assert json.loads(report.to_json())["heads"][PREVIOUS]["pattern"] == "previous token"


def test_few_texts_decide_nothing():
    model, tokenizer = planted_heads.planted_model(WORDS)
    texts = planted_heads.planted_texts(WORDS, 6)
    report = glasshead.heads(model, planted_heads.as_data(texts), tokenizer=tokenizer, dtype="float32")
    assert all(head.pattern == "" for head in report.heads)
    assert report.head(0, PREVIOUS).finding("previous").status == "undecided"


FEW = ("Bart", "MPNet")


@pytest.mark.parametrize(
    "name",
    [
        *FEW,
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in FAMILIES
            if name not in (*FEW, "XLNet", "Longformer", "Yoso")
        ),
    ],
)
def test_families_that_others_made(name):
    model, tokenizer = (
        FAMILIES[name].build(labels=2, id2label={0: "bad", 1: "good"}),
        FAMILIES[name].tokenizer(),
    )
    before = model_state(model, tokenizer)
    report = glasshead.heads(model, labelled_data(4), tokenizer=tokenizer, dtype="float32")
    assert model_state(model, tokenizer) == before
    assert len(report.heads) == sum(layer.num_heads for layer in report.layers)
    kinds = {layer.kind for layer in report.layers}
    assert kinds == {"Bart": {"encoder", "causal", "cross"}, "GPT2": {"causal"}}.get(name, kinds)
    for head in report.heads:
        assert head.finding("entropy").estimate <= 1 + 1e-6
        assert np.isfinite(head.finding("removal-size").estimate)
        assert np.isfinite(head.finding("gradient-importance").estimate)
        assert (head.finding("identifiable") is None) == ("values" in FAMILIES[name].lacks)
    for layer, weights in report.texts[0].weights.items():
        size = len(report.texts[0].tokens)
        assert weights.shape[1:] == (size, size)
        np.testing.assert_allclose(np.nansum(weights, axis=-1), 1.0, atol=1e-4, err_msg=f"layer {layer}")


@pytest.mark.parametrize(
    "name",
    [
        "pooled",
        "pair-encoder",
        "cross-encoder",
        "hierarchical",
        "encoder first",
    ],
)
def test_our_own_models(name):
    kind = readable.KINDS[name]()
    labels = [0, 1] * (len(kind.texts) // 2)
    report = glasshead.heads(readable.as_run(kind, labels), readable.data(kind, labels))
    assert report.heads
    for head in report.heads:
        entropy = head.finding("entropy")
        assert entropy.n > 0
        assert 0 <= entropy.estimate <= 1 + 1e-9
    if name == "pooled":
        assert [layer.kind for layer in report.layers] == ["pooled"]
        assert any("one learned query" in remark for remark in report.remarks)
        assert report.heads[0].finding("previous") is None
    between = any("between sentences are left out" in remark for remark in report.remarks)
    assert between == (name == "hierarchical")
    if name == "encoder first":  # TanhMax
        assert any("have signs" in remark for remark in report.remarks)
    if name == "pair-encoder":
        (first, *_) = report.texts
        assert set(first.sides) == {0, 1}
        across = first.weights[0][:, np.array(first.sides) == 0][:, :, np.array(first.sides) == 1]
        assert np.isnan(across).all()
    if name == "cross-encoder":
        (first, *_) = report.texts
        sides = np.array(first.sides)
        assert (first.weights[0][:, sides == 0][:, :, sides == 1] > 0).all()


def test_an_encoder_without_a_classifier_is_read_without_predictions():
    model, tokenizer = planted_heads.planted_model(WORDS)
    texts = planted_heads.planted_texts(WORDS, 24)
    report = glasshead.heads(model.bert, planted_heads.as_data(texts), tokenizer=tokenizer, dtype="float32")
    assert report.head(0, NEXT).pattern == "next token"
    assert report.head(0, NEXT).finding("removal") is None
    assert any("predicts no class" in remark for remark in report.remarks)


@pytest.fixture(scope="module")
def labelled():
    """A model, labelled texts, options, and what is found with the labels."""
    model, tokenizer = planted_heads.planted_model(WORDS)
    labelled = planted_heads.as_data(planted_heads.planted_texts(WORDS, 24))
    options = {"tokenizer": tokenizer, "limit": 22, "dtype": "float32"}
    return model, labelled, options, glasshead.heads(model, labelled, **options)


@pytest.mark.parametrize("kind", ["csv", "memory"])
def test_texts_without_labels(kind, tmp_path, labelled):
    model, labelled, options, beside = labelled
    texts = list(labelled["text"])
    file = tmp_path / f"texts.{kind}"
    file.write_text("\n".join([*(["text"] if kind == "csv" else []), *texts]) + "\n", encoding="utf-8")
    data = labelled.remove_columns("label") if kind == "memory" else file
    report = glasshead.heads(model, data, **options)
    assert any("has no labels" in remark for remark in report.remarks)
    assert not any("has no labels" in remark for remark in beside.remarks)
    for one, other in zip(report.heads, beside.heads, strict=True):
        assert one.finding("removal").n == 22
        assert one.finding("entropy").estimate == pytest.approx(other.finding("entropy").estimate, abs=0.01)
    with pytest.raises(InputError, match="split"):
        glasshead.heads(model, data, split="test", **options)


def test_labels_that_are_named_must_be_there(tmp_path):
    model, tokenizer = planted_heads.planted_model(WORDS)
    file = tmp_path / "texts.csv"
    file.write_text("text\na b\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column 'stars'"):
        glasshead.heads(model, file, tokenizer=tokenizer, load_options={"label_column": "stars"})
    empty = tmp_path / "texts.txt"
    empty.write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="is empty"):
        glasshead.heads(model, empty, tokenizer=tokenizer)


def test_what_is_refused():
    model, tokenizer = planted_heads.planted_model(WORDS)
    data = planted_heads.as_data(planted_heads.planted_texts(WORDS, 3))
    with pytest.raises(InputError, match="heads has no option 'head'"):
        glasshead.heads(model, data, tokenizer=tokenizer, head=1)
    family = FAMILIES["Longformer"]
    with pytest.raises(InputError, match="computes its attention itself"):
        glasshead.heads(family.build(labels=2), data, tokenizer=family.tokenizer())


@pytest.mark.slow
def test_batches_change_nothing():
    """Texts of several lengths in one batch, and one by one."""
    family = FAMILIES["Bert"]
    model, tokenizer = family.build(labels=2), family.tokenizer()
    data = labelled_data(3)
    together = glasshead.heads(model, data, tokenizer=tokenizer)
    alone = [glasshead.heads(model, data.select([row]), tokenizer=tokenizer) for row in range(3)]
    for place, head in enumerate(together.heads):
        for name in ("entropy", "previous", "removal", "gradient-importance"):
            values = [one.heads[place].finding(name).estimate for one in alone]
            assert head.finding(name).estimate == pytest.approx(np.mean(values), abs=1e-9), name
    assert torch.is_grad_enabled()
