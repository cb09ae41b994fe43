"""Activations of one text put into the run of another, site by site, and what that changes.

Every site is exchanged in a pass of its own (exact), or all at once to first order: the change of a score
m by an exchange of a for b is ⟨∂m/∂a, b − a⟩.

Source: Vig et al. (2020), Meng et al. (2022) (exchanges); Nanda (2023) (first order); Hanna, Pezzelle and
Belinkov (2024) (integrated over inputs between both texts); Wang et al. (2023) (ablation by other texts).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import AnyFloats
from glasshead.attention import AttentionInputs
from glasshead.data import Inputs, batch_size
from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.inside.check_sites import are_all_sites, can_begin_later
from glasshead.inside.foreign import ANOTHER_PAIR, derangement, disturbed, name_of_null, strangers
from glasshead.inside.pairs import Pairs
from glasshead.inside.paths import CallEditor, Receiver
from glasshead.inside.sites import (
    EQUAL,
    HEADS,
    Activations,
    Layer,
    begin_at,
    exchanged,
    find_layers,
    read_activations,
)
from glasshead.trace import attach_hook, logits_of

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
    ``into`` is the head by which alone the others reach the answer.
    """

    site: str
    direction: Direction = "denoise"
    source: Source = "pair"
    steps: int = 0
    into: Receiver | None = None
    null: bool = True
    seed: int = 0

    @property
    def runs_clean(self) -> bool:
        """Whether it is the clean text that runs."""
        return self.source != "pair" or self.direction == "noise"

    @property
    def brings_back(self) -> bool:
        """Whether an answer is brought back, not broken."""
        return not self.runs_clean


@dataclass(frozen=True)
class Effects:
    """What each exchange changes of the score m of each pair, by layer × column: a head, or a token counted
    from the last.

    ``null`` is the same with foreign activations (`foreign`); NaN if there are none. ``total`` is by how much
    m differs between both texts (source minus what runs). ``whole``: heads and MLPs are all that layers add
    to their stream. ``passes`` counts texts that were run.
    """

    change: AnyFloats
    null: AnyFloats | None
    total: AnyFloats
    score: AnyFloats
    whole: bool
    passes: int
    null_name: str = ""


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
    gradients: list[list[Tensor]] | None = None
    """∂m/∂a at every site by layer, where changes are taken to first order."""
    passes: int = field(default=0)

    @property
    def score(self) -> Tensor:
        """m of the texts that run."""
        return self.pairs.score(self.base.logits, self.some)

    def own(self, layer: int) -> list[Tensor]:
        """What the texts have at the sites of a layer, as `parts`."""
        return self.parts(layer, self.base.at(self.exchange.site, layer))

    def given(self, layer: int, order: Tensor) -> list[Tensor]:
        """What is put there: that of the pairs in this order, zeros, or the mean."""
        site = self.exchange.site
        if self.exchange.source == "zero":
            given = [torch.zeros_like(one) for one in self.base.at(site, layer)]
        elif self.means is not None:
            given = [
                mean.expand_as(one)
                for mean, one in zip(self.means.at(site, layer), self.base.at(site, layer), strict=True)
            ]
        else:
            given = [one[order.to(one.device)] for one in self.source.at(site, layer)]
        return self.parts(layer, given)

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

    def effect(self, layer: int, given: list[Tensor], columns: int) -> AnyFloats:
        """What each exchange in a layer changes [b, columns]; NaN where a text has no such column."""
        if self.gradients is None:
            return self.exact(layer, given, columns).double().numpy()
        return self.first_order(self.gradients[layer], layer, given, columns).double().numpy()

    @torch.no_grad()
    def exact(self, layer: int, given: list[Tensor], columns: int) -> Tensor:
        """The changes, each by a pass of its own."""
        base = self.own(layer)
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
        if self.exchange.into is not None:
            self.passes += len(texts)
            return self.logits_by_path(self.exchange.into, layer, texts, instead)
        start = layer if self.later else 0
        with (
            begin_at(self.layers, start, self.base, texts),
            exchanged(self.layers[layer], self.exchange.site, instead),
        ):
            return logits_of(self.model, inputs)

    def logits_by_path(self, receiver: Receiver, layer: int, texts: Tensor, instead: list[Tensor]) -> Tensor:
        """Logits of variants of the texts in which the receiver alone reads other heads of a layer."""
        inputs = {name: value[texts] for name, value in self.inputs.items()}
        module = self.layers[receiver.layer].attention
        assert module is not None
        seen: list[AttentionInputs] = []

        def keep(call: AttentionInputs) -> AttentionInputs:
            seen.append(call)
            return call

        with ExitStack() as stack:
            stack.enter_context(begin_at(self.layers, layer if self.later else 0, self.base, texts))
            for number in range(layer, receiver.layer):
                own = self.base.heads[number]
                if own is not None:
                    heads = instead if number == layer else [own[texts]]
                    stack.enter_context(exchanged(self.layers[number], HEADS, heads))
            stack.enter_context(attach_hook(CallEditor(self.model, module, keep)))
            logits_of(self.model, inputs)
        edit = CallEditor(self.model, module, lambda call: receiver.put(call, seen[0]))
        start = receiver.layer if self.later else 0
        with begin_at(self.layers, start, self.base, texts), attach_hook(edit):
            return logits_of(self.model, inputs)

    def slopes(self) -> list[list[Tensor]]:
        """∂m/∂a at every site by layer, the mean over inputs between both texts."""
        steps = self.exchange.steps
        total: list[list[Tensor]] = []
        for step in range(steps):
            read = self.base
            if steps > 1:
                way = (step + 0.5) / steps * (self.source.states[0] - self.base.states[0])
                start = self.base.states[0] + way
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

    def first_order(self, slopes: list[Tensor], layer: int, given: list[Tensor], columns: int) -> Tensor:
        """⟨∂m/∂a, b − a⟩ of each exchange in a layer [b, columns]."""
        changes = torch.full((len(self.some), columns), torch.nan, dtype=self.base.logits.dtype)
        base, slopes = self.own(layer), self.parts(layer, slopes)
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
            f"no linear map reads the heads of {class_name(model)}: its heads cannot be exchanged, only the "
            "stream can (residual)"
        )
    rng, generator = np.random.default_rng(asked.seed), torch.Generator().manual_seed(asked.seed)
    shape = (len(pairs), len(layers), columns)
    change, null = np.full(shape, np.nan), np.full(shape, np.nan)
    total, score = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    whole, passes, done = True, 0, 0
    null_name = name_of_null(pairs, asked.brings_back, asked.seed) if asked.null else ""
    senders = range(len(layers) if asked.into is None else asked.into.layer)
    if asked.into is not None:
        asked.into.check(layers)
    for batch in pairs.batches():
        run = start_run(model, layers, pairs, batch, asked)
        if not done:
            whole = are_all_sites(model, layers, run.inputs, run.base)
        own = torch.arange(len(batch))
        stranger, has_stranger = strangers(pairs, batch, rng)
        other = torch.from_numpy(derangement(len(batch), rng))
        needs_other = asked.source == "resample"
        if needs_other and len(batch) == 1:
            raise InputError(
                "a text is ablated by another of equal length, but one text has no partner: use mean or "
                "zero, or more texts"
            )
        for layer in senders:
            given = run.given(layer, other if needs_other else own)
            change[batch.numpy(), layer] = run.effect(layer, given, columns)
            if null_name == ANOTHER_PAIR:
                null[batch.numpy(), layer] = run.effect(layer, run.given(layer, stranger), columns)
                null[batch.numpy()[~has_stranger], layer] = np.nan
            elif null_name:
                foreign = disturbed(run.own(layer), given, generator)
                null[batch.numpy(), layer] = run.effect(layer, foreign, columns)
            if progress is not None:
                progress(done + len(batch) * (layer + 1) // len(senders), len(pairs))
        done += len(batch)
        score[batch.numpy()] = run.score.detach().double().cpu().numpy()
        source = pairs.score(run.source.logits, batch)
        total[batch.numpy()] = source.detach().double().cpu().numpy() - score[batch.numpy()]
        passes += run.passes + 2 * len(batch)
    if np.isnan(change).all():
        raise InputError(f"the layers of {class_name(model)} have no detectable {asked.site}: use residual")
    lost = np.flatnonzero(~np.isfinite(score + total))
    if len(lost):
        raise InputError(f"the model gives pair {lost[0] + 1} no finite score: check its weights")
    return Effects(change, null if null_name else None, total, score, whole, passes, null_name)


def start_run(
    model: PreTrainedModel, layers: list[Layer], pairs: Pairs, batch: Int[Tensor, " b"], asked: Exchange
) -> Run:
    """Both passes over a batch."""
    some = batch.numpy()
    clean, corrupted = (
        encoded.some(some).inputs(device=model.device) for encoded in (pairs.clean, pairs.corrupted)
    )
    inputs, others = (clean, corrupted) if asked.runs_clean else (corrupted, clean)
    base = read_activations(model, layers, inputs, graph=asked.steps == 1)
    other = read_activations(model, layers, others)
    later = not asked.steps and can_begin_later(model, layers, inputs, base)
    means = mean_activations(model, layers, pairs, batch) if asked.source == "mean" else None
    run = Run(asked, model, layers, pairs, batch, inputs, base, other, means, later)
    if asked.steps:
        run.gradients = run.slopes()
        run.base = base.detached()
    if asked.source != "pair":
        run.source = replace(run.base, logits=other.logits)
    return run


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
            "the mean is over texts of equal length, but one text has no partner: use zero, or more texts"
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
