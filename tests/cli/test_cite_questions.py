"""glasshead cite --questions, as typed: of a model that copies what followed the word that is asked."""

import json
from importlib import import_module

import pytest

from induction import WORDS, induction_model
from typed import glasshead, refusal


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "copies"
    for each in induction_model(length=96):
        each.save_pretrained(folder)
    return folder


@pytest.fixture
def questions(tmp_path):
    """Each of two asks for what one of its passages says."""
    path = tmp_path / "questions.jsonl"
    rows = [
        {
            "question": WORDS[2 * place],
            "context": [f"{WORDS[n]} {WORDS[n + 1]}" for n in range(0, 8, 2)],
            "answer": WORDS[2 * place + 1],
        }
        for place in (1, 3)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_every_question_has_its_sources(model, questions, tmp_path):
    said = glasshead("cite", model, "--questions", questions, "--format", "json").stdout
    found = json.loads(said)["questions"]
    assert [one["sources"] for one in found] == [[1], [3]]
    out = tmp_path / "audit.html"
    assert "Written to" in glasshead("cite", model, "--questions", questions, "--out", out).stdout
    page = out.read_text(encoding="utf-8")
    assert "Too few answers depend on their passages to rank methods: 2" in page
    assert "http" not in page
    assert not out.with_name("audit.html.parts").exists()


def test_a_few_questions_say_that_they_are_too_few(model, questions):
    said = " ".join(glasshead("cite", model, "--questions", questions).stdout.split())
    assert "but 20 are needed." in said
    assert "Undecided: too few questions." in said


def test_what_was_measured_is_kept_and_found(model, questions, tmp_path, monkeypatch):
    out = tmp_path / "audit.json"
    parts = out.with_name("audit.json.parts")
    asked = ("cite", model, "--questions", questions, "--out", out)
    module = import_module("glasshead.sources.audit_sources")

    def stop(*given, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "judge_audit", stop)
        assert "repeat the command with --resume" in glasshead(*asked, code=130).stderr
    assert len(parts.read_text(encoding="utf-8").splitlines()) == 3
    assert not out.exists()
    assert "continue with --resume" in refusal(tmp_path, *asked)
    with monkeypatch.context() as patched:
        patched.setattr(module, "measure", stop)  # nothing is measured again
        glasshead(*asked, "--resume")
    assert not parts.exists()
    assert len(json.loads(out.read_text(encoding="utf-8"))["questions"]) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["w02"], "leave QUESTION, --context and --answer out"),
        (["--answer", "w03"], "leave QUESTION, --context and --answer out"),
        (["--method", "shapley"], "leave --method out"),
        (["--resume"], "--resume needs the --out"),
        (["--resume", "--out", "new.html"], "there is nothing to resume"),
        (["--out", "audit.docx"], "must end in"),
    ],
)
def test_refusals(model, questions, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    assert words in refusal(tmp_path, "cite", model, "--questions", questions, *options)


def test_a_file_that_is_none(model, tmp_path):
    assert "no question" in refusal(tmp_path, "cite", model)
    refusal(tmp_path, "cite", model, "--questions", tmp_path / "no.jsonl")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert "row 1 has no question" in refusal(tmp_path, "cite", model, "--questions", tmp_path / "bad.csv")
