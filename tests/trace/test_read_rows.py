"""Which rows a prediction reads: measured by one gradient, and by changing one row after the other."""

from collections.abc import Callable

import pytest
import torch
import transformers as hf
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

import glasshead
from classifier_families import FAMILIES, GROUPED, GROUPED_NO_PADDING, SIZES, ClassifierFamily, word_tokenizer
from glasshead.data import Encoded, encode
from glasshead.errors import InputError
from glasshead.explainers import make_context
from glasshead.huggingface import readable_copy
from glasshead.opening import open_subject
from glasshead.trace import (
    AttentionSelector,
    ReadRows,
    find_read_rows,
    find_site,
    intervene,
    is_causal,
    list_attention_calls,
)
from glasshead.trace.read_rows import kinds_of_rows

LONG = "the film was warm and funny and the plot is not very good so one longer text than them"
TEXTS = ["the film was good", LONG, "a dull plot , not funny"]


def window(name: str, config: type, **options: object) -> ClassifierFamily:
    return ClassifierFamily(name, config, {**GROUPED_NO_PADDING, **options}, marks="", pads=False)


MODELS: dict[str, Callable[[], tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]]] = {
    name: (lambda family=family: (family.build(), family.tokenizer()))
    for name, family in {
        **{
            name: FAMILIES[name]
            for name in ("Bert", "Albert", "Deberta", "Bart", "T5", "GPT2", "Bloom", "GPTNeo")
        },
        "Mistral, a window of 3": window("Mistral", hf.MistralConfig, sliding_window=3),
        "Qwen2, a window of 4 in one layer": window(
            "Qwen2", hf.Qwen2Config, sliding_window=4, use_sliding_window=True, max_window_layers=1
        ),
        "Gemma3, windows of 3": ClassifierFamily(
            "Gemma3Text", hf.Gemma3TextConfig, {**GROUPED, "sliding_window": 3}, marks=""
        ),
    }.items()
} | {
    f"ModernBert, {pooling}": (
        lambda pooling=pooling: (
            FAMILIES["ModernBert"].build(classifier_pooling=pooling), FAMILIES["ModernBert"].tokenizer()
        )
    )
    for pooling in ("cls", "mean")
}  # fmt: skip


class Pooled(hf.BertPreTrainedModel):
    """A classifier that nobody has seen: BERT, whose states any function pools."""

    def __init__(self, config: hf.BertConfig, pool: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__(config)
        self.bert = hf.BertModel(config, add_pooling_layer=False)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.pool = pool

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, **options: object
    ) -> SequenceClassifierOutput:
        states = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        return SequenceClassifierOutput(logits=self.classifier(self.pool(states, attention_mask)))


def mean(states: Tensor, mask: Tensor) -> Tensor:
    return (states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)


def widest(states: Tensor, mask: Tensor) -> Tensor:
    return states.masked_fill(mask[..., None] == 0, -1e9).amax(dim=1)


def second(states: Tensor, mask: Tensor) -> Tensor:
    return states[:, 1]


def without_ends(states: Tensor, mask: Tensor) -> Tensor:
    inner = mask.clone()
    inner[:, 0] = 0
    inner[torch.arange(len(mask)), mask.sum(dim=1) - 1] = 0
    return mean(states, inner)


def lopsided(states: Tensor, mask: Tensor) -> Tensor:
    return 3 * states[:, 0] + mean(states, mask)


class TwoBranches(nn.Module):
    """The first row by itself, and beside it the mean of what a module makes of all."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.beside = nn.Linear(size, size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return 10 * states[:, 0] + mean(self.beside(states), mask)


class Gated(nn.Module):
    """The mean of what a module makes of states that a gate has scaled."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gate, self.value = nn.Linear(size, 1), nn.Linear(size, size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return mean(self.value(states * torch.sigmoid(10 * self.gate(states))), mask)


def pooled(pool: Callable[[Tensor, Tensor], Tensor]) -> tuple[Pooled, Encoded]:
    torch.manual_seed(0)
    model = Pooled(hf.BertConfig(**SIZES, num_labels=3), pool)
    for weight in model.parameters():
        if weight.ndim > 1:
            nn.init.normal_(weight, 0.0, 0.3)
    return model.eval(), encode(word_tokenizer(), TEXTS)


def rows_of(model: hf.PreTrainedModel, encoded: Encoded, **selector: object) -> ReadRows:
    site = find_site(model, encoded.inputs(), AttentionSelector(**selector))
    assert site is not None
    return find_read_rows(model, encoded, site)


def moved_rows(model: hf.PreTrainedModel, encoded: Encoded, layer: int) -> Tensor:
    """The obvious way: change the weights of one row, and see whether a logit moves. [texts, rows]"""
    inputs = encoded.inputs()
    with torch.no_grad():
        before = model(**inputs).logits
    moved = []
    for row in range(encoded.mask.shape[1]):

        def tilt(number: int, weights: Tensor, call: object, row: int = row) -> Tensor:
            changed = weights.clone()
            changed[:, :, row] *= torch.linspace(0.2, 1.0, weights.shape[-1])
            return changed

        with torch.no_grad(), intervene(model, tilt, [layer]):
            moved.append((model(**inputs).logits - before).abs().amax(dim=1) > 1e-6)
    return torch.stack(moved, dim=1) & encoded.mask


@pytest.mark.parametrize("name", MODELS)
def test_what_is_measured_is_what_moves_the_prediction(name: str) -> None:
    model, tokenizer = MODELS[name]()
    subject = open_subject(model, tokenizer)
    encoded = encode(subject.tokenizer, TEXTS)
    layer = len(list_attention_calls(subject.model, encoded.inputs())) - 1
    read = rows_of(subject.model, encoded)
    assert read.shares is not None
    assert ((read.shares > 0) == moved_rows(subject.model, encoded, layer)).all()
    torch.testing.assert_close(read.shares.sum(dim=1), torch.ones(len(TEXTS), dtype=torch.float64))


@pytest.mark.parametrize("name", MODELS)
def test_a_text_is_read_alone_as_it_is_in_a_batch(name: str) -> None:
    model, tokenizer = MODELS[name]()
    together = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="attention")
    for text, own in zip(TEXTS, together, strict=True):
        (alone,) = glasshead.explain(model, [text], tokenizer=tokenizer, method="attention")
        assert torch.tensor(own.scores).allclose(torch.tensor(alone.scores), atol=1e-5)
        assert torch.tensor(own.contributions).allclose(torch.tensor(alone.contributions), atol=1e-4)


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (mean, "mean of all rows"),
        (second, "the one row that the prediction reads"),
        (without_ends, "mean of the rows that the prediction reads"),
        (widest, "rows weighted by how much the prediction depends on them"),
        (lopsided, "rows weighted by how much the prediction depends on them"),
        (TwoBranches(16), "rows weighted by how much the prediction depends on them"),
        (Gated(16), "rows weighted by how much the prediction depends on them"),
    ],
)
def test_a_model_that_nobody_named_is_read_as_it_pools(
    pool: Callable[[Tensor, Tensor], Tensor], words: str
) -> None:
    model, encoded = pooled(pool)
    readable = readable_copy(model)
    read = rows_of(readable, encoded)
    assert read.in_words == words
    assert read.shares is not None
    if pool is not widest and not isinstance(pool, Gated):  # a largest state may stay so, a gate be shut
        assert ((read.shares > 0) == moved_rows(readable, encoded, 1)).all()
    if pool is lopsided or isinstance(pool, TwoBranches):
        others = read.shares.scatter(1, torch.zeros(len(TEXTS), 1, dtype=torch.long), 0.0)
        assert (read.shares[:, 0] > others.amax(dim=1)).all()


@pytest.mark.parametrize("name", ["MPNet", "Gemma2", "GPTNeo", "Deberta", "Bert"])
def test_a_lower_layer_of_a_text_is_read_alone_as_in_a_batch(name: str) -> None:
    """Where the softmax is caught, keys that a row may not attend to have values too."""
    subject = open_subject(FAMILIES[name].build(), FAMILIES[name].tokenizer())
    encoded = encode(subject.tokenizer, TEXTS)
    together = rows_of(subject.model, encoded, layer=0)
    for text in range(len(TEXTS)):
        alone = rows_of(subject.model, encode(subject.tokenizer, TEXTS[text : text + 1]), layer=0)
        assert together.shares is not None
        assert alone.shares is not None
        width = alone.shares.shape[1]
        torch.testing.assert_close(together.shares[text, :width], alone.shares[0], rtol=1e-3, atol=1e-4)


def test_the_attention_of_a_mean_is_the_mean_of_its_rows() -> None:
    model, tokenizer = MODELS["ModernBert, mean"]()
    model.set_attn_implementation("eager")
    (own,) = glasshead.explain(model, [LONG], tokenizer=tokenizer, method="attention")
    with torch.no_grad():
        maps = model(**encode(tokenizer, [LONG]).inputs(), output_attentions=True).attentions[-1]
    torch.testing.assert_close(torch.tensor(own.scores), maps[0].mean(dim=(0, 1)), rtol=1e-4, atol=1e-5)
    assert own.reading is not None
    assert own.reading.endswith("mean of all rows")


def test_a_text_that_ends_in_its_padding_token_is_read_where_the_model_reads_it() -> None:
    """Chat templates end so where the padding token is that of the end."""
    options = {**GROUPED, "pad_token_id": 1, "eos_token_id": 1}
    model = ClassifierFamily("Llama", hf.LlamaConfig, options, marks="end").build()
    tokenizer = word_tokenizer("end", pads=False)
    tokenizer.pad_token = tokenizer.eos_token
    for own in glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="contribution"):
        assert own.tokens[-1] == tokenizer.eos_token
        assert own.scores[-1] == 0
        assert any(own.scores)


@pytest.mark.parametrize("name", ["Mistral, a window of 3", "GPTNeo", "Bloom"])
def test_left_to_right_is_seen_whatever_forbids_the_rest(name: str) -> None:
    model, tokenizer = MODELS[name]()
    subject = open_subject(model, tokenizer)
    calls = list_attention_calls(subject.model, encode(subject.tokenizer, [LONG]).inputs())
    assert all(map(is_causal, calls))


def test_a_layer_whose_output_is_not_felt_is_judged_by_what_stands_behind_it() -> None:
    model = FAMILIES["Bert"].build()
    nn.init.zeros_(model.bert.encoder.layer[1].attention.output.dense.weight)
    context = make_context(readable_copy(model), encode(word_tokenizer(), TEXTS), word_tokenizer())
    assert context.rows.in_words == "row of the first token"


def test_where_no_row_changes_the_prediction_that_is_said() -> None:
    model = FAMILIES["Bert"].build()
    nn.init.zeros_(model.classifier.weight)
    context = make_context(readable_copy(model), encode(word_tokenizer(), TEXTS), word_tokenizer())
    assert "no row changes the prediction" in context.rows.in_words


def test_texts_whose_prediction_no_row_changes_are_counted() -> None:
    model, encoded = pooled(lambda states, mask: states[:, 0] * (mask.sum(dim=1, keepdim=True) > 7))
    long = encoded.mask.sum(dim=1) > 7
    short = int((~long).sum())
    assert 0 < short < len(encoded.mask)
    read = rows_of(readable_copy(model), encoded)
    assert read.in_words.startswith("row of the first token (in")
    assert f"in {short} text" in read.in_words
    assert "no row" not in read.some(torch.where(long)[0]).in_words


def test_gradients_that_are_no_numbers_are_refused() -> None:
    """The root of 0 has no slope, and times 0 it is not a number."""
    model, encoded = pooled(lambda states, mask: torch.sqrt(states[:, 0] * 0.0))
    with pytest.raises(InputError, match="NaN"):
        rows_of(readable_copy(model), encoded)


def test_a_row_that_is_asked_for_and_not_read_is_shown_with_a_sentence() -> None:
    model, tokenizer = MODELS["Bert"]()
    chosen = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="attention", row="last")
    assert "does not use the row you chose (row of the last token)" in chosen.notes[-1]
    usual = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="attention", row="first")
    assert not any("does not use" in note for note in usual.notes)


def test_lower_layers_are_weighted_by_what_depends_on_their_rows() -> None:
    model, tokenizer = MODELS["Bert"]()
    subject = open_subject(model, tokenizer)
    read = rows_of(subject.model, encode(tokenizer, TEXTS), layer=0)
    assert read.in_words == "rows weighted by how much the prediction depends on them"


def test_rows_that_stand_for_no_tokens_are_not_taken_for_padding() -> None:
    """Five queries of a decoder beside a text of two tokens, in a batch whose longest text has five."""
    mask = torch.tensor([[True, True, False, False, False]])
    assert kinds_of_rows(torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]]), mask) == {"last"}
    assert kinds_of_rows(torch.tensor([[0.5, 0.5, 0.0, 0.0, 0.0]]), mask) == {"mean"}
