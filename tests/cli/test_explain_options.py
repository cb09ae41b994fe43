"""`glasshead explain` and `audit` of models that are not pooled, from run folders made by hand."""

import csv
import json

import pytest

from glasshead.results import ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.training.write_run import write_vocabulary
from readable import KINDS, as_run, family
from typed import glasshead, refusal


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make the run folder of a kind, once."""
    root, done = tmp_path_factory.mktemp("runs"), {}

    def make(name):
        if name not in done:
            kind = KINDS[name]()
            folder = root / name.replace(" ", "-")
            write(kind, folder)
            done[name] = folder, kind
        return done[name]

    return make


def write(kind, folder, gauge=None):
    """A run folder of this model."""
    rating = kind.model.config.problem_type == "regression"
    labels = [3.5 if rating else index % 2 for index in range(len(kind.texts))]
    run = as_run(kind, labels, gauge)
    kind.model.save_pretrained(folder)
    kind.tokenizer.save_pretrained(folder)
    tokens = kind.tokenizer.convert_ids_to_tokens(range(len(kind.tokenizer)))
    write_vocabulary(folder / "vocabulary.parquet", tokens, run.counts)
    task = {"task": "regression"} if rating else {}
    record = run.record | {"data": {"source": "by hand", "options": task}}
    if isinstance(signs := getattr(kind.model.config, "gauge", None), list):
        record["gauge"] = {"signs": signs} | (run.record.get("gauge") or {})
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")


def told(*arguments):
    return json.loads(glasshead("explain", *arguments, "--format", "json").stdout)


def test_a_layer_a_head_and_a_row(made):
    run, kind = made("encoder")
    text = kind.texts[0]
    (pooled,) = told(run, text)
    (chosen,) = told(run, text, "--layer", "0", "--head", "1", "--row", "mean")
    (named,) = told(run, text, "--layer", "encoder.layers.0.attention", "--head", "1", "--row", "mean")
    assert chosen["scores"] == named["scores"] != pooled["scores"]
    assert sum(pooled["scores"]) == pytest.approx(1, abs=1e-5)
    (mean,) = told(run, text, "--head", "mean", "--row", "pooled", "--layer", "1")
    assert mean["scores"] == pooled["scores"]


def test_signs_without_a_gauge_are_called_raw(made):
    for name, raw in (("encoder first", True), ("encoder added, three classes", False), ("encoder", False)):
        run, kind = made(name)
        assert ("raw signs" in glasshead("explain", run, kind.texts[0]).stdout) == raw


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        (SIGN_IN_WEIGHTS, None),
        (ONE_SIGN, "the weights have one sign"),
        (UNDECIDED, "it is undecided"),
    ],
)
def test_where_the_sign_lives_is_said_where_it_is_not_in_the_weights(kind, note, tmp_path):
    pooled = family("pooled", activation="tanhmax")
    write(pooled, tmp_path / "run", {"sign": 1, "margin": 0.5, "kind": kind})
    printed = glasshead("explain", tmp_path / "run", pooled.texts[0]).stdout
    assert ("the contributions" in printed) == (note is not None)
    assert note is None or note in printed


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hierarchical first, rating", ["--level", "sentence"]),
        ("encoder", []),
        ("encoder", ["--method", "gradient"]),
    ],
)
@pytest.mark.parametrize(("text", "message"), [("zyx wvut", "knows no word"), ("  ", "the text is empty")])
def test_a_text_of_which_nothing_is_known(made, tmp_path, name, options, text, message):
    """Whatever is read: sentences have no ids, and special tokens are known to every model."""
    run, _ = made(name)
    assert message in refusal(tmp_path, "explain", run, text, *options)


def test_sentences_and_ratings(made):
    run, kind = made("hierarchical first, rating")
    result = glasshead("explain", run, kind.texts[0], "--level", "sentence")
    assert "predicted rating" in result.stdout
    (sentences,) = told(run, kind.texts[0], "--level", "sentence")
    assert sentences["tokens"] == ["the film was good .", "and the plot was long ."]
    assert (sentences["target"], sentences["rates"]) == ("rating", True)
    page = glasshead("explain", run, kind.texts[0], "--format", "html").stdout
    assert "predicted rating <b>" in page
    assert "probability of" not in page


def test_pairs_in_two_ways(made):
    run, kind = made("pair-encoder")
    first, second = kind.texts[0], kind.pairs[0]
    (one,) = told(run, first, "--pair", second)
    (other, another) = told(run, f"{first}\t{second}", f"{kind.texts[1]}\t{kind.pairs[1]}")
    assert one["text"] == f"{first}\n{second}" == other["text"]
    assert one["scores"] == pytest.approx(other["scores"], abs=1e-5)
    assert another["text"] == f"{kind.texts[1]}\n{kind.pairs[1]}"
    assert sum(one["scores"]) == pytest.approx(2, abs=1e-5)  # one for each text


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("encoder", ["film", "--pair", "film"], "this model reads one text at a time"),
        ("pair-encoder", ["film"], "this model compares two texts: give the second one, too"),
        ("pair-encoder", ["film", "film", "--pair", "x"], "--pair is for one text"),
        (
            "pair-encoder",
            ["a\tb", "film"],
            "a pair is 'first<TAB>second', with one tab; this is not one: 'film'",
        ),
        (
            "encoder",
            ["film", "--layer", "5"],
            "there is no attention layer 5: choose from 0 encoder.layers.0",
        ),
        ("encoder", ["film", "--head", "x"], "--head must be a number, mean, max, min or sum, not 'x'"),
        ("encoder", ["film", "--layer", "0", "--head", "9"], "has no head 9: it has heads 0 to 1"),
        ("encoder", ["film", "--row", "firts"], "did you mean 'first'?"),
        ("encoder", ["film", "--row", "first"], "has no row 'first': it has 'pooled'"),
        ("encoder", ["film", "--level", "sentence"], "this model reads a text as a whole"),
        ("encoder", ["film", "--level", "sentence", "--method", "gradient"], "leave --level out"),
        ("encoder", ["film", "--method", "gradient", "--layer", "0"], "reads no attention"),
        ("encoder", ["film", "--method", "random", "--target-function", "rating"], "--target-function out"),
        ("encoder", ["film", "--method", "erasure", "--target-function", "rating"], "there is no rating to"),
        (
            "encoder rating",
            ["film", "--method", "gradient", "--target-function", "probability"],
            "this model predicts a rating: use --target-function rating",
        ),
        ("encoder rating", ["film", "--target", "positive"], "knows no class 'positive'"),
        (
            "hierarchical",
            ["film", "--level", "sentence", "--layer", "0"],
            "layer 0 reads words: choose from 2",
        ),
    ],
)
def test_refusals_of_explain(made, tmp_path, name, arguments, message):
    run, _ = made(name)
    assert message in refusal(tmp_path, "explain", run, *arguments)


def test_a_file_that_is_given_as_a_text_is_not_explained_as_one(made, tmp_path):
    (tmp_path / "texts.txt").write_text("the film")
    run, _ = made("encoder")
    message = refusal(tmp_path, "explain", run, tmp_path / "texts.txt")
    assert "is a file: --file" in message


def test_an_audit_of_a_chosen_layer(made, tmp_path):
    run, kind = made("encoder")
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for index in range(40):
            label = ("negative", "positive")[index % 2]
            rows.writerow([f"{kind.texts[index % 6]} {kind.texts[index % 5]} {index}", label])
    out = tmp_path / "audit"
    glasshead(
        "audit", run, tmp_path / "data.csv", "--out", out, "--split", "all", "--layer", "0", "--draws", "2",
        "--audits", "perturbation",
    )  # fmt: skip
    facts = json.loads((out / "card.json").read_text(encoding="utf-8"))["facts"]
    assert facts["reading"].startswith("layer 0 (encoder.layers.0.attention), mean of 2 heads")
    assert facts["draws"] == 2
    assert "Attention read" in (out / "report.html").read_text(encoding="utf-8")


def test_intervals_of_words(made):
    run, _ = made("pooled")
    (shown,) = told(run, "the good film was good", "--intervals")
    ends = dict(zip(shown["tokens"], shown["intervals"], strict=True))
    scores = dict(zip(shown["tokens"], shown["scores"], strict=True))
    assert ends["film"] == pytest.approx([scores["film"]] * 2, abs=1e-6)
    assert ends["good"] == pytest.approx([0, 2 * scores["good"]], abs=1e-6)  # twice: only the sum is known
    assert shown["reading"] == "the learned query; intervals: weights with the same pooled vector"
    (plain,) = told(run, "the good film was good")
    assert plain["intervals"] is None
    assert plain["scores"] == shown["scores"]
    wide = told(run, "the good film was good", "--intervals", "--tolerance", "0.5")[0]["intervals"]
    assert all(a <= c and d <= b for (a, b), (c, d) in zip(wide, shown["intervals"], strict=True))


def test_intervals_of_a_chosen_row_and_of_sentences(made):
    run, kind = made("hierarchical first, rating")
    (words,) = told(run, kind.texts[0], "--intervals", "--layer", "0", "--head", "1", "--row", "last")
    (sentences,) = told(run, kind.texts[0], "--intervals", "--level", "sentence")
    for shown in (words, sentences):
        for score, (low, high) in zip(shown["scores"], shown["intervals"], strict=True):
            assert low <= score <= high
        assert shown["reading"].endswith("the same output of each head after its projection")
    assert len(sentences["intervals"]) == 2
    for form in ("text", "html"):
        assert "intervals: weights with" in glasshead(
            "explain", run, kind.texts[0], "--intervals", "--format", form
        ).stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--intervals", "--method", "gradient"], "use the method attention"),
        (["--intervals", "--method", "contribution"], "'contribution' are not attention weights"),
        (["--intervals", "--tolerance", "-1"], "'--tolerance': must be at least 0"),
        (["--tolerance", "0.1"], "--tolerance is about --intervals"),
    ],
)
def test_refusals_of_intervals(made, tmp_path, options, message):
    run, _ = made("encoder first")
    assert message in refusal(tmp_path, "explain", run, "the film", *options)
