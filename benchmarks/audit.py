"""How much faster the batched audit is than the loop that the papers' definitions suggest.

Both answer the same questions about the 580 test posts of 20 Newsgroups sports, cut to 30 tokens: τ of
attention with gradient and with leave-one-out erasure, 100 permutations and 100 random draws per post. The
loop takes one post at a time, runs the model's output layer once per erased token and draw, and asks SciPy
for τ. Times are medians of several repeats in one process; the ratio is what counts.

    python benchmarks/audit.py        (the data: GLASSHEAD_DATA, default ../shared/data)
"""

import copy
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
from scipy.stats import kendalltau

from glasshead.audits import AUDITS, audit, build_context
from glasshead.data import load
from glasshead.training import TRAINING_PRESETS, Run, load_run, open_subject, train

DATA = Path(os.environ.get("GLASSHEAD_DATA", Path(__file__).parents[2] / "shared" / "data"))
DRAWS = 100


def loop(run: Run, texts: list[str]) -> dict[str, np.ndarray]:
    """The paper, post by post: no batch over posts, tokens or draws.

    In float64, as the audit: in float32 the repeated words of a post tie or do not tie as a CPU rounds.
    """
    model = copy.deepcopy(run.model).double()
    rng = np.random.default_rng(0)
    results: dict[str, list[float]] = {"gradient": [], "erasure": [], "permutation": [], "random": []}
    for text in texts:
        ids = torch.tensor([run.tokenizer(text, truncation=True)["input_ids"]], dtype=torch.long)
        if ids.shape[1] == 0:
            continue
        embedded = model.get_input_embeddings()(ids).detach().requires_grad_()
        output = model(inputs_embeds=embedded, attention_mask=torch.ones_like(ids), output_attentions=True)
        y = output.logits.softmax(-1)[0, 1]
        y.backward()
        gradient = (embedded.grad * embedded).sum(-1)[0].detach().numpy()
        with torch.no_grad():
            hidden = model.pooling.value(model.encoder(embedded, torch.ones_like(ids)))[0]
            weights = output.weights[0]

            def predict(new: torch.Tensor, hidden: torch.Tensor = hidden) -> float:
                return float(torch.sigmoid(model.classifier(new @ hidden))[0])

            before = float(y)
            erased = []
            for token in range(len(weights)):
                without = weights.clone()
                without[token] = 0
                erased.append(before - predict(without))
            a = weights.numpy()
            if len(a) > 1:
                results["gradient"].append(kendalltau(a, gradient).statistic)
                results["erasure"].append(kendalltau(a, erased).statistic)
            moved = [
                abs(predict(weights[torch.from_numpy(rng.permutation(len(a)))]) - before)
                for _ in range(DRAWS)
            ]
            results["permutation"].append(float(np.median(moved)))
            fresh = [
                abs(predict(torch.from_numpy(rng.uniform(-1, 1, len(a)))) - before) for _ in range(DRAWS)
            ]
            results["random"].append(float(np.median(fresh)))
    return {name: np.array(values) for name, values in results.items()}


def timed(work: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of every repeat, after one warm-up."""
    work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    data = load(DATA / "20news_sports")
    posts = data["test"]
    with tempfile.TemporaryDirectory() as folder:
        recipe = TRAINING_PRESETS["s0-code"].with_changes(activation="tanhmax", epochs=10)
        run = load_run(train(data, recipe, Path(folder) / "run"))
    texts = posts["text"][:]

    def two_audits() -> None:
        subject = build_context(open_subject(run), posts)
        for name in ("agreement", "perturbation"):
            AUDITS[name](subject, seed=0)

    slow = timed(lambda: loop(run, texts), 1)
    two = timed(two_audits, 5)
    whole = timed(lambda: audit(run, posts), 5)
    print(f"{len(texts)} posts of up to 30 tokens, {DRAWS} permutations, {DRAWS} random draws\n")
    print(f"loop, post by post                           {describe(slow)}")
    print(f"both audits: 27 τ and nulls, 9 tests, bootstrap {describe(two)}   {ratio(slow, two)}")
    print(f"the whole card, with tokens and highlights   {describe(whole)}   {ratio(slow, whole)}")

    # The same numbers, or the comparison is worth nothing.
    card = audit(run, posts)
    reference = loop(run, texts)
    for name, finding in (
        ("gradient", "agreement.attention-raw.gradient.all"),
        ("erasure", "agreement.attention-raw.erasure-zero-weight.all"),
        ("permutation", "perturbation.permutation.absolute.all"),
        ("random", "perturbation.random.absolute.all"),
    ):
        found = card.finding(finding)
        assert found is not None
        # τ is one number for both; the draws are not the same draws.
        tolerance = 1e-3 if name in ("gradient", "erasure") else 0.02
        if abs(np.nanmean(reference[name]) - found.estimate) > tolerance:
            raise SystemExit(f"{name}: the two ways disagree")
        print(f"{name:>12}: loop {np.nanmean(reference[name]):+.4f}   batched {found.estimate:+.4f}")


def describe(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):7.3f} s ({min(seconds):.3f}–{max(seconds):.3f})"


def ratio(slow: list[float], fast: list[float]) -> str:
    middle = statistics.median(slow) / statistics.median(fast)
    return f"{middle:5.0f}× ({min(slow) / max(fast):.0f}–{max(slow) / min(fast):.0f})"


if __name__ == "__main__":
    main()
