"""The places of a model whose activations can be exchanged: what each block reads, its heads, its MLP.

They are found by running the model, not by the names of its parts: blocks are the elements of module lists
around the attention calls, heads what the first linear map behind an attention call reads, an MLP what else
in the block has matrices. `glasshead.inside.check_sites` then asks whether they are all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.attention import TracedCall
from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.inside.blocks import find_blocks, stream_of, watch_blocks, with_states
from glasshead.trace import (
    AttentionHook,
    Block,
    HeadOutputTracker,
    answer_with_output,
    attach_hook,
    intervene,
    linear_maps,
    logits_of,
    states_of,
    take_texts,
    thread_hook,
    zero_heads,
)

RESIDUAL, ATTENTION, MLP, HEADS = "residual", "attention", "mlp", "heads"
SITES = (RESIDUAL, HEADS, ATTENTION, MLP)
"""What can be exchanged: the stream of vectors before a block at a token, a head at all tokens, all heads of
a block at a token, its MLP at a token."""
EQUAL = 1e-6
"""Activations that differ by less than this part of the largest are the same."""


@dataclass
class Layer:
    """A block of a model, its attention and the linear map that reads the heads, and what else adds to the
    stream: the outputs of some modules."""

    block: Block
    heads: int
    attention: nn.Module | None = None
    projection: nn.Module | None = None
    is_guess: bool = False
    """Whether it was found behind the attention call, and not by what it reads."""
    mlp: list[nn.Module] = field(default_factory=list)


@dataclass(frozen=True)
class Activations:
    """What one pass over a batch of texts of one length computes at every site, by layer, and its logits."""

    states: list[Float[Tensor, "b n d"]]
    heads: list[Float[Tensor, "b n hv"] | None]
    mlp: list[list[Float[Tensor, "b n d"]]]
    outputs: list[Any]
    logits: Float[Tensor, "b classes"]

    def at(self, site: str, layer: int) -> list[Tensor]:
        """The activations of a kind of site, each [b, n, …]."""
        if site == RESIDUAL:
            return [self.states[layer]]
        if site == MLP:
            return self.mlp[layer]
        own = self.heads[layer]
        return [] if own is None else [own]

    def detached(self) -> Activations:
        """The same without a graph, and without what blocks pass on."""
        return Activations(
            [one.detach() for one in self.states],
            [None if one is None else one.detach() for one in self.heads],
            [[one.detach() for one in own] for own in self.mlp],
            [],
            self.logits.detach(),
        )


class LayerWatcher(AttentionHook):
    """Sees in one pass which blocks of a model run, and which linear map reads the heads of each."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model, None)
        self.blocks = find_blocks(model)
        self.owners = {inner: block for block in self.blocks for inner in block.modules()}
        self.ran: list[nn.Module] = []
        """Blocks in the order in which they run."""
        self.found: dict[nn.Module, Layer] = {}
        """By the block around an attention call."""
        self.open: tuple[Layer, HeadOutputTracker] | None = None

    def begin(self, block: nn.Module, states: Any) -> None:
        """A block begins."""
        self.ran.append(block)

    def end(self, block: nn.Module, output: Any) -> None:
        """A block ends."""

    def before(self, traced_call: TracedCall) -> None:
        self.number(traced_call)

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        if traced_call.module not in self.names:
            return
        block = self.owners.get(traced_call.module)
        if block is None:
            raise InputError(
                f"{class_name(self.model)} attends outside of its list of layers: its parts cannot be "
                "exchanged"
            )
        if block in self.found:
            raise InputError(
                f"a layer of {class_name(self.model)} attends twice, or runs twice: its parts cannot be "
                "exchanged"
            )
        heads = traced_call.call.q.shape[1]
        handed = output if traced_call.handed is None else traced_call.handed
        layer = Layer(Block(block, self.blocks[block], 1), heads, traced_call.module)
        self.found[block] = layer
        self.open = (layer, HeadOutputTracker(handed, heads))

    def read(self, linear: nn.Module, args: Any) -> None:
        """The first linear map that reads the heads, also where a gate was put on them."""
        if self.open is None or not args or not isinstance(args[0], Tensor):
            return
        layer, tracker = self.open
        self.open = None
        if tracker.reaches(args[0]):
            layer.projection = linear
        elif self.owners.get(linear) is layer.block.module and args[0].shape[-1] % layer.heads == 0:
            layer.projection, layer.is_guess = linear, True


def find_layers(model: PreTrainedModel, inputs: Inputs) -> list[Layer]:
    """The layers of a model in the order in which they run; those without attention too.

    Raises:
        InputError: if it attends outside of a list of layers, or a layer runs or attends more than once.
    """
    watcher = LayerWatcher(model)
    with ExitStack() as stack:
        for linear in linear_maps(model):
            stack.callback(linear.register_forward_pre_hook(thread_hook(watcher.read)).remove)
        stack.enter_context(watch_blocks(watcher.blocks, watcher.begin, watcher.end))
        stack.enter_context(attach_hook(watcher))
        with torch.no_grad():
            logits_of(model, inputs)
    chains = {layer.block.chain for layer in watcher.found.values()}
    blocks = [module for module in watcher.ran if watcher.blocks[module] in chains]
    if len(chains) > 1 or len({*blocks}) < len(blocks):
        raise InputError(
            f"{class_name(model)} has several stacks of layers, or runs a layer twice: its parts cannot be "
            "exchanged"
        )
    layers = [
        watcher.found.get(block) or Layer(Block(block, watcher.blocks[block], 0), 0) for block in blocks
    ]
    check_guesses(model, inputs, [layer for layer in layers if layer.attention is not None])
    find_mlps(model, inputs, layers)
    return layers


@torch.no_grad()
def check_guesses(model: PreTrainedModel, inputs: Inputs, layers: list[Layer]) -> None:
    """Drop linear maps behind attention calls that do not read the heads, one behind the other: what they
    read must change in the part of the head whose weights are set to zero, and nowhere else."""
    guesses = {number: layer for number, layer in enumerate(layers) if layer.is_guess}
    if not guesses:
        return
    before = read_by(model, inputs, [layer.projection for layer in guesses.values()])
    for number, layer in guesses.items():
        own = before[layer.projection]
        for head in {0, layer.heads - 1}:
            with intervene(model, zero_heads(head), [number]):
                after = read_by(model, inputs, [layer.projection])[layer.projection]
            change = (after - own).flatten(0, -2).unflatten(-1, (layer.heads, -1))
            changed = change.abs().amax(dim=(0, 2)) > EQUAL * own.abs().max()
            if changed.nonzero().flatten().tolist() != [head]:
                layer.projection = None
                break


def read_by(
    model: PreTrainedModel, inputs: Inputs, modules: list[nn.Module | None]
) -> dict[nn.Module | None, Tensor]:
    """What each of some modules reads in a pass."""
    read: dict[nn.Module | None, Tensor] = {}
    with ExitStack() as stack:
        for module in modules:
            assert module is not None
            stack.callback(
                module.register_forward_pre_hook(lambda own, args: read.update({own: args[0]})).remove
            )
        logits_of(model, inputs)
    return read


class Given(NamedTuple):
    """What a module of a block gives, and how many streams it was given."""

    module: nn.Module
    streams: int
    state: Tensor


@torch.no_grad()
def find_mlps(model: PreTrainedModel, inputs: Inputs, layers: list[Layer]) -> None:
    """Find in one pass what all but the attention of each layer adds to its stream."""
    linear = {*linear_maps(model)}
    seen: list[list[Given]] = [[] for _ in layers]
    widths = [0] * len(layers)

    def note(number: int, module: nn.Module, args: Any, options: Any, output: Any) -> None:
        streams = sum(isinstance(one, Tensor) and one.ndim == 3 for one in (*args, *options.values()))
        state = states_of(output)
        if module is layers[number].block.module:
            widths[number] = state.shape[-1]
        elif isinstance(state, Tensor):
            seen[number].append(Given(module, streams, state))

    with ExitStack() as stack:
        for number, layer in enumerate(layers):
            children = apart_from_attention(layer)
            inner = [module for child in children for module in child.modules() if module in linear]
            for module in dict.fromkeys([layer.block.module, *children, *inner]):
                hook = partial(note, number)
                stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
        logits_of(model, inputs)
    for layer, given, width in zip(layers, seen, widths, strict=True):
        layer.mlp = mlp_parts(apart_from_attention(layer), linear, given, width)


def apart_from_attention(layer: Layer) -> list[nn.Module]:
    """The children of a block that have matrices and do not hold its attention."""
    children = [child for child in layer.block.module.children() if layer.attention not in {*child.modules()}]
    return [child for child in children if any(weight.ndim > 1 for weight in child.parameters())]


def mlp_parts(
    children: list[nn.Module], linear: set[nn.Module], given: list[Given], width: int
) -> list[nn.Module]:
    """The modules of a block whose outputs together are what all but its attention adds to the stream:
    children with matrices that read one stream and give one; else, where these are linear maps, or are given
    the stream to add to it, the last linear map. None where one of them runs more than once, in chunks."""
    gives = [one for one in given if one.state.shape[-1] == width]
    maps = [one.module for one in gives if one.module in linear]
    parts: list[nn.Module] = []
    for one in gives:
        if one.module in children and one.module not in linear:
            own = [module for module in maps if module in {*one.module.modules()}]
            parts += [one.module] if one.streams == 1 else own[-1:]
    found = list(dict.fromkeys(parts)) or maps[-1:]
    runs = [one.module for one in given]
    return found if all(runs.count(module) == 1 for module in found) else []


def read_activations(
    model: PreTrainedModel,
    layers: list[Layer],
    inputs: Inputs,
    *,
    graph: bool = False,
    start: Float[Tensor, "b n d"] | None = None,
) -> Activations:
    """One pass that keeps what is computed at every site; with ``graph`` the logits can be differentiated by
    all of it. ``start`` is what the first layer reads instead."""
    count, texts = len(layers), len(inputs["attention_mask"])
    read = Activations([None] * count, [None] * count, [[] for _ in layers], [None] * count, torch.empty(0))  # type: ignore[list-item]

    # What a pass goes on with is a copy: some models add to it in place.
    def keep_state(number: int, args: Any, options: Any) -> Any:
        state = only_stream(args, options, texts)
        if number == 0:
            state = state if start is None else start
            if graph and not state.requires_grad:
                state = state.detach().requires_grad_()
        read.states[number] = state
        return with_stream(args, options, state)

    def keep_heads(number: int, args: Any) -> Any:
        kept = args[0].reshape(texts, -1, args[0].shape[-1])
        read.heads[number] = kept
        return (kept.clone().reshape(args[0].shape), *args[1:])

    def keep_mlp(number: int, output: Any) -> Any:
        state = states_of(output)
        kept = state.reshape(texts, -1, state.shape[-1])
        read.mlp[number].append(kept)
        return with_state(output, kept)

    def keep_output(number: int, output: Any) -> Any:
        read.outputs[number] = output
        return with_state(output, states_of(output))

    with ExitStack() as stack:
        stack.enter_context(torch.set_grad_enabled(graph))
        for number, layer in enumerate(layers):
            before, of_heads = partial(keep_state, number), partial(keep_heads, number)
            of_mlp, behind = partial(keep_mlp, number), partial(keep_output, number)
            block = layer.block.module
            handles = [
                block.register_forward_pre_hook(without_module(before), with_kwargs=True),
                block.register_forward_hook(output_alone(behind)),
                *(part.register_forward_hook(output_alone(of_mlp)) for part in layer.mlp),
            ]
            if layer.projection is not None:
                handles.append(layer.projection.register_forward_pre_hook(without_module(of_heads)))
            for handle in handles:
                stack.callback(handle.remove)
        logits = logits_of(model, inputs)
    return replace(read, logits=logits)


def without_module(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that is not told which module runs."""
    return thread_hook(lambda module, *args: hook(*args))


def output_alone(hook: Callable[[Any], Any]) -> Callable[..., Any]:
    """A forward hook that is told the output alone."""
    return thread_hook(lambda module, args, output: hook(output))


def only_stream(args: tuple[Any, ...], options: dict[str, Any], texts: int) -> Tensor:
    """The stream that a block reads of so many texts.

    Raises:
        InputError: if the block does not say which it is.
    """
    state = stream_of(args, options)
    if not isinstance(state, Tensor) or state.ndim != 3 or len(state) != texts:
        raise InputError(
            "a layer of this model does not read one stream of vectors: nothing can be exchanged"
        )
    return state


def with_stream(args: tuple[Any, ...], options: dict[str, Any], state: Tensor) -> tuple[Any, Any]:
    """What a block is given, with another stream."""
    state = state.clone()
    if args:
        return (state, *args[1:]), options
    return args, {**options, "hidden_states": state}


@contextmanager
def exchanged(layer: Layer, site: str, instead: list[Tensor]) -> Iterator[None]:
    """In the block of code a site of a layer holds these activations."""
    with ExitStack() as stack:
        if site == RESIDUAL:
            hook = layer.block.module.register_forward_pre_hook(
                lambda own, args, options: with_stream(args, options, instead[0]), with_kwargs=True
            )
            stack.callback(hook.remove)
        elif site == MLP:
            for part, new in zip(layer.mlp, instead, strict=True):
                hook = part.register_forward_hook(lambda own, args, output, new=new: with_state(output, new))
                stack.callback(hook.remove)
        else:
            assert layer.projection is not None
            hook = layer.projection.register_forward_pre_hook(
                lambda own, args: (instead[0].reshape(args[0].shape), *args[1:])
            )
            stack.callback(hook.remove)
        yield


def with_state(output: Any, state: Tensor) -> Any:
    """What a module gives, with a copy of another stream in the form of its own."""
    return with_states(output, state.clone().reshape(states_of(output).shape))


@contextmanager
def begin_at(layers: list[Layer], number: int, base: Activations, texts: Tensor) -> Iterator[None]:
    """The blocks before one answer with what they said of some of the texts of a pass."""
    with ExitStack() as stack:
        if number:
            output = take_texts(base.outputs[number - 1], texts, len(base.logits))
            for layer in layers[:number]:
                stack.enter_context(answer_with_output(layer.block, output))
        yield
