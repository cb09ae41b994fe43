"""Erasure of every token and draws of other weights, from the edited layer on: against the whole model, and
against Captum."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from glasshead.attention import AttentionInputs
from glasshead.bench.timing import Spread, Work, ratios, time_interleaved
from glasshead.data import batch_size, encode
from glasshead.errors import InputError
from glasshead.explainers import REMOVALS, ExplanationContext, ForwardObservation, make_context, words_of
from glasshead.huggingface import isolated_copy, plug
from glasshead.trace import Shortcut, intervene

SHORTEST, LONGEST = 8, 40
"""Words of a text: as in sentences of reviews."""
WORDS = 1000
OURS, WHOLE, CAPTUM = "from the layer on", "the whole model", "Captum"
WEIGHT = "the weight of every token set to zero"
DRAWS = "draws of random weights"
MASKED = "[MASK] for every token"


@dataclass(frozen=True)
class AuditSettings:
    """Random classifiers of the size of MiniLM, with so many layers, before so many texts, in float64."""

    layers: tuple[int, ...] = (6, 12)
    texts: int = 8
    draws: int = 20
    hidden_size: int = 384
    heads: int = 12
    budget: float = field(default=20.0)

    def __post_init__(self) -> None:
        for count in self.layers:
            if not 1 <= count <= 48:
                raise InputError(f"a model of the benchmark has 1 to 48 layers, not {count}")


@dataclass(frozen=True)
class AuditSpeed:
    """One way to do some work; ``faster`` is its time over ours in the same rounds, ``error`` the largest
    difference of its numbers from ours."""

    work: str
    layers: int
    way: str
    seconds: Spread
    faster: Spread
    error: float


def measure_audit(
    settings: AuditSettings, progress: Callable[[str], None] = lambda _: None
) -> Iterator[AuditSpeed]:
    """Results as they come; the ways of one table alternate."""
    for layers in settings.layers:
        progress(f"{layers} layers")
        for work, ways in works(settings, layers):
            progress(f"{work}, {layers} layers")
            values = {name: torch.as_tensor(way()) for name, way in ways.items()}
            seconds = time_interleaved(ways, settings.budget)
            for name, times in seconds.items():
                yield AuditSpeed(
                    work=work,
                    layers=layers,
                    way=name,
                    seconds=Spread.of(times),
                    faster=ratios(times, seconds[OURS]),
                    error=float((values[name] - values[OURS]).abs().max()),
                )


def works(settings: AuditSettings, layers: int) -> Iterator[tuple[str, dict[str, Work]]]:
    """Each piece of work with the ways to do it; all ways give the same numbers. Ours finds the shortcut of
    the model each time."""
    context = random_context(settings, layers)
    observation = context.observation
    assert isinstance(observation, ForwardObservation)
    whole = whole_model(observation)
    words = words_of(context)
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


def random_context(settings: AuditSettings, layers: int) -> ExplanationContext:
    """A random classifier before random texts of different lengths."""
    model = random_classifier(layers, settings.hidden_size, settings.heads)
    plug(model, "softmax")
    tokenizer, rng = word_tokenizer(), np.random.default_rng(0)
    lengths = np.linspace(SHORTEST, LONGEST, settings.texts).round().astype(int)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, WORDS, length)) for length in lengths]
    return make_context(isolated_copy(model, torch.float64), encode(tokenizer, texts), tokenizer)


def random_classifier(layers: int, hidden_size: int, heads: int) -> BertForSequenceClassification:
    """A random BERT that is always the same."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS + 5,
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden_size,
        initializer_range=0.1,
    )
    return BertForSequenceClassification(config)


def word_tokenizer() -> PreTrainedTokenizerFast:
    """Words w0, w1, … between [CLS] and [SEP]."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *(f"w{i}" for i in range(WORDS))])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{word.strip('[]').lower()}_token": word for word in special}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


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
    try:
        from captum.attr import FeatureAblation
    except ImportError as error:
        raise InputError("Captum is the opponent here: pip install 'glasshead[captum]'") from error

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
