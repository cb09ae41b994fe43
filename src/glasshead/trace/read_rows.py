"""Which rows of an attention a prediction reads, measured text by text by one gradient.

Attention has a row for every query, and every model pools in its own way: it takes a class token, the last
token that is not padding, a mean. Neither its name nor its mask says which. So the logits are multiplied by
random numbers r, and g_q = ∂(Σ r·z)/∂o_q is taken at the output o of the attention call: the rows with
g_q ≠ 0 are those that the prediction reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from glasshead.attention import ACTIVE_HOOKS, TracedCall
from glasshead.data import Encoded, Inputs, batches, heads_of
from glasshead.errors import InputError, pluralise
from glasshead.huggingface import class_name
from glasshead.trace.attention_site import READ, AttentionSite, forward
from glasshead.trace.eval_mode import eval_mode
from glasshead.trace.gradients import no_gradient_passes, slopes_of
from glasshead.trace.hooks import AttentionHook, attach_hook
from glasshead.trace.known_states import KnownStates
from glasshead.trace.token_layout import TokenLayout, token_layout

NO_GRADIENT = 1e-7
"""A gradient below this part of the largest of its text comes from rounding."""
SHARE_TOLERANCE = 1e-3
"""Gradients that differ by less than this part of their mean are the same."""
MANY_TIMES = 10
"""Rows whose gradients at the call differ by more are not read alike, whatever is averaged behind it."""

FIRST, LAST, ONE, MEAN, SOME, WEIGHTED, NONE = "first", "last", "one", "mean", "some", "weighted", "none"
ROW_WORDS = {
    "pooled": "the learned query",
    "asked": "row of the target token",
    FIRST: "row of the first token",
    LAST: "row of the last token",
    ONE: "the one row that the prediction reads",
    MEAN: "mean of all rows",
    SOME: "mean of the rows that the prediction reads",
    WEIGHTED: "rows weighted by how much the prediction depends on them",
    NONE: "mean of all rows (no row changes the prediction)",
}


@dataclass(frozen=True)
class ReadRows:
    """The share of each row of an attention in the combined row.

    ``shares`` [texts, rows] are measured, by token where the call packs tokens, and sum to one for each text
    (each of its packed parts); None if rows are named, or there is only one. ``kinds`` says what was found,
    ``unread`` [texts] marks texts in which no row changes the prediction, so that the mean is used, and
    ``above`` has the same for the attention to sentences.
    """

    kinds: frozenset[str]
    shares: Float[Tensor, "texts rows"] | None = None
    unread: Bool[Tensor, " texts"] | None = None
    above: ReadRows | None = None

    @classmethod
    def by_name(cls, row: str, above: ReadRows | None = None) -> ReadRows:
        """The rows that were named."""
        return cls(frozenset({row}), above=above)

    def of(self, texts: Int[Tensor, " b"] | slice, layout: TokenLayout, queries: int) -> Float[Tensor, "r q"]:
        """The shares of the rows of a call over some of the texts, in the order of the call."""
        mask = layout.mask
        if queries == 1:  # a learned query, or a last layer that works out what is read and nothing else
            return mask.any(dim=1, keepdim=True).double()
        if self.shares is None:
            (name,) = self.kinds
            return shares_by_name(mask, name, queries)
        shares = self.shares[texts].to(mask.device)
        return layout.pack(shares)[:, :queries]

    def some(self, texts: Int[Tensor, " some"] | slice) -> ReadRows:
        """The rows of some of the texts."""
        return replace(
            self,
            shares=None if self.shares is None else self.shares[texts],
            unread=None if self.unread is None else self.unread[texts],
            above=None if self.above is None else self.above.some(texts),
        )

    @property
    def most_in_a_text(self) -> int:
        """The largest number of selected rows in a text."""
        if self.shares is None or not len(self.shares):
            return 1
        return int((self.shares > 0).sum(dim=1).amax())

    @property
    def change_prediction(self) -> bool:
        """Whether the prediction for any text reads one of them."""
        return self.kinds != {NONE}

    @property
    def in_words(self) -> str:
        """Whose attention."""
        count = 0 if self.unread is None else int(self.unread.sum())
        if not count or self.kinds == {NONE}:
            return self._words_of_read
        some = pluralise(count, "text")
        mean = f"in {some} no row changes the prediction, so the mean of all rows is shown"
        return f"{self._words_of_read} ({mean})"

    @property
    def _words_of_read(self) -> str:
        """The words of the texts in which rows are read."""
        if WEIGHTED in self.kinds:
            return ROW_WORDS[WEIGHTED]
        kinds = self.kinds - {NONE} or self.kinds
        if len(kinds) == 1:
            (kind,) = kinds
            return ROW_WORDS[kind]
        return ROW_WORDS[ONE if kinds <= {FIRST, LAST, ONE} else SOME]


def find_read_rows(
    model: PreTrainedModel, encoded: Encoded, site: AttentionSite, watched: WatchedPass | None = None
) -> ReadRows:
    """The rows of a site to use in each text: those that it names, or else those that the prediction uses.

    ``watched`` is an earlier pass over these texts, whose graph is reused.

    Raises:
        InputError: if the model cannot be differentiated.
    """
    return find_rows_and_logits(model, encoded, site, watched)[0]


def find_rows_and_logits(
    model: PreTrainedModel,
    encoded: Encoded,
    site: AttentionSite,
    watched: WatchedPass | None = None,
    known: KnownStates | None = None,
) -> tuple[ReadRows, Float[Tensor, "texts classes"] | None]:
    """The rows with what the model predicts, on the CPU; None where nothing was measured."""
    above = None if site.above is None else find_read_rows(model, encoded, site.above)
    if site.row != READ:
        return ReadRows.by_name(site.row, above), None
    shares = torch.zeros(encoded.mask.shape, dtype=torch.float64)
    logits: Tensor | None = None
    kinds: set[str] = set()
    unread = torch.zeros(len(encoded.mask), dtype=torch.bool)
    change, one_row = not bool(encoded.mask.any()), False
    # The graph holds the maps of this layer and of all behind it.
    maps = site.num_heads * (site.num_layers - site.layer) if watched is None else heads_of(model.config)
    for texts, inputs in batches(encoded, device=model.device, maps=maps):
        layout = token_layout(model, inputs, site.key_unit)
        probe, predicted = watched or run_watched_pass(model, inputs, site.layer, known)
        measured = row_shares(probe, predicted)
        predicted = predicted.detach().cpu()
        logits = predicted.new_zeros(len(encoded.ids), predicted.shape[1]) if logits is None else logits
        logits[texts] = predicted
        change |= bool(measured.any())
        if measured.shape[1] == 1 < layout.mask.shape[1]:  # nothing but one row is worked out
            one_row = True
            continue
        kinds |= kinds_of_rows(measured, layout.mask)
        felt = torch.zeros_like(layout.real[:, 0])
        felt[layout.owners[measured.any(dim=1)]] = True
        unread[texts] = (layout.real.any(dim=1) & ~felt).cpu()
        none_read = ~measured.any(dim=1, keepdim=True)
        measured = torch.where(none_read, shares_by_name(layout.mask, MEAN, measured.shape[1]), measured)
        by_token = layout.unpack(measured).cpu()
        if by_token.shape[1] > shares.shape[1]:
            shares = torch.nn.functional.pad(shares, (0, by_token.shape[1] - shares.shape[1]))
        shares[texts, : by_token.shape[1]] = by_token
    if one_row:
        return ReadRows.by_name(ONE if change else NONE, above), logits
    return ReadRows(frozenset((kinds or {ONE}) if change else {NONE}), shares, unread, above), logits


def run_watched_pass(
    model: PreTrainedModel, inputs: Inputs, layer: int, known: KnownStates | None = None
) -> WatchedPass:
    """A pass whose graph begins at the output of an attention call: what stands before it needs none."""

    def run() -> tuple[Tensor, WatchedPass]:
        probe = RowProbe(model, layer, detached=True)
        with torch.no_grad(), eval_mode(model), attach_hook(probe):
            logits: Tensor = forward(model, inputs, rows="mean").logits
        return logits, (probe, logits)

    return run()[1] if known is None else known.read(model, inputs, layer, run)


def row_shares(probe: RowProbe, logits: Float[Tensor, "b classes"]) -> Float[Tensor, "r q"]:
    """The share of each row of an attention call in what the prediction reads, 0 where it reads none, from a
    pass that was watched, whose graph stays.

    One row: that one. Rows whose vectors are averaged, which is seen where a module behind the call has the
    same gradient at all of them and nothing passes by it: equal shares. Anything else: in proportion to
    ‖g_q‖. Where no row changes the prediction, zeros. A call that the prediction does not feel (its output
    map may be zero) is judged at the first states behind it.
    """
    if probe.output is None:
        raise no_gradient_passes(probe.model)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(logits.shape[-1], generator=generator, dtype=torch.float64).to(logits)
    with torch.enable_grad():
        value = (logits * noise).sum()
    gradients = slopes_of(
        probe.model, value, [probe.output, *probe.states],
        retain_graph=True, allow_unused=True, materialize_grads=True,
    )  # fmt: skip
    slopes = (
        gradients[0] if probe.allowed is None else gradients[0] * probe.allowed
    )  # forbidden keys add nothing
    at_output = slopes.transpose(1, 2).flatten(2)  # [R, Q, H·d]
    states = list(zip(probe.states, gradients[1:], strict=True))
    if not at_output.flatten(1).any(dim=1).all():
        states = [(state, gradient) for state, gradient in states if depends_on(state, probe.output)]
    of_states = [gradient.flatten(2) for _, gradient in states]
    size = torch.zeros_like(at_output[..., 0])
    has_nan = torch.zeros_like(size[:, 0], dtype=torch.bool)
    for gradient in (at_output, *of_states):
        unfelt = ~size.any(dim=1, keepdim=True)
        length = gradient.norm(dim=2)
        has_nan |= length.isnan().any(dim=1)  # rows of padding may have such a gradient
        size = torch.where(unfelt, length.nan_to_num(), size)
    if bool((has_nan & ~size.any(dim=1)).any()):
        raise InputError(
            f"gradients of {class_name(probe.model)} are not numbers (NaN), so the rows that it reads cannot "
            "be measured: use the method 'erasure-delete'"
        )
    read = size > NO_GRADIENT * size.amax(dim=1, keepdim=True)
    averaged = alike_in_size(size, read) & averages_rows(probe.output, gradients[0], states, read)
    weighted = torch.where(averaged, read.to(size), size * read)
    return (weighted / weighted.sum(dim=1, keepdim=True).clamp_min(torch.finfo(size.dtype).tiny)).double()


def alike_in_size(size: Float[Tensor, "r q"], read: Bool[Tensor, "r q"]) -> Bool[Tensor, "r 1"]:
    """Whether no row that is read counts many times as much as another."""
    smallest = torch.where(read, size, torch.inf).amin(dim=1, keepdim=True)
    return size.amax(dim=1, keepdim=True) <= MANY_TIMES * smallest


def depends_on(state: Tensor, output: Tensor) -> bool:
    """Whether a state is computed from the output of a call: what comes later may be computed from earlier
    layers alone."""
    (through,) = torch.autograd.grad(state.sum(), output, retain_graph=True, allow_unused=True)
    return through is not None


def averages_rows(
    output: Tensor,
    at_output: Tensor,
    states: Sequence[tuple[Tensor, Tensor]],
    read: Bool[Tensor, "r q"],
) -> Bool[Tensor, "r 1"]:
    """Whether some state behind the call has the same gradient at all rows, and nothing passes by it: what
    reaches the call through this state is all that reaches it. ``states`` come with their gradients."""
    several = read.sum(dim=1, keepdim=True) > 1
    averaged = torch.zeros_like(several)
    if not bool(several.any()):
        return averaged
    for state, gradient in states:
        same = several & same_rows(gradient.flatten(2), read)
        if not bool((same & ~averaged).any()):
            continue
        (through,) = torch.autograd.grad(
            state, output, gradient, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        off = (through - at_output).transpose(1, 2).flatten(1).norm(dim=1, keepdim=True)
        total = at_output.transpose(1, 2).flatten(1).norm(dim=1, keepdim=True)
        averaged |= same & (off <= SHARE_TOLERANCE * total)
    return averaged


def same_rows(gradient: Float[Tensor, "r q d"], read: Bool[Tensor, "r q"]) -> Bool[Tensor, "r 1"]:
    """Whether the gradient at all selected rows is one vector."""
    count = read.sum(dim=1, keepdim=True).clamp(min=1)
    inside = torch.where(read[..., None], gradient, 0.0)
    mean = inside.sum(dim=1, keepdim=True) / count[..., None]
    off = (torch.where(read[..., None], gradient - mean, 0.0)).norm(dim=2).amax(dim=1, keepdim=True)
    length = mean.norm(dim=2)
    return (length > 0) & (off <= SHARE_TOLERANCE * length)


def kinds_of_rows(shares: Float[Tensor, "r q"], mask: Bool[Tensor, "r k"]) -> set[str]:
    """What was found: one row, and which, a mean, or a weighting. A sequence of one row says nothing."""
    real = real_rows(mask, shares.shape[1])
    kinds = set()
    for own, exists in zip(shares.cpu(), real.cpu(), strict=True):
        rows = (
            torch.ones_like(exists) if bool(own[~exists].any()) else exists
        )  # rows that stand for no tokens
        if rows.sum() > 1:
            kinds.add(kind_of_rows(own[rows]))
    return kinds


def kind_of_rows(shares: Float[Tensor, " q"]) -> str:
    """The kind of the real rows of one sequence."""
    read = shares > 0
    if not read.any():
        return NONE
    if int(read.sum()) == 1:
        return FIRST if read[0] else LAST if read[-1] else ONE
    if bool((shares[read] - shares[read].mean()).abs().max() > SHARE_TOLERANCE * shares[read].mean()):
        return WEIGHTED
    return MEAN if bool(read.all()) else SOME


def real_rows(mask: Bool[Tensor, "r k"], queries: int) -> Bool[Tensor, "r q"]:
    """Which rows are not padding: those of the keys where a sequence attends to itself, else all."""
    return mask if mask.shape[1] == queries else torch.ones_like(mask[:, :1]).expand(-1, queries)


def shares_by_name(mask: Bool[Tensor, "r k"], name: str, queries: int) -> Float[Tensor, "r q"]:
    """The shares of rows that somebody names: the first or the last real one, or the mean of all."""
    real = real_rows(mask, queries)
    shares = real.double()
    if name in (FIRST, LAST):
        number = torch.arange(1, queries + 1, device=mask.device)
        place = (real * (number if name == LAST else number.flip(0))).argmax(dim=1, keepdim=True)
        shares = shares * (number - 1 == place)
    return shares / shares.sum(dim=1, keepdim=True).clamp(min=1.0)


class RowProbe(AttentionHook):
    """Keeps the output of one attention call, and the outputs of modules before the next call.

    ``layer`` None is the last call of a pass. Where the pass is ``detached`` the output is a leaf, and the
    graph begins there. For an intercepted softmax, it keeps the weights instead of the output.
    """

    def __init__(self, model: PreTrainedModel, layer: int | None, *, detached: bool = False) -> None:
        super().__init__(model, None)
        self.layer, self.detached = layer, detached
        self.output: Tensor | None = None
        self.allowed: Tensor | None = None
        """For a caught softmax: who may attend to whom."""
        self.states: list[Tensor] = []
        self.watching = self.is_next = False

    def before(self, traced_call: TracedCall) -> None:
        number = self.number(traced_call)
        self.is_next = number is not None and self.layer in (None, number)
        if number is not None:
            self.watching = False
        if self.is_next:
            self.states.clear()
            if self.detached:
                torch.set_grad_enabled(True)  # until the caller's own no_grad ends

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        if not self.is_next:
            return
        self.is_next, self.watching = False, True
        is_caught = output.shape[-1] == 0
        weights = traced_call.weights if is_caught else traced_call.handed
        self.allowed = traced_call.call.mask.allowed(output.device) if is_caught else None
        assert weights is not None
        if self.detached:
            weights = weights.detach().requires_grad_()
            if is_caught:
                traced_call.weights = weights
            else:
                traced_call.handed = weights
        self.output = weights

    def hooks(self) -> list[RemovableHandle]:
        """Hooks of all modules, too."""
        modules = (module for module in self.model.modules() if module is not self.model)
        return [*super().hooks(), *(module.register_forward_hook(self._leave) for module in modules)]

    def _leave(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        if not self.watching or self.output is None or self not in ACTIVE_HOOKS.get():
            return
        size = self.output.shape[0], self.output.shape[2]
        for state in tensors_of(output):
            if state.ndim == 3 and state.shape[:2] == size and state.requires_grad:
                self.states.append(state)


def tensors_of(output: Any) -> Iterator[Tensor]:
    """The tensors that a module gives."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, dict):
        yield from (value for value in output.values() if isinstance(value, Tensor))
    elif isinstance(output, tuple | list):
        yield from (value for value in output if isinstance(value, Tensor))


WatchedPass = tuple[RowProbe, Float[Tensor, "b classes"]]
"""A pass whose rows can be measured: what watched the call, and the logits."""
