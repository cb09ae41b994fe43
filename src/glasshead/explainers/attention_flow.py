"""Attention flow: how much could reach a token if weights were capacities of pipes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from glasshead.arrays import AnyFloats
from glasshead.checkpoints import checkpoint
from glasshead.explainers.aggregate_words import word_starts
from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.gradient import fill_texts
from glasshead.explainers.rollout import RESIDUAL, has_signed_sizes, layer_shares, pooling_shares, scale_rows
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.models import PooledClassifier
from glasshead.trace import AttentionStack

UNIT = 2**30
"""A capacity of one: capacities are whole numbers, so that flows are exact; SciPy takes 32 bits."""

Nodes = NDArray[np.int32]


class AttentionFlow(StackExplainer):
    """f_j = max flow from what is read to token j, divided by the sum over tokens.

    The layers of the network are those of the model, its capacities (A_ℓ + I) / 2, A_ℓ the combined map of
    the heads. Where the mean of all rows is read, each of them may let out its share. Rows must be
    non-negative and sum to one: ``absolute`` uses |a| / Σ|a| where they do not. What a learned query gives
    has no residual; a decoder adds two layers for each of its own. The number of a divided word is the
    largest flow to all of its tokens together, divided by the sum over words: flows to one token after the
    other use the same pipes. Where maps of heads do not add up (``max``), its pipes have equal shares of
    the capacity of the whole word.
    """

    citation = "Abnar and Zuidema 2020"

    def __init__(self, *, absolute: bool = False) -> None:
        self.absolute = absolute
        self.description = "largest flow through all layers, weights being capacities" + (
            ", of the sizes of the weights" if absolute else ""
        )

    def settings(self, context: ExplanationContext) -> str | None:
        if isinstance(context.model, PooledClassifier):
            return None
        return f"residual {RESIDUAL:g}, capacities exact to 2⁻³⁰"

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return pooling_shares(context, self.name, absolute=self.absolute)

    def adds_up(self, context: ExplanationContext) -> bool:
        """Whether the capacities do; flows never."""
        return super().adds_up(context) and not has_signed_sizes(context, self.absolute)

    def word_importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        if context.site is None or context.site.key_unit != "token":
            return None  # models that pool, or pack texts and sentences, read whole words
        self.importance(context)
        return fill_texts(context, context.cache[f"{self.name} words"])

    def tokens(
        self, context: ExplanationContext, stack: AttentionStack, texts: Int[Tensor, " b"]
    ) -> Float[Tensor, "b n"]:
        words = None
        if stack.site.key_unit == "token":
            words = context.encoded.words[texts.numpy(), : stack.mask.shape[1]]
        by_token, by_word = self.flows(stack, words)
        if words is not None and not self.adds_up(context):
            by_word = self.flows(stack.by_word(words.tolist()), words)[1]
        context.cache.setdefault(f"{self.name} words", []).append((texts, by_word.cpu()))
        return stack.layout.tokens(by_token)

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        return self.flows(stack)[0]

    def flows(
        self, stack: AttentionStack, words: NDArray[np.integer[Any]] | None = None
    ) -> tuple[Float[Tensor, "r k"], Float[Tensor, "r k"]]:
        """Shares of the flow of every token, and of every word at its first token."""
        method = None if self.absolute else self.name
        maps = [layer_shares(stack, layer, method=method).cpu().numpy() for layer in stack.layers]
        starts = {stream: start.cpu().numpy() for stream, start in stack.start.items()}
        by_token = torch.zeros(stack.mask.shape, dtype=torch.float64)
        by_word = torch.zeros_like(by_token)
        for row, mask in enumerate(stack.mask.cpu().numpy()):
            (keys,) = mask.nonzero()
            if not len(keys):
                continue
            network = FlowNetwork(np.arange(len(keys), dtype=np.int32))
            places = stack.places(keys)
            nodes = {
                stream: network.add_layer((start[row][np.ix_(places[stream], keys)], network.tokens))
                for stream, start in starts.items()
            }
            for layer, weights in zip(stack.layers, maps, strict=True):
                queries = places[layer.target] if weights.shape[1] > 1 else np.array([0])
                attended = weights[row][np.ix_(queries, places[layer.source])]
                if layer.is_first:
                    nodes[layer.target] = network.add_layer((attended, nodes[layer.source]))
                else:
                    nodes[layer.target] = network.add_layer(
                        ((1 - RESIDUAL) * attended, nodes[layer.source]),
                        (RESIDUAL * np.eye(len(queries)), nodes[layer.target]),
                    )
            shares = stack.row_shares[row].cpu().numpy()[queries]
            (source,) = network.add_layer((shares[None], nodes[stack.top.target]))
            flows = network.flows(int(source))
            by_token[row, keys] = torch.from_numpy(flows)
            if words is not None:
                joint = network.join_flows(int(source), flows, word_starts(words[row, keys].tolist()))
                by_word[row, keys] = torch.from_numpy(joint)
        return scale_rows(by_token).to(stack.logits), scale_rows(by_word).to(stack.logits)


@dataclass
class FlowNetwork:
    """A network of pipes between nodes, built from the tokens up."""

    tokens: Nodes
    edges: list[tuple[Nodes, Nodes, NDArray[np.int64]]] = field(default_factory=list)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.tokens)

    def add_layer(self, *below: tuple[AnyFloats, Nodes]) -> Nodes:
        """Add nodes above others, with pipes of these capacities [new, others] between them."""
        new = np.arange(self.size, self.size + len(below[0][0]), dtype=np.int32)
        self.size += len(new)
        for capacities, nodes in below:
            tails, heads = capacities.nonzero()
            units = np.rint(capacities[tails, heads] * UNIT).astype(np.int64)
            self.edges.append((new[tails], nodes[heads], units))
        return new

    def flows(self, source: int, sinks: Nodes | None = None) -> AnyFloats:
        """The largest flow from a node to each token, or to each of some."""
        tails, heads, capacities = (np.concatenate(parts) for parts in zip(*self.edges, strict=True))
        graph = csr_array((capacities, (tails, heads)), shape=(self.size, self.size))
        graph = csr_array(graph, dtype=np.int32)
        flows = []
        for token in self.tokens if sinks is None else sinks:
            checkpoint()
            flows.append(maximum_flow(graph, source, int(token)).flow_value)
        return np.array(flows) / UNIT

    def join_flows(self, source: int, flows: AnyFloats, starts: Sequence[int]) -> AnyFloats:
        """The largest flow from a node to all tokens of each word together, at its first token, with zeros
        at the others; ``flows`` are those to each token, and ``starts`` says where words begin."""
        joint = np.zeros_like(flows)
        for first, end in pairwise([*starts, len(self.tokens)]):
            if end - first == 1:
                joint[first] = flows[first]
                continue
            sink = np.array([self.size], dtype=np.int32)
            self.size += 1
            pieces = self.tokens[first:end]
            self.edges.append((pieces, sink.repeat(len(pieces)), np.full(len(pieces), UNIT)))
            (joint[first],) = self.flows(source, sink)
        return joint


register("attention-flow", AttentionFlow())
register("attention-flow-absolute", AttentionFlow(absolute=True))
