"""Erasure of every token and draws of other weights, from the edited layer on: against the whole model, and
against Captum.

    python -m benchmarks.erasure

Random classifiers of the size of MiniLM (384) in float64, eight texts of 8 to 40 words, the last layer
edited. ÷: time over that of the first row, median and range of the rounds in which both ran. Captum:
FeatureAblation, the same edit by a hook, all variants of a text at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from captum.attr import FeatureAblation
from torch import Tensor

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
from glasshead.attention import AttentionInputs
from glasshead.data import batch_size, encode
from glasshead.explainers import REMOVALS, ExplanationContext, ForwardObservation, make_context, removable
from glasshead.huggingface import isolated_copy, plug
from glasshead.trace import Shortcut, intervene

SHORTEST, LONGEST = 8, 40
"""Words of a text: as in sentences of reviews."""
OURS, WHOLE, CAPTUM = "from the layer on", "the whole model", "Captum"
WEIGHT = "the weight of every token set to zero"
DRAWS = "draws of random weights"
MASKED = "[MASK] for every token"


@dataclass(frozen=True)
class ErasureSettings:
    """Random classifiers of the size of MiniLM, with so many layers, before so many texts, in float64."""

    layers: tuple[int, ...] = (6, 12)
    texts: int = 8
    draws: int = 20
    hidden_size: int = 384
    heads: int = 12
    budget: float = 20.0


@dataclass(frozen=True)
class ErasureSpeed:
    """One way to do some work; ``faster`` is its time over ours in the same rounds, ``error`` the largest
    difference of its numbers from ours."""

    work: str
    layers: int
    way: str
    seconds: Spread
    faster: Spread
    error: float


def measure_erasure(settings: ErasureSettings) -> Iterator[ErasureSpeed]:
    """Results as they come; the ways of one table alternate."""
    for layers in settings.layers:
        for work, ways in works(settings, layers):
            values = {name: torch.as_tensor(way()) for name, way in ways.items()}
            seconds = time_interleaved(ways, settings.budget)
            for name, times in seconds.items():
                yield ErasureSpeed(
                    work=work,
                    layers=layers,
                    way=name,
                    seconds=Spread.of(times),
                    faster=ratios(times, seconds[OURS]),
                    error=float((values[name] - values[OURS]).abs().max()),
                )


def works(settings: ErasureSettings, layers: int) -> Iterator[tuple[str, dict[str, Work]]]:
    """Each piece of work with the ways to do it; all ways give the same numbers. Ours finds the shortcut of
    the model each time."""
    context = random_context(settings, layers)
    observation = context.observation
    assert isinstance(observation, ForwardObservation)
    whole = whole_model(observation)
    words = removable(context)
    yield (
        WEIGHT,
        {
            OURS: partial(class_one, lambda: replace(observation).without_each("zero-weight"), words),
            WHOLE: partial(class_one, partial(whole.without_each, "zero-weight"), words),
            CAPTUM: partial(captum_weights, context, observation, words),
        },
    )
    yield (
        DRAWS,
        {
            OURS: lambda: draw(replace(observation), settings.draws),
            WHOLE: partial(draw, whole, settings.draws),
        },
    )
    yield (
        MASKED,
        {
            OURS: partial(class_one, partial(REMOVALS["mask-token"].compute_logits_of_each, context), words),
            CAPTUM: partial(captum_words, context, words),
        },
    )


def random_context(settings: ErasureSettings, layers: int) -> ExplanationContext:
    """A random classifier before random texts of different lengths."""
    model = random_classifier(layers, settings.hidden_size, settings.heads)
    plug(model, "softmax")
    tokenizer, rng = word_tokenizer(), np.random.default_rng(0)
    lengths = np.linspace(SHORTEST, LONGEST, settings.texts).round().astype(int)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, WORDS, length)) for length in lengths]
    return make_context(isolated_copy(model, torch.float64), encode(tokenizer, texts), tokenizer)


def whole_model(observation: ForwardObservation) -> ForwardObservation:
    """The same observation, whose edits run the whole model."""
    whole = replace(observation)
    whole.__dict__["shortcut"] = Shortcut(observation.site.layer)
    return whole


def draw(observation: ForwardObservation, draws: int) -> Tensor:
    """Scores of class 1 [draws, N] under random weights, the same for every row of a head."""
    passes = observation.passes(observation.encoded.inputs())
    results = []
    for number in range(draws):
        generator = torch.Generator().manual_seed(number)
        shape = len(observation.mask), observation.site.num_heads, observation.mask.shape[1]
        noise = torch.rand(shape, generator=generator, dtype=torch.float64)

        def edit(layer: int, weights: Tensor, call: AttentionInputs, noise: Tensor = noise) -> Tensor:
            allowed = call.mask.allowed(weights.device)
            return (noise[:, :, None] * allowed).expand_as(weights)

        results.append(passes.logits(edit)[:, 1])
    return torch.stack(results)


def class_one(logits: Callable[[], Tensor], words: Tensor) -> Tensor:
    """The scores of class 1 without each word [N, n]; zeros elsewhere."""
    return logits()[..., 1] * words


def captum_weights(context: ExplanationContext, observation: ForwardObservation, words: Tensor) -> Tensor:
    """The same by FeatureAblation: a gate for every key, by which a hook multiplies the weights."""

    def predict(gates: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        def edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
            return weights * gates[:, None, None, :]

        with intervene(context.model, edit, [observation.site.layer]):
            return context.model(**inputs_of(inputs, len(gates))).logits

    def gates(inputs: dict[str, Tensor]) -> Tensor:
        return torch.ones(inputs["input_ids"].shape, dtype=torch.float64)

    return ablate(context, words, predict, gates)


def captum_words(context: ExplanationContext, words: Tensor) -> Tensor:
    """The same by FeatureAblation, with [MASK] as the baseline of every word."""

    def predict(ids: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        return context.model(**(inputs_of(inputs, len(ids)) | {"input_ids": ids})).logits

    return ablate(
        context, words, predict, lambda inputs: inputs["input_ids"], context.tokenizer.mask_token_id
    )


def inputs_of(inputs: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """The inputs of one text, so many times."""
    return {name: tensor.expand(count, -1) for name, tensor in inputs.items()}


def ablate(
    context: ExplanationContext,
    words: Tensor,
    predict: Callable[..., Tensor],
    features: Callable[[dict[str, Tensor]], Tensor],
    baseline: int = 0,
) -> Tensor:
    """Scores of class 1 without each word, by Captum at the size of our batches; [CLS] and [SEP] are one
    feature, which costs one pass."""
    result = torch.zeros(words.shape, dtype=context.logits.dtype)
    heads = context.model.config.num_attention_heads
    for text in range(len(words)):
        length = int(context.encoded.mask[text].sum())
        inputs = {
            name: tensor[:, :length] for name, tensor in context.encoded.inputs(slice(text, text + 1)).items()
        }
        number = words[text, :length].long().cumsum(0) * words[text, :length]
        changes = FeatureAblation(partial(predict, inputs=inputs)).attribute(
            features(inputs),
            baselines=baseline,
            target=1,
            feature_mask=number[None],
            perturbations_per_eval=min(batch_size(length, heads), length),
        )
        result[text, :length] = context.logits[text, 1] - changes[0]
    return result * words


def main(words: list[str] | None = None) -> None:
    """Measure what the options say, and print it."""
    parser = argument_parser(__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=(6, 12), metavar="N")
    asked = parser.parse_args(words)
    settings = ErasureSettings(layers=tuple(asked.layers))
    report(
        measure_erasure(settings),
        lambda result: f"{result.work}, {result.layers} layers",
        {
            "way": lambda result: result.way,
            "ms": lambda result: format_number(result.seconds.median * 1e3),
            "÷ the first": lambda result: result.faster,
            "difference": lambda result: f"{result.error:.0e}",
        },
        settings,
        asked.out,
    )


if __name__ == "__main__":
    main()
