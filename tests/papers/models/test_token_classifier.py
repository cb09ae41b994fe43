"""The token classifier: what is asked, what scores know at first, tied maps, saving, and its one row."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from glasshead.data import encode, train_tokenizer
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.papers.models import TokenClassifier, TokenClassifierConfig
from glasshead.trace import AttentionSelector, find_site, record
from tolerances import EXACT_MATHS

TEXTS = ("a b _a_ c a", "_c_ b b", "b c a")
TOKENIZER = train_tokenizer([*TEXTS, "_b_ a"], min_freq=1, max_length=8)


def build(**options):
    torch.manual_seed(0)
    names = {index: str(index) for index in range(4)}
    settings = TokenClassifier.tokenizer_settings(TOKENIZER) | {"max_length": 8, "embedding_size": 4}
    config = TokenClassifierConfig(
        **settings | options, id2label=names, label2id={name: index for index, name in names.items()}
    )
    config.check()
    return TokenClassifier(config).eval().double()


def logits(model, *texts):
    return model(**encode(TOKENIZER, texts).inputs()).logits


def test_the_mark_asks_and_without_one_the_last_token_is_asked_about():
    encoded = encode(TOKENIZER, TEXTS)
    assert build().find_asked(encoded.ids, encoded.mask).token.tolist() == [2, 0, 2]


def test_a_letter_is_the_same_whether_or_not_it_is_asked_about():
    model = build()
    ids = torch.tensor(TOKENIZER.convert_tokens_to_ids(["a", "_a_"]))
    asked, letter = model.embedding(ids)
    assert torch.equal(asked, letter)
    # The last token is asked about either way.
    torch.testing.assert_close(logits(model, "b c _a_"), logits(model, "b c a"), **EXACT_MATHS)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_a_batch_is_as_each_text_alone(layers, causal):
    model = build(num_hidden_layers=layers, left_to_right=causal)
    alone = torch.cat([logits(model, text) for text in TEXTS])
    torch.testing.assert_close(logits(model, *TEXTS), alone, **EXACT_MATHS)


def test_causal_models_do_not_read_on():
    model, other = build(left_to_right=True, num_hidden_layers=2), build(num_hidden_layers=2)
    before, after = "a _b_ c c", "a _b_ a b"
    torch.testing.assert_close(logits(model, before), logits(model, after), **EXACT_MATHS)
    assert not torch.equal(logits(other, before), logits(other, after))


@pytest.mark.parametrize(
    ("start", "sees_letters", "sees_places"),
    [("both", True, True), ("positional", False, True), ("semantic", True, False)],
)
def test_what_scores_know_at_first(start, sees_letters, sees_places):
    model = build(start=start, tied=True)

    def scores(text):
        with torch.no_grad(), record(model) as trace:
            logits(model, text)
        return trace.only[0].scores[0, 0, 0]

    first = scores("a b _a_ c a")
    assert (not torch.allclose(first, scores("a b _b_ c a"))) == sees_letters
    same_letters = scores("a a _a_ a a")
    assert (not torch.allclose(same_letters, same_letters[0].expand(5))) == sees_places


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("part", ["positional", "semantic"])
def test_scores_of_one_part_never_read_the_other_and_can_be_freed(part, tied):
    model = build(scores=part, tied=tied)
    hidden = model.config.read_by("semantic" if part == "positional" else "positional")
    before = logits(model, *TEXTS)
    model(**encode(TOKENIZER, TEXTS).inputs(), labels=torch.tensor([0, 1, 2])).loss.backward()
    weight = model.layers[0].attention.query.weight
    assert weight.grad[:, hidden].count_nonzero() == 0
    assert weight.grad.count_nonzero() > 0
    model.free_scores()
    torch.testing.assert_close(logits(model, *TEXTS), before, **EXACT_MATHS)
    model.zero_grad()
    model(**encode(TOKENIZER, TEXTS).inputs(), labels=torch.tensor([0, 1, 2])).loss.backward()
    assert weight.grad[:, hidden].count_nonzero() > 0


def test_tied_heads_have_one_map():
    model = build(tied=True)
    names = {name for name, _ in model.named_parameters()}
    assert "layers.0.attention.query.weight" in names
    assert "layers.0.attention.key.weight" not in names
    assert model.layers[0].attention.key is model.layers[0].attention.query


@pytest.mark.parametrize("start", ["positional", "semantic"])
def test_a_saved_model_keeps_its_weights(tmp_path, start):
    model = build(start=start, tied=True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))  # so also what was 0 at first
    model.save_pretrained(tmp_path)
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path, dtype=torch.float64).eval()
    torch.testing.assert_close(logits(loaded, *TEXTS), logits(model, *TEXTS), **EXACT_MATHS)


def test_the_row_that_is_read_is_that_of_the_token_asked_about():
    model = build(num_hidden_layers=2)
    inputs = encode(TOKENIZER, TEXTS[:1]).inputs()
    site = find_site(model, inputs, AttentionSelector())
    assert (site.layer, site.row) == (1, "asked")
    assert find_site(model, inputs, AttentionSelector(layer=0)).row == "read"
    with pytest.raises(InputError, match="has no row 'first'"):
        find_site(model, inputs, AttentionSelector(row="first"))


@pytest.mark.parametrize("layers", [1, 2])
def test_explained_by_every_kind_of_method(layers):
    model = build(num_hidden_layers=layers)
    for method in ("attention", "erasure-renormalise", "erasure-delete", "gradient"):
        together = EXPLAINERS[method](model, TOKENIZER, TEXTS)
        for text, attribution in zip(TEXTS, together, strict=True):
            (alone,) = EXPLAINERS[method](model, TOKENIZER, [text])
            assert attribution.scores == pytest.approx(alone.scores, abs=1e-9)
            assert any(attribution.scores)
    with pytest.raises(InputError, match="computes only the row of the target token in its last layer"):
        EXPLAINERS["rollout"](model, TOKENIZER, TEXTS)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"start": "positonal"}, "did you mean 'positional'"),
        ({"scores": "letters"}, "`scores` 'letters' is unknown"),
        ({"embedding_size": 0}, "must be at least 1"),
        ({"attention": "distance-aware"}, "an activation alone"),
        ({"num_attention_heads": 3}, "heads do not divide"),
    ],
)
def test_refused(options, says):
    with pytest.raises(InputError, match=says):
        build(**options)


def test_a_text_longer_than_its_places_is_refused():
    with pytest.raises(InputError, match="longer than the 8 positions"):
        build()(input_ids=torch.full((1, 9), 5))
