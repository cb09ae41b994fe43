"""The audit of identifiability on planted truths: what repeats cannot be told apart, what is short can."""

from pathlib import Path

import numpy as np
import pytest

from glasshead.audit import Identifiability, audit
from glasshead.identifiability import Question
from small import as_run, random_model, split


def card(model, texts, **options):
    labels = [i % 2 for i in range(len(texts))]
    return audit(as_run(model, texts, labels), split(texts, labels), tests=["identifiability"], **options)


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
    assert firm.finding(name).verdict == "the output of the head fixes every weight"
    assert loose.finding(name).verdict == "none of the maps is the only one that its head could have drawn"
    few = card(random_model(), unlike(5))
    assert few.finding(name).verdict == "undecided: too few examples"


def test_a_tolerance_loosens_what_stood_firm():
    loose = Identifiability(asked=Question(tolerance=0.2), texts=None)
    made = card(random_model(), unlike(), identifiability=loose)
    assert made.finding("identifiability.width.all").estimate > 0.01


def test_signed_weights_have_no_first_place():
    made = card(random_model(activation="tanhmax"), unlike(repeats=True))
    finding = made.finding("identifiability.another-first.all")
    assert finding.estimate is None
    assert finding.n == 0
    assert sum(finding.undefined.values()) == 30
    assert made.finding("identifiability.width.all").estimate > 0


def test_only_a_part_of_the_texts_is_asked_about_unless_named():
    few = Identifiability(texts=10)
    made = card(random_model(), unlike(), identifiability=few)
    assert made.finding("identifiability.identifiable.all").n == 10
    there = [value for value in made.examples["maps.identifiable"] if value is not None]
    assert len(there) == 10


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
        card(random_model(), unlike(), identifiability=Identifiability(where={"layers": (1,)}))


def test_a_store_keeps_the_lines_about_every_weight(tmp_path: Path):
    kept = Identifiability(store=tmp_path / "parts")
    card(random_model(), unlike(), identifiability=kept)
    assert {path.name for path in (tmp_path / "parts").iterdir()} == {
        "survey.json",
        "heads-00000.parquet",
        "weights-00000.parquet",
    }


def test_where_there_is_no_query_nothing_is_said_of_queries():
    """Pooled maps that the output fixes are no evidence about queries: they have none."""
    made = card(random_model(), unlike())
    finding = made.finding("identifiability.given-keys.all")
    assert (finding.estimate, finding.n) == (None, 0)
    assert finding.undefined == {"maps of learned queries or none, of which it is not asked": 30}


def test_a_tolerance_is_told_and_counts():
    made = card(random_model(), unlike(), identifiability=Identifiability(asked=Question(tolerance=0.2)))
    assert made.finding("identifiability.identifiable.all").estimate == 0.0
    assert "outputs may move by 20 % along each direction" in made.facts["identifiability"]["read"]


def test_groups_by_length_have_their_own_texts_and_nulls():
    short, long = unlike(25), [" ".join(["the film was good and bad"] * 4)] * 25
    made = card(random_model(), short + long)
    for group, share in (("1 to 16 tokens", 1.0), ("17 to 32 tokens", 0.0)):
        finding = made.finding(f"identifiability.identifiable.{group}")
        assert (finding.n, finding.estimate, finding.null["random"]) == (25, share, share)


def test_verdicts_about_width_need_a_null():
    from glasshead.audit.identifiability import width_verdict
    from glasshead.audit.summary import Summary

    def said(over, pairs, interval=(0.1, 0.2)):
        return width_verdict(Summary(0.15, 0.1, interval, {}, 30, {"random": over}, {"random": pairs}))

    assert said(None, 0) == said((-0.2, -0.1), 5) == "undecided: too few maps with random values"
    assert said((-0.2, -0.1), 30) == "narrower than over random values"
    assert said((0.1, 0.2), 30) == "wider than over random values"
    assert said((-0.1, 0.2), 30) == "no difference from random values that these texts show"
    assert said(None, 0, (0.0, 0.0)) == "every weight is certain"
