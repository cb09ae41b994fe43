"""glasshead judge: what an audit measured, judged again without its model; and audits that go on from it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import glasshead as front_door
from glasshead.errors import InputError
from glasshead.results import AuditCard
from same_cards import same
from typed import glasshead, refusal

SPLIT = ("--split", "test")
NAMED = ("--audits", "agreement,faithfulness,performance")


@pytest.fixture(scope="module")
def audited(tiny, tmp_path_factory):
    """A folder of an audit of thirty texts, and its card."""
    out = tmp_path_factory.mktemp("judged") / "audit"
    glasshead("audit", tiny.tanhmax, "synthetic", *NAMED, *SPLIT, "--limit", 30, "--out", out)
    return out, AuditCard.load(out)


def shards(folder):
    """Which shards there are, and when each was written."""
    return {path.relative_to(folder): path.stat().st_ino for path in folder.rglob("measurements/*/*.parquet")}


def test_the_level_of_the_last_look_is_kept_until_another_one_is_asked_for(tiny, tmp_path):
    decided = "perturbation.uniform.share"
    glasshead(
        "audit", tiny.tanhmax, "synthetic", "--audits", "perturbation", *SPLIT, "--until-decided", decided,
        "--out", tmp_path / "audit",
    )  # fmt: skip
    card, again = AuditCard.load(tmp_path / "audit"), front_door.judge(tmp_path / "audit")
    assert again.level == card.level > 0.95
    assert again.findings == card.findings
    assert again.facts["notes"] == card.facts["notes"]
    other = front_door.judge(tmp_path / "audit", level=0.95)
    assert other.level == 0.95
    assert not any("intervals are at" in note for note in other.facts["notes"])


def test_what_is_judged_again_is_what_was_judged(audited):
    folder, card = audited
    again = front_door.judge(folder)
    assert again.findings == card.findings
    assert again.examples.keys() == card.examples.keys()
    assert again.highlights == card.highlights


def test_rows_of_an_audit_that_is_not_installed_are_not_passed_over(audited, tmp_path):
    folder = shutil.copytree(audited[0], tmp_path / "audit")
    (folder / "measurements" / "performance").rename(folder / "measurements" / "of_a_package")
    with pytest.raises(InputError, match="of_a_package, an audit of another package: install it first"):
        front_door.judge(folder)


def test_other_slices_are_those_of_an_audit_that_was_sliced(audited, tiny, tmp_path):
    folder, _ = audited
    glasshead(
        "audit", tiny.tanhmax, "synthetic", *NAMED, *SPLIT, "--limit", 30,
        "--by", "length", "--by", "correct", "--out", tmp_path / "sliced",
    )  # fmt: skip
    sliced = AuditCard.load(tmp_path / "sliced")
    judge = ("judge", folder, "--by", "length", "--by", "correct", "--out", tmp_path / "judged")
    said = glasshead(*judge).output
    assert "By length" in said
    judged = AuditCard.load(tmp_path / "judged")
    assert judged.findings == sliced.findings
    assert judged.slice_tests == sliced.slice_tests
    assert judged.facts["slices"] == sliced.facts["slices"]
    assert front_door.judge(tmp_path / "judged").findings == front_door.judge(folder).findings


def test_a_bar_that_is_not_met_fails(audited):
    folder, card = audited
    finding = card.finding("performance.accuracy.all")
    assert finding.interval[0] > 0.01
    assert glasshead("judge", folder, "--fail-under", "performance.accuracy=0.01").exit_code == 0
    assert glasshead("judge", folder, "--fail-under", "performance.accuracy=1.01", code=1).exit_code == 1


def test_another_level_has_other_intervals_and_verdicts(audited, tmp_path):
    folder, card = audited
    judged = front_door.judge(folder, by=["length"], level=0.99)
    by_name = {finding.name: finding for finding in judged.findings}
    for finding in card.findings:
        wider = by_name[finding.name]
        assert wider.level == 0.99
        assert wider.estimate == pytest.approx(finding.estimate, nan_ok=True)
        if finding.interval is not None:
            assert wider.interval[0] <= finding.interval[0] <= finding.interval[1] <= wider.interval[1]
    lengths = len(judged.facts["slices"]["length"])
    assert {one.level for one in judged.findings if one.by} == {judged.facts["slice_level"]}
    assert judged.facts["slice_level"] == pytest.approx(1 - 0.01 / lengths)
    assert judged.level == judged.facts["interval_level"] == 0.99
    assert {test.level for test in judged.slice_tests} == {0.99}
    said = glasshead("judge", folder, "--by", "length", "--level", 0.99, "--out", tmp_path / "wide").output
    assert "99 % interval" in said
    assert AuditCard.load(tmp_path / "wide").findings == judged.findings
    assert "at 99\u00a0%, corrected" in (tmp_path / "wide" / "report.html").read_text(encoding="utf-8")
    again = front_door.judge(tmp_path / "wide", level=0.95)
    assert again.findings == card.findings
    assert json.loads(again.to_json())["facts"] == json.loads(card.to_json())["facts"]


def test_the_usual_level_is_the_one_of_the_audit(audited):
    folder, card = audited
    assert front_door.judge(folder, level=0.95).findings == card.findings


@pytest.mark.parametrize("level", [0.5, 1.0, -1.0, float("nan")])
def test_what_is_no_level_is_refused(audited, tmp_path, level):
    folder, _ = audited
    assert "--level must be a confidence level between 0.5 and 1" in refusal(
        tmp_path, "judge", folder, "--level", level
    )
    with pytest.raises(InputError, match="`level` must be a confidence level"):
        front_door.judge(folder, level=level)


@pytest.mark.parametrize(
    "program",
    [
        "import glasshead; glasshead.judge(folder, by=['length'])",
        "from glasshead.results import AuditCard; AuditCard.load(folder)",
        "import glasshead; glasshead.compare(folder, AuditCard.load(folder))",
        "main(['judge', str(folder), '--by', 'length'])",
        "main(['compare', str(folder), str(copy), '--out', str(out / 'compared.html')])",
    ],
    ids=["judge", "load", "compare", "judge command", "compare command"],
)
def test_judging_imports_nothing_that_runs_models(audited, tmp_path, program):
    folder, _ = audited
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    run = f"""
import sys
from pathlib import Path
from glasshead.results import AuditCard

def main(arguments):
    from glasshead.cli import app
    app(arguments, standalone_mode=False)

folder, copy, out = map(Path, sys.argv[1:])
{program}
heavy = {{"torch", "transformers", "datasets", "pandas", "sklearn", "scipy.stats"}}
print("imported:", sorted(heavy & set(sys.modules)))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(front_door.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", run, folder, copy, tmp_path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("imported: []")


def test_slices_that_were_not_measured_are_refused(audited, tmp_path):
    folder, _ = audited
    for name in ("identifiability", "source"):
        said = refusal(tmp_path, "judge", folder, "--by", name)
        assert f"{name} was not measured" in said
        assert f"--by {name}" in said


def test_an_audit_without_measurements_is_refused(audited, tmp_path):
    _, card = audited
    card.save(tmp_path / "card")
    with pytest.raises(InputError, match="no measurements that could be judged again"):
        front_door.judge(tmp_path / "card")


def test_more_texts_and_other_audits_measure_what_is_missing(audited, tiny, tmp_path):
    _, card = audited
    out = tmp_path / "audit"
    glasshead("audit", tiny.tanhmax, "synthetic", *NAMED, *SPLIT, "--limit", 30, "--out", out)
    before = shards(out)
    more = ("audit", tiny.tanhmax, "synthetic", *SPLIT, "--limit", 45, "--out", out, "--resume")
    glasshead(*more, "--audits", "agreement,faithfulness,performance,perturbation")
    after = shards(out)
    assert before.items() <= after.items()  # nothing was measured again
    assert {path.parent.name for path in after} - {path.parent.name for path in before} == {"perturbation"}
    extended = AuditCard.load(out)
    assert extended.facts["examples"] == 45
    assert set(card.examples["id"]) < set(extended.examples["id"])
    assert not out.with_name("audit.parts").exists()


def test_what_was_measured_otherwise_is_refused(audited, tiny, tmp_path):
    folder, _ = audited
    given = ("audit", tiny.tanhmax, "synthetic", *NAMED, *SPLIT, "--limit", 30, "--out", folder, "--resume")
    said = refusal(tmp_path, *given, "--seed", 1)
    assert f"{folder.name} holds the measurements of another request (different: " in said
    assert "seed" in said
    assert not folder.with_name(f"{folder.name}.parts").exists()
    assert AuditCard.load(folder).facts["audit_seed"] == 0


@pytest.mark.slow
def test_an_audit_that_is_killed_again_and_again_is_the_audit(audited, tiny, tmp_path):
    """By SIGKILL, at moments that no code can prepare for."""
    _, card = audited
    out = tmp_path / "audit"
    asked = [
        str(each)
        for each in ("audit", tiny.tanhmax, "synthetic", *NAMED, *SPLIT, "--limit", 30, "--out", out)
    ]
    command = [sys.executable, "-m", "glasshead", *asked]
    environment = os.environ | {"PYTHONPATH": str(Path(front_door.__file__).parents[1])}
    killed = 0
    for seconds in (0.0, 0.3, 1.0):  # after something was written
        before = written(out.with_name("audit.parts"))
        resume = ["--resume"] if before else []
        process = subprocess.Popen([*command, *resume], env=environment, stdout=-3, stderr=-3)
        while process.poll() is None and written(out.with_name("audit.parts")) == before:
            time.sleep(0.02)
        time.sleep(seconds)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += 1
    assert killed
    if not out.exists():
        resume = ["--resume"] if out.with_name("audit.parts").exists() else []
        subprocess.run([*command, *resume], env=environment, check=True, capture_output=True)
    assert same(whole(AuditCard.load(out)), whole(card))


def written(folder):
    """What stands in a folder; what is renamed while it is read is looked for again."""
    try:
        return set(folder.rglob("*"))
    except FileNotFoundError:
        return written(folder)


def whole(card):
    """All of a card but what depends on the clock."""
    values = json.loads(card.to_json())
    values["facts"] = {
        name: fact for name, fact in values["facts"].items() if name not in ("date", "seconds")
    }
    return values
