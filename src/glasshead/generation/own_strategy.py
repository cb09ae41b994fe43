"""The strategy of a model: what the generation configuration that is saved with it says."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from transformers import GenerationConfig

from glasshead.errors import InputError
from glasshead.generation.strategies import CONTRASTIVE, MOST_BEAMS, parse_strategy
from glasshead.spelling import spell

SPECIAL = {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id"}
"""Tokens of the model, which go with every strategy."""
ELSEWHERE = {
    "transformers_version", "_from_model_config", "use_cache", "cache_implementation", "cache_config",
    "max_length", "max_new_tokens", "max_time", "num_return_sequences", "return_dict_in_generate",
    "return_dict", "output_scores", "output_logits", "output_attentions", "output_hidden_states",
    "compile_config", "disable_compile", "prompt_lookup_num_tokens", "num_assistant_tokens",
    "num_assistant_tokens_schedule", "assistant_confidence_threshold",
}  # fmt: skip
"""Settings that change no text, or are said otherwise (`tokens`)."""
FORBIDDEN_TOKENS = ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens")
"""What the model never writes, by whichever strategy."""
LEAST_TEMPERATURE = 0.001
LONGEST_VALUE = 40


def choose_strategy(
    strategy: str | GenerationConfig | None, own: GenerationConfig
) -> tuple[GenerationConfig, str]:
    """A strategy as Transformers has it, and what it is called; where none is named, that of the model.

    A named one takes nothing from the model but the tokens that it never writes.

    Raises:
        InputError: as `parse_strategy`, and on settings that cannot be followed.
    """
    settings = generation_settings(own)
    if strategy is None and settings:
        config, name = GenerationConfig(**settings), f"the model's own ({settings_in_words(settings)})"
        check_numbers(config)
    else:
        config, name = resolve_strategy("greedy" if strategy is None else strategy)
        unset = [name for name in FORBIDDEN_TOKENS if name in settings and getattr(config, name) is None]
        config.update(**{name: settings[name] for name in unset})
        name += f", with the model's own {' and '.join(unset)}" if unset else ""
    if config.forced_bos_token_id is None:
        config.forced_bos_token_id = own.forced_bos_token_id
    return config, name


def resolve_strategy(strategy: str | GenerationConfig) -> tuple[GenerationConfig, str]:
    """A strategy that somebody asks for, and what it is called.

    Raises:
        InputError: as `parse_strategy`, and on settings that cannot be followed.
    """
    if isinstance(strategy, str):
        config = parse_strategy(strategy)
        check_numbers(config)
        return config, strategy
    if not isinstance(strategy, GenerationConfig):
        raise InputError(
            f"{spell('strategy')} is a name, such as 'greedy', or a GenerationConfig, not "
            f"{type(strategy).__name__}"
        )
    check_numbers(strategy)
    own = strategy.to_diff_dict()
    own.pop("transformers_version", None)
    return copy.deepcopy(strategy), settings_in_words(own) or "greedy"


def generation_settings(own: GenerationConfig) -> dict[str, Any]:
    """What the configuration of a model says about how a text is written."""
    differences: Mapping[str, Any] = own.to_diff_dict()
    return {
        name: copy.deepcopy(value)
        for name, value in differences.items()
        if name not in SPECIAL | ELSEWHERE and value is not None
    }


def settings_in_words(settings: Mapping[str, Any]) -> str:
    """Settings in a line; a long list by its length."""
    return ", ".join(
        f"{name}={value}"
        if len(str(value)) <= LONGEST_VALUE
        else f"{name}={len(value)} values"
        if isinstance(value, list | tuple | dict)
        else f"{name}=…"
        for name, value in settings.items()
    )


def check_numbers(config: GenerationConfig) -> None:
    """Raise InputError on settings that cannot be followed: contrastive search, too many beams, a temperature
    by which no logit can be divided."""
    if getattr(config, "penalty_alpha", None):
        raise InputError(CONTRASTIVE)
    if (config.num_beams or 1) > MOST_BEAMS:
        raise InputError(f"num_beams={config.num_beams} is too many: take at most {MOST_BEAMS}")
    if config.do_sample and config.temperature is not None and not config.temperature >= LEAST_TEMPERATURE:
        raise InputError(
            f"a temperature of {config.temperature} is too small: take at least {LEAST_TEMPERATURE:g}"
        )
