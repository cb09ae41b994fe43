"""How fast the layers of a model make all tokens alike, with its own weights and with random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import Cache, PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import Inputs, LoadOptions, UnitReader, encode, inputs_of, load, reader_of, select_split
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import class_name, random_twin
from glasshead.models import PooledClassifier
from glasshead.papers.collapse.random_collapse import (
    HEAD_DIM,
    ROWS,
    check_any_seed,
    depth_curve,
    gaussian_collapse,
    log_ranks,
    residual,
    scale_to,
)
from glasshead.papers.results import DepthCurve, RankCollapse
from glasshead.trace import BlockRun, LayerRecord, eval_mode, linear_maps, record, run_blocks, thread_hook

PURE, SKIPS, WHOLE = "attention alone", "with skips", "whole layer"
TRAINED, RANDOM = "The weights of the model", "Random weights of the same configuration"
Progress = Callable[[str], None]


class CollapseSample(NamedTuple):
    """A model by its name, its tokenizer, and texts (for pairs also the second ones) or images."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | UnitReader
    texts: Sequence[Any]
    pairs: Sequence[str] | None = None


def read_sample(
    data: str, split: str, size: int, *, text_column: str | None = None, seed: int = 0
) -> tuple[list[Any], list[str] | None]:
    """A random sample of the texts, or images, of a split, with the second texts of pairs.

    Raises:
        InputError: as `glasshead.data.load`, and if there is no such split.
    """
    if size < 1:
        raise ParameterError("texts", f"must be at least 1, not {size}")
    rows = select_split(load(data, LoadOptions(text_column=text_column)), split, data)
    drawn = np.random.default_rng(seed).permutation(len(rows))[:size]
    chosen = rows.select(np.sort(drawn))
    return inputs_of(chosen)


def collapse_by_depth(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None = None,
    *,
    seeds: int = 5,
    progress: Progress = lambda _: None,
) -> tuple[list[DepthCurve], list[str]]:
    """The residual (`residual`) over the layers of a model, and remarks on what is left out.

    "whole layer" are the states of the model; "attention alone" iterates H ← Σ_h A_h(H) H W_v W_o with the
    attention of each block, "with skips" H ← H + the same. The biases of values and output are left out:
    where rows of A sum to one, each adds the same vector to every token, and a growing mean row is not
    collapse. (The networks that Dong et al. measure have both, and the norm behind attention.) A norm
    before attention is part of it, with its bias; a norm after it and the feed-forward part are left out.
    States are scaled to the root mean square of the model at that depth; this does not change the residual.
    Units are texts; for the ``seeds`` random models of the same configuration (initialised by their class)
    they are seeds.

    Raises:
        InputError: if the model is not a stack of layers, or no text has two tokens.
    """
    check_any_seed(seeds)
    nouns = reader_of(tokenizer).nouns
    encoded = encode(tokenizer, list(texts), None if pairs is None else list(pairs))
    places = (encoded.mask.sum(dim=1) > 1).nonzero()[:, 0]
    if not len(places):
        raise InputError(f"no {nouns.text} has two {nouns.tokens}, so nothing can become alike")
    inputs = []
    for place in places.tolist():
        length = int(encoded.mask[place].sum())
        cut = encoded.inputs(torch.tensor([place]), model.device).items()
        inputs.append({name: tensor[:, :length] for name, tensor in cut})
    progress("the model")
    own, remarks = residuals_by_path(model, inputs)
    curves = [depth_curve(TRAINED, path, nouns.text, values) for path, values in own.items()]
    by_seed: dict[str, list[Tensor]] = {path: [] for path in own}
    for seed in range(seeds):
        progress(f"random weights: {seed + 1} of {seeds}")
        paths, _ = residuals_by_path(random_twin(model, seed), inputs)
        for path, values in paths.items():
            by_seed[path].append(values.nanmean(dim=0))
    curves += [depth_curve(RANDOM, path, "seed", torch.stack(values)) for path, values in by_seed.items()]
    return curves, remarks


@torch.no_grad()
def residuals_by_path(
    model: PreTrainedModel, inputs: Sequence[Inputs]
) -> tuple[dict[str, Float[Tensor, "texts depth"]], list[str]]:
    """The residuals of each text on each path that the model allows, and why others are missing.

    Raises:
        InputError: if the model is not a stack of layers.
    """
    if isinstance(model, PooledClassifier):
        raise InputError("this model has one attention and no depth: choose a model with layers")
    rows: dict[str, list[Tensor]] = {PURE: [], SKIPS: [], WHOLE: []}
    remarks: list[str] = []
    with eval_mode(model):
        for one in inputs:
            runs = block_chain(model, one)
            masks = real_tokens(runs[0])
            rows[WHOLE].append(mean_residual([states_before(runs[0]), *(run.whole for run in runs)], masks))
            if PURE not in rows:
                continue
            try:
                for path in (PURE, SKIPS):
                    rows[path].append(mean_residual(iterate(runs, masks, skips=path == SKIPS), masks))
            except InputError as error:
                rows = {WHOLE: rows[WHOLE]}
                remarks = [f"The curves {PURE!r} and {SKIPS!r} are left out: {error}."]
    return {path: torch.stack(values) for path, values in rows.items()}, remarks


def block_chain(model: PreTrainedModel, inputs: Inputs) -> list[BlockRun]:
    """The blocks that a text goes through, each of which reads what the one before made: the encoder of an
    encoder–decoder, the words of a document.

    Raises:
        InputError: if there is none.
    """
    runs = [run for _, run in sorted(run_blocks(model, inputs).items())]
    if not runs:
        raise InputError(
            f"{class_name(model)} is not a stack of layers with one attention each, so there is no depth to "
            "follow: choose an encoder or a causal model"
        )
    chain = runs[:1]
    for run in runs[1:]:
        before, after = chain[-1].whole, states_before(run)
        if before.shape != after.shape or bool((before != after).any()):
            break
        chain.append(run)
    return chain


def is_states(value: object) -> bool:
    """Whether this is [b, n, d]."""
    return isinstance(value, Tensor) and value.ndim == 3 and value.is_floating_point()


def states_before(run: BlockRun) -> Float[Tensor, "b n d"]:
    """What a block reads."""
    states: Tensor = next(value for value in (*run.args, *run.options.values()) if is_states(value))
    return states


def record_block(run: BlockRun, states: Float[Tensor, "b n d"]) -> LayerRecord:
    """The attention of a block that reads other states; a cache, to which it would add, is left out."""
    old = states_before(run)

    def replace_states(value: object) -> object:
        return states if value is old else None if isinstance(value, Cache) else value

    options = {name: replace_states(value) for name, value in run.options.items()}
    with record(run.module) as trace:
        run.module(*map(replace_states, run.args), **options)
    (layer,) = trace.only
    return layer


def attention_update(run: BlockRun, states: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
    """Σ_h A_h V_h D_h of the attention of a block that reads other states, V_h without its bias.

    Raises:
        InputError: if the values or the output projection of the block cannot be seen.
    """
    layer = record_block(run, states)
    if layer.call.v.shape[-1] == 0 or layer.projection is None:
        raise InputError("the values of this model, or the linear map that reads its heads, cannot be seen")
    if layer.call.mechanism.position.changes_output:
        raise InputError(
            f"the position of {layer.mechanism} adds to the values, so A V W_o is only a part of the output"
        )
    with without_biases(run.module):
        values = record_block(run, states).projected_values
    update: Tensor = (layer.weights @ values).sum(dim=1)
    return update.to(states.dtype)


@contextmanager
def without_biases(module: nn.Module) -> Iterator[None]:
    """Linear maps of a module leave their biases out in the block, in this thread."""

    def leave_out(linear: nn.Module, args: tuple[object, ...], output: Tensor) -> Tensor:
        bias = linear.bias
        return output - bias if isinstance(bias, Tensor) else output

    with ExitStack() as stack:
        for linear in linear_maps(module):
            stack.callback(linear.register_forward_hook(thread_hook(leave_out)).remove)
        yield


def real_tokens(run: BlockRun) -> Bool[Tensor, "b n"]:
    """The tokens that somebody may attend to.

    Raises:
        InputError: if the states are not [b, n, d].
    """
    states = states_before(run)
    real = record_block(run, states).allowed.any(dim=2).any(dim=1)
    if real.shape != states.shape[:2]:
        raise InputError("the states of this model do not have the order [texts, tokens, size]")
    return real


def iterate(
    runs: Sequence[BlockRun], masks: Bool[Tensor, "b n"], *, skips: bool
) -> list[Float[Tensor, "b n d"]]:
    """The states before the first block and after each, if it were attention alone, or attention and skip."""
    states = [states_before(runs[0])]
    for run in runs:
        update = attention_update(run, states[-1])
        new = states[-1] + update if skips else update
        states.append(
            torch.stack(
                [
                    scale_to(one, layer[mask].square().mean().sqrt())
                    for one, layer, mask in zip(
                        new.where(masks[..., None], 0.0), run.whole, masks, strict=True
                    )
                ]
            )
        )
    return states


def mean_residual(
    states: Sequence[Float[Tensor, "b n d"]], masks: Bool[Tensor, "b n"]
) -> Float[Tensor, " depth"]:
    """The residual at each depth, a mean over the sequences of a text that have two tokens."""
    sequences = [row for row in range(len(masks)) if int(masks[row].sum()) > 1]
    if not sequences:
        return torch.full((len(states),), torch.nan, dtype=torch.float64)
    return torch.stack(
        [
            torch.stack([residual(one[row][masks[row]].double()) for row in sequences]).nanmean()
            for one in states
        ]
    )


def rank_collapse(
    sample: CollapseSample | None,
    mechanisms: Sequence[str],
    *,
    seeds: int = 5,
    progress: Progress = lambda _: None,
) -> RankCollapse:
    """`collapse_by_depth` of a model on a sample of texts, if there is one; for ``mechanisms``, their
    Gaussian curves and the ranks of log |A|.

    Raises:
        InputError: as `collapse_by_depth`, and on an unknown mechanism.
    """
    progress("random weights")
    gaussian, ranks = gaussian_collapse(mechanisms), log_ranks(mechanisms)
    curves: list[DepthCurve] = []
    remarks: list[str] = []
    if sample is not None:
        curves, remarks = collapse_by_depth(*sample[1:], seeds=seeds, progress=progress)
    curves += gaussian
    remarks += [
        (
            f"{curve.name}: the states of {curve.n[0] - curve.n[-1]} of {curve.n[0]} {curve.unit}s become "
            "0, which has no residual: they are left out from that depth on."
        )
        for curve in curves
        if curve.n[-1] < curve.n[0]
    ]
    return RankCollapse(sample.name if sample else "", curves, ranks, HEAD_DIM, ROWS, remarks)
