"""Direct logit attribution: what each part of a model adds to a logit, through the final norm alone."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from glasshead.explainers import word_embeddings
from glasshead.huggingface import arithmetic_of
from glasshead.inside.direct_path import Gate, direct_path
from glasshead.inside.question import Question, ask
from glasshead.requests import LogitAttributionRequest, takes
from glasshead.results import HeadEffects, LogitAttribution
from glasshead.torch_modes import in_own_modes


@takes(LogitAttributionRequest)
def logit_attribution(request: LogitAttributionRequest) -> LogitAttribution:
    """Take a logit apart into what the embeddings, each head and each MLP add to it (direct logit
    attribution).

    A head h adds Σ_j a_ij T_j · w, where T_j is token j's value after the output projection and w the direct
    path through the final norm, with its scale held constant, and the output. So each part has a source
    token. For a language model the logit is that of the next token; for a classifier, that of a class.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`), if it has no such token or class, or no
            list of layers with attention.
    """
    return run_attribution(request)


@in_own_modes
def run_attribution(request: LogitAttributionRequest) -> LogitAttribution:
    """Open the model of a request, and take its logit apart.

    Raises:
        InputError: as `logit_attribution`.
    """
    with ask(request) as question:
        return attribute(question)


def attribute(question: Question) -> LogitAttribution:
    """Take the logit of a question apart: one pass, and one gradient of the direct path."""
    model = question.model
    words = [
        weight
        for module in word_embeddings(model)
        if isinstance(weight := getattr(module, "weight", None), Tensor)
    ]
    exact = torch.promote_types(arithmetic_of(model), torch.float32)
    with direct_path(model, words, exact) as path:
        logits = model(**question.inputs).logits[0]
    target = question.resolve(logits)
    score = logits[target]
    if question.against is not None:
        score = score - logits[question.against]
    gates = list(path.gates)
    leaves = [*path.gates.values(), *(one.weights for one in path.heads)]
    slopes = torch.autograd.grad(score, leaves, allow_unused=True, materialize_grads=True)
    effects = {gate: float(slope) for gate, slope in zip(gates, slopes, strict=False)}
    heads = tuple(
        HeadEffects(
            one.block,
            tokens_of(question, one.weights.shape[-1]),
            (one.weights * slope)[0].sum(dim=1).detach().double().cpu().numpy(),
        )
        for one, slope in zip(path.heads, slopes[len(gates) :], strict=True)
    )

    def of_layers(component: str) -> np.ndarray:
        return np.array([effects.get(Gate(component, layer), 0.0) for layer in range(path.runs)])  # type: ignore[arg-type]

    return LogitAttribution(
        text=question.text,
        tokens=question.tokens,
        model=question.subject.name,
        target=question.names[target],
        against=None if question.against is None else question.names[question.against],
        predicted=question.names[int(logits.argmax())],
        logit=float(score.detach()),
        embeddings=effects.get(Gate("token", None), 0.0),
        positions=effects.get(Gate("position", None), 0.0),
        heads=heads,
        mlps=of_layers("mlp"),
        biases=np.append(of_layers("bias"), effects.get(Gate("bias", None), 0.0)),
        norms=sum(effect for gate, effect in effects.items() if gate.component == "norm"),
        spread=float(logits.detach().max() - logits.detach().min()),
        notes=question.notes,
    )


def tokens_of(question: Question, keys: int) -> tuple[str, ...]:
    """The tokens that an attention looks at: those of the text, else places by number."""
    if keys == len(question.tokens):
        return question.tokens
    return tuple(map(str, range(keys)))
