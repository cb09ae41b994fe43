"""Which closed form a trained classifier has, and its parameters."""

from collections.abc import Callable

import torch
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.models import PooledClassifier, is_regression
from glasshead.papers.dynamics.forms.form import FORMS, ClosedForm, FormParameters

FORM_NAMES = {("context", "none"): "DP", ("context", "affine"): "DP-A", ("additive", "none"): "AD"}
"""The closed form of every score function with an encoder."""


def no_closed_form_reason(model: PreTrainedModel) -> str | None:
    """Why a model has no closed form; None if it has one."""
    if not isinstance(model, PooledClassifier):
        return "closed forms are known for the model 'pooled', with one learned query"
    config = model.config
    if is_regression(config):
        return "closed forms are known for classes, not for ratings"
    if model.attention_source is not None:
        return "closed forms are known for trained scores, not for those of another run"
    if config.activation != "softmax":
        return f"closed forms are known for softmax, not for {config.activation}"
    if config.value_dim is not None:
        return "closed forms exist only if the vectors themselves are the values (value_dim null)"
    if (config.score, config.encoder) not in FORM_NAMES:
        return f"no closed form is known for the score {config.score} over the encoder {config.encoder}"
    return None


def form_of(model: PreTrainedModel) -> ClosedForm:
    """The closed form of a model.

    Raises:
        InputError: if none is known.
    """
    reason = no_closed_form_reason(model)
    if reason is not None:
        raise InputError(f"{reason}; scores, polarities and entropy are recorded anyway")
    return FORMS[FORM_NAMES[model.config.score, model.config.encoder]]


def read_parameters(
    model: PooledClassifier,
    dtype: torch.dtype = torch.float64,
    read: Callable[[Tensor], Tensor] = lambda parameter: parameter,
) -> FormParameters:
    """What ``read`` makes of the parameters of a model that has a closed form (themselves), detached."""

    def read_parameter(name: str) -> Tensor:
        return read(model.get_parameter(name)).detach().to("cpu", dtype)

    maps = {"DP-A": "encoder.map.weight", "AD": "pooling.score.key.weight"}
    map_ = maps.get(form_of(model).name)
    return FormParameters(
        embeddings=read_parameter("embedding.weight"),
        context=read_parameter("pooling.score.context.weight")[0],
        output=read_parameter("classifier.weight"),
        map=None if map_ is None else read_parameter(map_),
        bias=read_parameter("classifier.bias") if model.config.bias else None,
    )
