"""Activations of one text put into the run of another, site by site, and what that changes.

Every site is exchanged in a pass of its own (exact), or all at once to first order: the change of a score
m by an exchange of a for b is ⟨∂m/∂a, b − a⟩.

Source: Vig et al. (2020), Meng et al. (2022) (exchanges); Nanda (2023) (first order); Hanna, Pezzelle and
Belinkov (2024) (integrated over inputs between both texts); Wang et al. (2023) (ablation by other texts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import AnyFloats
from glasshead.data import Inputs, batch_size
from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.inside.pairs import Pairs
from glasshead.inside.sites import (
    EQUAL,
    HEADS,
    Activations,
    Layer,
    are_all_sites,
    begin_at,
    can_begin_later,
    exchanged,
    find_layers,
    read_activations,
)
from glasshead.trace import logits_of

Direction = Literal["denoise", "noise"]
Source = Literal["pair", "zero", "mean", "resample"]
PASS_TOKENS = 1024
"""Tokens of a pass on a CPU: larger passes leave its cache and take longer."""
OnVariants = Callable[[int, int], None]
"""(passes done, of so many)"""


@dataclass(frozen=True)
class Exchange:
    """What is put where.

    ``site`` is a kind of site (`SITES`). ``denoise`` runs the corrupted text with activations of the clean
    one, ``noise`` the clean text with those of the corrupted one. A ``source`` other than the pair is an
    ablation of the clean text: by zeros, by the mean over the clean texts of this length, or by what another
    clean text of this length has there. ``steps`` = 0 exchanges in passes of their own; else to first order,
    the gradient being the mean over so many inputs between both texts (1: at the text that runs).
    """

    site: str
    direction: Direction = "denoise"
    source: Source = "pair"
    steps: int = 0
    null: bool = True
    seed: int = 0

    @property
    def runs_clean(self) -> bool:
        """Whether it is the clean text that runs."""
        return self.source != "pair" or self.direction == "noise"

    @property
    def has_null(self) -> bool:
        """Whether the same is done with the activations of another pair: what brings an answer back must be
        that of the pair, while anything foreign may break it."""
        return self.null and self.source == "pair" and self.direction == "denoise"


@dataclass(frozen=True)
class Effects:
    """What each exchange changes of the score m of each pair, by layer × column: a head, or a token counted
    from the last.

    ``null`` is the same with the source of another pair; NaN where there is none. ``total`` is by how much m
    differs between both texts (source minus what runs). ``whole``: heads and MLPs are all that layers add to
    their stream. ``passes`` counts texts that were run.
    """

    change: AnyFloats
    null: AnyFloats | None
    total: AnyFloats
    score: AnyFloats
    whole: bool
    passes: int


@dataclass
class Run:
    """A batch of pairs of one length: both passes, and what the exchange takes its activations from."""

    exchange: Exchange
    model: PreTrainedModel
    layers: list[Layer]
    pairs: Pairs
    some: Int[Tensor, " b"]
    inputs: Inputs
    base: Activations
    source: Activations
    means: Activations | None
    later: bool
    passes: int = field(default=0)

    @property
    def score(self) -> Tensor:
        """m of the texts that run."""
        return self.pairs.score(self.base.logits, self.some)

    def put_in(self, layer: int, order: Tensor) -> list[Tensor]:
        """What is put at a site of the texts: of the pair in that order, zeros, or the mean."""
        site = self.exchange.site
        if self.exchange.source == "zero":
            return [torch.zeros_like(one) for one in self.base.at(site, layer)]
        if self.means is not None:
            return [
                mean.expand_as(one)
                for mean, one in zip(self.means.at(site, layer), self.base.at(site, layer), strict=True)
            ]
        return [one[order.to(one.device)] for one in self.source.at(site, layer)]

    def parts(self, layer: int, tensors: list[Tensor]) -> list[Tensor]:
        """Activations as [b, columns, …]: heads, or tokens counted from the last."""
        if self.exchange.site != HEADS:
            return [one.flip(1) for one in tensors]
        return [one.unflatten(-1, (self.layers[layer].heads, -1)).transpose(1, 2) for one in tensors]

    def whole(self, layer: int, parts: list[Tensor]) -> list[Tensor]:
        """The inverse of `parts`."""
        if self.exchange.site != HEADS:
            return [one.flip(1) for one in parts]
        return [one.transpose(1, 2).flatten(2) for one in parts]

    @torch.no_grad()
    def exact(self, layer: int, order: Tensor, columns: int) -> Tensor:
        """What each exchange in a layer changes [b, columns]; NaN where a text has no such column."""
        base = self.parts(layer, self.base.at(self.exchange.site, layer))
        given = self.parts(layer, self.put_in(layer, order))
        changes = torch.full((len(self.some), columns), torch.nan, dtype=self.base.logits.dtype)
        if not base:
            return changes
        changes[:, : base[0].shape[1]] = 0.0
        scale = max(float(one.abs().max()) for one in base) or 1.0
        differs = torch.stack(
            [(a - b).flatten(2).abs().amax(dim=2) > EQUAL * scale for a, b in zip(base, given, strict=True)]
        ).any(dim=0)
        texts, places = differs.nonzero(as_tuple=True)
        device = texts.device
        length = self.base.states[0].shape[1]
        size = max(1, PASS_TOKENS // length) if self.model.device.type == "cpu" else batch_size(length)
        for chunk in range(0, len(texts), size):
            own, place = texts[chunk : chunk + size], places[chunk : chunk + size]
            variants = torch.arange(len(own), device=device)
            instead = []
            for a, b in zip(base, given, strict=True):
                new = a[own].clone()
                new[variants, place] = b[own, place]
                instead.append(new)
            logits = self.logits(layer, own, self.whole(layer, instead))
            moved = self.pairs.score(logits, self.some[own.cpu()]) - self.score[own]
            changes[own.cpu(), place.cpu()] = moved.cpu()
        return changes

    def logits(self, layer: int, texts: Tensor, instead: list[Tensor]) -> Tensor:
        """Logits of variants of the texts with other activations at a site of a layer."""
        inputs = {name: value[texts] for name, value in self.inputs.items()}
        self.passes += len(texts)
        start = layer if self.later else 0
        with (
            begin_at(self.layers, start, self.base, texts),
            exchanged(self.layers[layer], self.exchange.site, instead),
        ):
            return logits_of(self.model, inputs)

    def slopes(self) -> list[list[Tensor]]:
        """∂m/∂a at every site by layer, the mean over inputs between both texts."""
        steps = self.exchange.steps
        total: list[list[Tensor]] = []
        for step in range(steps):
            between = None if steps == 1 else (step + 0.5) / steps
            start = None
            if between is not None:
                start = self.base.states[0] + between * (self.source.states[0] - self.base.states[0])
            read = read_activations(self.model, self.layers, self.inputs, graph=True, start=start)
            self.passes += len(self.some)
            at = [read.at(self.exchange.site, layer) for layer in range(len(self.layers))]
            flat = [one for own in at for one in own]
            score = self.pairs.score(read.logits, self.some).sum()
            found = torch.autograd.grad(score, flat, allow_unused=True) if flat else []
            own = iter(
                torch.zeros_like(one) if slope is None else slope
                for one, slope in zip(flat, found, strict=True)
            )
            now = [[next(own) / steps for _ in layer] for layer in at]
            total = (
                [[a + b for a, b in zip(*both, strict=True)] for both in zip(total, now, strict=True)]
                if total
                else now
            )
        return total

    def first_order(self, slopes: list[Tensor], layer: int, order: Tensor, columns: int) -> Tensor:
        """⟨∂m/∂a, b − a⟩ of each exchange in a layer [b, columns]."""
        changes = torch.full((len(self.some), columns), torch.nan, dtype=self.base.logits.dtype)
        base = self.parts(layer, self.base.at(self.exchange.site, layer))
        given, slopes = self.parts(layer, self.put_in(layer, order)), self.parts(layer, slopes)
        if base:
            products = [
                (slope * (b - a)).flatten(2).sum(dim=2)
                for slope, a, b in zip(slopes, base, given, strict=True)
            ]
            changes[:, : base[0].shape[1]] = torch.stack(products).sum(dim=0).detach().cpu()
        return changes


def exchange(
    model: PreTrainedModel, pairs: Pairs, asked: Exchange, progress: OnVariants | None = None
) -> Effects:
    """Exchange every site of a kind in every pair.

    Raises:
        InputError: if the sites cannot be found in this model, or there is only one text of a length where
            another of it is needed.
    """
    if asked.steps > 1 and asked.source != "pair":
        raise InputError("steps lie between the two texts of a pair: an ablation has one step")
    device = model.device
    first = pairs.clean.some(np.arange(1)).inputs(device=device)
    layers = find_layers(model, first)
    heads = max((layer.heads for layer in layers if layer.projection is not None), default=0)
    lengths = pairs.clean.mask.sum(dim=1)
    columns = heads if asked.site == HEADS else int(lengths.max())
    if not columns:
        raise InputError(
            f"no linear map reads the heads of {class_name(model)}: its heads cannot be exchanged, but the "
            "stream can (residual)"
        )
    rng = np.random.default_rng(asked.seed)
    shape = (len(pairs), len(layers), columns)
    change, null = np.full(shape, np.nan), np.full(shape, np.nan)
    total, score = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    whole, passes, done = True, 0, 0
    for batch in batches_of(pairs):
        run = start_run(model, layers, pairs, batch, asked)
        if not done:
            whole = are_all_sites(model, layers, run.inputs, run.base)
        own = torch.arange(len(batch))
        other = torch.from_numpy(derangement(len(batch), rng))
        stranger, has_stranger = strangers(pairs, batch, rng)
        needs_other = asked.source == "resample"
        if needs_other and len(batch) == 1:
            raise InputError(
                "a text is ablated by another of as many tokens, and one has a length of its own: take mean "
                "or zero, or more texts"
            )
        slopes = run.slopes() if asked.steps else None
        for layer in range(len(layers)):
            for into, order in ((change, other if needs_other else own), (null, stranger)):
                if into is null and not (asked.has_null and has_stranger.any()):
                    continue
                found = (
                    run.exact(layer, order, columns)
                    if slopes is None
                    else run.first_order(slopes[layer], layer, order, columns)
                )
                into[batch.numpy(), layer] = found.double().numpy()
                if into is null:
                    null[batch.numpy()[~has_stranger], layer] = np.nan
            if progress is not None:
                progress(done + len(batch) * (layer + 1) // len(layers), len(pairs))
        done += len(batch)
        score[batch.numpy()] = run.score.detach().double().cpu().numpy()
        source = pairs.score(run.source.logits, batch)
        total[batch.numpy()] = source.detach().double().cpu().numpy() - score[batch.numpy()]
        passes += run.passes + 2 * len(batch)
    if np.isnan(change).all():
        raise InputError(
            f"the layers of {class_name(model)} have no {asked.site} that can be found: take residual"
        )
    lost = np.flatnonzero(~np.isfinite(score + total))
    if len(lost):
        raise InputError(f"the model gives pair {lost[0] + 1} no finite score: check its weights")
    has_null = asked.has_null and np.isfinite(null).any()
    return Effects(change, null if has_null else None, total, score, whole, passes)


def batches_of(pairs: Pairs) -> Iterator[Int[Tensor, " b"]]:
    """Pairs of one length, as many as a pass may have."""
    for same in pairs.by_length():
        length = int(pairs.clean.mask[same[0]].sum())
        count = -(-len(same) // max(batch_size(length), 2))
        yield from same.tensor_split(count)


def strangers(
    pairs: Pairs, batch: Int[Tensor, " b"], rng: np.random.Generator
) -> tuple[Int[Tensor, " b"], Any]:
    """For each pair of a batch another one with another answer, at random, and whether there is one: whose
    clean text has the same answer brings it back as well."""
    numbers, found, has = batch.tolist(), [], []
    for own, number in enumerate(numbers):
        others = [at for at, other in enumerate(numbers) if pairs.has_another_answer(number, other)]
        has.append(bool(others))
        found.append(int(rng.choice(others)) if others else own)
    return torch.tensor(found), np.array(has)


def derangement(count: int, rng: np.random.Generator) -> Any:
    """An order in which no element keeps its place, where there are two: a turn of a random order."""
    order = rng.permutation(count)
    turned = np.empty(count, dtype=np.int64)
    turned[order] = np.roll(order, 1)
    return turned


def start_run(
    model: PreTrainedModel, layers: list[Layer], pairs: Pairs, batch: Int[Tensor, " b"], asked: Exchange
) -> Run:
    """Both passes over a batch."""
    some = batch.numpy()
    clean, corrupted = (
        encoded.some(some).inputs(device=model.device) for encoded in (pairs.clean, pairs.corrupted)
    )
    inputs, others = (clean, corrupted) if asked.runs_clean else (corrupted, clean)
    base, other = (read_activations(model, layers, one) for one in (inputs, others))
    later = not asked.steps and can_begin_later(model, layers, inputs, base)
    source = base if asked.source != "pair" else other
    means = mean_activations(model, layers, pairs, batch) if asked.source == "mean" else None
    source = replace(source, logits=other.logits)
    return Run(asked, model, layers, pairs, batch, inputs, base, source, means, later)


@torch.no_grad()
def mean_activations(
    model: PreTrainedModel, layers: list[Layer], pairs: Pairs, batch: Int[Tensor, " b"]
) -> Activations:
    """The mean over all clean texts of the length of a batch, at every site [1, n, …].

    Raises:
        InputError: if there is only one.
    """
    lengths = pairs.clean.mask.sum(dim=1)
    same = (lengths == lengths[batch[0]]).nonzero(as_tuple=True)[0]
    if len(same) == 1:
        raise InputError(
            "the mean is over texts of as many tokens, and one has a length of its own: take zero, or more "
            "texts"
        )
    sums: Activations | None = None
    for some in same.tensor_split(-(-len(same) // max(batch_size(int(lengths[batch[0]])), 2))):
        inputs = pairs.clean.some(some.numpy()).inputs(device=model.device)
        read = read_activations(model, layers, inputs)
        share = at_every_site(lambda one: one.sum(dim=0, keepdim=True) / len(same), read)
        sums = share if sums is None else at_every_site(torch.add, sums, share)
    assert sums is not None
    return sums


def at_every_site(function: Callable[..., Tensor], *all: Activations) -> Activations:
    """A function of the activations at every site."""
    return Activations(
        [function(*own) for own in zip(*(one.states for one in all), strict=True)],
        [None if own[0] is None else function(*own) for own in zip(*(one.heads for one in all), strict=True)],
        [
            [function(*part) for part in zip(*own, strict=True)]
            for own in zip(*(one.mlp for one in all), strict=True)
        ],
        [],
        all[0].logits[:0],
    )
