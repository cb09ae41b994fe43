"""Commands on images, as typed: what reads them, and what refuses them in one line."""

import dataclasses
import io
import json
import re
import shutil

import datasets as hf
import pytest
from datasets import Dataset, Features, Value
from PIL import Image

import glasshead as front_door
from glasshead.errors import InputError
from glasshead.results import Attributions
from typed import glasshead, refusal

SMALL = ("--set", "hidden_size=16", "--set", "num_hidden_layers=1", "--set", "num_attention_heads=2")
TINY = (*SMALL, "--set", "patch_size=8")


@pytest.fixture(scope="module", autouse=True)
def few_squares():
    """Drawing all 1,800 takes as long as a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glasshead.data.image_sets.EACH", 100)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images") / "run"
    glasshead("train", "squares", "--model", "vit", *TINY, "--epochs", 1, "--rows", 60, "--out", folder)
    return folder


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "cat.png"
    Image.new("RGB", (40, 30), (200, 80, 40)).save(path)
    return path


@pytest.mark.parametrize("method", ["attention", "rollout", "gradient-attention", "erasure"])
def test_a_picture_is_explained_patch_by_patch(run, picture, tmp_path, method):
    page = tmp_path / "cat.html"
    glasshead("explain", run, picture, "--method", method, "--out", page)
    text = page.read_text(encoding="utf-8")
    assert "patch by patch" in text
    assert "cat.png" in text


def test_a_folder_of_pictures_is_audited(run, tmp_path):
    for number, colour in enumerate(("blue", "green", "red")):
        folder = tmp_path / "images" / colour
        folder.mkdir(parents=True)
        for each in range(4):
            Image.new("RGB", (24, 24), tuple(255 * (number == c) // (each + 1) for c in (2, 1, 0))).save(
                folder / f"{each}.png"
            )
    out = tmp_path / "audit"
    glasshead("audit", run, tmp_path / "images", "--audits", "agreement", "--split", "all", "--out", out)
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert card["facts"]["examples"] == 12


def test_heads_look_at_patches(run, picture, tmp_path):
    out = tmp_path / "heads.json"
    said = glasshead("heads", run, "squares", "--limit", 24, "--text", picture, "--out", out).stdout
    assert "24 images" in said
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["facts"]["inputs"] == "images"
    for head in report["heads"]:
        shares = {each["statistic"]: each for each in head["findings"] if not each["against"]}
        assert {"left", "right", "above", "below", "itself", "mean-distance", "identifiable"} <= set(shares)
        assert not {"previous", "next", "same-token", "induction"} & set(shares)
        assert shares["left"]["null"]["uniform"] == pytest.approx(1 / 10)  # 3 × 3 patches and a class token
    assert not any(each["statistic"] == "joining" for layer in report["layers"] for each in layer["findings"])
    words = " ".join(report["conclusion"])
    assert "fewer patches than" in words
    assert "token" not in words.replace("pecial token", "")


def test_the_page_of_heads_shows_the_image(run, picture, tmp_path):
    pictures = tmp_path / "pictures"  # nobody sorted them into classes, and nothing here needs them
    pictures.mkdir()
    for name in ("a.png", "b.png"):
        shutil.copy(picture, pictures / name)
    glasshead("heads", run, pictures, "--out", tmp_path / "heads.html")
    page = (tmp_path / "heads.html").read_text(encoding="utf-8")
    assert "of 2 images" in page
    assert '"image":"data:image/png;base64,' in page
    assert 'id="tab-image"' in page
    assert "Attention to a word" not in page


def test_images_are_called_images(run, picture):
    explained = front_door.explain(str(run), [picture])
    assert repr(explained).startswith("Attributions of 1 image:")


def test_a_file_of_lines_is_not_offered_to_a_reader_of_images(run, tmp_path):
    (tmp_path / "reviews.csv").write_text("text,label\na film,1\n")
    said = refusal(tmp_path, "explain", run, tmp_path / "reviews.csv")
    assert "reviews.csv is not an image that can be read" in said
    assert "--file" not in said


def test_a_writer_of_texts_is_wanted(run, tmp_path):
    assert "writes no text" in refusal(tmp_path, "generate", run, "hello")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [("broken.png", b"\x89PNG\r\n\x1a\n", "broken.png"), ("words.png", b"no image at all", "words.png")],
)
def test_what_is_no_picture_is_named(run, tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    assert says in refusal(tmp_path, "explain", run, tmp_path / name, "--out", tmp_path / "page.html")


def test_a_text_is_no_picture(run, tmp_path):
    refusal(tmp_path, "explain", run, "a superb film", "--out", tmp_path / "page.html")


def test_a_model_of_texts_reads_no_picture(tiny, tmp_path):
    for count, classes in enumerate(("negative", "positive"), start=1):
        folder = tmp_path / "images" / classes
        folder.mkdir(parents=True)
        for each in range(12):
            Image.new("RGB", (24, 24), (9 * each, 90 * count, 0)).save(folder / f"{each}.png")
    said = refusal(tmp_path, "audit", tiny.softmax, tmp_path / "images", "--out", tmp_path / "audit")
    assert "reads texts, and the data contain images" in said


def test_a_language_model_learns_no_images(tmp_path):
    for data in ("digits", "squares"):
        said = refusal(tmp_path, "train", data, "--model", "gpt2", "--out", tmp_path / "run")
        assert f"{data} contains images, but a language model reads texts: use --model vit" in said
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    table = tmp_path / "images.parquet"
    rows = {"image": [{"bytes": picture.getvalue(), "path": "a.png"}] * 4, "label": ["a", "b"] * 2}
    Dataset.from_dict(rows, features=Features(image=hf.Image(), label=Value("string"))).to_parquet(table)
    said = refusal(tmp_path, "train", table, "--model", "gpt2", "--out", tmp_path / "run")
    assert "contains images" in said


def test_a_model_of_images_learns_no_texts(tmp_path):
    said = refusal(tmp_path, "train", "synthetic", "--model", "vit", "--out", tmp_path / "run")
    assert "reads images, but these data are texts: use --model encoder" in said


@pytest.mark.parametrize("data", [(), ("squares",)])
def test_the_attention_of_a_trained_run_is_shown_layer_by_layer(run, tmp_path, data):
    out = tmp_path / "dynamics.html"
    result = glasshead("dynamics", run, *data, "--out", out)
    assert "layer 0 entropy" in " ".join(result.stdout.split())
    assert "was not recorded" in " ".join(result.stdout.split())
    assert out.exists()


def test_images_that_are_gone_are_called_images(run, tmp_path):
    moved = tmp_path / "run"
    shutil.copytree(run, moved)
    record = json.loads((moved / "run.json").read_text(encoding="utf-8"))
    record["data"]["source"] = "gone"
    (moved / "run.json").write_text(json.dumps(record), encoding="utf-8")
    said = refusal(tmp_path, "dynamics", moved)
    assert "gone is not here" in said
    assert "depend on its images" in said


def test_what_open_gives_is_explained_as_the_folder_is(run, picture):
    subject = front_door.open(run)
    (expected,), (found,) = (
        front_door.explain(model, picture, tokenizer=tokenizer)
        for model, tokenizer in ((run, None), (subject.model, subject.tokenizer))
    )
    assert found.scores == expected.scores
    with pytest.raises(InputError, match="needs its image processor"):
        front_door.explain(subject.model, picture)


@pytest.mark.parametrize(
    "plot",
    [("heads", "{picture}"), ("collapse", "squares", "--texts", 3, "--seeds", 1)],
    ids=lambda plot: plot[0],
)
def test_plots_of_images(run, picture, tmp_path, plot):
    name, *more = (str(part).format(picture=picture) for part in plot)
    glasshead("plot", name, run, *more, "--out", tmp_path / "plot.svg")
    drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert ("row 3, column 3" if name == "heads" else "interval over images or seeds") in drawn


@pytest.mark.parametrize(
    ("plot", "says"),
    [
        (("heads", "a superb film"), "is not a file: this model reads images"),
        (("ranks", "squares"), "which all have the same length"),
        (("logits", "squares", "--lengths", "9"), "which all have the same length"),
        (("positions",), "no distance-aware attention"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_plots_that_images_do_not_have_say_so(run, tmp_path, plot, says):
    name, *more = plot
    assert says in refusal(tmp_path, "plot", name, run, *more, "--out", tmp_path / "plot.svg")


def test_many_patches_are_shown_on_the_image_and_not_as_rows(picture, tmp_path):
    training = ("--model", "vit", *SMALL, "--set", "patch_size=2", "--epochs", 1, "--rows", 20)
    glasshead("train", "squares", *training, "--out", tmp_path / "run")
    said = refusal(tmp_path, "plot", "heads", tmp_path / "run", picture, "--out", tmp_path / "heads.svg")
    assert "145 patches cannot be read as rows: 'glasshead heads' shows" in said


def test_what_patches_have_learned_about_distance_is_drawn(tmp_path):
    out = tmp_path / "run"
    training = ("--model", "vit", *SMALL, "--epochs", 1, "--rows", 20)
    glasshead("train", "digits", *training, "--attention", "distance-aware", "--out", out)
    glasshead("plot", "positions", out, "--out", tmp_path / "positions.svg")
    assert (tmp_path / "positions.svg").exists()


SAID = re.compile(r"(?<![\w-])(?:texts?|words?|tokens?)(?![\w-])", re.IGNORECASE)
KEPT = re.compile(r"special tokens?|first token\b|in words", re.IGNORECASE)


def speaks_of_texts(words):
    """What of a page, or a printed answer, is about texts, tokens or words."""
    words = re.sub(r"<(style|script).*?</\1>", "", words, flags=re.DOTALL)
    spoken = re.findall(r'(?:aria-label|title|data-hint)="([^"]*)"', words)
    lines = [*re.sub(r"<[^>]+>", "\n", words).splitlines(), *spoken]
    return [line.strip() for line in lines if SAID.search(KEPT.sub("", line))]


@pytest.fixture(scope="module")
def audits(run, tmp_path_factory):
    """Two audits of the run, with what was printed."""
    folder = tmp_path_factory.mktemp("audits")
    asked = "agreement,faithfulness,perturbation,heads,performance,plausibility,operators"
    options = ("--limit", 24, "--blocks", 2, "--by", "confidence", "--seed")
    printed = [
        glasshead(
            "audit", run, "squares", "--audits", names, *options, seed, "--out", folder / str(seed)
        ).output
        for seed, names in enumerate((asked, "agreement,performance"))
    ]
    return folder, printed


@pytest.mark.slow
def test_an_audit_speaks_of_images_and_patches(audits):
    folder, (printed, _) = audits
    assert "on these images" in " ".join(printed.split())
    assert "Paired difference (n = " in printed
    assert speaks_of_texts(" ".join(printed.split())) == []
    page = (folder / "0" / "report.html").read_text(encoding="utf-8")
    assert "Is attention large where removing a patch&#39;s weight matters?" in page
    assert [line for line in speaks_of_texts(page) if not line.endswith("· texts")] == []
    card = json.loads((folder / "0" / "card.json").read_text(encoding="utf-8"))
    assert card["facts"]["inputs"] == "images"
    assert not {"truncated_to", "empty_texts"} & set(card["facts"])


@pytest.mark.slow
def test_a_comparison_of_audits_speaks_of_images(audits, tmp_path):
    folder, _ = audits
    out = tmp_path / "compare.html"
    printed = glasshead("compare", folder / "0", folder / "1", "--out", out).output
    assert "shared images" in " ".join(printed.split())
    assert [line for line in speaks_of_texts(out.read_text(encoding="utf-8")) if "· texts" not in line] == []


@pytest.mark.slow
def test_a_ranking_speaks_of_images(run, tmp_path):
    out = tmp_path / "rank.html"
    printed = " ".join(glasshead("rank", run, "squares", "--limit", 3, "--out", out).output.split())
    assert "3 images of squares" in printed
    assert "erasure-delete" not in printed
    assert speaks_of_texts(printed) == []
    assert speaks_of_texts(out.read_text(encoding="utf-8")) == []


@pytest.mark.slow
def test_pages_of_heads_dynamics_and_explanations_speak_of_images(run, picture, tmp_path):
    glasshead("heads", run, "squares", "--limit", 3, "--out", tmp_path / "heads.html")
    glasshead("dynamics", run, "--out", tmp_path / "dynamics.html")
    glasshead("explain", run, picture, "--out", tmp_path / "explain.html")
    for name in ("heads", "dynamics", "explain"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        page = re.sub(r"<label>(?:Pairs|Between) .*?</label>", "", page)  # hidden: there are no pairs here
        assert speaks_of_texts(page) == [], name


@pytest.mark.slow
def test_names_of_classes_are_never_reworded(tmp_path):
    folder = tmp_path / "images"
    for count, name in enumerate(("text", "words")):
        (folder / name).mkdir(parents=True)
        for each in range(30):
            Image.new("RGB", (16, 16), (8 * each, 200 * count, 0)).save(folder / name / f"{each}.png")
    glasshead("train", folder, "--model", "vit", *TINY, "--epochs", 1, "--out", tmp_path / "run")
    out = tmp_path / "audit"
    glasshead("audit", tmp_path / "run", folder, "--split", "all", "--audits", "agreement", "--out", out)
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert card["facts"]["labels"] == ["text", "words"]
    assert {"class text", "class words"} <= {finding["group"] for finding in card["findings"]}
    assert "about the probability of words, class 1" in " ".join(card["facts"]["notes"])
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<b>text</b>" in page
    assert "<b>words</b>" in page


@pytest.mark.parametrize(
    ("targets", "beside"), [(("red", "green"), "for its class"), (("red",) * 2, "for red")]
)
def test_a_file_of_several_images_speaks_of_the_class_of_each(run, picture, tmp_path, targets, beside):
    (one,) = front_door.explain(run, picture, method="gradient-after-norm")
    both = Attributions(tuple(dataclasses.replace(one, target=target) for target in targets))
    both.save(tmp_path / "pictures.svg")
    assert f"<!-- {beside} -->" in (tmp_path / "pictures.svg").read_text(encoding="utf-8")
