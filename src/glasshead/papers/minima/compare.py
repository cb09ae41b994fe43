"""Trained token classifiers side by side: what each attends to, the loss around and between them."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from glasshead.data import Encoded, LoadOptions, batches, encode, load
from glasshead.errors import InputError, ParameterError
from glasshead.opening import Run, load_run, run_folders
from glasshead.papers.minima.loss_landscape import (
    curvature,
    first_rows,
    losses_between,
    match_hidden_units,
    precise_copy,
)
from glasshead.papers.models import TokenClassifier
from glasshead.papers.results import PARTS, Curvature, LossLine, Minima, Solution
from glasshead.spelling import spell
from glasshead.statistics import UNKNOWN, mean_interval
from glasshead.torch_modes import in_own_modes
from glasshead.trace import LayerRecord, entropies, eval_mode, record
from glasshead.training import TensorDataset, encoded_split, label_tensor

if TYPE_CHECKING:
    from datasets import DatasetDict

MOST_RUNS = 12
LONGEST = 40
"""Tokens of a text whose map is drawn."""


@in_own_modes
def compare_minima(
    folders: Sequence[Path],
    text: str | None = None,
    *,
    data: "DatasetDict | None" = None,
    limit: int = 500,
    seed: int = 0,
) -> Minima:
    """Runs of token classifiers of one recipe and data set side by side.

    Accuracy, loss, entropy and the parts of scores are those of the test split (without one of dev). The
    training loss is that of the train split, of its first ``limit`` texts for the Hessian and for lines. It
    is analysed with the scores as trained, and with scores freed to read letters and places. ``text`` is
    the text whose map is shown (None: the first of the split), with one row for each token as the question;
    the map is that of the last layer's first head. ``data`` are those of runs that were trained on data in
    memory (None: the data that the runs name are read again).

    Raises:
        InputError: if a folder is not a run of a token classifier, or they do not read the same data.
    """
    if limit < 2:
        raise ParameterError("limit", f"must be at least 2, not {limit}")
    runs = [load_run(folder) for root in folders for folder in run_folders(root)]
    check_runs(runs)
    data = load_data(runs[0]) if data is None else data
    split = data["test" if "test" in data else "dev"]
    unseen, trained = (
        TensorDataset(encoded_split(runs[0].tokenizer, texts), label_tensor(texts))
        for texts in (split, data["train"])
    )
    shown, queries, keys = every_question(runs[0], split["text"][0] if text is None else text)
    solutions = [
        solution(run, unseen, shown, curvatures(run.model, trained, limit=limit, seed=seed), seed)
        for run in runs
    ]
    few = first_rows(trained, limit)
    lines = [line for ends in combinations(range(len(runs)), 2) for line in lines_between(runs, ends, few)]
    return Minima(solutions, lines, queries, keys, len(unseen), len(trained), len(few))


def check_runs(runs: Sequence[Run]) -> None:
    """Raise InputError unless all are token classifiers of the same data with the same tokens."""
    if len(runs) > MOST_RUNS:
        raise InputError(f"{len(runs)} runs are too many for one figure: give at most {MOST_RUNS}")
    for run in runs:
        if not isinstance(run.model, TokenClassifier):
            raise InputError(
                f"{run.folder} is not a token classifier (with separate letters and places): train one with "
                f"{spell('model', 'token-classifier')}"
            )
        first = runs[0]
        for name in ("source", "options"):
            if run.record["data"].get(name) != first.record["data"].get(name):
                raise InputError(
                    f"{run.folder} and {first.folder} were trained on different data: give runs on the same "
                    "data"
                )
        if run.tokenizer.get_vocab() != first.tokenizer.get_vocab():
            raise InputError(
                f"{run.folder} and {first.folder} have different tokens: give runs on the same data"
            )


def load_data(run: Run) -> "DatasetDict":
    """The data that a run was trained on.

    Raises:
        InputError: if the record does not say which, or they are gone.
    """
    about = run.record["data"]
    if "source" not in about:
        raise InputError(f"{run.folder} was trained on data in memory: give them ({spell('data')})")
    return load(about["source"], LoadOptions(**about["options"]))


def every_question(run: Run, text: str) -> tuple[Encoded, list[str], list[str]]:
    """The text once for each of its tokens, which asks; where the model knows no questions, it asks by the
    beginnings of the text.

    Raises:
        InputError: if the text is empty or too long.
    """
    words = [word.strip("_") or word for word in text.split()]
    if not 2 <= len(words) <= LONGEST:
        raise InputError(f"a map needs a text of 2 to {LONGEST} tokens between blanks, not {len(words)}")
    model, tokenizer = run.model, run.tokenizer
    assert isinstance(model, TokenClassifier)
    if any(letter >= 0 for letter in model.config.asked_tokens or ()):
        beginnings = [" ".join([*words[:at], f"_{word}_", *words[at + 1 :]]) for at, word in enumerate(words)]
    else:
        beginnings = [" ".join(words[: at + 1]) for at in range(len(words))]
    encoded = encode(tokenizer, beginnings)
    check_words(tokenizer, words, encoded)
    return encoded, words, words


def check_words(tokenizer: PreTrainedTokenizerFast, words: Sequence[str], encoded: Encoded) -> None:
    """Raise InputError unless each word is one token that the model knows."""
    if encoded.ids.shape[1] != len(words) or bool((encoded.ids == tokenizer.unk_token_id).any()):
        text = " ".join(words)
        raise InputError(f"the model does not read each word of {text!r} as one token that it knows")


def curvatures(model: Any, rows: TensorDataset, *, limit: int, seed: int = 0) -> dict[str, Curvature]:
    """The loss around a model, "constrained" to what its scores read in training, and "freed" from that."""
    constrained = curvature(model, rows, limit=limit, seed=seed)
    reads_all = model.config.scores == "both"
    freed = constrained if reads_all else curvature(free_copy(model), rows, limit=limit, seed=seed)
    return {"constrained": constrained, "freed": freed}


RANGES = {"accuracy": (0.0, 1.0), "loss": (0.0, np.inf), "entropy": (0.0, 1.0)}
"""What a text can have."""


def solution(
    run: Run, rows: TensorDataset, shown: Encoded, loss: dict[str, Curvature], seed: int
) -> Solution:
    """One run before all texts."""
    assert isinstance(run.model, TokenClassifier)
    model = precise_copy(run.model)
    assert isinstance(model, TokenClassifier)
    columns = text_columns(model, rows)
    estimates = {
        name: mean_interval(
            column, rng=np.random.default_rng([seed, place]), within=RANGES.get(name, UNKNOWN)
        )
        for place, (name, column) in enumerate(columns.items())
    }
    last = read_last_layer(model, shown.inputs())
    length = shown.ids.shape[1]
    means = {
        name: float("nan") if estimate.mean is None else estimate.mean for name, estimate in estimates.items()
    }
    return Solution(
        name=run_name(run.folder),
        accuracy=means["accuracy"],
        loss=means["loss"],
        entropy=means["entropy"],
        shares={part: means[part] for part in PARTS},
        intervals={name: estimate.interval for name, estimate in estimates.items()},
        curvatures=loss,
        weights=blank_hidden(last.layer.weights[:, 0, 0], last.layer)[:, :length].numpy(),
        parts={name: blank_hidden(part, last.layer)[:, :length].numpy() for name, part in last.parts.items()},
    )


def free_copy(model: Any) -> TokenClassifier:
    """A copy with scores that may read letters and places: all directions it could leave in."""
    free: TokenClassifier = precise_copy(model)  # type: ignore[assignment]
    free.free_scores()
    return free


def run_name(folder: Path) -> str:
    """A run by its folder, a repeat by that of all too."""
    resolved = folder.resolve()
    return f"{resolved.parent.name}/{resolved.name}" if resolved.name.startswith("seed-") else resolved.name


def blank_hidden(values: Float[Tensor, "r k"], layer: LayerRecord) -> Float[Tensor, "r k"]:
    """NaN where a key is hidden."""
    return values.masked_fill(~layer.allowed[:, 0, 0].bool(), torch.nan)


def text_columns(model: TokenClassifier, rows: TensorDataset) -> dict[str, np.ndarray]:
    """Accuracy, loss, relative entropy and the shares of the variance of scores [N], text by text."""
    columns = {name: np.full(len(rows), np.nan) for name in ("accuracy", "loss", "entropy", *PARTS)}
    for places, inputs in batches(rows.encoded):
        last = read_last_layer(model, inputs)
        labels, logits = rows.labels[places], last.logits
        columns["accuracy"][places] = (logits.argmax(dim=1) == labels).double()
        columns["loss"][places] = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        allowed = last.layer.allowed[:, 0, 0].bool()
        columns["entropy"][places] = entropies(last.layer.weights[:, 0, 0], allowed)
        for name, share in variance_shares(last.parts, allowed).items():
            columns[name][places] = share
    return columns


def variance_shares(parts: dict[str, Tensor], allowed: Tensor) -> dict[str, Float[Tensor, " texts"]]:
    """cov(part, score) / var(score) along the row, of each part; they add up to 1. NaN where all scores are
    alike."""
    count = allowed.sum(dim=1, keepdim=True)

    def centre(values: Tensor) -> Tensor:
        mean = values.masked_fill(~allowed, 0.0).sum(dim=1, keepdim=True) / count
        return (values - mean).masked_fill(~allowed, 0.0)

    total = centre(torch.stack(list(parts.values())).sum(dim=0))
    spread = total.square().sum(dim=1)
    return {
        name: torch.where(spread > 0, (centre(part) * total).sum(dim=1) / spread, torch.nan)
        for name, part in parts.items()
    }


class LastLayer(NamedTuple):
    """What a model says of all texts at once, its last attention call, and the parts of the scores of the
    first head there."""

    logits: Float[Tensor, "r classes"]
    layer: LayerRecord
    parts: dict[str, Float[Tensor, "r k"]]


def read_last_layer(model: TokenClassifier, inputs: dict[str, Tensor]) -> LastLayer:
    """One pass; of a single layer s = c (W_q u)ᵀ (W_k u') with u = (letter, place), part by part."""
    last = len(model.layers) - 1
    with torch.no_grad(), eval_mode(model), record(model, [last]) as trace:
        logits = model(**inputs).logits
    return LastLayer(logits, trace.only[last], score_parts(model, inputs, trace.only[last]))


@torch.no_grad()
def score_parts(
    model: TokenClassifier, inputs: dict[str, Tensor], layer: LayerRecord
) -> dict[str, Float[Tensor, "r k"]]:
    """The score of the token that asks with every token, by what meets what; NaN where scores are those of
    what layers below have made."""
    if len(model.layers) > 1:
        scores = layer.scores[:, 0, 0]
        return dict.fromkeys(PARTS, torch.full_like(scores, torch.nan))
    ids, mask = inputs["input_ids"], inputs["attention_mask"].bool()
    question, texts = model.find_asked(ids, mask), torch.arange(len(ids))
    attention: Any = model.layers[0].attention
    size, head = model.config.embedding_size, attention.head_dim
    vectors = {"letter": model.embedding(ids), "place": model.positions(question.places)}
    columns = {"letter": slice(0, size), "place": slice(size, None)}
    queries, keys = (
        {name: vectors[name] @ (linear.weight * linear.reads)[:head, columns[name]].T for name in vectors}
        for linear in (attention.query, attention.key)
    )

    def score(query: str, key: str) -> Float[Tensor, "r k"]:
        row = queries[query][texts, question.token]
        return layer.call.scale * torch.einsum("rd,rkd->rk", row, keys[key])

    mixed = score("letter", "place") + score("place", "letter")
    return dict(zip(PARTS, (score("letter", "letter"), score("place", "place"), mixed), strict=True))


def lines_between(runs: Sequence[Run], ends: tuple[int, int], rows: TensorDataset) -> Iterator[LossLine]:
    """The loss between two runs, as they are and with the hidden units of the second matched."""
    first, second = (free_copy(runs[end].model) for end in ends)
    for matched in (False, True):
        other = match_hidden_units(second, first) if matched else second
        yield LossLine(ends, matched, losses_between(first, other, rows))
