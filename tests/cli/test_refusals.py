"""Bad input: one clear line, exit code 2, nothing left behind."""

import io
import json
import shutil
from itertools import cycle
from types import SimpleNamespace

import pytest

from glasshead.errors import InputError
from glasshead.opening import load_run
from glasshead.results import AuditCard
from typed import TINY, glasshead, one_line, refusal, shell, tree


@pytest.fixture
def out(tmp_path):
    """An output folder below a folder that is not there yet."""
    return tmp_path / "new" / "out"


@pytest.fixture
def write(tmp_path):
    """Writes rows (or bytes) to a csv file below tmp_path."""

    def write(content, name="data.csv", header="text,label"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text("\n".join([header, *content]) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def run(tiny, tmp_path):
    """A run that a test may damage."""
    return shutil.copytree(tiny.tanhmax, tmp_path / "run")


@pytest.fixture
def audit(tiny, tmp_path):
    """An audit that a test may damage."""
    return shutil.copytree(tiny.tanhmax_audit, tmp_path / "audit")


def rows(labels, size=20):
    return [f"text {i},{label}" for i, label in zip(range(size), cycle(labels), strict=False)]


class TestTheData:
    @pytest.fixture
    def refused(self, tmp_path, out):
        return lambda data, *options: refusal(tmp_path, "train", data, "--out", out, *options)

    def test_missing_file(self, refused, tmp_path):
        assert "no such file or folder" in refused(tmp_path / "nothing.csv")

    def test_missing_folder(self, refused, tmp_path):
        assert "no such file or folder" in refused(tmp_path / "nothing" / "at" / "all")

    def test_misspelt_name(self, refused):
        assert refused("synthetik").startswith("did you mean 'synthetic'? If not: ")

    def test_unreachable_hub_name(self, refused):
        assert "cannot load 'someone/something'" in refused("someone/something")

    @pytest.mark.parametrize("content", [b"", b"\n\n", b"text,label\n"])
    def test_empty_file(self, refused, write, content):
        assert "is empty" in refused(write(content))

    def test_folder_without_data(self, refused, tmp_path):
        assert "has no data" in refused(tmp_path)

    def test_missing_text_column(self, refused, write):
        message = refused(write(rows("ab"), header="review,label"))
        assert "no column 'text' (it has: review, label)" in message
        assert "--text-column" in message

    def test_missing_label_column(self, refused, write):
        assert "no column 'kind'" in refused(write(rows("ab")), "--label-column", "kind")

    def test_single_class(self, refused, write):
        assert "a single class, 'a'" in refused(write(rows("a")))

    def test_label_unseen_in_train(self, refused, write, tmp_path):
        write(rows("ab"), "set/train.csv")
        write(rows("abc"), "set/test.csv")
        message = refused(tmp_path / "set")
        assert "row 3 has the class 'c', which train lacks" in message

    def test_not_utf8(self, refused, write):
        message = refused(write("text,label\ngut,a\ngrün,b\n".encode("latin-1")))
        assert "line 3 is not UTF-8" in message

    def test_ragged_rows(self, refused, write):
        assert "line 3 has 3 fields" in refused(write(["one,a", "one, two,b"]))

    def test_unknown_kind_of_file(self, refused, tmp_path):
        path = tmp_path / "data.doc"
        path.write_bytes(b"PK")
        assert "give one of .csv" in refused(path)

    def test_too_few_rows(self, refused, write):
        assert "too few rows" in refused(write(["one,a", "two,b"]))

    def test_pairs(self, refused, write):
        path = write(
            [f"one {i},two,{label}" for i in range(10) for label in "ab"], header="text,text_pair,label"
        )
        assert "these data have pairs" in refused(path)

    def test_unknown_class(self, refused, write):
        message = refused(write(rows(["World", "Sports"])), "--classes", "World,Sport")
        assert "did you mean 'Sports'?" in message

    @pytest.mark.parametrize("classes", ["World", "World,World"])
    def test_fewer_than_two_classes(self, refused, write, classes):
        assert "two or more different classes" in refused(
            write(rows(["World", "Sports"])), "--classes", classes
        )

    @pytest.mark.parametrize("fraction", ["0", "-1", "0.9", "nan"])
    def test_dev_fraction(self, refused, write, fraction):
        assert "dev fraction" in refused(write(rows("ab")), "--dev-fraction", fraction)

    def test_no_words_at_all(self, refused, write):
        assert "no word" in refused(write([f"{' ' * i},{label}" for i in range(20) for label in "ab"]))

    def test_many_texts_on_one_line_of_the_message(self, refused, write):
        # A line break within a class name does not break the one line.
        path = write(b'text,label\none,"a\nb"\ntwo,"a\nb"\n')
        assert "single class" in refused(path)


class TestTheSettings:
    @pytest.mark.parametrize(
        ("option", "value", "says"),
        [
            ("--attention", "tanmax", "did you mean 'tanhmax'?"),
            ("--attention", "", "choose from: "),
            ("--preset", "s0-cod", "did you mean 's0-code'?"),
            ("--model", "poled", "did you mean 'pooled'? If not: there is no folder poled"),
            ("--encoder", "lst", "did you mean 'lstm'?"),
            ("--score", "querykey", "did you mean 'query-key'?"),
            ("--epochs", 0, "--epochs must be at least 1"),
            ("--batch-size", 0, "--batch-size must be at least 1"),
            ("--max-length", -1, "--max-length must be at least 1"),
            ("--learning-rate", -0.1, "--learning-rate must be a positive number"),
            ("--learning-rate", "nan", "--learning-rate must be a positive number"),
            ("--learning-rate", "inf", "--learning-rate must be a positive number"),
            ("--scale", 0, "--scale must be a positive number"),
            ("--vocabulary-size", 3, "has no words"),
            ("--vocabulary-size", -3, "has no words"),
            ("--minimum-frequency", 0, "frequency"),
            ("--minimum-frequency", 10**6, "no word occurs"),
            ("--option", "instances", "is not NAME=NUMBER"),
            ("--option", "instances=many", "is not NAME=NUMBER"),
            ("--option", "instances=inf", "is not NAME=NUMBER"),
            ("--option", "instance=50", "did you mean 'instances'?"),
            ("--option", "instances=1.5", "give an integer"),
            ("--vectors", "/nowhere/vectors.txt", "cannot read the word vectors"),
            ("--set", "layers", "'layers' is not NAME=VALUE"),
            ("--set", "num_hidden_layers=2", "it is one of cross-encoder, encoder"),
            ("--set", "dropuot=0", "did you mean 'dropout'?"),
            ("--set", "d_k=3", "has no option 'd_k': "),
            ("--set", "epochs=two", "--epochs must be a whole number, not 'two'"),
            ("--set", "preset=s4", "choose --preset and --model by their own options"),
            (
                "--head-combination",
                "sum",
                "no option --head-combination: it is one of cross-encoder, encoder",
            ),
            ("--task", "regresion", "did you mean 'regression'?"),
            ("--task", "regression", "is not a number"),
            ("--labels", 3, "give --labels 2"),
            ("--rows", 0, "--rows must be at least 1"),
            ("--repeats", 1, "repeats need 2 seeds or more, not 1"),
            ("--model", "pair-encoder", "use --model encoder"),
            ("--model", "/no/where", "there is no folder /no/where"),
            ("--model", "", "an empty name is not a model"),
            ("--preset", "fine-tune", "name it with --model"),
        ],
    )
    def test_refused(self, tmp_path, out, option, value, says):
        assert says in refusal(tmp_path, "train", *TINY, option, value, "--out", out)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--preset", "s4"), "the preset 's4' is not for the model 'encoder'"),
            (("--attention", '{"activation"'), "is not JSON"),
            (("--attention", '{"position": {"name": "distance-aware", "maping": "clip"}}'), "'mapping'?"),
            (("--attention", '{"activaton": "tanhmax"}'), "did you mean 'activation'?"),
            (("--head-combination", "added"), "must be concat or sum"),
            (
                ("--head-combination", "sum", "--d-v", 8),
                "of the layer, not 8: leave --d-v out, or use --head-combination concat",
            ),
            (("--d-k", 0), "--d-k must be at least 1"),
            (("--scale", 2), "no option --scale: it is one of pooled"),
            (("--set", "positions=lerned"), "did you mean 'learned'?"),
            (
                ("--set", "value_dim=null", "--set", "num_attention_heads=7"),
                "7 heads do not divide the size 64",
            ),
        ],
    )
    def test_refused_for_an_encoder(self, tmp_path, out, options, says):
        arguments = ("train", *TINY, "--model", "encoder", *options, "--out", out)
        assert says in refusal(tmp_path, *arguments)

    def test_word_vectors_that_heads_do_not_divide(self, tmp_path, out):
        vectors = tmp_path / "vectors.txt"
        vectors.write_text("film 1 2 3 4 5\n", encoding="utf-8")
        options = ("--model", "encoder", "--preset", "regular-small", "--vectors", vectors)
        assert "8 heads do not divide the size 5" in refusal(tmp_path, "train", *TINY, *options, "--out", out)

    def test_generator_options_for_a_file(self, tmp_path, out, reviews):
        message = refusal(tmp_path, "train", reviews, "--option", "instances=50", "--out", out)
        assert "is not synthetic" in message

    def test_word_vectors_without_a_known_word(self, tmp_path, out):
        vectors = tmp_path / "vectors.txt"
        vectors.write_text("qqqq 1 2\n", encoding="utf-8")
        assert "any of the" in refusal(tmp_path, "train", *TINY, "--vectors", vectors, "--out", out)

    def test_diverging_training(self, tmp_path, out):
        before = tree(tmp_path)
        ran = glasshead("train", *TINY, "--preset", "s4", "--learning-rate", 1e38, "--out", out, code=2)
        assert tree(tmp_path) == before
        assert "lower --learning-rate" in one_line(ran.stderr.splitlines(keepends=True)[-1])

    @pytest.mark.parametrize("command", ["train", "audit", "demo"])
    def test_seed_out_of_range(self, tmp_path, tiny, command):
        before = tree(tmp_path)
        arguments = {"train": TINY, "audit": (tiny.softmax, "synthetic"), "demo": ()}[command]
        for seed in (-1, 2**32):
            ran = glasshead(command, *arguments, "--seed", seed, "--out", tmp_path / "new" / "out", code=2)
            assert "--seed" in ran.stderr
        assert tree(tmp_path) == before

    def test_attention_with_a_position(self, tmp_path):
        message = refusal(
            tmp_path, "train", "synthetic", "--attention", "cosformer", "--out", tmp_path / "run"
        )
        assert "has no position" in message

    def test_nothing_to_list(self, tmp_path):
        assert "did you mean 'activations'?" in refusal(tmp_path, "list", "activation")

    def test_debug_shows_the_traceback(self):
        with pytest.raises(ValueError, match="did you mean 'activations'"):
            glasshead("--debug", "list", "activation")


class TestTheOutput:
    def commands(self, tiny, out):
        audits = tiny.softmax_audit, tiny.tanhmax_audit
        return {
            "train": ("train", *TINY, "--out", out),
            "audit": ("audit", tiny.softmax, "synthetic", "--out", out),
            "compare": ("compare", *audits, "--out", out),
            "explain": ("explain", tiny.softmax, "a film", "--format", "html", "--out", out),
            "demo": ("demo", "--out", out),
        }

    @pytest.mark.parametrize("command", ["train", "audit", "compare", "explain"])
    def test_exists(self, tiny, tmp_path, command):
        out = tmp_path / "out"
        out.mkdir()
        (out / "precious").write_text("precious", encoding="utf-8")
        message = refusal(tmp_path, *self.commands(tiny, out)[command])
        assert "exists already" in message
        assert "--overwrite" in message

    def test_demo_replaces_only_a_demo(self, tiny, tmp_path):
        (tmp_path / "out").mkdir()
        assert "is not a demo" in refusal(tmp_path, *self.commands(tiny, tmp_path / "out")["demo"])

    @pytest.mark.parametrize("command", ["train", "audit", "compare", "explain", "demo"])
    def test_below_a_file(self, tiny, tmp_path, command):
        (tmp_path / "file").write_text("", encoding="utf-8")
        for out in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out"):
            assert "file is not a folder" in refusal(tmp_path, *self.commands(tiny, out)[command])

    @pytest.mark.parametrize("command", ["train", "audit", "compare", "explain", "demo"])
    def test_no_permission(self, tiny, tmp_path, monkeypatch, command):
        monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
        for out in (tmp_path / "out", tmp_path / "deep" / "out"):
            message = refusal(tmp_path, *self.commands(tiny, out)[command])
            assert f"cannot write into the folder {tmp_path}: permission denied" in message

    @pytest.mark.parametrize("out", ["", ".", "..", "/"])
    def test_no_name(self, tiny, tmp_path, monkeypatch, out):
        monkeypatch.chdir(tmp_path)
        assert "is not a valid name" in refusal(tmp_path, *self.commands(tiny, out)["train"], "--overwrite")

    def test_too_long_a_name(self, tiny, tmp_path):
        assert "cannot write" in refusal(tmp_path, *self.commands(tiny, tmp_path / ("x" * 300))["train"])

    def test_an_audit_does_not_replace_the_run(self, run, tmp_path):
        message = refusal(tmp_path, "audit", run, "synthetic", "--out", run, "--overwrite")
        assert "which is an input" in message

    def test_a_run_does_not_replace_its_data(self, reviews, tmp_path):
        (reviews.parent / "run.json").write_text("{}", encoding="utf-8")  # looks like one of ours
        for out in (reviews, reviews.parent):
            assert "which is an input" in refusal(tmp_path, "train", reviews, "--out", out, "--overwrite")

    def test_a_run_does_not_replace_the_model_that_it_tunes(self, run, tmp_path):
        message = refusal(tmp_path, "train", *TINY, "--model", run, "--out", run, "--overwrite")
        assert "which is an input" in message

    @pytest.mark.parametrize(("command", "kind"), [("compare", "html, .json"), ("explain", "html")])
    def test_a_page_is_no_file_of_another_kind(self, tiny, tmp_path, command, kind):
        message = refusal(tmp_path, *self.commands(tiny, tmp_path / "y.txt")[command])
        assert f"y.txt must end in .{kind}" in message

    def test_numbers_are_no_page(self, tiny, tmp_path):
        explain = "explain", tiny.softmax, "a film", "--out", tmp_path / "y.html", "--format"
        assert "y.html must end in .json" in refusal(tmp_path, *explain, "json")
        explain = "explain", tiny.softmax, "a film", "--out", tmp_path / "y.txt"
        assert "y.txt must end in .html, .json, .md, .svg, .png or .pdf" in refusal(tmp_path, *explain)

    def test_what_is_finished_is_not_resumed(self, tiny, tmp_path):
        message = refusal(tmp_path, "train", *TINY, "--out", tiny.softmax, "--resume")
        assert f"nothing to resume: {tiny.softmax} is finished; --overwrite trains it again" in message

    def test_a_comparison_replaces_no_folder(self, tiny, audit, tmp_path):
        compare = "compare", tiny.softmax_audit, audit, "--overwrite", "--out"
        assert "which is an input" in refusal(tmp_path, *compare, audit)
        (tmp_path / "folder").mkdir()
        assert "is a folder" in refusal(tmp_path, *compare, tmp_path / "folder")

    def test_text_is_not_written_to_a_file(self, tiny, tmp_path):
        arguments = "explain", tiny.softmax, "a wonderful film", "--out", tmp_path / "page"
        assert "page must end in .html, .json, .md, .svg, .png or .pdf" in refusal(tmp_path, *arguments)


def one_line_of(read, folder) -> str:
    """What a function says that must refuse a folder: one line, and nothing changed on disk."""
    before = tree(folder.parent)
    with pytest.raises(InputError) as caught:
        read(folder)
    assert tree(folder.parent) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestTheRun:
    """Every command reads runs by one function."""

    @pytest.fixture
    def refused(self):
        return lambda run: one_line_of(load_run, run)

    @pytest.mark.parametrize("command", ["audit", "explain"])
    def test_the_commands_read_them_so(self, tmp_path, run, out, command):
        (run / "model.safetensors").write_bytes(b"garbage")
        arguments = {"audit": ("synthetic", "--out", out), "explain": ("a wonderful film",)}[command]
        assert refusal(tmp_path, command, run, *arguments) == one_line_of(load_run, run)

    def test_missing(self, refused, tmp_path):
        message = refused(tmp_path / "nothing")
        assert "is not a run (does not exist)" in message
        assert "glasshead.training.train" in message

    def test_another_folder(self, refused, tmp_path):
        (tmp_path / "folder").mkdir()
        assert "is not a run (has no run.json)" in refused(tmp_path / "folder")

    def test_a_file(self, refused, reviews):
        assert "is not a run" in refused(reviews)

    def test_repeats(self, refused, tmp_path):
        (tmp_path / "many" / "seed-3").mkdir(parents=True)
        (tmp_path / "many" / "repeats.json").write_text("{}", encoding="utf-8")
        message = refused(tmp_path / "many")
        assert f"name one of them, {tmp_path / 'many' / 'seed-3'}" in message

    def test_a_recommender(self, refused, tmp_path):
        (tmp_path / "news").mkdir()
        (tmp_path / "news" / "run.json").write_text('{"what": "news recommender"}', encoding="utf-8")
        assert "is a news recommender, not a classifier" in refused(tmp_path / "news")

    def test_unfinished(self, refused, tmp_path):
        (tmp_path / "run.partial").mkdir()
        assert "`resume=True`" in refused(tmp_path / "run")

    @pytest.mark.parametrize(
        "name",
        [
            "model.safetensors",
            "config.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "vocabulary.parquet",
            "run.json",
        ],
    )
    def test_a_file_is_gone(self, refused, run, name):
        (run / name).unlink()
        assert "run" in refused(run)

    @pytest.mark.parametrize(
        "name",
        [
            "model.safetensors",
            "config.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "vocabulary.parquet",
            "run.json",
        ],
    )
    @pytest.mark.parametrize("content", [b"", b"garbage", b"{}", b"[]", b"\xff\xfe"], ids=repr)
    def test_a_file_is_garbage(self, refused, run, name, content):
        (run / name).write_bytes(content)
        message = refused(run)
        assert "damaged" in message or "do not fit" in message
        assert "train again" in message

    @pytest.mark.parametrize(
        "name", ["model.safetensors", "tokenizer.json", "vocabulary.parquet", "run.json"]
    )
    def test_a_file_is_cut_off(self, refused, run, name):
        content = (run / name).read_bytes()
        (run / name).write_bytes(content[: len(content) // 2])
        assert "damaged" in refused(run)

    @pytest.mark.parametrize(
        ("key", "value"),
        [("embedding_size", 7), ("encoder", "lstm"), ("activation", "tanmax"), ("model_type", "bort")],
    )
    def test_another_configuration(self, refused, run, key, value):
        path = run / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}), encoding="utf-8")
        message = refused(run)
        assert "damaged" in message or "do not fit" in message


class TestAuditArguments:
    @pytest.fixture
    def refused(self, tiny, tmp_path, out):
        return lambda data, *options: refusal(tmp_path, "audit", tiny.softmax, data, "--out", out, *options)

    def test_other_labels(self, refused, reviews):
        assert "the model knows the classes negative, positive; the data have bad, good" in refused(reviews)

    @pytest.mark.parametrize(
        ("option", "value", "says"),
        [
            ("--audits", "agrement", "did you mean 'agreement'?"),
            ("--audits", "agreement,perturbations", "did you mean 'perturbation'?"),
            ("--audits", "", "names nothing"),
            ("--split", "tests", "did you mean 'test'?"),
            ("--split", "validation", "has no split 'validation'"),
            ("--limit", 0, "'--limit': must be at least 1"),
            ("--limit", -5, "'--limit': must be at least 1"),
            ("--fail-under", "performance.accuracy", "is not NAME=NUMBER"),
            ("--fail-under", "performance.accuracy=high", "is not NAME=NUMBER"),
            ("--fail-under", "performance.accuracy=", "is not NAME=NUMBER"),
            ("--fail-under", "performance.accuracy=nan", "is not NAME=NUMBER"),
            ("--classes", "negative,neutral", "has no class 'neutral'"),
        ],
    )
    def test_refused(self, refused, option, value, says):
        assert says in refused("synthetic", option, value)

    def test_missing_data(self, refused, tmp_path):
        assert "no such file" in refused(tmp_path / "nothing.csv")

    def test_no_test_split(self, tmp_path, out, reviews):
        folder = tmp_path / "data"
        folder.mkdir()
        reviews.rename(folder / "train.csv")
        glasshead("train", folder, "--epochs", 1, "--out", tmp_path / "run")
        message = refusal(tmp_path, "audit", tmp_path / "run", folder, "--out", out)
        assert "has no split 'test'" in message


class TestExplainArguments:
    @pytest.fixture
    def refused(self, tiny, tmp_path):
        return lambda *arguments: refusal(tmp_path, "explain", tiny.tanhmax, *arguments)

    @pytest.mark.parametrize("method", ["attention", "gradient", "erasure"])
    @pytest.mark.parametrize("text", ["", "   \t\n"])
    def test_empty_text(self, refused, text, method):
        assert "the text is empty" in refused(text, "--method", method)
        assert "the text is empty" in refused(text, "zyx", "--method", method)

    @pytest.mark.parametrize("format", ["text", "json", "html"])
    def test_unknown_words(self, refused, format):
        assert "the model knows no word of 'zyx wvut'" in refused("zyx wvut", "--format", format)

    def test_what_is_piped_is_not_blamed_on_the_terminal(self, refused, monkeypatch):
        piped = io.TextIOWrapper(io.BytesIO(b"a \xff film"), encoding="utf-8", errors="surrogateescape")
        monkeypatch.setattr("glasshead.cli.explain.sys", SimpleNamespace(stdin=piped))
        assert "standard input is not UTF-8: convert what you pipe to UTF-8" in refused("-")

    def test_a_file_where_a_text_is_typed(self, refused, write):
        path = write(["a wonderful film,positive"])
        assert f"is a file: --file {path} explains its lines" in refused(path)

    def test_half_a_surrogate_pair(self, refused):
        assert "UTF-8" in refused("a wonderful \udcff film")

    @pytest.mark.parametrize(
        ("option", "value", "says"),
        [
            ("--method", "gradiant", "did you mean 'gradient'?"),
            ("--target", "positiv", "did you mean 'positive'?"),
            ("--target", "2", "choose from: negative, positive"),
            ("--target-function", "log-odd", "did you mean 'log-odds'?"),
        ],
    )
    def test_refused(self, refused, option, value, says):
        assert says in refused("a wonderful film", option, value)


class TestCompareArguments:
    @pytest.fixture
    def refused(self, tmp_path):
        return lambda *audits: refusal(tmp_path, "compare", *audits, "--out", tmp_path / "new" / "page.html")

    @pytest.fixture
    def damaged(self):
        """What is said of an audit that cannot be read, by the function that the command reads it with."""
        return lambda audit: one_line_of(AuditCard.load, audit)

    def test_one_audit(self, refused, tiny):
        assert "two or more" in refused(tiny.softmax_audit)

    def test_an_audit_has_one_split(self, refused, tiny):
        assert "leave --split out" in refused(tiny.softmax_audit, tiny.tanhmax_audit, "--split", "dev")

    def test_not_an_audit(self, refused, tiny, tmp_path):
        for folder in (tmp_path / "nothing", tmp_path, tiny.softmax):
            assert "an audit, " in refused(tiny.softmax_audit, folder)

    @pytest.mark.parametrize(
        "content",
        [b"", b"garbage", b"[]", b"{}", b"\xff", b'{"schema": 1}', b'{"schema": 99}'],
        ids=repr,
    )
    def test_garbage(self, damaged, audit, content):
        (audit / "card.json").write_bytes(content)
        assert "audit again" in damaged(audit)

    @pytest.mark.parametrize("key", ["facts", "findings", "highlights"])
    @pytest.mark.parametrize("value", [None, "text", [1], {"a": 1}], ids=repr)
    def test_another_shape(self, damaged, audit, key, value):
        if (key, value) == ("facts", {"a": 1}):
            pytest.skip("facts are free")
        path = audit / "card.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}), encoding="utf-8")
        assert "damaged" in damaged(audit)

    @pytest.mark.parametrize("name", ["examples.parquet", "tokens.parquet"])
    def test_a_table_is_damaged(self, refused, tiny, audit, name):
        (audit / name).write_bytes(b"garbage")
        assert "damaged" in refused(tiny.softmax_audit, audit)
        (audit / name).unlink()
        assert "damaged" in refused(tiny.softmax_audit, audit)


@pytest.mark.slow
def test_a_real_process_says_one_line(tmp_path):
    process = shell("train", "synthetic", "--attention", "tanmax", "--out", "new/out", cwd=tmp_path)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert output == ""
    assert "did you mean 'tanhmax'?" in one_line(errors)
    assert tree(tmp_path) == {}


@pytest.mark.slow
def test_a_terminal_without_greek():
    process = shell("list", "explainers", env={"PYTHONIOENCODING": "ascii"})
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "gradient" in output
    assert errors == ""
