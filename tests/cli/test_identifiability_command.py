"""`audit --audits identifiability` as typed: on runs, on any saved model, interrupted and gone on with."""

import json
import shutil
import signal

import pyarrow.parquet as pq
import pytest
import transformers as hf
import typer

from glasshead.cli.interrupts import resumable_parts
from glasshead.data import train_tokenizer
from glasshead.errors import InputError
from glasshead.results import AuditCard
from typed import glasshead, held, one_line, refusal, shell, wait_for

WORDS = ("good", "bad", "short", "warm", "long", "cold")
TEXTS = [f"the {one} film was {two} and new" for one in WORDS for two in WORDS]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A tiny BERT that was never trained nor plugged, with its tokenizer, and a file of texts."""
    folder = tmp_path_factory.mktemp("saved")
    tokenizer = train_tokenizer(TEXTS, min_freq=1, max_length=16)
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=16, max_position_embeddings=16, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = hf.BertModel(config)
    model.save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    lines = [f"{text},{i % 2}" for i, text in enumerate(TEXTS)]
    (folder / "texts.csv").write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return folder


def test_a_saved_model_is_asked_as_it_is(saved, tmp_path):
    said = glasshead(
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--layers", "all", "--rows", "cls", "--processes", 1, "--out", tmp_path / "out",
    ).output  # fmt: skip
    assert "the same head output" in " ".join(said.split())
    card = AuditCard.load(tmp_path / "out")
    finding = card.finding("identifiability.identifiable.all")
    assert finding.n == len(TEXTS)
    assert finding.estimate == 0.0  # seven words, values of two numbers
    assert card.finding("identifiability.identifiable.layer 1") is not None
    heads = pq.read_table(tmp_path / "out" / "heads.parquet").to_pandas()
    assert len(heads) == len(TEXTS) * 2 * 4
    assert set(heads.row) == {0}
    weights = pq.read_table(tmp_path / "out" / "weights.parquet").to_pandas()
    assert (weights.low <= weights.weight).all()
    assert (weights.weight <= weights.high).all()
    assert "film" in set(weights.token)
    use = card.facts["attention_use"]
    assert use["before"] is None  # nobody saw its start
    assert [(layer["layer"], layer["sequences"]) for layer in use["after"]] == [
        (0, len(TEXTS)),
        (1, len(TEXTS)),
    ]
    # At the start of training its scores are next to nothing.
    assert all(layer["entropy"] > 0.98 for layer in use["after"])
    assert "its weights differ little" in said
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Surest map" in page
    assert "Entropy of attention, by layer" in page
    assert not (tmp_path / "out.parts").exists()


def test_a_run_is_asked_with_all_that_it_predicts(tiny, tmp_path):
    glasshead(
        "audit",
        tiny.softmax,
        "synthetic",
        "--audits",
        "identifiability,performance",
        "--out",
        tmp_path / "out",
    )
    card = AuditCard.load(tmp_path / "out")
    assert card.finding("identifiability.identifiable.all") is not None
    assert card.finding("performance.accuracy.all") is not None
    assert (tmp_path / "out" / "weights.parquet").exists()


def test_everything_is_asked_by_default(tiny):
    card = AuditCard.load(tiny.softmax_audit)
    assert card.finding("identifiability.identifiable.all").n <= 200


@pytest.mark.slow
def test_interrupted_and_resumed(saved, tmp_path):
    typed = (
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--layers", "all", "--rows", "all", "--processes", 1, "--out", tmp_path / "out",
    )  # fmt: skip
    many = saved / "many.csv"
    many.write_text(
        (saved / "texts.csv").read_text()
        + "".join(
            f"the {one} film {two} {three},1\n" for one in WORDS for two in WORDS for three in WORDS[:3]
        ),
        encoding="utf-8",
    )
    typed = tuple(many if each == saved / "texts.csv" else each for each in typed)
    part = "out.parts/heads-*.parquet"
    program = held("glasshead.identifiability.interval_batches:ResultStore.open_part", part)
    running = shell(*typed, cwd=tmp_path, program=program)
    wait_for(part, tmp_path, running)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "the finished parts are kept: repeat the command with --resume" in " ".join(said.split())
    assert not (tmp_path / "out").exists()
    assert "an unfinished audit: continue with --resume" in refusal(tmp_path, *typed)
    begun = sorted(path.name for path in (tmp_path / "out.parts").glob("heads-*"))
    glasshead(*typed, "--resume")
    card = AuditCard.load(tmp_path / "out")
    assert begun
    assert card.finding("identifiability.identifiable.all").n == 36 + 108
    assert not (tmp_path / "out.parts").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--layers", "9"), "no attention layer 9"),
        (("--layers", "0,x"), "--layers must be 'all' or numbers"),
        (("--heads", "4"), "no head 4"),
        (("--rows", "15"), "no text has a row 15"),
        (("--rows", "sls"), "unknown rows 'sls'"),
        (("--rows", "pooled"), "has no learned query"),
        (("--tolerance", "-0.5"), "'--tolerance': must be at least 0"),
        (("--top", "0"), "'--top': must be at least 1"),
        (("--limit", "0"), "'--limit': must be at least 1"),
        (("--processes", "0"), "'--processes': must be at least 1"),
        (("--max-length", "1"), "--max-length 1 leaves no room"),
        (("--resume",), "nothing to resume"),
    ],
)
def test_refusals(saved, tmp_path, options, words):
    given = (
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--out", tmp_path / "out", *options,
    )  # fmt: skip
    assert words in refusal(tmp_path, *given)


def test_a_threshold_of_the_wrong_side_loses_no_part(saved, tmp_path):
    given = (
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--out", tmp_path / "out",
    )  # fmt: skip
    refused = glasshead(*given, "--fail-under", "identifiability.width=0.1", code=2)
    assert "low is good" in one_line(refused.stderr)
    assert "the finished parts are kept" in one_line(refused.stderr)
    glasshead(*given, "--resume")
    assert (tmp_path / "out" / "card.json").exists()
    assert not (tmp_path / "out.parts").exists()


def test_parts_of_other_data_are_refused(saved, tmp_path, monkeypatch):
    """Two files of equal length: only the texts differ."""
    other = tmp_path / "other.csv"
    other.write_text(
        (saved / "texts.csv").read_text(encoding="utf-8").replace("film", "plot"), encoding="utf-8"
    )
    typed = (
        "audit",
        saved / "bert",
        "--split",
        "all",
        "--audits",
        "identifiability",
        "--out",
        tmp_path / "out",
    )

    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("glasshead.audits.audit_heads.map_findings", stop)
    glasshead(*typed[:2], saved / "texts.csv", *typed[2:], code=130)
    monkeypatch.undo()
    assert "the measurements of another request" in refusal(
        tmp_path, *typed[:2], other, *typed[2:], "--resume"
    )
    glasshead(*typed[:2], saved / "texts.csv", *typed[2:], "--resume")


@pytest.mark.parametrize(
    "options",
    [("--layer", "1"), ("--head", "0"), ("--row", "last"), ("--level", "sentence"), ("--draws", "5")],
)
def test_options_of_other_audits_are_not_ignored(saved, tmp_path, options):
    given = "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability"
    assert "use --layers, --heads and --rows" in refusal(
        tmp_path, *given, "--out", tmp_path / "out", *options
    )


@pytest.mark.parametrize("options", [("--tolerance", "0.1"), ("--processes", "1"), ("--rows", "cls")])
def test_options_of_identifiability_are_not_ignored(tiny, tmp_path, options):
    given = "audit", tiny.softmax, "synthetic", "--audits", "agreement", "--out", tmp_path / "out"
    assert "are for --audits identifiability" in refusal(tmp_path, *given, *options)


def test_what_is_not_told_is_where_attention_is_read(saved, tmp_path):
    """All layers of a saved model, though only a head was named."""
    glasshead(
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--heads", "1", "--limit", 3, "--out", tmp_path / "out",
    )  # fmt: skip
    heads = pq.read_table(tmp_path / "out" / "heads.parquet").to_pandas()
    assert set(map(tuple, heads[["layer", "head", "row"]].values)) == {(0, 1, 0), (1, 1, 0)}


def test_texts_can_be_cut(saved, tmp_path):
    glasshead(
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--limit", 3, "--max-length", 4, "--out", tmp_path / "out",
    )  # fmt: skip
    heads = pq.read_table(tmp_path / "out" / "heads.parquet").to_pandas()
    assert set(heads.tokens) == {4}
    assert AuditCard.load(tmp_path / "out").facts["truncated_to"] == 4


def test_a_misspelt_audit_is_called_so(saved, tmp_path):
    given = (
        "audit",
        saved / "bert",
        saved / "texts.csv",
        "--audits",
        "identifability",
        "--out",
        tmp_path / "out",
    )
    assert "did you mean 'identifiability'" in refusal(tmp_path, *given)


def test_a_pooled_model_says_whose_row_was_read(tiny, tmp_path):
    for attention, told in (("softmax", ""), ("tanhmax", "signed weights, which have no largest")):
        run = getattr(tiny, attention)
        glasshead("audit", run, "synthetic", "--audits", "identifiability", "--out", tmp_path / attention)
        card = AuditCard.load(tmp_path / attention)
        assert "row of the learned query" in card.facts["identifiability"]["read"]
        assert told in card.finding("identifiability.another-first.all").verdict
    said = glasshead(
        "compare", tmp_path / "softmax", tmp_path / "tanhmax", "--out", tmp_path / "c.html"
    ).output
    assert "minus" in said


def test_other_audits_need_a_run(saved, tmp_path):
    given = "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--out", tmp_path / "out"
    assert "'glasshead heads' or 'glasshead audit MODEL DATA --audits identifiability --out DIR'" in refusal(
        tmp_path, *given
    )
    given = "audit", saved / "bert", saved / "texts.csv", "--audits", "agreement", "--layers", "1"
    assert "--audits identifiability" in refusal(tmp_path, *given, "--out", tmp_path / "out")


def test_facts_can_be_read_by_machines(saved, tmp_path):
    glasshead(
        "audit", saved / "bert", saved / "texts.csv", "--split", "all", "--audits", "identifiability",
        "--layers", "0", "--heads", "1,2", "--top", 3, "--limit", 5, "--out", tmp_path / "out",
    )  # fmt: skip
    facts = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))["facts"]
    assert facts["identifiability"]["maps"] == 10
    assert facts["identifiability"]["T"] == "V times the output projection"
    weights = pq.read_table(tmp_path / "out" / "weights.parquet").to_pandas()
    assert weights.groupby(["text", "layer", "head"]).size().eq(3).all()


class TestPartsOfAnAudit:
    """The folder beside the audit, from which it goes on."""

    def stop(self, tmp_path, *made, by=KeyboardInterrupt, **options):
        """Begin an audit that makes these files and is interrupted, or ends with an error."""
        chosen = {"resume": False, "overwrite": False} | options
        with resumable_parts(tmp_path / "out", **chosen) as parts:
            parts.mkdir(exist_ok=True)
            for name in made:
                (parts / name).parent.mkdir(parents=True, exist_ok=True)
                (parts / name).write_text("")
            raise by

    def test_before_a_part_is_whole_there_is_nothing_to_go_on_from(self, tmp_path, capsys):
        with pytest.raises(typer.Exit):
            self.stop(tmp_path, "settings.json", "weights-00000.parquet", "heads-00000.aside")
        assert "nothing was written" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_a_whole_part_is_kept_until_overwritten(self, tmp_path, capsys):
        for whole in ("heads-00000.parquet", "measurements/agreement/0123abcd.parquet"):
            for options in ({}, {"overwrite": True}):
                with pytest.raises(typer.Exit):
                    self.stop(tmp_path, "settings.json", "weights-00000.parquet", whole, **options)
                assert "--resume" in capsys.readouterr().err
                assert (tmp_path / "out.parts" / whole).exists()
            shutil.rmtree(tmp_path / "out.parts")

    def test_a_late_error_loses_no_part(self, tmp_path):
        """Audits run one after the other: the last of them may refuse the model."""
        whole = "measurements/agreement/0123abcd.parquet"
        with pytest.raises(InputError) as stopped:
            self.stop(tmp_path, "settings.json", whole, by=InputError("not this model"))
        assert any("the finished parts are kept" in note for note in stopped.value.__notes__)
        assert (tmp_path / "out.parts" / whole).exists()
        with pytest.raises(InputError):
            self.stop(tmp_path, resume=True, by=InputError("not this model"))
        assert (tmp_path / "out.parts" / whole).exists()

    def test_an_early_error_leaves_nothing(self, tmp_path):
        with pytest.raises(InputError):
            self.stop(tmp_path, "settings.json", by=InputError("not this model"))
        assert list(tmp_path.iterdir()) == []

    def test_files_of_others_are_not_lost(self, tmp_path):
        (tmp_path / "out.parts").mkdir()
        (tmp_path / "out.parts" / "precious.txt").write_text("mine")
        with pytest.raises(InputError, match=r"did not write \(precious\.txt\)"):
            self.stop(tmp_path, overwrite=True)
        assert (tmp_path / "out.parts" / "precious.txt").read_text() == "mine"
