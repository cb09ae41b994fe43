"""`glasshead train --attention frozen:RUN|adversarial:RUN`, as it is typed."""

import json

import pytest

from glasshead.opening import load_run
from glasshead.results import AuditCard
from typed import TINY, glasshead, refusal

FROZEN, ADVERSARIAL = "--attention frozen:{}", "--attention adversarial:{}"


def typed(options, run):
    return options.format(run).split()


@pytest.mark.parametrize(
    ("options", "recipe"),
    [
        (FROZEN, {"attention_run"}),
        (ADVERSARIAL, {"attention_run", "adversary_weight"}),
        (f"{ADVERSARIAL} --adversary-weight 0", {"attention_run", "adversary_weight"}),
    ],
)
def test_it_is_trained_and_read(tmp_path, tiny, options, recipe):
    out = tmp_path / "run"
    ran = glasshead("train", *TINY, *typed(options, tiny.softmax), "--out", out)
    assert f"Run in {out}" in "".join(ran.stdout.splitlines())
    assert ("maps: JSD" in ran.stdout) == ("predictions: TVD" in ran.stdout) == ("adversary_weight" in recipe)
    record = load_run(out).record["recipe"]
    assert recipe == {"attention_run", "adversary_weight"} & set(record)
    glasshead("audit", out, "synthetic", "--audits", "performance", "--out", tmp_path / "audit")
    name = AuditCard.load(tmp_path / "audit").facts["name"]
    weight = f" (λ {record['adversary_weight']:g})" if "adversary_weight" in record else ""
    assert name == f"synthetic · {typed(options, 'softmax')[1]}{weight} · seed 0"


def test_repeats(tmp_path, tiny):
    out = tmp_path / "runs"
    glasshead("train", *TINY, *typed(FROZEN, tiny.softmax), "--repeats", 2, "--out", out)
    first, second = (load_run(out / f"seed-{seed}").model for seed in (0, 1))
    assert first.imposed.embedding.weight.equal(second.imposed.embedding.weight)
    assert not first.embedding.weight.equal(second.embedding.weight)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--attention frozen:", "names no run"),
        ("--attention frozen:no/where", "no/where is not a run (does not exist)"),
        ("--attention adversarial:no/where", "no/where is not a run (does not exist)"),
        (f"{FROZEN} --score context", "leave --score out"),
        (f"{FROZEN} --max-length 7", "take --max-length 128"),
        (f"{FROZEN} --minimum-frequency 5", "with the same --vocabulary-size and --minimum-frequency"),
        (f"{FROZEN} --model encoder", "are for the model 'pooled', not 'encoder'"),
        (f"{ADVERSARIAL} --adversary-weight -1", "--adversary-weight must be 0 or a positive number"),
        (f"{ADVERSARIAL} --set activation=tanhmax", "not a distribution over tokens"),
        ("--adversary-weight 1", "--adversary-weight is for --attention adversarial:RUN"),
    ],
)
def test_refused(tmp_path, tiny, options, says):
    command = ("train", *TINY, *typed(options, tiny.softmax), "--out", tmp_path / "new" / "run")
    assert says in refusal(tmp_path, *command)


def test_a_run_is_not_replaced_by_what_builds_on_it(tmp_path, tiny):
    command = ("train", *TINY, *typed(FROZEN, tiny.softmax), "--overwrite", "--out", tiny.softmax)
    refusal(tiny.softmax, *command)


def test_the_curve(tmp_path, tiny):
    adversaries = [tmp_path / f"weight-{weight}" for weight in (0, 1)]
    for weight, out in enumerate(adversaries):
        options = typed(f"{ADVERSARIAL} --adversary-weight {weight}", tiny.softmax)
        glasshead("train", *TINY, *options, "--out", out)
    command = ("plot", "adversary-curve", tiny.softmax, "synthetic", *adversaries)
    ran = glasshead(*command, "--seeds", adversaries[0], "--out", tmp_path / "curve.json")
    assert "λ = 1: predictions 0." in ran.stdout
    rows = json.loads((tmp_path / "curve.json").read_text())
    assert [row["weight"] for row in rows] == [0, 1]
    assert rows[0]["maps"] == pytest.approx(rows[0]["maps.null.seed"])
    for kind in ("svg", "html"):
        glasshead(*command, "--out", tmp_path / f"curve.{kind}")
        assert (tmp_path / f"curve.{kind}").stat().st_size > 1000
    says = refusal(tmp_path, *command, adversaries[0], "--out", tmp_path / "new.svg")
    assert "have one λ, 0: leave one of them out" in says
    says = refusal(tmp_path, *command, tiny.softmax, "--out", tmp_path / "new.svg")
    assert f"is not an adversary: train one with --attention adversarial:{tiny.softmax}" in says
    other = ("plot", "adversary-curve", adversaries[0], "synthetic", adversaries[1])
    assert "starts from another run" in refusal(tmp_path, *other, "--out", tmp_path / "new.svg")
