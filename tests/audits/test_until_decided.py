"""More texts until a question is decided: as many as that takes, and no more errors than were promised."""

import numpy as np
import pytest
from scipy import stats

from glasshead.audits import audit
from glasshead.audits.judging.until_decided import Looks, look_level
from glasshead.errors import InputError
from glasshead.results import AuditCard, Finding, PairedDifference, extent_of
from glasshead.statistics import share_interval
from planted_headlines import near_half, sign_in_values
from small import as_run, split

SHARE = "perturbation.uniform.share"


def audited(world, *names, **options):
    made = world((150, 150))
    run, data = as_run(made.model, made.texts, made.labels), split(made.texts, made.labels, made.classes)
    return audit(run, data, audits=("agreement", "perturbation"), until_decided=names, **options)


def test_what_is_clear_takes_few_texts_and_its_interval_says_how_often_one_has_looked():
    card = audited(sign_in_values, SHARE)
    assert 32 <= card.facts["examples"] < 64
    assert card.conclusion.decides == "yes"
    assert card.finding(f"{SHARE}.all").level == look_level(1) == 0.975
    assert any(f"which decide {SHARE}" in note for note in card.facts["notes"])


def test_the_card_is_that_of_an_audit_of_so_many_texts_but_for_its_level():
    made = near_half((150, 150))
    run, data = as_run(made.model, made.texts, made.labels), split(made.texts, made.labels, made.classes)
    audits = ("agreement", "perturbation")
    card = audit(run, data, audits=audits, until_decided=(SHARE,))
    same = audit(run, data, audits=audits, limit=card.facts["examples"])
    assert card.examples["id"] == same.examples["id"]
    estimates = [{one.name: one.estimate for one in each.findings} for each in (card, same)]
    assert estimates[0] == pytest.approx(estimates[1], nan_ok=True)


def test_a_name_that_no_finding_has_is_an_error_and_so_is_what_no_text_can_decide():
    with pytest.raises(InputError, match=r"is not a finding: did you mean 'perturbation\.uniform\.share'"):
        audited(sign_in_values, "perturbation.unifrm.share")
    with pytest.raises(InputError, match="no finding is called"):
        audited(sign_in_values, "agreement.attention.elsewhere")
    with pytest.raises(InputError, match="cannot be decided by more texts"):
        audited(sign_in_values, "agreement.contribution.erasure-zero-weight")


def test_the_levels_of_all_looks_leave_five_percent():
    assert sum(1 - look_level(number) for number in range(1, 10_000)) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.8, 0.98])
def test_no_more_than_one_audit_in_twenty_ends_with_what_is_not_so(share):
    """At each border of how many texts something is true of: the interval at the end misses the share in at
    most 5 % of 400 audits that stop when they think that they know."""
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(400):
        found = rng.random(1024) < share
        for number in range(1, 7):
            interval = share_interval(found[: 32 * 2 ** (number - 1)], look_level(number)).interval
            if extent_of(interval) != "undecided":
                break
        wrong += not interval[0] <= share <= interval[1]
    assert wrong <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)


@pytest.mark.parametrize(("difference", "least", "most"), [(0.0, 0.0, 0.05), (0.3, 0.95, 1.0)])
def test_who_looks_often_is_seldom_deceived_and_finds_what_is_there(difference, least, most):
    """400 audits of a mean difference that look as they measure: without a difference at most 5 % end with
    one, and of a third of a standard deviation most do."""
    rng, found = np.random.default_rng(1), 0
    for _ in range(400):
        values = rng.normal(difference, 1.0, 1024)

        def judge(places, level, values=values):
            own = values[places]
            half = stats.t.ppf((1 + level) / 2, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
            return one_finding((own.mean() - half, own.mean() + half), len(own))

        looks = Looks(["audit.number.all"], judge)
        measured = next((end for end in range(32, 1025, 32) if looks(np.arange(end))), 1024)
        looks.end(np.arange(measured))
        found += looks.decided
    spread = 3 * np.sqrt(400 * 0.05 * 0.95)
    assert 400 * least - spread <= found <= 400 * most + spread


def test_a_look_is_taken_when_there_are_twice_as_many_texts():
    asked = []

    def judge(places, level):
        asked.append((len(places), round(level, 6)))
        raise InputError("enough for this test")

    looks = Looks(["any"], judge)
    assert not looks(np.arange(31))
    with pytest.raises(InputError):
        looks(np.arange(40))
    assert not looks(np.arange(63))
    with pytest.raises(InputError):
        looks(np.arange(300))  # four looks in one: 32 was the first, 64, 128 and 256 are the others
    assert asked == [(40, round(look_level(1), 6)), (300, round(look_level(4), 6))]


def test_the_card_knows_the_level_of_its_last_look():
    card = audited(sign_in_values, SHARE, by=("class",))
    assert card.level == look_level(1)
    assert card.facts["slice_level"] > card.level
    assert any("97.5 %" in note for note in card.facts["notes"])


def test_texts_that_run_out_have_a_last_look_and_texts_after_the_deciding_one_are_not_judged():
    judged = []

    def judge(places, level):
        judged.append((len(places), level))
        return one_finding(interval=(0.1, 0.2) if len(places) > 62 else (-0.1, 0.2), n=len(places))

    few = Looks(["audit.number.all"], judge)
    assert not few(np.arange(40))
    few.end(np.arange(60))
    assert not few.decided
    assert judged == [(40, look_level(1)), (60, look_level(2))]
    few.end(np.arange(60))
    assert len(judged) == 2  # nothing new to look at
    many = Looks(["audit.number.all"], judge)
    assert many(np.arange(70))
    many.end(np.arange(90))
    assert many.decided
    assert len(many.places) == 70


def one_finding(interval, n, null=0.0, status="evidence"):
    over = {} if null is None else {"random": PairedDifference(0.1, interval, n)}
    found = Finding(
        audit="audit", statistic="number", against="", group="all", estimate=0.1, std=None, interval=interval,
        null={} if null is None else {"random": null}, n=n, undefined={}, significant_fraction=None,
        citation="", verdict="", over_null=over, status=status,
    )  # fmt: skip
    return AuditCard({}, [found])


def test_what_has_neither_claim_nor_null_is_refused_and_few_texts_decide_nothing():
    nothing = Looks(["audit.number.all"], lambda places, level: one_finding((0.1, 0.2), 40, null=None))
    with pytest.raises(InputError, match="neither a claim nor a null"):
        nothing(np.arange(40))
    few = Looks(["audit.number.all"], lambda places, level: one_finding((0.1, 0.2), 12))
    assert not few(np.arange(40))


def test_an_audit_that_is_to_be_decided_asks_as_many_texts_as_it_takes(monkeypatch):
    from glasshead.audits import faithfulness

    monkeypatch.setattr(faithfulness, "EXACT_TEXTS", 20)
    made = near_half((60, 60))
    run, data = as_run(made.model, made.texts, made.labels), split(made.texts, made.labels, made.classes)
    card = audit(run, data, audits=("faithfulness",), until_decided=("faithfulness.comprehensiveness",))
    assert card.find("faithfulness.comprehensiveness").n == card.facts["examples"] > 20
