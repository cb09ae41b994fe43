"""A given answer of an encoder–decoder: its probability, and which words of the source it rests on."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from typer.testing import CliRunner

from classifier_families import FAMILIES, WORDS, word_tokenizer
from glasshead import explain
from glasshead.cli.app import app
from glasshead.errors import InputError
from model_state import model_state
from slow_cases import own_methods

SOURCES = ["the plot is dull and not very good at all", "a warm , funny film"]
ANSWER = "not very good"
OTHERS = [word for word in WORDS.split() if word not in ("good", "bad", "warm", "dull", "funny", "so")]
FOLLOWS = {"good": "warm", "bad": "dull"}
MARIAN = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
          "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 60,
          "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
          "forced_eos_token_id": None}  # fmt: skip
KINDS = ("T5", "Bart", "Marian")
LED = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
       "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "attention_window": [4, 4],
       "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 32}  # fmt: skip
"""It fills the last window of a text with padding that it looks up by itself."""
every = pytest.mark.parametrize("kind", KINDS)
and_led = pytest.mark.parametrize("kind", [*KINDS, "LED"])
NO_WAY = "cannot remove a part of texts"
REFUSED = {
    **dict.fromkeys(("alti", "value-zeroing"), "is defined for one stack of layers"),
    "layer-chosen": "between two sequences",
    "value-norm-residual": "is cross-attention",
    **dict.fromkeys(("erasure-blur", "erasure-masked"), NO_WAY),
    "grad-cam": "reads the feature maps of an image classifier",
}


def answerer(kind):
    """A tiny model that answers at random, and its tokenizer."""
    torch.manual_seed(0)
    if kind == "Marian":
        model, tokenizer = hf.MarianMTModel(hf.MarianConfig(**MARIAN)), word_tokenizer("end")
    elif kind == "LED":
        tokenizer = FAMILIES["Bart"].tokenizer()
        special = {
            name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")
        }
        sizes = {**LED, **special, "vocab_size": len(tokenizer)}
        config = hf.LEDConfig(**sizes, decoder_start_token_id=tokenizer.eos_token_id)
        model = hf.LEDForConditionalGeneration(config)
    else:
        family = FAMILIES[kind]
        config = family.config(**family.options)
        model, tokenizer = hf.AutoModelForSeq2SeqLM.from_config(config), family.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return model.eval(), tokenizer


def read(model, tokenizer, source, answer=ANSWER, **options):
    """What the model itself says of a source and the labels, and log p of each label."""
    ids = tokenizer(source, return_tensors="pt")["input_ids"]
    labels = tokenizer(text_target=answer, return_tensors="pt")["input_ids"]
    given = options if "inputs_embeds" in options else options | {"input_ids": ids}
    output = model(**given, labels=labels)
    log_p = output.logits[0].log_softmax(dim=-1).gather(1, labels.T)[:, 0]
    assert output.loss.item() == pytest.approx(-log_p.mean().item(), rel=1e-5)
    return output, log_p


def asked(kind, method, sources=SOURCES, answer=ANSWER):
    """By source the explanations of the whole answer and of each token."""
    model, tokenizer = answerer(kind)
    found = explain(model, sources, tokenizer=tokenizer, answer=answer, method=method)
    size = len(tokenizer(text_target=answer)["input_ids"])
    assert len(found) == len(sources) * (1 + size)
    return [found[start : start + 1 + size] for start in range(0, len(found), 1 + size)]


@every
def test_the_probability_is_that_of_the_loss(kind):
    model, tokenizer = answerer(kind)
    before = model_state(model, tokenizer)
    for source, (whole, *each) in zip(SOURCES, asked(kind, "gradient"), strict=True):
        with torch.no_grad():
            output, log_p = read(model, tokenizer, source)
        assert np.log(whole.prediction) == pytest.approx(-float(output.loss) * len(log_p), abs=1e-5)
        assert [one.prediction for one in each] == pytest.approx(log_p.exp().tolist(), abs=1e-6)
        assert (whole.text, whole.asked, whole.target) == (source, ANSWER, f"“{ANSWER}”")
        assert [one.asked for one in each][:2] == [f"token {number} of {ANSWER}" for number in (1, 2)]
    assert model_state(model, tokenizer) == before


@and_led
def test_gradients_are_those_by_hand_and_add_up(kind):
    model, tokenizer = answerer(kind)
    encoder = model.get_encoder()
    vectors = encoder.get_input_embeddings()(tokenizer(SOURCES[0], return_tensors="pt")["input_ids"])
    vectors = vectors.detach().requires_grad_()
    # What the decoder reads does not move.
    read(model, tokenizer, SOURCES[0], inputs_embeds=vectors)[1].sum().backward()
    expected = (vectors * vectors.grad)[0].sum(dim=-1).detach()
    whole, *each = asked(kind, "gradient")[0]
    np.testing.assert_allclose(whole.scores, expected, atol=1e-5)
    np.testing.assert_allclose(np.sum([one.scores for one in each], axis=0), whole.scores, atol=1e-5)


@and_led
@pytest.mark.parametrize("removal", ["delete", "unknown-token", "mean-embedding"])
def test_erasures_are_those_by_hand(kind, removal):
    model, tokenizer = answerer(kind)
    source = SOURCES[0]
    words, ids = source.split(), tokenizer(source, return_tensors="pt")["input_ids"]
    table = model.get_encoder().get_input_embeddings()
    whole, first, *_ = asked(kind, f"erasure-{removal}")[0]
    special = len(ids[0]) - len(words)
    before = special // 2  # a mark on each side, or one at the end
    with torch.no_grad():
        full = read(model, tokenizer, source)[1]
        for number in range(len(words)):
            if removal == "delete":
                without = read(model, tokenizer, " ".join(words[:number] + words[number + 1 :]))[1]
            else:
                vectors = table(ids)
                mean = table(torch.arange(table.num_embeddings)).mean(dim=0)
                unknown = table(torch.tensor(tokenizer.unk_token_id))
                vectors[0, before + number] = mean if removal == "mean-embedding" else unknown
                without = read(model, tokenizer, source, inputs_embeds=vectors)[1]
            change = full - without
            assert whole.scores[before + number] == pytest.approx(float(change.sum()), abs=1e-4)
            assert first.scores[before + number] == pytest.approx(float(change[0]), abs=1e-4)


@every
def test_attention_is_that_of_the_row_that_predicts_the_token(kind):
    model, tokenizer = answerer(kind)
    model.set_attn_implementation("eager")
    output, _ = read(model, tokenizer, SOURCES[0], output_attentions=True)
    cross = [one[0].mean(dim=0) for one in output.cross_attentions]
    own = [one[0].mean(dim=0) for one in output.decoder_attentions]
    size = len(output.encoder_attentions[0][0, 0])
    source = torch.eye(size)
    for layer in output.encoder_attentions:
        source = 0.5 * layer[0].mean(dim=0) @ source + 0.5 * source
    answer = torch.zeros(len(own[0]), size)
    for layer, to_source in zip(own, cross, strict=True):
        answer = 0.5 * layer @ answer + 0.5 * answer
        answer = 0.5 * to_source @ source + 0.5 * answer
    by_layer = torch.stack(cross).mean(dim=0)
    for method, rows in {"attention": cross[-1], "rollout": answer, "layer-mean": by_layer}.items():
        _, *each = asked(kind, method)[0]
        for row, one in zip(rows, each, strict=True):
            np.testing.assert_allclose(one.scores, row.detach(), atol=1e-5)
            assert "the one row that the prediction reads" in one.reading or len(each) > 1


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch_or_says_why_not(method):
    if method in REFUSED or "colour" in method:
        with pytest.raises(InputError, match=REFUSED.get(method, NO_WAY)):
            asked("Bart", method)
        return
    together = asked("Bart", method)
    alone = [one for source in SOURCES for one in asked("Bart", method, [source])]
    for ones, others in zip(together, alone, strict=True):
        for one, other in zip(ones, others, strict=True):
            assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
            if method != "random":
                np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["good", " ".join(WORDS.split()[:9]), " ".join(WORDS.split()[:12])])
def test_answers_shorter_and_longer_than_the_source_and_as_long(answer):
    """Tables of rows and of tokens are not mixed up."""
    for method in ("attention", "rollout", "attention-flow"):
        whole, *each = asked("T5", method, SOURCES, answer)[1]
        (alone,) = asked("T5", method, SOURCES[1:], answer)
        np.testing.assert_allclose(whole.scores, alone[0].scores, atol=1e-5)
        np.testing.assert_allclose(each[-1].scores, alone[-1].scores, atol=1e-5)
        assert np.any(whole.scores)


def test_captum_changes_the_source_alone():
    pytest.importorskip("captum")
    ((whole, *_),) = asked("Bart", "captum:integrated-gradients", SOURCES[1:], "so")
    assert abs(whole.completeness_gap) < 0.05
    ((whole, *_),) = asked("Bart", "captum:lime", SOURCES[1:], "so")
    assert np.count_nonzero(whole.scores) == len(SOURCES[1].split())


def planted_sources(random, count):
    """Sources with “good” (answer: “so warm”), with “bad” (“so dull”), and with neither (“so funny”)."""
    sources, answers = [], []
    for _ in range(count):
        words = [str(word) for word in random.choice(OTHERS, 5, replace=False)]
        deciding = ("good", "bad", words[-1])[random.integers(3)]
        words.insert(int(random.integers(6)), deciding)
        sources.append(" ".join(words))
        answers.append(f"so {FOLLOWS.get(deciding, 'funny')}")
    return sources, answers


@cache
def planted():
    """A T5 that has learnt that, and sources that it has not seen."""
    torch.manual_seed(0)
    config = hf.T5Config(**FAMILIES["T5"].options, dropout_rate=0.0, tie_word_embeddings=False)
    model, tokenizer = hf.T5ForConditionalGeneration(config), FAMILIES["T5"].tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=1.0 if parameter is model.shared.weight else 0.4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    random = np.random.default_rng(0)
    for _ in range(110):
        sources, answers = planted_sources(random, 64)
        ids = torch.tensor(tokenizer(sources)["input_ids"])
        labels = torch.tensor(tokenizer(text_target=answers)["input_ids"])
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_sources(random, 90)


def share_found(method, **options):
    """In how many sources the word that decides has the highest score."""
    model, tokenizer, (sources, answers) = planted()
    best = []
    for word, follows in FOLLOWS.items():
        own = [source for source, answer in zip(sources, answers, strict=True) if follows in answer]
        asked = {"answer": f"so {follows}", "method": method} | options
        found = explain(model, own, tokenizer=tokenizer, **asked)
        wholes = found[:: len(found) // len(own)]
        assert np.mean([one.prediction for one in wholes]) > 0.95
        best += [max(zip(one.scores[:-1], one.tokens, strict=False))[1] == word for one in wholes]
    return np.mean(best)


@pytest.mark.slow
def test_the_word_of_the_source_that_decides_is_found():
    assert share_found("erasure-mean-embedding") >= 0.95
    assert share_found("random") < 0.5


def test_the_word_that_decides_between_two_answers_is_found():
    assert share_found("erasure-mean-embedding", against="so funny") >= 0.95
    assert share_found("random", against="so funny") < 0.5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"answer": ""}, "is empty"),
        ({"answer": "so", "pairs": "a film"}, "reads one text"),
        ({"answer": "so", "at": "film"}, "`at` is for models"),
        ({"answer": "so", "target": "so"}, "leave `target` out"),
        ({"answer": "so " * 1100}, "has 1,102 tokens, and the model writes 1024"),
        ({"answer": "so", "layer": 2}, "reads the output of the decoder"),
        ({}, "explain an answer of yours"),
    ],
)
def test_what_cannot_be_asked(options, says):
    model, tokenizer = answerer("Bart")
    with pytest.raises(InputError, match=says):
        explain(model, "a warm film", tokenizer=tokenizer, **options)


def test_an_encoder_is_a_layer_like_others():
    model, tokenizer = answerer("Bart")
    found = explain(model, SOURCES[1], tokenizer=tokenizer, answer=ANSWER, layer=1, method="attention")
    assert "encoder.layers.1" in found[0].reading
    np.testing.assert_allclose(np.sum(found[0].scores), 1, atol=1e-5)


def test_the_command(tmp_path):
    model, tokenizer = answerer("T5")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    asked = ["explain", str(tmp_path), SOURCES[1], "--answer", "so warm", "--method", "erasure-delete"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "p(“so warm”) = " in shown.output
    assert "p(“warm”) = " in shown.output
