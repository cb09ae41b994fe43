"""Model types that are language models, and what each is trained for: the next token (causal), or hidden
tokens (masked)."""

from functools import cache

from transformers import AutoConfig

from glasshead.errors import InputError
from glasshead.registry import did_you_mean, with_suggestion
from glasshead.spelling import spell

OBJECTIVES = ("causal", "masked")
USUAL_TYPES = ("gpt2", "llama", "bert", "roberta")


def language_model_types() -> dict[str, str]:
    """Every model type of Transformers that is a language model, with its objective.

    Types with both objectives are encoders, which see the next token and could copy it.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    causal = dict.fromkeys(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "causal")
    types = causal | dict.fromkeys(MODEL_FOR_MASKED_LM_MAPPING_NAMES, "masked")
    return {name: objective for name, objective in types.items() if not name.startswith("glasshead")}


def objective_of(model_type: str, objective: str | None = None) -> str:
    """The objective of a model type; it must match the requested one.

    Raises:
        InputError: if there is no such model type or objective, or they do not go together.
    """
    types = language_model_types()
    if model_type not in types:
        hint = with_suggestion(f"choose {', '.join(USUAL_TYPES)}, …", did_you_mean(model_type, types))
        raise InputError(f"{model_type!r} is not a language model of transformers: {hint}")
    if objective is None or objective == types[model_type]:
        return types[model_type]
    if objective not in OBJECTIVES:
        raise InputError(f"unknown objective {objective!r}: {did_you_mean(objective, OBJECTIVES)}")
    if objective == "masked":
        raise InputError(
            f"{model_type} reads from left to right and cannot predict hidden tokens: use "
            f"{spell('objective', 'causal')}, or an encoder such as bert"
        )
    raise InputError(
        f"{model_type} reads in both directions and would see the next token: use "
        f"{spell('objective', 'masked')}, or a "
        "decoder such as gpt2"
    )


@cache
def model_fields(model_type: str) -> frozenset[str]:
    """The fields of a model type's configuration, also by the names that all families share.

    Raises:
        InputError: if the type needs parts that are not text, or code that is not installed.
    """
    try:
        config = AutoConfig.for_model(model_type)
    except Exception as error:  # configurations refuse in every way there is
        raise InputError(
            f"{model_type} cannot be built from sizes alone, or needs a package that is not installed: "
            f"choose another {spell('model')}, such as gpt2 or bert"
        ) from error
    return frozenset(config.to_dict()) | frozenset(config.attribute_map)
