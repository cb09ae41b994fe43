"""The logit lens: what a model would predict if the layers behind a state were left out.

No norm and no output map is looked for. What a model does behind its last layer is run again with the state
of an earlier one instead of the last; it is checked that the last state gives the model's own logits.

Source: nostalgebraist (2020), interpreting GPT: the logit lens.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError
from glasshead.inside.head_effects import predicts_next_tokens
from glasshead.inside.layer_states import read_states
from glasshead.inside.question import Question, ask
from glasshead.inside.tuned_lens import fit_lens
from glasshead.models import is_regression
from glasshead.requests import LensRequest, takes
from glasshead.results import INPUT, LayerLens
from glasshead.torch_modes import in_own_modes

MOST_LOGITS = 10_000_000
"""Logits of so many layers, places and answers are computed at once: what is made of them then finds them in
the cache of a processor."""


@takes(LensRequest)
def lens(request: LensRequest) -> LayerLens:
    """What each layer would predict (the logit lens): its state goes through the model's own final norm and
    output, as if no layer followed.

    For a language model it has the most probable next tokens after every token, for a classifier the
    probability of each class, and for ``target`` (default: the predicted answer) the probability and the
    rank. ``tuned`` are texts, a list or a file, on which an affine map is fitted for each layer (the tuned
    lens).

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`), if it has no such token or class, no
            list of layers with attention, or treats its last state differently from others; and if there
            are too few texts to fit maps.
    """
    return run_lens(request)


@in_own_modes
def run_lens(request: LensRequest) -> LayerLens:
    """Open the model of a request, and look through the lens.

    Raises:
        InputError: as `lens`.
    """
    with ask(request) as question, torch.no_grad():
        return predict_by_layer(question, request)


def predict_by_layer(question: Question, request: LensRequest) -> LayerLens:
    """What each layer would predict of a question, by one pass and what follows its last layer."""
    model = question.model
    if is_regression(model.config):
        raise InputError(
            f"{question.subject.name} predicts a number, but the lens shows probabilities of answers"
        )
    states = read_states(model, question.inputs)
    target = question.resolve(states.logits)
    layers, fit = torch.cat(states.all), None
    if request.tuned is not None:
        maps, fit = fit_lens(model, question.subject.tokenizer, request.tuned)
        layers = maps(layers)
    size = max(1, MOST_LOGITS // (layers.shape[1] * states.logits.numel()))
    found = []
    for some in layers.split(size):
        logits = states.predict(some).float()
        found.append([part.cpu().numpy() for part in likely_answers(logits, request.alternatives, target)])
    states.check(logits[-1])
    tops, probabilities, own, ranks = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return LayerLens(
        text=question.text,
        model=question.subject.name,
        places=place_names(question),
        layers=(INPUT, *(f"layer {number}" for number in range(len(states.all) - 1))),
        names={int(number): question.names[number] for number in np.unique(tops)},
        tops=tops,
        probabilities=probabilities,
        target=question.names[target],
        target_probabilities=own,
        target_ranks=ranks,
        fit=fit,
        notes=question.notes,
    )


def likely_answers(
    logits: Float[Tensor, "l places answers"], count: int, target: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The most probable answers and their probabilities; the probability of the target, and its rank."""
    tops = logits.topk(min(count, logits.shape[-1]), dim=-1).indices
    ranks = (logits > logits[..., [target]]).sum(dim=-1, dtype=torch.int32) + 1
    chances = logits.softmax(dim=-1)
    return tops, chances.gather(-1, tops), chances[..., target], ranks


def place_names(question: Question) -> tuple[str, ...]:
    """What the places of predictions are called: every token, the hidden word, or the text as a whole."""
    if predicts_next_tokens(question.model):
        return question.tokens
    asked = question.inputs.get("question")
    return ("the text",) if asked is None else (question.tokens[int(asked[0].argmax())],)
