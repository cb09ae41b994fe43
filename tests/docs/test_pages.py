"""What the README and the pages say exists: commands, options, settings, links, citations."""

import contextlib
import dataclasses
import re
import runpy
import shlex
from datetime import date
from functools import cache
from pathlib import Path

import pytest
import typer
import yaml
from packaging.version import Version
from typer.testing import CliRunner

import command_pages
import package_pages
from generate import GENERATED
from glasshead import __version__
from glasshead.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "how-to", "explanation", "reference", "reproduction")
# Pages, and the tables that pages include; what is generated of the reference is tested apart.
WRITTEN = [
    DOCS / "index.md",
    *sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md")),
    *sorted((DOCS / "reference" / "audits").glob("*.md")),
]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *WRITTEN]
SCRIPTS = sorted((DOCS / "examples").glob("*.sh"))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def generated() -> set[Path]:
    """The pages and tables that the build writes."""
    return {
        DOCS / "reference" / folder / f"{page}.{suffix}"
        for folder, (pages, suffix) in GENERATED.items()
        for page in pages()
    }


@cache
def options() -> dict[str, set[str]]:
    """The options of every command, and under "" those of glasshead itself."""
    root = typer.main.get_command(app)
    commands = {"": root} | dict(root.commands)
    shared = {"--help", "-h"}
    found = {}
    for name, command in commands.items():
        below = [] if command is root else list(getattr(command, "commands", {}).values())
        params = [parameter for each in (command, *below) for parameter in each.params]
        found[name] = shared | {one for each in params for one in (*each.opts, *each.secondary_opts)}
    # Typer adds these only where it can tell the shell.
    found[""] |= {"--install-completion", "--show-completion"}
    return found


def test_commands_and_options_exist() -> None:
    known = options()
    for page in [p for p in [*PAGES, *SCRIPTS] if p.name != "CHANGELOG.md"]:  # which may name what was before
        text = read(page).replace("\\\n", " ")
        for command, rest in re.findall(r"^(?:\$ )?glasshead ([a-z]+)\b(.*)$", text, re.MULTILINE):
            assert command in known, (name(page), command)
            assert set(re.findall(r"(?<=\s)--[a-z-]+", rest)) <= known[command], (name(page), rest)
        for command in re.findall(r"`glasshead ([a-z]+)", text):
            assert command in known, (name(page), command)
        mentioned = set(re.findall(r"`(--[a-z-]+)", text))
        assert mentioned <= set().union(*known.values()), name(page)


def test_the_command_pages_list_every_option() -> None:
    pages = command_pages.pages()
    known = options()
    assert set(pages) == {"index", *known} - {""}
    for command, given in known.items():
        listed = set(re.findall(r"--[a-z-]+", pages[command or "index"]))
        assert {option for option in given if option.startswith("--")} - {"--help"} <= listed, command


def test_the_package_pages_list_what_is_exported_and_nothing_else() -> None:
    pages = package_pages.pages()
    for package, module in package_pages.packages().items():
        entries = re.findall(rf"(?:autofunction|autoclass):: {package}\.(\w+)$", pages[package], re.MULTILINE)
        values = re.findall(r"^``(\w+)``$", pages[package], re.MULTILINE)
        assert sorted([*entries, *values]) == sorted(module.__all__), package


def test_links_and_images_exist() -> None:
    written = generated()
    for page in PAGES:
        text = read(page)
        targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
        targets += re.findall(r"(?:literalinclude|include)\} (\S+)", text)
        inside = [target.split("#")[0] for target in targets if not target.startswith(("http", "#"))]
        paths = {target: (page.parent / target).resolve() for target in inside}
        gone = [target for target, path in paths.items() if not path.is_file() and path not in written]
        assert gone == [], name(page)


def test_every_example_is_shown() -> None:
    shown = set(re.findall(r"literalinclude\} (?:\.\./)+examples/(\S+)", "".join(map(read, WRITTEN))))
    examples = {path.name for path in (DOCS / "examples").iterdir() if path.is_file()}
    package = (DOCS / "examples" / "extension").rglob("*.*")
    examples |= {
        path.relative_to(DOCS / "examples").as_posix()
        for path in package
        if path.suffix in (".py", ".sh", ".toml") and path.name != "__init__.py"
    }
    assert shown == examples


def test_pages_speak_to_the_public() -> None:
    for page in [*PAGES, ROOT / "CITATION.cff"]:
        text = read(page)
        # Labels of the project's own notes; the presets are the one place where the letters are names.
        assert not re.search(r"\bS[0-4]\b|DESIGN|\bseeds?/", text), name(page)
        assert not re.search(r"[\U0001F300-\U0001FAFF]", text), name(page)


def test_the_map_of_the_packages_is_right() -> None:
    text = read(ROOT / "CONTRIBUTING.md")
    house = ROOT / "src" / "glasshead"
    files = [file for file in re.findall(r"`([\w/]+/\w+\.py)`", text) if "NAME" not in file]
    assert len(files) > 5
    # A package's file by its place in the library, any other by its place in the checkout.
    assert [file for file in files if not (house / file).is_file() and not (ROOT / file).is_file()] == []
    table = text.split("| package | what is in it |")[1].split("\n\n")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert len(listed) > 10
    packages = {each.name for each in house.iterdir() if (each / "__init__.py").is_file()}
    assert listed == packages | {"papers"}  # the wing may be gone


@pytest.mark.slow
def test_readme_commands_run(tmp_path: Path) -> None:
    blocks = re.findall(r"<!-- run -->\n```sh\n(.*?)```", read(ROOT / "README.md"), re.DOTALL)
    assert len(blocks) == 1
    with contextlib.chdir(tmp_path):
        runpy.run_path(str(DOCS / "examples" / "make_reviews.py"))
        for line in "".join(blocks).splitlines():
            if line:
                program, *arguments = shlex.split(line)
                assert program == "glasshead"
                result = CliRunner().invoke(app, arguments, catch_exceptions=False)
                assert result.exit_code == 0, (line, result.output)
    assert (tmp_path / "compare.html").is_file()


def test_readme_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"<!-- run -->\n```python\n(.*?)```", read(ROOT / "README.md"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert "[1, 4, 5, 5]) torch.Size([1, 4, 5, 16]) torch.Size([4, 16, 64])" in capsys.readouterr().out
    plain = names["model"](**names["batch"]).logits
    assert names["halved"].isfinite().all()
    assert (names["halved"] - plain).abs().max() > 1e-7


def test_presets_are_those_of_the_code() -> None:
    from glasshead.training import TRAINING_PRESETS

    fields = {each.name for each in dataclasses.fields(TRAINING_PRESETS["s4"])}
    compared, names = 0, []
    for line in read(DOCS / "reference" / "presets.md").splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if first == "setting":
            names = [cell.strip("`") for cell in cells]
        if not line.startswith("| `") or len(cells) != len(names):
            continue
        for name, cell in zip(names, cells, strict=True):
            recipe, field = TRAINING_PRESETS[name], first.strip("`")
            value = getattr(recipe if field in fields else recipe.model_config(), field)
            if cell.startswith("none"):
                assert value is None, (field, name)
            elif cell != "–":
                assert cell.rstrip("*") == str(value), (field, name)
                compared += 1
    assert compared == 40 + 84
    others = {"shaw", "transformer-xl", "tener", "transformer", "regular"}
    listed = {"s0-paper", "s0-code", "s4", "da-transformer", "identifiable", "fine-tune", "vit"} | others
    listed.add("token-classifier")
    assert {name.removesuffix("-small") for name in TRAINING_PRESETS} == listed


def test_constants_and_names_of_the_audit_page() -> None:
    from glasshead.audits import AUDITS, agreement, identifiability, perturbation
    from glasshead.audits.judging import slices
    from glasshead.identifiability.interval_batches import TOP
    from glasshead.results import MIN_OCCURRENCES, MIN_UNITS, NEUTRAL_GAMMA, TYPICAL_GAMMA
    from glasshead.statistics import bootstrap, kendall
    from glasshead.statistics.group_tests import PERMUTATIONS

    audits = DOCS / "reference" / "audits"
    assert {page.stem for page in audits.glob("*.md")} == {*AUDITS, "index", "folder", "slices"}
    page = "".join(map(read, audits.glob("*.md")))
    assert (identifiability.MAX_TEXTS, TOP) == (50, 5)
    assert (bootstrap.RESAMPLES, bootstrap.LEVEL) == (2000, 0.95)
    assert (agreement.ALPHA, agreement.DIGITS, MIN_UNITS) == (0.01, 9, 20)
    assert (TYPICAL_GAMMA, NEUTRAL_GAMMA, MIN_OCCURRENCES) == (0.5, 0.1, 5)
    assert (slices.MOST_VALUES, slices.MOST_BINS, PERMUTATIONS) == (8, 4, 9999)
    assert (kendall.EXACT_LENGTH, perturbation.Perturbation().draws) == (33, 100)
    for said in (
        "2,000 resamples",
        "permuted 9,999 times",
        "the eight commonest",
        "nine significant digits",
        "20 units",
        "p < 0.01",
        "100 draws",
        "50 texts",
        "five largest weights",
        "at most 33 tokens",
    ):
        assert said in page


def test_verdicts_of_the_audit_page() -> None:
    from glasshead.audits import agreement, performance, perturbation, tokens
    from glasshead.nouns import TEXTS
    from glasshead.results import ONE_SIGNED, PairedDifference

    def agreed(interval: tuple[float, float] | None, over: dict[str, tuple[float, float]]) -> str:
        return agreement.judge_agreement(interval, over, "weights", TEXTS).words

    page = " ".join("".join(map(read, (DOCS / "reference" / "audits").glob("*.md"))).split())
    over, under, none = (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1)
    better, worse = {"random": over}, {"random": under}

    def beside(interval: tuple[float, float], n: int = 60) -> str:
        return performance.performance_verdict(
            PairedDifference(sum(interval) / 2, interval, n), "always guessing the commonest class", TEXTS
        ).words

    def perturbed(
        interval: tuple[float, float],
        over_chance: tuple[float, float],
        test: str = "random",
        way: str = "absolute",
    ) -> str:
        return perturbation.perturbation_verdict(interval, over_chance, test, way).words

    said = {
        agreed(None, better): "undecided: too few examples",
        agreed((0.8, 0.9), {"random": none}): "not distinguishable from random weights on these texts",
        agreed((-0.9, -0.7), worse): "strong agreement in the reverse order",
        agreed((-0.6, -0.4), worse): "moderate agreement in the reverse order",
        agreed((-0.3, -0.1), worse): "weak agreement in the reverse order",
        agreed((-0.1, -0.05), worse): "worse than random weights",
        agreed((0.1, 0.2), worse): "worse than random weights",
        agreed((0.7, 0.8), better): "strong agreement",
        agreed((0.4, 0.6), better): "moderate agreement",
        agreed((0.1, 0.3), better): "weak agreement",
        agreed((0.1, 0.8), better): "at least weak agreement",
        agreed((-0.8, -0.4), worse): "at least moderate agreement in the reverse order",
        agreed((0.01, 0.09), better): "hardly any agreement, but more than of random weights",
        agreed((0.09, 0.8), better): "agreement of unsettled strength, more than of random weights",
        agreed((0.7, 0.8), better | {"uniform": none}).split(", ")[1]: (
            "not distinguishable from that under uniform weights"
        ),
        agreed((0.7, 0.8), better | {"uniform": under}).split(", ")[1]: ("less than under uniform weights"),
        agreement.judge_gain(None, TEXTS).words: "undecided: too few examples",
        agreement.judge_gain(
            (0.1, 0.2), TEXTS
        ).words: "the identifiable part agrees better than the attention",
        agreement.judge_gain(
            (-0.2, -0.1), TEXTS
        ).words: "the identifiable part agrees worse than the attention",
        agreement.judge_gain((-0.1, 0.1), TEXTS).words: "not distinguishable on these texts",
        beside(over): "better than always guessing the commonest class",
        beside(under): "worse than always guessing the commonest class",
        beside((0.0, 0.0)): "as good as always guessing the commonest class",
        beside(none).replace("60", "*n*"): (
            "not settled on these *n* texts whether it is better than always guessing the commonest class"
        ),
        beside(over, n=19): "undecided: too few examples",
        perturbed((0.0, 0.04), over).split(",")[0]: "the prediction hardly changes",
        perturbed((0.2, 0.3), over).split(",")[0]: "the prediction changes much",
        perturbed((0.04, 0.06), over).split(",")[0]: "undecided: the change may be negligible",
        perturbed((0.1, 0.3), (-0.001, 0.002)).split(", ")[1]: (
            "about as much as between two sets of random weights"
        ),
        perturbed((0.1, 0.3), over, "permutation").split(", ")[
            1
        ]: "more than when random weights are shuffled",
        perturbed((0.1, 0.3), under).split(", ")[1]: "less than between two sets of random weights",
        perturbed((0.1, 0.3), none).split("; ")[1]: (
            "not settled whether more or less than between two sets of random weights"
        ),
        perturbed(
            (-0.1, 0.3), over, way="signed"
        ): "not settled whether other weights raise or lower the prediction",
        perturbed((0.1, 0.3), over, way="signed"): "other weights raise the prediction",
        perturbed((-0.2, -0.1), over, way="signed"): "other weights lower the prediction",
        tokens.level_verdict((-0.1, 0.1)).words: "not distinguishable from zero",
        tokens.separation_verdict((0.4, 0.6)).words: "does not separate them",
        tokens.separation_verdict((0.1, 0.4)).words: "separates them the wrong way round",
        ONE_SIGNED.words: ONE_SIGNED.words,
        tokens.sign_verdict((0.1, 0.4)).words: "signs are the wrong way round",
        tokens.sign_verdict((0.4, 0.6)).words: "signs are no better than chance",
    }
    for coded, documented in said.items():
        assert coded == documented
        assert documented in page
    for interval, word in (((0.1, 0.4), "negative"), ((0.6, 0.9), "positive")):
        for what in tokens.FAVOURS.values():
            assert tokens.favour_verdict(interval, what).words == f"gives {word} words {what}"
    assert "gives positive (negative) words more weight, or higher scores" in page
    strengths = [tokens.separation_verdict((low, 1.0)).words.split()[0] for low in (0.9, 0.7, 0.6)]
    assert strengths == ["clearly", "mostly", "slightly"]


def test_methods_targets_and_datasets_of_the_pages() -> None:
    from glasshead.data import DATASETS
    from glasshead.explainers import EXPLAINERS, TARGETS

    tables = set(re.findall(r"^\| `([\w:-]+)`", read(DOCS / "reference" / "explanations.md"), re.MULTILINE))
    assert tables >= set(EXPLAINERS) | set(TARGETS)
    assert set(
        re.findall(r"^\| `([\w-]+)` \| [\d,]+ \|", read(DOCS / "reference" / "data.md"), re.MULTILINE)
    ) == set(DATASETS)


def test_citation_file_is_valid() -> None:
    cited = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["message"]
    assert cited["title"]
    assert cited["version"] == newest_changes()[0]
    assert cited["license"] == "Apache-2.0"
    assert cited["type"] == "software"
    known = {"article", "conference-paper"}
    titles = []
    for entry in [cited, *cited["references"]]:
        assert entry["authors"]
        for author in entry["authors"]:
            assert "name" in author or {"family-names", "given-names"} <= set(author)
    for entry in cited["references"]:
        assert entry["type"] in known
        assert isinstance(entry["year"], int)
        # The schema wants a conference as an object with a name.
        assert "name" in entry.get("conference", {"name": ""})
        titles.append(entry["title"])
    assert titles == [
        "Rethinking Attention Weights as Bidirectional Coefficients",
        "Understanding Attention for Text Classification",
        "Attention is not Explanation",
        "DA-Transformer: Distance-aware Transformer",
        "More Identifiable yet Equally Performant Transformers for Text Classification",
        "On Identifiability in Transformers",
        "Self-Attention with Relative Position Representations",
        "Transformer-XL: Attentive Language Models beyond a Fixed-Length Context",
        "TENER: Adapting Transformer Encoder for Named Entity Recognition",
        "cosFormer: Rethinking Softmax in Attention",
        "Sigsoftmax: Reanalysis of the Softmax Bottleneck",
        "Non-local Neural Networks",
    ]


def newest_changes() -> tuple[str, str]:
    """The version that the changelog begins with, and when it was released."""
    (version, released), *_ = re.findall(r"^## \[(.+)\] - (.+)$", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    return version, released


def test_changelog_has_this_version() -> None:
    """What is not released yet is a version to come: git counts the commits on the way to it."""
    version, released = newest_changes()
    if released == "unreleased":
        assert Version(Version(__version__).base_version) <= Version(version)
    else:
        assert __version__ == version
        assert date.fromisoformat(released)


def test_images_are_small() -> None:
    images = list((DOCS / "images").iterdir())
    assert images
    for image in images:
        assert image.read_bytes().startswith(b"\x89PNG")
        assert image.stat().st_size < 300_000
