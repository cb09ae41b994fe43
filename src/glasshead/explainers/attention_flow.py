"""Attention flow: how much could reach a token if weights were capacities of pipes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from glasshead.explainers.explainer import ExplanationContext, register
from glasshead.explainers.rollout import RESIDUAL, layer_shares, pooled_shares, scale_rows
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.trace import AttentionStack

UNIT = 2**30
"""A capacity of one: capacities are whole numbers, so that flows are exact; SciPy takes 32 bits."""

Floats = NDArray[np.floating[Any]]
Nodes = NDArray[np.int32]


class AttentionFlow(StackExplainer):
    """f_j = max flow from what is read to token j, divided by the sum over tokens.

    The layers of the network are those of the model, its capacities (A_ℓ + I) / 2, A_ℓ the combined map of
    the heads. Where the mean of all rows is read, each of them may let out its share. Rows must be shares of
    a whole: ``absolute`` takes sizes of weights, |a| / Σ|a|, where they are not. What a learned query gives
    has no residual; a decoder adds two layers for each of its own.
    """

    citation = "Abnar and Zuidema 2020"

    def __init__(self, *, absolute: bool = False) -> None:
        self.absolute = absolute
        self.description = "largest flow through all layers, weights being capacities" + (
            ", of the sizes of the weights" if absolute else ""
        )

    def settings(self, context: ExplanationContext) -> str:
        return f"residual {RESIDUAL:g}, capacities exact to 2⁻³⁰"

    def pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return pooled_shares(context, self.name, absolute=self.absolute)

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        if not self.absolute:
            stack.check_rows(self.name, "attention-flow-absolute")
        maps = [layer_shares(stack, layer).cpu().numpy() for layer in stack.layers]
        starts = {stream: start.cpu().numpy() for stream, start in stack.start.items()}
        result = torch.zeros(stack.mask.shape, dtype=torch.float64)
        for row, mask in enumerate(stack.mask.cpu().numpy()):
            (keys,) = mask.nonzero()
            if not len(keys):
                continue
            network = FlowNetwork(np.arange(len(keys), dtype=np.int32))
            nodes = {
                stream: network.add_layer((start[row][np.ix_(keys, keys)], network.tokens))
                for stream, start in starts.items()
            }
            for layer, weights in zip(stack.layers, maps, strict=True):
                queries = keys if weights.shape[1] > 1 else np.array([0])
                attended = weights[row][np.ix_(queries, keys)]
                if layer.is_first:
                    nodes[layer.target] = network.add_layer((attended, nodes[layer.source]))
                else:
                    nodes[layer.target] = network.add_layer(
                        ((1 - RESIDUAL) * attended, nodes[layer.source]),
                        (RESIDUAL * np.eye(len(queries)), nodes[layer.target]),
                    )
            shares = stack.row_shares[row].cpu().numpy()[queries]
            (source,) = network.add_layer((shares[None], nodes[stack.top.target]))
            result[row, keys] = torch.from_numpy(network.flows(int(source)))
        return scale_rows(result).to(stack.logits)


@dataclass
class FlowNetwork:
    """Pipes between nodes, built from the tokens up."""

    tokens: Nodes
    edges: list[tuple[Nodes, Nodes, NDArray[np.int64]]] = field(default_factory=list)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.tokens)

    def add_layer(self, *below: tuple[Floats, Nodes]) -> Nodes:
        """New nodes above others, to which they have pipes of these capacities [new, others]."""
        new = np.arange(self.size, self.size + len(below[0][0]), dtype=np.int32)
        self.size += len(new)
        for capacities, nodes in below:
            tails, heads = capacities.nonzero()
            whole = np.rint(capacities[tails, heads] * UNIT).astype(np.int64)
            self.edges.append((new[tails], nodes[heads], whole))
        return new

    def flows(self, source: int, sinks: Nodes | None = None) -> Floats:
        """The largest flow from a node to each token, or to each of some."""
        tails, heads, capacities = (np.concatenate(parts) for parts in zip(*self.edges, strict=True))
        graph = csr_array((capacities, (tails, heads)), shape=(self.size, self.size))
        graph = csr_array(graph, dtype=np.int32)
        flows = [
            maximum_flow(graph, source, int(token)).flow_value
            for token in (self.tokens if sinks is None else sinks)
        ]
        return np.array(flows) / UNIT


register("attention-flow", AttentionFlow())
register("attention-flow-absolute", AttentionFlow(absolute=True))
