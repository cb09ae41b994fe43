"""Explanations that read all layers: against one forward and backward pass; and flows, against networkx.

    python -m benchmarks.explain --lengths 64

A random classifier of the size of MiniLM (six layers, 384) in float32. ×: time over that of the first row,
median and range of the rounds in which both ran. Flows are those of two tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import networkx
import numpy as np
import torch
from networkx.algorithms import flow
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import BertForSequenceClassification

from benchmarks.measuring import (
    Spread,
    Work,
    argument_parser,
    format_number,
    ratios,
    report,
    time_interleaved,
)
from benchmarks.random_bert import WORDS, random_classifier, word_tokenizer
from glasshead.data import encode
from glasshead.explainers import (
    EXPLAINERS,
    Explainer,
    ExplanationContext,
    FlowNetwork,
    LayerwiseRelevance,
    StackExplainer,
    make_context,
)
from glasshead.huggingface import isolated_copy, plug

PASSES = "one forward and backward pass"
OURS = "SciPy's solver, as attention-flow uses it"
STACK = "a text of {} tokens"
FLOW = "largest flow to one token"
SINKS = 2
"""Tokens that flows are asked for in a round: networkx takes long."""


@dataclass(frozen=True)
class ExplainSettings:
    """A random classifier of the size of MiniLM before a text of so many tokens, in float32."""

    tokens: tuple[int, ...] = (64,)
    layers: int = 6
    hidden_size: int = 384
    heads: int = 12
    budget: float = 60.0


@dataclass(frozen=True)
class ExplainSpeed:
    """One way to do some work; ``ratio`` is its time over that of the first way in the same rounds, ``error``
    the largest difference of its numbers from the first, where they are the same numbers."""

    work: str
    way: str
    seconds: Spread
    ratio: Spread
    error: float | None


def measure_explain(settings: ExplainSettings) -> Iterator[ExplainSpeed]:
    """Results as they come; the ways of one table alternate."""
    for tokens in settings.tokens:
        work = STACK.format(tokens)
        yield from speeds(work, methods(settings, tokens), settings.budget)
        ways = flows(settings.layers, tokens)
        expected = np.asarray(ways[OURS]())
        errors = {way: float(np.abs(np.asarray(run()) - expected).max()) for way, run in ways.items()}
        for speed in speeds(f"{FLOW} of {tokens}", ways, settings.budget):
            yield replace(speed, error=errors[speed.way])


def speeds(work: str, ways: dict[str, Work], budget: float) -> Iterator[ExplainSpeed]:
    """The time of every way, beside that of the first."""
    seconds = time_interleaved(ways, budget)
    first = next(iter(seconds.values()))
    for way, times in seconds.items():
        yield ExplainSpeed(work, way, Spread.of(times), ratios(times, first), None)


def methods(settings: ExplainSettings, tokens: int) -> dict[str, Work]:
    """Every method that reads all layers, behind the gradient of one class by the embeddings."""
    plain = random_classifier(settings.layers, settings.hidden_size, settings.heads)
    model = isolated_copy(plain)
    plug(model, "softmax")
    rng, tokenizer = np.random.default_rng(0), word_tokenizer()
    text = " ".join(f"w{word}" for word in rng.integers(0, WORDS, tokens - 2))
    context = make_context(model, encode(tokenizer, [text]), tokenizer)
    ways: dict[str, Work] = {PASSES: partial(gradient_of_class, plain.eval(), context.encoded.inputs())}
    for name, explainer in EXPLAINERS.items():
        if isinstance(explainer, StackExplainer | LayerwiseRelevance):
            ways[name] = partial(explain_anew, explainer, context)
    return ways


def gradient_of_class(model: BertForSequenceClassification, inputs: dict[str, Tensor]) -> Tensor:
    """∂z/∂e of every token, without Glasshead."""
    leaves: list[Tensor] = []

    def leaf(module: nn.Module, args: tuple[Tensor, ...], embedded: Tensor) -> Tensor:
        leaves.append(embedded.detach().requires_grad_())
        return leaves[0]

    hook = model.get_input_embeddings().register_forward_hook(leaf)
    try:
        (gradient,) = torch.autograd.grad(model(**inputs).logits[:, 1].sum(), leaves)
    finally:
        hook.remove()
    return gradient


def explain_anew(explainer: Explainer, context: ExplanationContext) -> Tensor:
    """The numbers of a method, nothing remembered but which attention is read."""
    fresh = replace(context)
    fresh.__dict__["site"] = context.site
    return explainer.importance(fresh)


def flows(layers: int, tokens: int) -> dict[str, Work]:
    """Largest flows through random maps of attention to some of the tokens, by ours and by networkx."""
    rng = np.random.default_rng(0)
    maps = np.exp(rng.normal(size=(layers, tokens, tokens)))
    maps = (maps / maps.sum(axis=-1, keepdims=True) + np.eye(tokens)) / 2
    network = FlowNetwork(np.arange(tokens, dtype=np.int32))
    nodes, graph = network.tokens, networkx.DiGraph()
    for layer, weights in enumerate(maps):
        nodes = network.add_layer((weights, nodes))
        for (query, key), weight in np.ndenumerate(weights):
            graph.add_edge((layer + 1, query), (layer, key), capacity=float(weight))

    def ours() -> NDArray[np.floating]:
        return network.flows(int(nodes[0]), network.tokens[:SINKS])

    def theirs(solver: Callable[..., object]) -> list[float]:
        return [
            networkx.maximum_flow_value(graph, (layers, 0), (0, token), flow_func=solver)
            for token in range(SINKS)
        ]

    solvers = {
        "networkx, shortest augmenting path": flow.shortest_augmenting_path,
        "networkx, preflow push (its default)": flow.preflow_push,
        "networkx, Edmonds and Karp (as the authors)": flow.edmonds_karp,
    }
    return {OURS: ours} | {way: partial(theirs, solver) for way, solver in solvers.items()}


def main(words: list[str] | None = None) -> None:
    """Measure what the options say, and print it."""
    asked = argument_parser(__doc__, lengths=(64,)).parse_args(words)
    settings = ExplainSettings(tuple(asked.lengths))
    report(
        measure_explain(settings),
        lambda result: result.work,
        {
            "way": lambda result: result.way,
            "ms": lambda result: format_number(result.seconds.median * 1e3),
            "× the first": lambda result: result.ratio,
            "difference": lambda result: None if result.error is None else f"{result.error:.0e}",
        },
        settings,
        asked.out,
    )


if __name__ == "__main__":
    main()
