"""Several hundred inputs that nobody means: the command works, or says one line and leaves nothing behind.

Files, records and options are changed by generators with fixed seeds (`nonsense`). A training stops at its
first step, as if somebody had pressed Ctrl-C: all that can be refused has been refused by then.
"""

import gzip
import json
import os
import shutil
import traceback
from importlib.util import find_spec

import nonsense
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import transformers

from glasshead.data import LoadOptions, load
from glasshead.training import preset_config, train
from typed import CliRunner, app, glasshead, one_line, shell
from writers import small_writer

TEXT = "a wonderful film"
ROWS = [(f"a {word} film of {i} acts", word) for i in range(12) for word in ("fine", "bad")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where commands run, and all that they may write; relative names lie there too."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(transformers.Trainer, "train", interrupted)
    if find_spec("glasshead.papers"):
        monkeypatch.setattr("glasshead.papers.solvable.curve.POWER", 5)
    return tmp_path / "here"


def trouble(place, *arguments):
    """What is wrong with how a command ended; None: it worked, or refused as it should. Clears the place."""
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    left = [path.name for path in place.rglob("*") if path not in before]
    lost = [
        path.name
        for path, written in before.items()
        if not path.exists() or (path.is_file() and path.stat().st_mtime_ns != written)
    ]
    for path in sorted(place.iterdir()):
        if path not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return "".join(traceback.format_exception(result.exception)[-3:])
    if result.exit_code == 0:
        return None
    if left or lost:
        return f"code {result.exit_code}, left {left}, lost {lost}"
    if result.exit_code == 130:
        return None
    if result.exit_code != 2 or result.stdout:
        return f"code {result.exit_code}, said {result.output!r}"
    try:
        one_line(result.stderr)
    except AssertionError:
        return f"said {result.stderr!r}"
    return None


def check(cases):
    """Fail with every command that ended badly."""
    wrong = [f"{typed}: {what}" for typed, what in cases if what is not None]
    assert not wrong, "\n".join(wrong)


def data_file(path):
    """A small file of each kind that is read."""
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        pq.write_table(
            pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), path
        )
        return
    mark = "," if kind == "csv" else "\t"
    lines = [mark.join(row) for row in [("text", "label"), *ROWS]]
    if kind == "jsonl":
        lines = [json.dumps({"text": text, "label": label}) for text, label in ROWS]
    content = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)


KINDS = ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.gz"]


def bad_data(place, kind, seeds):
    """Every damaged file of a kind, and how a training on it ends."""
    path = place / kind
    data_file(path)
    content = path.read_bytes()
    for seed in seeds:
        path.write_bytes(nonsense.damaged(content, np.random.default_rng(seed)))
        yield f"{kind} {seed}", trouble(place, "train", path, "--epochs", 1, "--out", place / "out")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_data(place, kind):
    check(bad_data(place, kind, range(8)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_data_of_many_kinds(place, kind):
    check(bad_data(place, kind, range(20, 80)))


RECORDS = [
    {"text": None}, {"text": 3}, {"text": True}, {"text": []}, {"text": {}}, {"label": None}, {"label": 0.5},
    {"label": []}, {"label": {}}, {"label": ""}, {"label": 10**400}, {"text": "\ud800"}, {}, {"": ""},
]  # fmt: skip


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_records_of_every_shape(place, task):
    def cases():
        path = place / "a.jsonl"
        for number, changed in enumerate(RECORDS):
            records = [{"text": text, "label": place} for place, (text, _) in enumerate(ROWS)]
            records[3] = records[3] | changed if changed else {}
            path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
            model = ("--model", "encoder") if task == "regression" else ()
            yield number, trouble(place, "train", path, "--task", task, *model, "--out", place / "out")

    check(cases())


QUESTIONS = [
    {"question": None}, {"question": 3}, {"question": []}, {"question": ""}, {"question": "\ud800"},
    {"context": None}, {"context": 3}, {"context": {}}, {"context": [None]}, {"context": [[]]},
    {"context": "[1"}, {"context": ["a film", " "]}, {"answer": 3}, {"answer": []}, {"answer": "\ud800"}, {},
]  # fmt: skip


def test_questions_of_every_shape(place):
    """Of many that are asked together one is none, or not whole."""
    folder, path = place.parent / "writer", place / "questions.jsonl"
    for each in small_writer():
        each.save_pretrained(folder)
    usual = {"question": "a film", "context": ["a film is good", "a plot is bad"], "answer": "good"}

    def cases():
        for number, changed in enumerate(QUESTIONS):
            rows = [usual, usual | changed if changed else {}]
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            yield number, trouble(place, "cite", folder, "--questions", path, "--tokens", 2)

    check(cases())


def bad_folders(place, made, commands, seeds):
    """A folder with one file damaged, for each seed, and how a command ends that reads it."""
    files = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
    copy = place / "copy"
    shutil.copytree(made, copy)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        name = files[seed % len(files)]
        content = (made / name).read_bytes()
        chance = rng.random()
        if chance < 0.05:
            (copy / name).unlink()
        elif name.suffix == ".json" and chance < 0.7:
            (copy / name).write_bytes(nonsense.changed(content, rng))
        else:
            (copy / name).write_bytes(nonsense.damaged(content, rng))
        command = commands[int(rng.integers(len(commands)))]
        yield f"{command[0]}, {name} {seed}", trouble(place, *command)
        (copy / name).write_bytes(content)


@pytest.fixture
def reading(place, tiny):
    """For each kind of folder one that is whole, and commands that read its copy."""
    copy, page = place / "copy", place / "page.html"
    return {
        "run": (
            tiny.tanhmax,
            [("explain", copy, TEXT), ("compare", tiny.softmax, copy, "--out", page), ("doctor", copy)],
        ),
        "audit": (tiny.tanhmax_audit, [("compare", tiny.softmax_audit, copy, "--out", page)]),
    }


@pytest.mark.parametrize("kind", ["run", "audit"])
def test_damaged_folders(place, reading, kind):
    check(bad_folders(place, *reading[kind], range(12 if kind == "run" else 5)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "audit"])
def test_damaged_folders_of_many_kinds(place, reading, kind):
    check(bad_folders(place, *reading[kind], range(60, 90 if kind == "run" else 75)))


@pytest.fixture(scope="module")
def token_run(tmp_path_factory):
    """A trained classifier of one token; `place` lets nothing be trained."""
    options = LoadOptions(generator={"instances": 80, "length": 4, "letters": 4})
    source = {"source": "histogram", "options": {"generator": dict(options.generator)}}
    recipe = preset_config("token-classifier", None).with_changes(epochs=1)
    return train(load("histogram", options), recipe, tmp_path_factory.mktemp("token") / "run", source=source)


@pytest.fixture
def usual(token_run, place, tiny, monkeypatch):
    """Each command as it is meant; a server ends as soon as it would listen."""
    monkeypatch.setattr("glasshead.serve.server.Server.run", lambda server, sockets=None: None)
    monkeypatch.setattr("glasshead.serve.opened_model.find_refused_methods", lambda *_, **__: frozenset())
    out, run, data = ("--out", place / "out"), tiny.tanhmax, ("synthetic", "--option", "instances=40")
    language_model = place.parent / "writer"
    for each in small_writer():
        each.save_pretrained(language_model)
    pairs = place.parent / "pairs.csv"
    pairs.write_text("clean,corrupted,answer\na film is,a plot is,good\n", encoding="utf-8")
    passages = place.parent / "passages.csv"
    passages.write_text("text\na film is good\na plot is bad\n", encoding="utf-8")
    few = ("--limit", 5, "--audits", "performance")
    models = place.parent / "models.toml"
    table = f'[models.mine]\nmodel = "{run}"\ndata = "synthetic"\nlimit = 5\naudits = ["performance"]\n'
    models.write_text(table, encoding="utf-8")
    return {
        ("demo",): (*out,),
        ("train",): (*data, *out),
        ("dynamics",): (run, "--out", place / "a.html"),
        ("audit",): (run, "synthetic", *out, *few),
        ("audit-hub",): (models, *out),
        ("explain",): (run, TEXT),
        ("generate",): (language_model, "a film", "--tokens", 2),
        ("cite",): (language_model, "a film", "--context", passages, "--answer", "good"),
        ("heads",): (run, "synthetic", "--limit", 3, "--out", place / "h.json"),
        ("lens",): (language_model, "a film"),
        ("patch",): (language_model, pairs, "--out", place / "p.html"),
        ("rank",): (run, "synthetic", "--limit", 3, "--removals", "delete", "--out", place / "r.html"),
        ("compare",): (run, tiny.softmax, "--out", place / "a.html"),
        ("judge",): (tiny.tanhmax_audit, "--out", place / "a"),
        ("doctor",): (run,),
        ("list",): ("kernels",),
        ("plot", "distance-aware"): ("--out", place / "a.svg"),
        ("plot", "positions"): (run, "--out", place / "a.svg"),
        ("plot", "heads"): (run, TEXT, "--out", place / "a.svg"),
        ("plot", "ranks"): (run, "synthetic", "--out", place / "a.svg"),
        ("plot", "logits"): (run, "synthetic", "--out", place / "a.svg"),
        ("plot", "collapse"): ("--attention", "softmax", "--out", place / "a.svg"),
        ("plot", "dynamics"): (run, "--out", place / "a.svg"),
        ("plot", "ratios"): (run, "--out", place / "a.svg"),
        ("plot", "adversary-curve"): (run, "synthetic", run, "--out", place / "a.svg"),
        ("plot", "merges"): ("low", "login", "--out", place / "a.svg"),
        ("plot", "minima"): (token_run, "--texts", 10, "--out", place / "a.svg"),
        ("plot", "transition"): (
            "--alphas",
            1,
            "--d",
            20,
            "--seeds",
            2,
            "--out",
            place / "a.svg",
        ),
        ("serve",): (run, "--no-browser", "--port", 8797),
        ("reproduce",): ("s2", "--quick", "--only", "trec", *out),
        ("recommend", "generate"): (place / "logs",),
        ("recommend", "train"): (place / "logs", *out),
        ("recommend", "evaluate"): (run, place / "logs"),
        ("recommend", "audit"): (run, place / "logs", *out),
        ("recommend", "explain"): (run, place / "logs"),
        ("recommend", "rank"): (run, place / "logs", "--out", place / "prediction.txt"),
    }


def bad_options(place, usual, values, command=None):
    """Every option of every command, or one, with values that it is not meant to have."""
    for number, (path, option) in enumerate(nonsense.options(app)):
        for value in values(number) if command in (None, path[0]) else ():
            wrong = trouble(place, *path, *usual[path], option, value)
            yield f"{' '.join(path)} {option} {value[:40]!r}", wrong


@pytest.mark.slow
def test_nonsense_for_every_option(place, usual):
    rng = np.random.default_rng(0)
    order = rng.permutation(len(nonsense.VALUES))
    chosen = [nonsense.VALUES[place] for place in order]
    found = bad_options(place, usual, lambda number: [] if number % 10 else [chosen[number % len(chosen)]])
    check(found)


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted({path[0] for path, _ in nonsense.options(app)}))
def test_nonsense_of_every_kind_for_every_option(place, usual, command):
    """Every ninth value for each option, another ninth for the next one: neighbours are of one kind."""
    check(bad_options(place, usual, lambda number: nonsense.VALUES[number % 9 :: 9], command))


@pytest.mark.slow
def test_paths_of_the_wrong_kind(place, usual, reading):
    file, folder = place / "file", place / "folder"
    file.write_text("nothing", encoding="utf-8")
    folder.mkdir()
    wrong = [
        file,
        folder,
        place / "no" / "where",
        file / "below",
        "",
        "x" * 300,
        "~nobody/x",
        os.devnull,
    ]
    places = [("train", "#", "--out", place / "out"), ("audit", "#", "synthetic", "--out", place / "out")]
    places += [("explain", "#", TEXT), ("compare", "#", "#", "--out", place / "a.html"), ("doctor", "#")]
    places += [("cite", place / "no-model", "--questions", "#")]
    places += [("dynamics", "#"), ("plot", "heads", "#", TEXT), ("recommend", "evaluate", "#", "#")]
    places += [
        ("train", "synthetic", "--vectors", "#", "--out", place / "out"),
        ("train", "synthetic", "--out", "#"),
    ]
    # Every other one for each command, the others for the next.
    cases = [
        [path if word == "#" else word for word in command]
        for number, command in enumerate(places)
        for path in wrong[number % 2 :: 2]
    ]
    check((case, trouble(place, *case)) for case in cases)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_as_a_process(tmp_path, reading, seed):
    name, kind = ("run", "explain") if seed % 2 else ("audit", "compare")
    made, commands = reading[name]
    rng = np.random.default_rng(1000 + seed)
    copy = shutil.copytree(made, tmp_path / "copy")
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    damaged = files[int(rng.integers(len(files)))]
    damaged.write_bytes(nonsense.damaged(damaged.read_bytes(), rng))
    words = next(words for words in commands if words[0] == kind)
    typed = [copy if word == tmp_path / "here" / "copy" else word for word in words]
    process = shell(*typed, cwd=tmp_path / "here")
    output, errors = process.communicate(timeout=300)
    assert process.returncode in (0, 2), errors
    if process.returncode == 2:
        assert output == ""
        one_line(errors)
        assert list((tmp_path / "here").iterdir()) == []


def test_the_inputs_are_fine_as_they_are(place, usual, reading):
    for kind in KINDS:
        data_file(place / kind)
        glasshead("train", place / kind, "--out", place / "out", code=130)
        assert not (place / "out").exists()
    shutil.copytree(reading["run"][0], place / "copy")
    assert "attention" in glasshead("explain", place / "copy", TEXT).stdout
