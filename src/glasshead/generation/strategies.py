"""Decoding strategies by name: how the next token is chosen from the distribution that the model gives.

Source: the list of strategies of GPT-2, Garreau (2024), lecture notes, section 9.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from glasshead.errors import InputError
from glasshead.registry import Registry


@dataclass(frozen=True)
class Strategy:
    """One word of a strategy: what it sets in a `GenerationConfig`, and what its number may be.

    ``option`` is the field that its number sets, ``usual`` the default, ``draws`` whether the next token is
    drawn at random, and ``with_others`` whether it can be combined with others.
    """

    description: str
    citation: str
    option: str | None = None
    usual: float | None = None
    lowest: float = 0.0
    highest: float = math.inf
    whole: bool = False
    draws: bool = False
    with_others: bool = True
    settings: tuple[tuple[str, Any], ...] = ()

    def number(self, name: str, typed: str | None) -> float | None:
        """The number behind the name.

        Raises:
            InputError: if it takes none, or not this one.
        """
        if typed is None:
            return self.usual
        if self.option is None:
            raise InputError(f"the strategy {name!r} takes no number: leave ={typed} out")
        try:
            value = int(typed) if self.whole else float(typed)
        except ValueError:
            value = math.nan
        if not self.lowest <= value <= self.highest or value == 0 or math.isinf(value):
            kind = "a whole number" if self.whole else "a number"
            limits = f"from {self.lowest:g}" if self.lowest else "above 0"
            limits += "" if math.isinf(self.highest) else f" to {self.highest:g}"
            raise InputError(f"{name!r} takes {kind} {limits}, as in {name}={self.usual:g}, not {typed!r}")
        return value


MOST_BEAMS = 100
"""Beams keep the scores of all tokens of the vocabulary, at every place."""

STRATEGIES: Registry[Strategy] = Registry("strategy")

STRATEGIES.register("greedy")(
    Strategy("the most probable token, argmax p", "usual", with_others=False)
)  # fmt: skip
STRATEGIES.register("sample")(Strategy("a draw from p, improbable tokens included", "usual", draws=True))
STRATEGIES.register("top-k")(
    Strategy(
        "a draw among the k most probable tokens", "Fan, Lewis and Dauphin 2018",
        option="top_k", usual=40, lowest=1, whole=True, draws=True,
    )
)  # fmt: skip
STRATEGIES.register("temperature")(
    Strategy(
        "a draw from softmax(z / τ): below 1 closer to the argmax, above 1 closer to uniform",
        "Ackley, Hinton and Sejnowski 1985", option="temperature", usual=0.7, draws=True,
    )
)  # fmt: skip
STRATEGIES.register("nucleus")(
    Strategy(
        "a draw among the fewest tokens whose probabilities sum to at least p",
        "Holtzman et al. 2020", option="top_p", usual=0.9, highest=1, draws=True,
    )
)  # fmt: skip
STRATEGIES.register("beam")(
    Strategy(
        "the beginnings with the highest probabilities are kept, and the best text is chosen",
        "Lowerre 1976", option="num_beams", usual=4, lowest=2, highest=MOST_BEAMS, whole=True,
        settings=(("length_penalty", 0.0), ("early_stopping", False)),
    )
)  # fmt: skip

EVERYTHING = {"top_k": 0, "top_p": 1.0, "temperature": 1.0}
"""Settings with which every token can be drawn, with the chance that the model gives it."""
CONTRASTIVE = (
    "contrastive search (Su et al. 2022) left Transformers for code on the Hub, which Glasshead does "
    "not run: choose nucleus=0.9, or top-k=40"
)


def parse_strategy(strategy: str) -> GenerationConfig:
    """The Transformers configuration of a named strategy: one of `STRATEGIES` with or without a number,
    several joined by ``+``, as in ``temperature=0.7+top-k=40``.

    Nothing is left to the defaults of a model or of Transformers, which would keep only 50 tokens.

    Raises:
        InputError: on an unknown name, a number that it does not take, and names that exclude each other.
    """
    options: dict[str, Any] = {
        "do_sample": False,
        "num_beams": 1,
        **EVERYTHING,
    }
    names: list[str] = []
    for word in strategy.split("+"):
        name, has_number, typed = word.strip().partition("=")
        if name == "contrastive":
            raise InputError(CONTRASTIVE)
        if name in names:
            raise InputError(f"{name!r} is in the strategy {strategy!r} twice: leave one out")
        chosen = STRATEGIES[name]
        number = chosen.number(name, typed if has_number else None)
        names.append(name)
        options |= dict(chosen.settings)
        options["do_sample"] |= chosen.draws
        if chosen.option is not None:
            options[chosen.option] = number
    alone = [name for name in names if not STRATEGIES[name].with_others]
    if alone and len(names) > 1:
        raise InputError(f"{alone[0]!r} leaves nothing to choose: leave it or the rest of {strategy!r} out")
    if not options["do_sample"]:
        for unused in EVERYTHING:
            del options[unused]
    return GenerationConfig(**options)


def sampling_probabilities(probabilities: Float[Tensor, "*b n"], strategy: str) -> Float[Tensor, "*b n"]:
    """The probabilities with which a strategy draws tokens, given those of the model, as `transformers`
    computes them.

    Raises:
        InputError: as `parse_strategy`, and on beam search, which weighs whole texts.
    """
    config = parse_strategy(strategy)
    if config.num_beams != 1:
        raise InputError(f"{strategy!r} compares whole texts, so it gives single tokens no probability")
    if not config.do_sample:
        return nn.functional.one_hot(probabilities.argmax(dim=-1), probabilities.shape[-1]).to(probabilities)
    rows = probabilities.log().reshape(-1, probabilities.shape[-1])
    warpers = LogitsProcessorList([TemperatureLogitsWarper(float(config.temperature))])
    if config.top_k:
        warpers.append(TopKLogitsWarper(config.top_k))
    if config.top_p < 1:
        warpers.append(TopPLogitsWarper(config.top_p))
    before: Any = torch.empty(len(rows), 0, dtype=torch.long)  # none of these reads what stands before
    return warpers(before, rows).softmax(dim=-1).reshape(probabilities.shape)
