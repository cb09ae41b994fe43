"""The audit of identifiability on planted truths: what repeats cannot be told apart, what is short can."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch

from glasshead.audits import Identifiability, audit, build_view
from glasshead.audits.judging.identifiability_verdicts import judge_maps, keys_verdict
from glasshead.audits.judging.measurements import FOLDER, Measurements
from glasshead.errors import InputError
from glasshead.nouns import TEXTS
from glasshead.opening import open_subject
from glasshead.report.weight_intervals import summary_of_ranges
from glasshead.requests import AuditRequest
from glasshead.results import PairedDifference
from small import as_run, random_model, split, tokenizer


def card(model, texts, **options):
    labels = [i % 2 for i in range(len(texts))]
    return audit(as_run(model, texts, labels), split(texts, labels), audits=["identifiability"], **options)


def unlike(count=30, repeats=False):
    """Texts of a few distinct words, or with one word twice."""
    words = ("good", "bad", "the", "film", "was", "long")
    texts = [" ".join(np.roll(words, shift)[: 3 + shift % 3]) for shift in range(count)]
    return [f"{text} {text.split()[0]}" if repeats else text for text in texts]


@pytest.mark.parametrize(("repeats", "share"), [(False, 1.0), (True, 0.0)])
def test_a_repeated_word_is_all_it_takes(repeats, share):
    """Up to six distinct words with vectors of six numbers stand firm; a word that stands twice does not."""
    made = card(random_model(), unlike(repeats=repeats))
    finding = made.finding("identifiability.identifiable.all")
    assert finding.estimate == share
    assert finding.n == 30
    assert finding.null == {"random": 1.0}  # with random values every one of them would stand firm
    width = made.finding("identifiability.width.all").estimate
    assert width == pytest.approx(0, abs=1e-9) if share else width > 0.01
    assert made.facts["identifiability"]["maps"] == 30
    reached = made.facts["identifiability"]["identifiable up to (keys)"]
    assert reached == (5 if share else None)


def test_words_of_the_verdicts_rest_on_intervals():
    firm, loose = card(random_model(), unlike()), card(random_model(), unlike(repeats=True))
    name = "identifiability.identifiable.all"
    only = "the only ones with their head output"
    assert firm.finding(name).verdict == f"most maps are {only} (30 of 30 are unique, 0 are not)"
    assert firm.finding(name).interval == pytest.approx((0.025 ** (1 / 30), 1.0))
    assert (
        loose.finding(name).verdict
        == "for most maps other weights give the same head output (0 of 30 are unique, 30 are not)"
    )
    few = card(random_model(), unlike(5))
    assert few.finding(name).verdict == "undecided: too few examples"


def test_a_tolerance_loosens_what_stood_firm():
    made = card(random_model(), unlike(), tolerance=0.2)
    assert made.finding("identifiability.width.all").estimate > 0.01


def test_signed_weights_have_no_first_place():
    made = card(random_model(activation="tanhmax"), unlike(repeats=True))
    finding = made.finding("identifiability.another-first.all")
    assert finding.estimate is None
    assert finding.n == 0
    assert sum(finding.undefined.values()) == 30
    assert made.finding("identifiability.width.all").estimate > 0


def test_only_a_part_of_the_texts_is_asked_about_unless_their_number_is_given():
    texts, labels = unlike(), [i % 2 for i in range(30)]
    context = build_view(open_subject(as_run(random_model(), texts, labels)), split(texts, labels))
    made = Identifiability(max_texts=10)(context, seed=0)
    (finding,) = [each for each in made.findings if each.name == "identifiability.identifiable.all"]
    assert finding.n == 10
    assert (~np.isnan(made.examples["maps.identifiable"])).sum() == 10
    asked = AuditRequest("model", "data")
    named = asked.replace(audits=("identifiability", "tokens"))
    limited = asked.replace(limit=500)
    of = [Identifiability.of(request).max_texts for request in (asked, named, limited)]
    assert of == [Identifiability.max_texts, Identifiability.max_texts, None]


def test_the_same_seed_gives_the_same_numbers():
    one, two = (card(random_model(), unlike(repeats=True), seed=3) for _ in range(2))
    assert one.findings == two.findings


def test_empty_texts_and_single_tokens_are_no_trouble():
    made = card(random_model(), ("film", "", "the end"))
    finding = made.finding("identifiability.identifiable.all")
    assert (finding.estimate, finding.n) == (1.0, 2)


def test_pooled_models_know_one_row():
    from glasshead.errors import InputError

    with pytest.raises(InputError, match="layer 0, head 0"):
        card(random_model(), unlike(), layers=(1,))


def test_a_store_keeps_the_lines_about_every_map_and_weight(tmp_path: Path):
    card(random_model(), unlike(repeats=True), store=tmp_path)
    (folder,) = (tmp_path / FOLDER).glob("identifiability*")
    shards = [table for table, _ in Measurements(tmp_path / FOLDER).shards(folder.name)]
    texts = []
    for table in shards:
        for row in range(len(table["id"])):
            line = {name: values[row] for name, values in table.items()}
            tokens = line["weights.token"].tolist()
            texts.append(" ".join(tokens))
            assert line["lines.tokens"].tolist() == [len(tokens)]  # one map
            assert line["weights.key"].tolist() == list(range(len(tokens)))
            assert line["weights.weight"].sum() == pytest.approx(1)
            low, high = line["weights.low"], line["weights.high"]
            assert (low <= line["weights.weight"] + 1e-9).all()
            assert (high >= line["weights.weight"] - 1e-9).all()
            assert line["lines.width"] == pytest.approx([np.mean(high - low)])
    assert sorted(texts) == sorted(unlike(repeats=True))


def test_where_there_is_no_query_nothing_is_said_of_queries():
    """Pooled maps that the output fixes are no evidence about queries: they have none."""
    made = card(random_model(), unlike())
    finding = made.finding("identifiability.given-keys.all")
    assert (finding.estimate, finding.n) == (None, 0)
    assert finding.undefined == {
        "maps of learned queries, to which it does not apply, and maps that are missing": 30
    }


def test_a_tolerance_is_told_and_counts():
    made = card(random_model(), unlike(), tolerance=0.2)
    assert made.finding("identifiability.identifiable.all").estimate == 0.0
    assert "outputs may move by 20 % along each direction" in made.facts["identifiability"]["read"]


def test_groups_by_length_have_their_own_texts_and_nulls():
    short, long = unlike(25), [" ".join(["the film was good and bad"] * 4)] * 25
    made = card(random_model(), short + long)
    for group, share in (("1 to 16 tokens", 1.0), ("17 to 32 tokens", 0.0)):
        finding = made.finding(f"identifiability.identifiable.{group}")
        assert (finding.n, finding.estimate, finding.null["random"]) == (25, share, share)


def test_verdicts_about_width_need_a_null():
    from glasshead.audits.judging.identifiability_verdicts import width_verdict
    from glasshead.audits.judging.summary import StatSummary

    def said(over, pairs, interval=(0.1, 0.2), lines=(0.15, 0.15)):
        paired = {"random": PairedDifference(0.0, over, pairs)}
        summary = StatSummary(0.15, 0.1, interval, {}, 30, paired)
        return width_verdict(summary, np.array(lines), 0, TEXTS).words

    assert said(None, 0) == said((-0.2, -0.1), 5) == "undecided: too few maps with random values"
    assert said((-0.2, -0.1), 30) == "narrower than over random values"
    assert said((0.1, 0.2), 30) == "wider than over random values"
    assert said((-0.1, 0.2), 30) == "not distinguishable from random values on these texts"
    assert said(None, 0, (0.0, 0.0)) == "every weight is certain"
    assert said(None, 0, (0.0, 0.0), (0.0, np.nan)) == (
        "every weight that could be decided is certain (1 of 2 maps undecided)"
    )


def test_all_and_none_are_said_of_nothing_less():
    only = "the only one with its head output"
    lines = np.array([1.0] * 299 + [0.0])
    said = judge_maps("identifiable", (0.99, 1.0), lines, TEXTS).words
    assert said == f"almost every map is {only} (299 of 300 are unique, 1 are not)"
    lines[:6] = np.nan
    said = judge_maps("identifiable", (1.0, 1.0), lines[:-1], TEXTS).words
    assert said == (
        f"almost every map that could be decided is {only} (293 of 299 are unique, 0 are not, 6 undecided)"
    )
    said = judge_maps("identifiable", (0.0, 0.0), 0 * lines, TEXTS).words
    assert said.startswith("for almost every map that could be decided other weights give the same")
    assert judge_maps("another-first", (0.0, 0.05), lines, TEXTS).words.endswith(
        "(293 of 300 maps, 6 undecided)"
    )
    assert judge_maps("may-be-zero", (0.6, 0.7), lines, TEXTS).words.endswith("(6 of 300 maps undecided)")


def keys(unique=0, other=0, undetermined=0, fixed=0, undefined=0):
    counts = {
        "unique": unique, "not unique": other, "undetermined": undetermined, "fixed": fixed,
        "undefined": undefined,
    }  # fmt: skip
    return np.array([name for name, count in counts.items() for _ in range(count)], dtype=str)


def test_every_kind_of_map_is_counted_given_the_keys():
    said = keys_verdict((0.991, 1.0), keys(600, 6, 46, 54)).words
    assert said == (
        "where this can be decided, nearby queries hardly ever give the same output with other weights: "
        "of 706 maps 600 are unique, 6 are not, 46 are undetermined, and 54 are fixed for every query"
    )
    assert keys_verdict((1.0, 1.0), keys(40)).words.startswith("no nearby query gives the same output")
    assert keys_verdict((0.0, 0.0), keys(0, 40, 1)).words.startswith(
        "where this can be decided, nearby queries"
    )
    assert (
        "in some maps: of 40 maps 20 are unique, 20 are not" in keys_verdict((0.3, 0.7), keys(20, 20)).words
    )
    # Nothing left to decide.
    assert keys_verdict(None, keys(fixed=28, undetermined=12)).words == (
        "undecided: of 40 maps 0 are unique, 0 are not, 12 are undetermined, and 28 are fixed for every query"
    )
    assert keys_verdict(None, keys(fixed=40)).words.startswith("no query gives the same output with other")
    assert keys_verdict(None, keys(undefined=9)).words.startswith("not tested: maps of learned queries")


def test_maps_that_are_fixed_are_no_evidence_about_queries():
    from glasshead.audits.judging.map_statistics import statistics_per_map

    names = ("identifiable", "width", "may_be_zero", "another_first")
    heads = {name: np.array([None] * 5) for name in names}
    heads["given_keys"] = np.array(["unique", "not unique", "fixed", "undetermined", "undefined"])
    np.testing.assert_array_equal(statistics_per_map(heads)["given-keys"], [1, 0, np.nan, np.nan, np.nan])


def test_a_rank_close_to_rounding_makes_no_map_certain():
    """One word is another one's double up to 2·10⁻⁴: the rank stands a few ten times over rounding."""
    model = random_model()
    good, bad = tokenizer().convert_tokens_to_ids(["good", "bad"])
    with torch.no_grad():
        rows = model.embedding.weight
        rows[bad] = rows[good] + 2e-4 * torch.eye(rows.shape[1])[0]
    texts = [" ".join(each) for each in permutations(("good", "bad", "the", "film"))] * 2
    made = card(model, texts)
    finding = made.finding("identifiability.identifiable.all")
    assert (finding.n, finding.undefined) == (0, {"maps whose rank is close to rounding": 48})
    assert finding.verdict == "undecided: maps whose rank is close to rounding"
    facts = made.facts["identifiability"]
    assert facts["maps whose rank is close to rounding"] == 48
    assert facts["identifiable up to (keys)"] is None
    assert "as far as ranks show" in made.finding("identifiability.width.all").verdict
    shown = made.highlights[0].attribution
    assert 1 / 100 < shown.conditioning < 1 / 5
    assert not any(map(shown.certain, range(4)))
    assert "no weight is called certain" in summary_of_ranges(shown)
    clear = replace(shown, conditioning=1e-3)
    assert all(map(clear.certain, range(4)))
    assert summary_of_ranges(clear).endswith("; ends good to about 1·10⁻⁵")


def test_of_uniform_weights_there_is_nothing_to_ask():
    with pytest.raises(InputError, match="do not depend on the scores"):
        card(random_model(activation="uniform"), unlike())
