"""Four meanings of "without this token", each against the slow way."""

import pytest
import torch

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, by_word, make_context
from readable import KINDS
from small import TEXTS, random_model, tokenizer
from tolerances import ONE_MODEL

every_model = pytest.mark.parametrize(
    "options",
    [
        {"activation": "softmax"},
        {"activation": "tanhmax", "value_dim": 3, "score": "query-key"},
        {"activation": "tanhmax", "classes": 3, "encoder": "affine"},
    ],
)


def view_of(model):
    return make_context(model, encode(tokenizer(), TEXTS), tokenizer())


@every_model
def test_zero_weight_is_a_forward_pass_with_that_weight_at_zero(options):
    model = random_model(**options)
    view = view_of(model)
    found = EXPLAINERS["erasure"].importance(view)
    seen = view.observation
    for text, token in seen.mask.nonzero():
        weights = seen.weights[text].clone()
        weights[token] = 0
        outputs = torch.einsum("n,nk->k", weights, seen.polarity[text]) + seen.bias
        logits = torch.cat([torch.zeros(1), outputs]) if len(outputs) == 1 else outputs
        target = view.target[text]
        expected = view.logits[text].softmax(-1)[target] - logits.softmax(-1)[target]
        torch.testing.assert_close(found[text, token], expected, **ONE_MODEL)


@every_model
def test_without_an_encoder_renormalising_is_deleting(options):
    model = random_model(**options)
    view = view_of(model)
    renormalised = EXPLAINERS["erasure-renormalise"].importance(view)[view.encoded.mask]
    deleted = EXPLAINERS["erasure-delete"].importance(view)[view.encoded.mask]
    torch.testing.assert_close(renormalised, deleted, **ONE_MODEL)


def test_with_an_lstm_they_differ_and_deleting_is_reading_the_shorter_text():
    model = random_model(encoder="lstm")
    view = view_of(model)
    deleted = EXPLAINERS["erasure-delete"].importance(view)
    assert (deleted - EXPLAINERS["erasure-renormalise"].importance(view))[
        view.encoded.mask
    ].abs().max() > 1e-4
    ids = view.encoded.ids[0][view.encoded.mask[0]]
    for token in range(len(ids)):
        rest = torch.cat([ids[:token], ids[token + 1 :]])[None]
        without = model(rest, torch.ones_like(rest)).logits.softmax(-1)[0, 1]
        expected = view.logits[0].softmax(-1)[1] - without
        torch.testing.assert_close(deleted[0, token], expected.detach(), **ONE_MODEL)


def test_blocks_of_rows_change_nothing(monkeypatch):
    view = view_of(random_model(activation="tanhmax"))
    names = ("erasure-renormalise", "erasure-delete", "erasure-mask-token")
    whole = [EXPLAINERS[name].importance(view) for name in names]
    monkeypatch.setattr("glasshead.explainers.linear_readout.MOST_NUMBERS", 1)
    monkeypatch.setattr("glasshead.data.batching.TOKENS_PER_BATCH", 1)
    for name, expected in zip(names, whole, strict=True):
        torch.testing.assert_close(
            EXPLAINERS[name].importance(view)[view.encoded.mask], expected[view.encoded.mask], **ONE_MODEL
        )


@every_model
def test_contributions_add_up_to_the_score_of_the_target(options):
    view = view_of(random_model(**options))
    total = (EXPLAINERS["contribution"].importance(view) * view.encoded.mask).sum(dim=1)
    if view.logits.shape[1] == 2:
        torch.testing.assert_close(total + view.observation.bias, view.logits[:, 1], **ONE_MODEL)
    else:
        centred = view.logits - view.logits.mean(dim=1, keepdim=True)
        bias = view.observation.bias - view.observation.bias.mean()
        expected = centred.gather(1, view.target[:, None])[:, 0] - bias[view.target]
        torch.testing.assert_close(total, expected, **ONE_MODEL)


def test_attention_is_shown_in_the_canonical_gauge():
    model = random_model(activation="tanhmax")
    (raw,) = EXPLAINERS["attention"](model, tokenizer(), TEXTS[:1])
    model.config.gauge = -1
    (turned,) = EXPLAINERS["attention"](model, tokenizer(), TEXTS[:1])
    assert turned.scores == tuple(-score for score in raw.scores)
    assert turned.contributions == raw.contributions
    assert raw.signed
    (unsigned,) = EXPLAINERS["attention"](random_model(activation="softmax"), tokenizer(), TEXTS[:1])
    assert not unsigned.signed


def test_targets_by_name_and_number_and_a_wrong_one():
    model = random_model(classes=3)
    explain = EXPLAINERS["gradient"]
    (by_name,) = explain(model, tokenizer(), TEXTS[:1], target="mixed")
    (by_number,) = explain(model, tokenizer(), TEXTS[:1], target=2)
    assert by_name == by_number
    with pytest.raises(InputError, match="did you mean 'mixed'"):
        explain(model, tokenizer(), TEXTS[:1], target="mixt")
    with pytest.raises(InputError, match="did you mean 'margin'"):
        explain(model, tokenizer(), TEXTS[:1], target_fn="margins")


def test_log_odds_and_margin_of_two_classes_are_the_score():
    """For [0, z] both are z, so their erasure importance is the contribution a·o."""
    model = random_model(activation="tanhmax")
    (contribution,) = EXPLAINERS["contribution"](model, tokenizer(), TEXTS[:1])
    for of in ("log-odds", "margin", "logit"):
        (erased,) = EXPLAINERS["erasure"](model, tokenizer(), TEXTS[:1], target_fn=of)
        assert erased.scores == pytest.approx(contribution.scores, abs=1e-5)


def test_words_of_a_word_level_tokenizer_are_its_tokens():
    (attribution,) = EXPLAINERS["attention"](random_model(), tokenizer(), ["Good  film , BAD"])
    words = by_word(attribution)
    assert words.tokens == ("Good", "film", ",", "BAD")
    assert words.scores == attribution.scores


@pytest.mark.parametrize("kind", ["bert", "encoder first", "pair-encoder"])
def test_special_tokens_are_never_removed(kind):
    """Models are made to read with them, and they are no part of the text."""
    kind = KINDS[kind]()
    encoded = encode(kind.tokenizer, kind.texts, kind.pairs)
    view = make_context(kind.model, encoded, kind.tokenizer)
    special = encoded.mask & torch.from_numpy(encoded.words < 0)
    words = encoded.mask & ~special
    assert special.any()
    changes = EXPLAINERS["erasure-delete"].importance(view)
    assert (changes[special] == 0).all()
    assert (changes[words] != 0).any()
