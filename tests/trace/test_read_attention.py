"""The last attention that a prediction uses: classifiers of the states of a lower layer, and the others."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor, nn
from transformers.modeling_outputs import ImageClassifierOutput, SequenceClassifierOutput

import glasshead
from classifier_data import table
from classifier_families import FAMILIES, GROUPED_NO_PADDING, SIZES, widened, word_tokenizer
from glasshead.data import encode
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.huggingface import readable_copy
from glasshead.identifiability import RowSelector, attention_rows, rows_in_words
from glasshead.trace import AttentionSelector, find_read_attention, intervene
from image_families import image_model, pictures, processor

TEXTS = ["the film was good", "the film was warm and funny and the plot is not very good", "bad"]
LAYERS, USED = 4, 2
"""So many layers, and the number of the last that the classifiers here use."""


class StatesForSequenceClassification(hf.BertPreTrainedModel):
    """BERT, whose states of a lower layer are pooled by any function."""

    def __init__(self, config: hf.BertConfig, pool: nn.Module | None = None) -> None:
        super().__init__(config)
        self.bert = hf.BertModel(config, add_pooling_layer=False)
        self.pool = FirstState() if pool is None else pool
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, **options: object
    ) -> SequenceClassifierOutput:
        states = self.bert(input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        return SequenceClassifierOutput(
            logits=self.classifier(self.pool(states[USED + 1], attention_mask[..., None]))
        )


class FirstState(nn.Module):
    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return states[:, 0]


class MeanState(nn.Module):
    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


class NormedMean(MeanState):
    """The mean of what a module makes of the states: it runs behind the last call, and does not read it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        nn.init.normal_(self.norm.weight)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return super().forward(self.norm(states), mask)


class LastStateForSequenceClassification(hf.MistralPreTrainedModel):
    """Mistral, whose last token is classified by a lower layer."""

    def __init__(self, config: hf.MistralConfig) -> None:
        super().__init__(config)
        self.model = hf.MistralModel(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, **options: object
    ) -> SequenceClassifierOutput:
        states = self.model(input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        last = attention_mask.sum(dim=1) - 1
        return SequenceClassifierOutput(logits=self.score(states[USED + 1][torch.arange(len(last)), last]))


class LlavaLikeForImageClassification(hf.CLIPForImageClassification):
    """CLIP read as LLaVA reads it: the patches of the second last layer."""

    def forward(self, pixel_values: Tensor, **options: object) -> ImageClassifierOutput:
        states = self.vision_model(pixel_values, output_hidden_states=True).hidden_states
        return ImageClassifierOutput(logits=self.classifier(states[-2][:, 1:].mean(dim=1)))


def bert_states(pool: nn.Module) -> hf.PreTrainedModel:
    config = hf.BertConfig(**{**SIZES, "num_hidden_layers": LAYERS}, num_labels=3)
    return widened(lambda config: StatesForSequenceClassification(config, pool), config)


def mistral_states() -> hf.PreTrainedModel:
    config = hf.MistralConfig(**{**GROUPED_NO_PADDING, "num_hidden_layers": LAYERS}, num_labels=3)
    return widened(LastStateForSequenceClassification, config)


MODELS: dict[str, Callable[[], hf.PreTrainedModel]] = {
    "first": lambda: bert_states(FirstState()),
    "mean": lambda: bert_states(MeanState()),
    "normed mean": lambda: bert_states(NormedMean(SIZES["hidden_size"])),
    "Mistral, last": mistral_states,
}
WORDS = {
    "first": "row of the first token",
    "mean": "mean of all rows",
    "normed mean": "rows weighted by how much the prediction depends on them",
    "Mistral, last": "row of the last token",
}


@cache
def context_of(name: str, **selector: Any) -> ExplanationContext:
    model, tokenizer = readable_copy(MODELS[name]()), word_tokenizer()
    return make_context(
        model, encode(tokenizer, TEXTS), tokenizer, attention_selector=AttentionSelector(**selector)
    )


def moves(context: ExplanationContext, layer: int) -> bool:
    """Whether other weights in a layer move a logit."""

    def tilt(number: int, weights: Tensor, call: object) -> Tensor:
        return weights * torch.linspace(0.2, 1.0, weights.shape[-1])

    with torch.no_grad(), intervene(context.model, tilt, [layer]):
        logits = context.model(**context.encoded.inputs()).logits
    return bool((logits - context.logits).abs().max() > 1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_last_layer_that_moves_the_prediction_is_read(name: str) -> None:
    context = context_of(name)
    assert [moves(context, layer) for layer in range(LAYERS)] == [True] * (USED + 1) + [False]
    assert context.site is not None
    assert context.site.layer == USED
    assert context.rows.in_words == WORDS[name]
    assert context.observation.contributions(context.target).any()


@pytest.mark.parametrize("name", MODELS)
def test_that_is_said_and_a_text_alone_is_read_as_beside_others(name: str) -> None:
    model, tokenizer = MODELS[name](), word_tokenizer()
    for method in ("attention", "rollout"):
        together = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)
        assert "attention is taken from layer 2 (of 0 to 3)" in together.notes[-1]
        for text, own in zip(TEXTS, together, strict=True):
            (alone,) = glasshead.explain(model, [text], tokenizer=tokenizer, method=method)
            assert alone.reading == own.reading
            np.testing.assert_allclose(own.scores, alone.scores, atol=1e-5)


def test_a_layer_that_somebody_chose_stays() -> None:
    model, tokenizer = MODELS["mean"](), word_tokenizer()
    chosen = glasshead.explain(model, TEXTS, tokenizer=tokenizer, layer=3)
    assert "no row changes the prediction" in str(chosen[0].reading)
    assert "choose another row or layer" in chosen.notes[-1]
    lower = glasshead.explain(model, TEXTS, tokenizer=tokenizer, layer=2)
    assert lower.notes == ()


def test_a_row_that_somebody_chose_is_that_of_the_last_layer_that_is_used() -> None:
    context = context_of("first", row="last")
    assert context.site is not None
    assert (context.site.layer, context.rows.in_words) == (USED, "row of the last token")
    model, tokenizer = MODELS["first"](), word_tokenizer()
    (own,) = glasshead.explain(model, TEXTS[:1], tokenizer=tokenizer, row="last")
    assert own.caveat is not None
    assert "does not use the row you chose" in own.caveat


def test_intervals_and_identifiability_read_the_same_attention() -> None:
    model, tokenizer = MODELS["mean"](), word_tokenizer()
    own, *_ = glasshead.explain(model, TEXTS, tokenizer=tokenizer, intervals=True)
    assert own.intervals is not None
    assert str(own.reading).startswith("layer 2 ")
    context = context_of("first")
    read = RowSelector(rows="read")
    assert rows_in_words(context.model, context.encoded, read) == WORDS["first"]
    rows = [row for batch in attention_rows(context.model, context.encoded, read) for row in batch]
    assert {row.row for row in rows} == {0}


def test_audits_read_the_same_attention_and_say_so(tmp_path: Any) -> None:
    model = MODELS["mean"]()
    model.config.num_labels = 2
    model.classifier = nn.Linear(SIZES["hidden_size"], 2)
    model.config.id2label, model.config.label2id = {0: "bad", 1: "good"}, {"bad": 0, "good": 1}
    card = glasshead.audit(
        model, table(tmp_path / "data.csv"), tokenizer=word_tokenizer(), limit=6, draws=2,
        audits=["perturbation", "heads"],
    )  # fmt: skip
    assert card.facts["reading"].startswith("layer 2 ")
    assert any(note.startswith("Attention is taken from layer 2 (of 0 to 3)") for note in card.facts["notes"])
    assert card.finding("heads.removal.all").estimate > 0


def test_images_are_read_as_llava_reads_them() -> None:
    published = image_model("clip")
    model = LlavaLikeForImageClassification(published.config).eval()
    model.load_state_dict(published.state_dict())
    subject = glasshead.open(model, tokenizer=processor())
    assert subject.model.reads_patches
    for own in glasshead.explain(subject, pictures()):
        assert str(own.reading).startswith("layer 0 ")
        assert any(own.contributions)


@pytest.mark.parametrize("part", ["output of the last layer", "classifier"])
def test_where_no_layer_is_felt_or_the_last_is_not_yet_the_last_is_read(part: str) -> None:
    """A map that is zero before its training hides the layer, and a prediction that never changes all."""
    model = FAMILIES["Bert"].build()
    last = model.bert.encoder.layer[1].attention.output.dense
    nn.init.zeros_(model.classifier.weight if part == "classifier" else last.weight)
    context = make_context(readable_copy(model), encode(word_tokenizer(), TEXTS), word_tokenizer())
    assert context.site is not None
    assert context.site.layer == 1
    assert context.layer_note is None


def test_a_model_that_uses_its_last_layer_is_run_no_further_time() -> None:
    model = readable_copy(FAMILIES["Bert"].build())
    encoded, passes = encode(word_tokenizer(), TEXTS), []
    model.register_forward_hook(lambda *_: passes.append(1))
    found = find_read_attention(model, encoded, AttentionSelector())
    assert found is not None
    assert found.site.layer == 1
    assert len(passes) == 2  # one text, to see what calls there are, and all


def test_the_row_that_the_prediction_reads_is_measured_once_beside_one_that_is_chosen() -> None:
    """By attention a chosen row was measured three times: for two caveats, each of which asked again."""
    model, tokenizer = readable_copy(FAMILIES["Bert"].build()), word_tokenizer()
    passes = []
    model.register_forward_hook(lambda *_: passes.append(1))
    counts = []
    for row in (None, "last"):
        passes.clear()
        EXPLAINERS["attention"](model, tokenizer, TEXTS, attention_selector=AttentionSelector(row=row))
        counts.append(len(passes))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("row", ["first", "last"])
def test_identifiability_calls_rows_as_explanations_do(row: str) -> None:
    context = context_of("first", row=row)
    assert rows_in_words(context.model, context.encoded, RowSelector(rows=row)) == context.rows.in_words


def test_the_pass_that_predicts_measures_what_is_read() -> None:
    """Of several texts one pass to see what calls there are, one that predicts and measures, one for the
    weights and one for their gradients, by whatever target."""
    model, tokenizer = readable_copy(FAMILIES["Bert"].build()), word_tokenizer()
    passes = []
    model.register_forward_hook(lambda *_: passes.append(1))
    EXPLAINERS["attention"](model, tokenizer, TEXTS)
    assert len(passes) == 4


def test_what_was_measured_serves_every_target_and_part_of_the_texts() -> None:
    context = context_of("mean")
    assert context.towards_predicted().attention is context.attention
    part = context.some(torch.tensor([1]))
    assert part.site is context.site
    assert (part.rows.shares == context.rows.shares[1:2]).all()
    assert not context.afresh().shared
