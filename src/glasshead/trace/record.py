"""Read what attention is made of while a model runs, whichever kernel serves it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glasshead.attention import (
    AttentionInputs,
    LearnedQueryAttention,
    Mechanism,
    TracedCall,
    parse_rows,
    pick_heads,
    row_index,
)
from glasshead.errors import InputError
from glasshead.trace.hooks import AttentionHook, attach_hook
from glasshead.trace.output_projection import HeadOutputTracker, linear_maps
from glasshead.trace.records import ForwardPass, LayerRecord, Trace


@contextmanager
def record(
    model: nn.Module,
    layers: Iterable[int] | None = None,
    heads: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    *,
    keep_graph: bool = False,
) -> Iterator[Trace]:
    """Record q, k, v, scores, weights, outputs and output projections of a model that runs in the block.

    ``layers`` are numbers in the order in which one forward pass calls attention; ``heads`` and ``rows``
    (queries; negative ones count from the end) reduce the cost accordingly. The output of the model is bit
    for bit the same as without the block.

    ``keep_graph`` leaves q, k, v, scores, weights and outputs in the autograd graph, so that you can take
    gradients with respect to weights; the model's output is then computed from these weights, not by a
    kernel.

    Raises:
        InputError: if no attention of the model ran in the block, if a layer, head or row does not exist,
        under gradient checkpointing, and if a graph is requested for chosen heads or rows or without
        gradients.
    """
    if keep_graph and (heads is not None or rows is not None):
        raise InputError("keep_graph keeps all weights: leave heads and rows out, and index the gradients")
    recorder = RecordHook(model, layers, heads, rows, keep_graph)
    with attach_hook(recorder):
        yield recorder.trace


@contextmanager
def record_graph_of(model: nn.Module, layer: int) -> Iterator[Trace]:
    """Record all calls of a pass under `torch.no_grad`, and keep the graph from the weights of one call on,
    so that earlier calls cost as much as without a graph."""
    recorder = GraphHook(model, layer)
    with attach_hook(recorder):
        yield recorder.trace


class RecordHook(AttentionHook):
    """The hook behind `record`."""

    def __init__(
        self,
        model: nn.Module,
        layers: Iterable[int] | None,
        heads: Sequence[int] | None,
        rows: Sequence[int] | None,
        keep_graph: bool,
    ) -> None:
        super().__init__(model, layers)
        self.heads, self.rows, self.keep_graph = heads, rows, keep_graph
        self.had_gradients = torch.is_grad_enabled()
        self.trace = Trace()
        self.copies = SharedCopies()
        self.layer: int | None = None
        self.head_output: tuple[LayerRecord, HeadOutputTracker] | None = None

    def before(self, traced_call: TracedCall) -> None:
        self.head_output = None
        self.layer = self.number(traced_call)
        while len(self.trace.passes) < len(self.counts):
            self.trace.passes.append(ForwardPass())
        if self.layer is not None and self.keep_graph:
            if not torch.is_grad_enabled():
                raise InputError(
                    f"layer {self.layer} runs without gradients in the model's code, so its attention has "
                    "no gradient"
                    if self.had_gradients
                    else "without gradients there is no graph to keep: leave torch.no_grad() out"
                )
            traced_call.needs_graph = True
            traced_call.compute_weights()

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        if self.layer is None:
            return
        record = self.make_record(traced_call, output, self.layer)
        self.trace.passes[-1].records[self.layer] = record
        if isinstance(traced_call.module, LearnedQueryAttention):
            return  # a summary is an output by itself: what reads it is the classifier, no part of attention
        assert traced_call.handed is not None
        self.head_output = (record, HeadOutputTracker(traced_call.handed, traced_call.call.q.shape[1]))

    def make_record(self, traced_call: TracedCall, output: Tensor, layer: int) -> LayerRecord:
        """The record of a call."""
        call, scores_and_weights = traced_call.call, None
        if traced_call.scores is not None and traced_call.weights is not None:
            scores_and_weights = (traced_call.scores, traced_call.weights)
        heads = None if self.heads is None else parse_rows("head", self.heads, call.q.shape[1])
        rows = None if self.rows is None else row_index(self.rows, call)
        record = LayerRecord(
            layer=layer,
            name=self.names[traced_call.module],
            call=call,
            output=output,
            heads=tuple(range(call.q.shape[1])) if heads is None else heads,
            rows=tuple(range(call.q.shape[2])) if rows is None else tuple(rows.tolist()),
            scores_and_weights=scores_and_weights,
        )
        if self.keep_graph:
            return record
        if rows is not None:
            record.call, record.output = call.rows(rows), output[:, :, rows]
            record.scores_and_weights = scores_and_weights and (
                scores_and_weights[0][:, :, rows],
                scores_and_weights[1][:, :, rows],
            )
        if heads is not None:
            index = torch.tensor(heads, dtype=torch.long, device=call.q.device)
            record.output = record.output[:, index]
            if call.mechanism.learned or call.mechanism.position.needs_positions:
                # Heads have parameters of their own: all are needed to compute some.
                record.head_index = index
            else:
                record.call = select_query_heads(record.call, index)
                record.scores_and_weights = record.scores_and_weights and (
                    record.scores_and_weights[0][:, index],
                    record.scores_and_weights[1][:, index],
                )
        record.call, record.output = self.detach_call(record.call), copy_tensors(record.output)
        record.scores_and_weights = record.scores_and_weights and (
            copy_tensors(record.scores_and_weights[0]),
            copy_tensors(record.scores_and_weights[1]),
        )
        return record

    def detach_call(self, call: AttentionInputs) -> AttentionInputs:
        """A call that no later change reaches."""
        mask, bias = call.mask, call.bias
        return replace(
            call,
            mechanism=self.copies.mechanism(call.mechanism),
            q=copy_tensors(call.q),
            k=copy_tensors(call.k),
            v=copy_tensors(call.v),
            bias=None if bias is None else self.copies(bias),
            mask=replace(
                mask,
                padding=None if mask.padding is None else self.copies(mask.padding),
                attn_mask=None if mask.attn_mask is None else self.copies(mask.attn_mask),
                query_positions=copy_tensors(mask.query_positions)
                if isinstance(mask.query_positions, Tensor)
                else mask.query_positions,
            ),
        )

    def hooks(self) -> list[RemovableHandle]:
        projections = (
            linear.register_forward_pre_hook(self.find_projection) for linear in linear_maps(self.model)
        )
        return [*super().hooks(), *projections]

    def find_projection(self, linear: nn.Module, args: tuple[object, ...]) -> None:
        """A linear map reads something: the heads, perhaps."""
        if self.head_output is None or not args or not self.head_output[1].reaches(args[0]):
            return
        record, tracker = self.head_output
        if tracker.num_readers:  # an adapter beside it: no single map makes the output
            record.projection = None
        else:
            record.projection = self.projection(tracker.projection(linear), record)
        tracker.num_readers += 1

    def projection(self, whole: Tensor | None, record: LayerRecord) -> Tensor | None:
        """D of the recorded heads."""
        if whole is None or self.keep_graph:
            return whole
        copied = self.copies(whole)
        if self.heads is None:
            return copied
        with torch.inference_mode(False), torch.no_grad():
            return copied[list(record.heads)]


class GraphHook(RecordHook):
    """The hook behind `record_graph_of`."""

    def __init__(self, model: nn.Module, layer: int) -> None:
        super().__init__(model, None, None, None, keep_graph=False)
        self.graph_layer = layer

    def before(self, traced_call: TracedCall) -> None:
        self.keep_graph = False
        super().before(traced_call)
        self.keep_graph = self.layer == self.graph_layer
        if self.keep_graph:
            torch.set_grad_enabled(True)  # until the caller's own no_grad ends
            traced_call.needs_graph = True
            traced_call.compute_weights()


def select_query_heads(call: AttentionInputs, heads: Tensor) -> AttentionInputs:
    """The call for some of the query heads, for a mechanism that treats all heads alike."""
    shared = heads // call.groups
    return replace(
        call,
        q=call.q[:, heads],
        k=call.k[:, shared],
        v=call.v[:, shared],
        mask=replace(call.mask, attn_mask=pick_heads(call.mask.attn_mask, heads)),
        bias=pick_heads(call.bias, heads),
    )


def copy_tensors(tensor: Tensor) -> Tensor:
    """A detached copy, which nothing that happens later changes; an ordinary tensor also where the model runs
    in inference mode."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone()


class SharedCopies:
    """Copies of what layers and passes share (masks, parameters), one for each content."""

    def __init__(self) -> None:
        self.last: dict[object, Tensor] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        # Memory is reused, so the address only says with what to compare.
        key = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        if key not in self.last or not torch.equal(self.last[key], tensor):
            self.last[key] = copy_tensors(tensor)
        return self.last[key]

    def mechanism(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism with its parameters as they are now; the same one if it has none."""
        if not mechanism.learned:
            return mechanism
        with torch.inference_mode(False):
            values = {id(tensor): self(tensor) for tensor in mechanism.buffers()}
            for tensor in mechanism.parameters():
                values[id(tensor)] = nn.Parameter(self(tensor), requires_grad=False)
            return copy.deepcopy(mechanism, values)
