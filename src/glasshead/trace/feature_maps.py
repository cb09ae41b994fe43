"""Where a model keeps what it has seen in each place of an image, found by running it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isqrt
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.trace.gradients import slopes_of
from glasshead.trace.hooks import thread_hook

PROBES = 3
"""Rows, and columns, of parts of an image that are changed one by one."""
DRAWS = 4
"""Images of noise on which the changes are measured."""
FITS = 0.5
"""From this correlation on, a place of a map is where its changes come from in the image."""
MOST_SPECIAL = 32
"""Tokens before those of an image; more of them are no class token and registers."""
Predict = Callable[[Tensor], Tensor]
"""Pixels [b, c, h, w] → logits [b, K]."""
T = TypeVar("T")


@dataclass(frozen=True)
class Layout:
    """How places of an image lie in a tensor: as [b, c, h, w], with the channels last, or as tokens [b, n, c]
    behind so many ``special`` ones."""

    rows: int
    columns: int
    special: int | None = None
    channels: int = -1

    def read(self, output: Tensor) -> Float[Tensor, "b c h w"]:
        """The map in a tensor."""
        if self.special is not None:
            output = output[:, self.special :].unflatten(1, (self.rows, self.columns))
        return output.movedim(self.channels, 1)


@dataclass(frozen=True)
class FeatureMap:
    """The output of a module (or of the call with that number) that is a map of an image.

    ``is_bottleneck``: all information about the image passes through it. ``is_read``: the prediction
    changes with its places, not only with a class token before them. ``tells_regions``: the prediction for
    one region of the image also changes with other places.
    """

    name: str
    call: int
    layout: Layout
    is_bottleneck: bool
    is_read: bool
    tells_regions: bool = True


@contextmanager
def module_outputs(
    model: nn.Module, read: Callable[[Tensor], T], among: Iterable[str] | None = None
) -> Iterator[dict[tuple[str, int], T]]:
    """The values that are read from the outputs of modules in the block, by name and number of the call, in
    the order in which calls end. Modules that return their input have none."""
    outputs: dict[tuple[str, int], T] = {}
    calls: Counter[str] = Counter()

    def keep(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) and output else output
            is_input = any(first is one for one in args)  # a shortcut, or dropout that is off
            if isinstance(first, Tensor) and first.is_floating_point() and not is_input:
                outputs[name, calls[name]] = read(first)
            calls[name] += 1

        return hook

    modules = dict(model.named_modules())
    hooks = [
        modules[name].register_forward_hook(thread_hook(keep(name)))
        for name in (modules if among is None else among)
        if name
    ]
    try:
        yield outputs
    finally:
        for handle in hooks:
            handle.remove()


def find_feature_maps(
    model: nn.Module, network: nn.Module, predict: Predict, pixels: Float[Tensor, "1 c h w"]
) -> list[FeatureMap]:
    """The feature maps of a ``network`` in a model that predicts from pixels, in the order in which they are
    computed; if several modules give the same tensor, only the outermost.

    A tensor is a map if each of its places changes most with the pixels of its own part of the image: parts
    of an image of noise are exchanged one by one, and the rows and columns where a place's changes come from
    correlate with the rows and columns of the place.

    Raises:
        InputError: if no gradient passes through the model.
    """
    generator = torch.Generator().manual_seed(0)

    def noise() -> Tensor:
        return torch.randn(pixels.shape, generator=generator).to(pixels.device, pixels.dtype)

    def read_changes(output: Tensor) -> dict[Layout, Tensor]:
        return dict(changes_by_layout(output, pixels.shape[2] / pixels.shape[3]))

    changes: defaultdict[tuple[str, int], dict[Layout, Tensor]] = defaultdict(dict)
    for _ in range(DRAWS):
        with torch.no_grad(), module_outputs(network, read_changes) as changes_of:
            predict(exchange_parts(noise(), noise()))
        for key, own in changes_of.items():
            for layout, change in own.items():
                changes[key][layout] = changes[key].get(layout, 0) + change
    fits = {key: best_layout(own) for key, own in changes.items()}
    layouts = {key: layout for key, layout in fits.items() if layout is not None}
    leaf, nodes = noise().requires_grad_(), {name for name, _ in layouts}
    with torch.enable_grad(), module_outputs(network, with_node, nodes) as outputs:
        logits = predict(leaf)
    # What was changed in place afterwards is no longer what the module gave.
    kept = {
        (node, output.output_nr): (key, output)
        for key, (output, node) in outputs.items()
        if key in layouts and node is not None and node is output.grad_fn
    }
    if not kept:
        return []
    value = (logits * torch.randn(logits.shape, generator=generator).to(logits)).sum()
    slopes = slopes_of(model, value, [output for _, output in kept.values()], allow_unused=True)
    passed = bottlenecks(value, leaf)
    return [
        FeatureMap(
            *key,
            layouts[key],
            is_bottleneck=place in passed,
            is_read=slope is not None and bool(layouts[key].read(slope).any()),
        )
        for (place, (key, _)), slope in zip(kept.items(), slopes, strict=True)
    ]


def with_node(output: Tensor) -> tuple[Tensor, Any]:
    """An output, and the node of the graph that it comes from."""
    return output, output.grad_fn


def exchange_parts(
    image: Float[Tensor, "1 c h w"], other: Float[Tensor, "1 c h w"]
) -> Float[Tensor, "probes c h w"]:
    """The image, and the image with each of its parts from another one."""
    rows, columns = ([round(size * part / PROBES) for part in range(PROBES + 1)] for size in image.shape[2:])
    variants = image.repeat(PROBES**2 + 1, 1, 1, 1)
    for probe in range(PROBES**2):
        row, column = divmod(probe, PROBES)
        box = slice(rows[row], rows[row + 1]), slice(columns[column], columns[column + 1])
        variants[(probe + 1, slice(None), *box)] = other[(0, slice(None), *box)]
    return variants


def changes_by_layout(
    output: Tensor, height_to_width: float
) -> Iterator[tuple[Layout, Float[Tensor, "probes h w"]]]:
    """How much a module's output changes with each part of an image, in each way in which it may be a map."""
    if len(output) == PROBES**2 + 1:
        changes = (output[1:] - output[:1]).abs().double()
        for layout in layouts_of(output, height_to_width):
            yield layout, layout.read(changes).mean(dim=1)


def best_layout(changes: Mapping[Layout, Float[Tensor, "probes h w"]]) -> Layout | None:
    """The layout in which the places of changes fit best; None: they fit in none."""
    best = max(changes, key=lambda layout: fit(changes[layout]), default=None)
    return best if best is not None and fit(changes[best]) >= FITS else None


def layouts_of(output: Tensor, height_to_width: float) -> Iterator[Layout]:
    """The ways in which an image can lie in a tensor."""
    if output.ndim == 4:
        yield from (
            Layout(sides[0], sides[1], channels=channels)
            for sides, channels in ((output.shape[2:], 1), (output.shape[1:3], -1))
            if min(sides) > 1
        )
    if output.ndim == 3:
        for special in range(min(MOST_SPECIAL, output.shape[1] - 4) + 1):
            count = output.shape[1] - special
            rows = round((count * height_to_width) ** 0.5)
            if rows > 1 and count % rows == 0 and count // rows == max(round(rows / height_to_width), 2):
                yield Layout(rows, count // rows, special)


def fit(changes: Float[Tensor, "probes h w"]) -> float:
    """How well the place where changes come from tells a place: the smaller correlation of rows and
    columns."""
    total = changes.sum(dim=0)
    if not bool((total > 0).all()) or not bool(total.isfinite().all()):
        return 0.0
    probes = torch.arange(len(changes), device=changes.device)
    height, width = total.shape
    places = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    sides = isqrt(len(changes))
    fits = []
    for place, probe in zip(places, (probes // sides, probes % sides), strict=True):
        origin = (changes * probe[:, None, None]).sum(dim=0) / total
        pair = torch.stack([origin.flatten(), place.flatten().to(origin)])
        fits.append(float(torch.corrcoef(pair)[0, 1].nan_to_num()))
    return min(fits)


def bottlenecks(value: Tensor, leaf: Tensor) -> set[tuple[Any, int]]:
    """The tensors of the graph of a value that all paths to a leaf pass: a node, and which of its outputs.

    Nodes in topological order from the value on: a node is passed by all paths if no edge from before it
    leads to behind it, and a tensor if no other output of its node is used.
    """
    order = topological_order(value.grad_fn, leaf)
    place = {node: number for number, node in enumerate(order)}
    used, passed, furthest = defaultdict(set), set(), 0
    used[value.grad_fn].add(value.output_nr)
    for number, node in enumerate(order):
        if furthest <= number and len(used[node]) == 1:
            passed.add((node, *used[node]))
        for child, output in node.next_functions:
            if child in place:
                used[child].add(output)
                furthest = max(furthest, place[child])
    return passed


def topological_order(root: Any, leaf: Tensor) -> list[Any]:
    """The nodes of an autograd graph that lead to a leaf, each before those that it was computed from."""
    finished: dict[Any, bool] = {}
    order: list[Any] = []
    stack = [(root, False)]
    while stack:
        node, is_expanded = stack.pop()
        if node is None or node in finished:
            continue
        children = [child for child, _ in node.next_functions]
        if is_expanded:
            is_leaf = getattr(node, "variable", None) is leaf
            finished[node] = is_leaf or any(finished.get(child, False) for child in children)
            order += [node] * finished[node]
        else:
            stack += [(node, True), *((child, False) for child in children if child not in finished)]
    return order[::-1]
