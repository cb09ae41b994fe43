"""The value of a ranking: rows, JSON and leaders."""

import json
from dataclasses import replace

import pytest
from test_attribution import ATTRIBUTION
from test_audit_card import FINDING

from glasshead.results import (
    Attributions,
    MethodAgreement,
    MethodDifference,
    MethodRanking,
    PairedDifference,
    RankedMethod,
    RankedText,
    Standing,
)

NAME = "rank.comprehensiveness.delete.all"


def finding(statistic, against="", estimate=0.5):
    over = {"random": PairedDifference(0.3, (0.1, 0.4), 9)}
    names = {"audit": "rank", "statistic": statistic, "against": against}
    return replace(FINDING, **names, estimate=estimate, null={"random": 0.2}, over_null=over, level=0.99)


def method(name, *standings, own_removal=None):
    """Standings of comprehensiveness by cutting out and by [MASK], and by marks, if there is one."""
    places = (("comprehensiveness", "delete"), ("comprehensiveness", "mask-token"), ("auprc", ""))
    findings = [finding(*place) for place, _ in zip(places, standings, strict=False)]
    by_name = dict(zip((one.name for one in findings), standings, strict=True))
    return RankedMethod(name, "in words", findings, by_name, 0.25, 3.0, own_removal)


@pytest.fixture
def ranking():
    tau = finding("tau", "gradient+erasure")
    return MethodRanking(
        facts={"name": "m · d"},
        statistic="comprehensiveness",
        removals={"delete": "it is cut out", "mask-token": "it becomes [MASK]"},
        methods=[
            method("gradient", Standing.LEADS, Standing.BEHIND, Standing.NOT_SHOWN),
            method("erasure", Standing.LEADS, Standing.LEADS, Standing.LEADS, own_removal="delete"),
        ],
        differences=[MethodDifference(NAME, 0, 1, -0.1, None, 9, "too few", level=0.99, side=None)],
        agreement=[MethodAgreement(0, 1, tau)],
        conclusion=["erasure is among the leaders."],
        remarks=["erasure is favoured."],
        texts=[RankedText("where they agree", Attributions((ATTRIBUTION, ATTRIBUTION)))],
        examples={"gradient.comprehensiveness.delete": [0.5, None]},
    )


def test_leaders(ranking):
    assert ranking.names == ["gradient", "erasure"]
    assert ranking.leaders("comprehensiveness", "delete") == ["gradient", "erasure"]
    assert ranking.leaders("comprehensiveness", "mask-token") == ["erasure"]
    assert ranking.leaders("auprc") == ["erasure"]
    assert ranking.leaders("comprehensiveness", "zero-value") == []
    assert ranking.has_plausibility
    assert not replace(ranking, methods=[method("gradient", Standing.LEADS)]).has_plausibility


def test_a_number_that_was_not_asked_is_undecided(ranking):
    first = ranking.methods[0]
    assert first.finding("deletion", "delete") is None
    assert first.standing("deletion", "delete") == Standing.UNDECIDED


def test_a_row_for_each_number(ranking):
    table = ranking.to_pandas()
    assert len(table) == 6
    assert table["standing"].tolist() == ["leads", "behind", "not shown", "leads", "leads", "leads"]
    row = table.iloc[0]
    assert row[["method", "statistic", "removal"]].tolist() == ["gradient", "comprehensiveness", "delete"]
    assert row[["low", "high"]].tolist() == [*FINDING.interval]
    assert row[["random", "over_random", "over_random_low", "over_random_high"]].tolist() == [
        0.2, 0.3, 0.1, 0.4,
    ]  # fmt: skip
    assert row[["n", "level", "seconds", "predictions"]].tolist() == [10, 0.99, 0.25, 3.0]
    assert table["removal"].isna().tolist() == [False, False, True] * 2


def test_json_names_methods_and_holds_everything_but_the_texts(ranking):
    document = json.loads(ranking.to_json(), parse_constant=pytest.fail)
    for pair in (*document["differences"], *document["agreement"]):
        assert (pair["one"], pair["other"]) == ("gradient", "erasure")
    assert "texts" not in document
    assert document["conclusion"] == ranking.conclusion
    assert document["methods"][1]["own_removal"] == "delete"
    assert document["methods"][0]["standings"]["rank.comprehensiveness.mask-token.all"] == "behind"
    assert document["examples"]["gradient.comprehensiveness.delete"] == [0.5, None]


def test_a_repr_says_who_and_what(ranking):
    assert "gradient" in repr(ranking)
    assert ranking.conclusion[0] in repr(ranking)


def test_a_ranking_is_saved_as_its_json(ranking, tmp_path):
    ranking.save(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == ranking.to_json()
