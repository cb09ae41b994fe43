"""How much faster the batched audit is than the loop that the papers' definitions suggest, and how fast it
could be at most.

Both answer the same questions about the 580 test posts of 20 Newsgroups sports, cut to 30 tokens: τ of
attention with gradient and with leave-one-out erasure, 100 permutations and 100 random draws per post. The
loop takes one post at a time, in float64, runs the model's output layer once per erased token and draw, and
asks SciPy for τ. The whole card asks five audits, of which the loop knows two, and reads every post to its
end to say how much was cut off.

Opponents alternate within one run, so that what else runs on the machine slows both; a ratio is the median
over rounds, with the least and the largest. The bound is the ratio that would be left if the audits computed
nothing: texts become tokens, the model runs once forward and backward, and the random numbers are drawn.

    python -m benchmarks.audit        (the data: GLASSHEAD_DATA, default ../shared/data)
"""

import copy
import tempfile
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset
from scipy.stats import kendalltau

from benchmarks.measuring import DATA, Spread, Work, print_table, ratios, time_once
from glasshead.audits import AUDITS, audit, build_view
from glasshead.data import encode, load
from glasshead.opening import Run, load_run, open_subject
from glasshead.training import TRAINING_PRESETS, train

DRAWS = 100
CARD = ("performance", "agreement", "perturbation", "tokens", "identifiability")
ROUNDS, REPEATS = 3, 3
LOOP = "loop, post by post"


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


def read_and_draw(run: Run, posts: Dataset, *, whole: bool) -> None:
    """What no audit can leave out; ``whole``: posts are read to their end, for a card that counts what was
    cut.

    Tokens, one pass of the model in float64 with its gradient, and a number for each token of each draw: one
    of 32 bits for random weights, one of 64 for an order.
    """
    texts = posts["text"][:]
    encoded = encode(run.tokenizer, texts)
    if whole:
        run.tokenizer(texts, verbose=False)
    model = copy.deepcopy(run.model).double()
    embedded = model.get_input_embeddings()(encoded.ids).detach().requires_grad_()
    logits = model(inputs_embeds=embedded, attention_mask=encoded.mask.long()).logits
    torch.autograd.grad(logits[:, 1].sum(), embedded)
    rng, numbers = np.random.default_rng(0), DRAWS * int(encoded.mask.sum())
    rng.random(numbers, dtype=np.float32)
    rng.bit_generator.random_raw(numbers)


def main() -> None:
    data = load(DATA / "20news_sports")
    posts = data["test"]
    with tempfile.TemporaryDirectory() as folder:
        recipe = TRAINING_PRESETS["s0-code"].with_changes(activation="tanhmax", epochs=10)
        run = load_run(train(data, recipe, Path(folder) / "run"))
    texts = posts["text"][:]

    def two_audits() -> None:
        subject = build_view(open_subject(run), posts)
        for name in ("agreement", "perturbation"):
            AUDITS[name](subject, seed=0)

    contenders: dict[str, Work] = {
        "both audits: 27 τ and nulls, 9 tests, bootstrap": two_audits,
        "  the bound: tokens, one pass, the draws": lambda: read_and_draw(run, posts, whole=False),
        "the whole card": lambda: audit(run, posts, audits=CARD),
        "  all but the linear programs": lambda: audit(run, posts, audits=CARD[:-1]),
        "  the bound: the same, and posts to their end": lambda: read_and_draw(run, posts, whole=True),
    }
    for work in contenders.values():
        work()
    # Each a few times, the fastest of which is what it takes; the loop is long enough to average.
    rounds = [
        {LOOP: time_once(lambda: loop(run, texts))}
        | {name: min(time_once(work) for _ in range(REPEATS)) for name, work in contenders.items()}
        for _ in range(ROUNDS)
    ]
    seconds = {name: [one[name] for one in rounds] for name in rounds[0]}
    print_table(
        f"{len(texts)} posts of up to 30 tokens, {DRAWS} permutations, {DRAWS} random draws",
        list(seconds),
        {
            "way": str,
            "s": lambda name: Spread.of(seconds[name]),
            "loop ÷ this": lambda name: ratios(seconds[LOOP], seconds[name]),
        },
    )

    # The same numbers, or the comparison is worth nothing.
    card = audit(run, posts, audits=CARD)
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


if __name__ == "__main__":
    main()
