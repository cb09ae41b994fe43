"""What is explained of a `CrossEncoder` of sentence-transformers is what it predicts, or a note says what."""

import random

import pytest
import torch
from torch import nn

import glasshead
from adapted import learned, peft
from classifier_families import FAMILIES, WORDS
from glasshead.errors import InputError
from glasshead.opening import OpenOptions, open_subject
from typed import glasshead as command

sentence_transformers = pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.usefixtures("quiet")
PAIRS = [("a warm film", "the plot is dull and not very good"), ("the first", "a film longer than the plot")]
LONG = ("a warm film " * 9, "the plot is very dull " * 9)
RATES = "the CrossEncoder prints a sigmoid; its logit is explained, as a rating"
CHOOSES = "the CrossEncoder prints logits; their softmax is explained, a probability"


@pytest.fixture
def encoder(tmp_path):
    """A cross-encoder of a tiny model with so many outputs."""

    def encoder(labels=1, family="Bert", **settings):
        FAMILIES[family].build(labels=labels).save_pretrained(tmp_path)
        FAMILIES[family].tokenizer().save_pretrained(tmp_path)
        return sentence_transformers.CrossEncoder(str(tmp_path), device="cpu", **settings)

    return encoder


def predict(encoder, pairs, **options):
    return torch.as_tensor(encoder.predict(pairs, show_progress_bar=False, **options))


def explained(encoder, pairs, **options):
    texts, seconds = zip(*pairs, strict=True)
    return glasshead.explain(encoder, list(texts), pairs=list(seconds), **options)


@pytest.mark.parametrize(
    ("activation", "notes"), [(nn.Sigmoid(), (RATES,)), (nn.Identity(), ()), (None, (RATES,))]
)
def test_one_output_is_a_rating(activation, notes, encoder):
    rates = encoder(activation_fn=activation, max_length=14)
    assert open_subject(rates).notes == notes
    expected = predict(rates, [*PAIRS, LONG], activation_fn=nn.Identity())
    ratings = [attribution.prediction for attribution in explained(rates, [*PAIRS, LONG])]
    assert ratings == pytest.approx(expected.tolist(), abs=1e-5)
    assert ratings[0] != pytest.approx(ratings[1], abs=1e-2)


def test_a_sigmoid_may_be_asked_as_a_label(encoder):
    rates = encoder()
    subject = open_subject(rates, options=OpenOptions(task="labels"))
    assert subject.notes == ()
    found = [attribution.prediction for attribution in explained(subject, PAIRS, target="LABEL_0")]
    assert found == pytest.approx(predict(rates, PAIRS).tolist(), abs=1e-5)


@pytest.mark.parametrize(("activation", "notes"), [(None, (CHOOSES,)), (nn.Softmax(dim=-1), ())])
def test_several_outputs_are_classes(activation, notes, encoder):
    chooses = encoder(labels=3, activation_fn=activation)
    assert open_subject(chooses).notes == notes
    expected = predict(chooses, PAIRS, apply_softmax=activation is None)[:, 1]
    found = [attribution.prediction for attribution in explained(chooses, PAIRS, target="LABEL_1")]
    assert found == pytest.approx(expected.tolist(), abs=1e-5)


def test_sigmoids_are_labels(encoder):
    labels = encoder(labels=3, activation_fn=nn.Sigmoid())
    found = [attribution.prediction for attribution in explained(labels, PAIRS, target="LABEL_1")]
    assert found == pytest.approx(predict(labels, PAIRS)[:, 1].tolist(), abs=1e-5)


def test_it_stays_as_it_was(encoder):
    rates = encoder(max_length=14).train()
    before = {name: tensor.clone() for name, tensor in rates.state_dict().items()}
    explained(rates, PAIRS)
    assert rates.training
    assert rates.tokenizer.model_max_length == 14
    assert all(torch.equal(tensor, before[name]) for name, tensor in rates.state_dict().items())


def test_adapters_in_a_cross_encoder(encoder):
    rates = encoder(activation_fn=nn.Identity())
    rates.model.add_adapter(peft.LoraConfig(r=4, target_modules=["query"]), "mine")
    learned(rates.model)
    assert open_subject(rates).notes == ("adapters (PEFT) merged in a copy of the model: mine",)
    found = [attribution.prediction for attribution in explained(rates, PAIRS)]
    assert found == pytest.approx(predict(rates, PAIRS).tolist(), abs=1e-5)


def test_what_cannot_be_followed(encoder):
    def refused(source, says, tokenizer=None):
        with pytest.raises(InputError, match=says) as refusal:
            open_subject(source, tokenizer)
        assert len(str(refusal.value)) <= 300

    refused(encoder(activation_fn=nn.Tanh()), "activation_fn=Tanh, which Glasshead does not follow")
    refused(
        encoder(activation_fn=nn.Softmax(dim=-1)), "activation_fn=Softmax, which Glasshead does not follow"
    )
    prompted = encoder(prompts={"ask": "not very good "}, default_prompt_name="ask")
    refused(prompted, "predicts something else than its model .* a prompt")
    refused(
        encoder(),
        "a CrossEncoder already has a tokenizer: leave `tokenizer` out",
        FAMILIES["Bert"].tokenizer(),
    )
    more = encoder()
    more.append(nn.Identity())
    refused(more, r"computes its score after the model \(Identity\)")


def test_a_reranker_in_a_folder_is_explained_and_audited(encoder, tmp_path):
    """As typed: pairs with a score."""
    encoder(family="Bert")
    words, draw = WORDS.split(), random.Random(0)
    rows = [
        f"{' '.join(draw.choices(words, k=3))},{' '.join(draw.choices(words, k=8))},{draw.random():.3f}\n"
        for _ in range(60)
    ]
    (tmp_path / "pairs.csv").write_text("text,text_pair,score\n" + "".join(rows))
    said = command("explain", tmp_path, "a warm film", "--pair", "the plot is dull").stdout
    assert "predicted rating" in said
    options = ["--label-column", "score", "--limit", 4, "--audits", "performance,faithfulness"]
    audited = command("audit", tmp_path, tmp_path / "pairs.csv", "--out", tmp_path / "audit", *options).stdout
    assert "RMSE" in audited
    assert (tmp_path / "audit" / "report.html").is_file()
