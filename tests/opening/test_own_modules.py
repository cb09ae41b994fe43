"""Modules of one's own, around a Transformers model or without one, and models without attention."""

import threading
from types import SimpleNamespace

import pytest
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Value
from torch import nn

import glasshead
from classifier_families import TEXTS, word_tokenizer
from glasshead.errors import InputError
from glasshead.huggingface import random_twin
from image_families import pictures, processor

SIZES = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2}
BERT = {**SIZES, "intermediate_size": 32, "num_attention_heads": 2, "initializer_range": 0.4}
TOKENIZER = word_tokenizer("bert")
NO_ATTENTION = "has no attention that can be read: explain, rank or audit it with methods that need none"


class MeanPooled(nn.Module):
    """The usual one: an encoder, the mean of its states, and a linear layer."""

    def __init__(self, encoder, classes=3):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(16, classes)

    def logits(self, input_ids, attention_mask):
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask[..., None].to(states.dtype)
        return self.head((states * mask).sum(dim=1) / mask.sum(dim=1))

    def forward(self, input_ids, attention_mask):
        return self.logits(input_ids, attention_mask)


class GivesDict(MeanPooled):
    def forward(self, input_ids, attention_mask, labels=None):
        return {"loss": None, "logits": self.logits(input_ids, attention_mask)}


class GivesTuple(MeanPooled):
    def forward(self, input_ids, attention_mask=None, **others):
        return self.logits(input_ids, attention_mask), others


class GivesObject(MeanPooled):
    def forward(self, *, input_ids, attention_mask):
        return SimpleNamespace(logits=self.logits(input_ids, attention_mask))


class Recurrent(nn.Module):
    """No Transformers model at all."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(60, 16)
        self.layer = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, input_ids, attention_mask):
        states, _ = self.layer(self.words(input_ids))
        return self.head(states[torch.arange(len(states)), attention_mask.sum(dim=1) - 1])


class Characters(nn.Module):
    """A small table of letters, and a larger one of positions; torch's encoder with its usual settings."""

    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(200, 16)
        self.letters = nn.Embedding(60, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.question = nn.Parameter(torch.randn(16))
        self.gain = nn.Parameter(torch.ones(16))
        self.head = nn.Linear(16, 3)

    def states(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)
        vectors = self.letters(input_ids) + self.places(places)
        return self.layers(vectors, src_key_padding_mask=attention_mask == 0)

    def forward(self, input_ids, attention_mask):
        states = self.states(input_ids, attention_mask)
        scores = (states @ self.question).masked_fill(attention_mask == 0, float("-inf"))
        return self.head(self.gain * (scores.softmax(dim=-1)[:, None] @ states)[:, 0])


def mean_pooled(kind=MeanPooled, classes=3):
    torch.manual_seed(0)
    return kind(hf.BertModel(hf.BertConfig(**BERT)), classes)


def without_attention(name):
    torch.manual_seed(0)
    if name == "FNet":
        config = hf.FNetConfig(**SIZES, intermediate_size=32, num_labels=3, initializer_range=0.4)
        return hf.FNetForSequenceClassification(config).eval()
    if name == "Mamba":
        return MeanPooled(hf.MambaModel(hf.MambaConfig(**SIZES, state_size=4)))
    return Recurrent()


def probabilities(module, text):
    inputs = TOKENIZER(text, return_tensors="pt")
    given = {} if isinstance(module, hf.FNetForSequenceClassification) else inputs
    mask = {name: value for name, value in given.items() if name == "attention_mask"}
    output = module.eval()(input_ids=inputs["input_ids"], **mask)
    return getattr(output, "logits", output).softmax(dim=-1)[0].detach()


@pytest.mark.parametrize("kind", [MeanPooled, GivesDict, GivesTuple, GivesObject])
def test_a_module_is_read_whatever_it_gives_its_logits_in(kind):
    module, same = mean_pooled(kind), mean_pooled()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    module.train()
    explained = glasshead.explain(module, TEXTS, tokenizer=TOKENIZER, target=2)
    for own, text in zip(explained, TEXTS, strict=True):
        assert own.prediction == pytest.approx(float(probabilities(same, text)[2]), rel=1e-4)
        assert own.target == "LABEL_2"
        assert any(own.scores)
    assert all(part.training for part in module.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())


def test_gradients_and_erasures_are_those_by_hand():
    module, text = mean_pooled().eval(), TEXTS[0]
    inputs = TOKENIZER(text, return_tensors="pt")
    vectors = []

    def keep(_, __, output):
        vectors.append(output.detach().requires_grad_())
        return vectors[-1]

    hook = module.encoder.get_input_embeddings().register_forward_hook(keep)
    p = module(inputs["input_ids"], inputs["attention_mask"]).softmax(dim=-1)[0, 1]
    hook.remove()
    (gradient,) = torch.autograd.grad(p, vectors)
    expected = (gradient * vectors[0]).sum(dim=-1)[0]
    (own,) = glasshead.explain(module, text, tokenizer=TOKENIZER, method="gradient", target=1, unit="token")
    assert own.scores == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-6)
    (own,) = glasshead.explain(module, text, tokenizer=TOKENIZER, method="erasure-delete", target=1)
    ids = inputs["input_ids"][0].tolist()
    for place, word in enumerate(own.words):
        if word >= 0:
            kept = torch.tensor([ids[:place] + ids[place + 1 :]])
            without = module(kept, torch.ones_like(kept)).softmax(dim=-1)[0, 1]
            assert own.scores[place] == pytest.approx(float((p - without).detach()), rel=1e-3, abs=1e-6)


def test_attention_is_that_of_the_model_inside():
    module = mean_pooled().eval()
    module.encoder.set_attn_implementation("eager")
    subject = glasshead.open(module, TOKENIZER)
    inputs = TOKENIZER(TEXTS[1], return_tensors="pt")
    expected = module.encoder(**inputs, output_attentions=True).attentions
    with glasshead.record(subject.model) as trace:
        subject.model(**inputs)
    for layer, weights in zip(trace.only, expected, strict=True):
        torch.testing.assert_close(layer.weights, weights, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_classes_are_named_and_audited():
    module = mean_pooled(classes=2)
    features = Features({"text": Value("string"), "label": ClassLabel(names=["bad", "good"])})
    data = Dataset.from_dict({"text": TEXTS * 2, "label": [1, 0] * 3}, features=features)
    names = {"LABEL_0": "bad", "LABEL_1": "good"}
    subject = glasshead.open(module, TOKENIZER, labels=names)
    assert subject.labels == ["bad", "good"]
    assert subject.name == "MeanPooled"
    card = glasshead.audit(subject, data, draws=2, audits=["perturbation", "faithfulness"])
    assert card.findings
    assert "4 heads" in repr(glasshead.heads(subject, data))


def test_new_weights_are_those_that_the_parts_begin_with():
    subject = glasshead.open(mean_pooled(), TOKENIZER)
    twin, same = random_twin(subject.model, 1), random_twin(subject.model, 1)
    inputs = TOKENIZER(TEXTS[1], return_tensors="pt")
    torch.testing.assert_close(twin(**inputs).logits, same(**inputs).logits)
    assert not torch.allclose(twin(**inputs).logits, subject.model(**inputs).logits, atol=1e-3)
    assert not torch.equal(twin.module.head.weight, subject.model.module.head.weight)


def test_one_output_is_a_rating():
    module = mean_pooled(classes=1)
    (own,) = glasshead.explain(module, TEXTS[0], tokenizer=TOKENIZER, method="gradient")
    inputs = TOKENIZER(TEXTS[0], return_tensors="pt")
    expected = float(module.eval()(inputs["input_ids"], inputs["attention_mask"])[0, 0].detach())
    assert own.rates
    assert own.prediction == pytest.approx(expected, rel=1e-4)


def test_modules_that_cannot_be_read():
    class Positional(nn.Module):
        def forward(self, x, mask):
            return x

    class Words(Recurrent):
        def forward(self, input_ids, attention_mask):
            return self.words(input_ids)

    class Broken(Recurrent):
        def forward(self, input_ids, attention_mask):
            raise KeyError("no such thing")

    for module, says in (
        (Positional(), "forward of Positional takes no input_ids: let it take"),
        (Words(), "forward of Words gives no logits for each class"),
        (Broken(), "Broken fails on two texts of four tokens .*no such thing"),
    ):
        with pytest.raises(InputError, match=says):
            glasshead.open(module, TOKENIZER)
    with pytest.raises(InputError, match="MeanPooled needs its tokenizer"):
        glasshead.open(mean_pooled())


@pytest.mark.parametrize("classes", [1, 3])
def test_a_module_must_give_a_row_for_a_single_text(classes):
    class Squeezed(MeanPooled):
        def forward(self, input_ids, attention_mask):
            return self.logits(input_ids, attention_mask).squeeze()

    says = r"forward of Squeezed gives no row of logits for each text .* also for a single text"
    with pytest.raises(InputError, match=says):
        glasshead.open(mean_pooled(Squeezed, classes), TOKENIZER)


def test_probabilities_are_not_taken_for_logits():
    class Softmax(MeanPooled):
        def forward(self, input_ids, attention_mask):
            return self.logits(input_ids, attention_mask).softmax(dim=-1)

    class LogSoftmax(MeanPooled):
        def forward(self, input_ids, attention_mask):
            return self.logits(input_ids, attention_mask).log_softmax(dim=-1)

    for module in (mean_pooled(Softmax), mean_pooled(Softmax).bfloat16()):
        with pytest.raises(
            InputError, match="forward of Softmax gives probabilities: let it return the logits"
        ):
            glasshead.open(module, TOKENIZER)
    (own,) = glasshead.explain(mean_pooled(LogSoftmax), TEXTS[0], tokenizer=TOKENIZER, target=1)
    assert own.prediction == pytest.approx(float(probabilities(mean_pooled(), TEXTS[0])[1]), rel=1e-4)


def test_words_looked_up_in_two_tables_are_refused():
    class Both(MeanPooled):
        def __init__(self, encoder, classes):
            super().__init__(encoder, classes)
            self.words = nn.Embedding(60, 3)

        def forward(self, input_ids, attention_mask):
            return self.logits(input_ids, attention_mask) + self.words(input_ids).mean(dim=1)

    says = r"Both looks up words in 2 tables \(encoder\.embeddings\.word_embeddings, words\)"
    with pytest.raises(InputError, match=says):
        glasshead.open(mean_pooled(Both), TOKENIZER)


def test_the_table_of_words_is_the_one_that_the_ids_go_to():
    torch.manual_seed(0)
    module, text = Characters().eval(), TEXTS[0]
    subject = glasshead.open(module, TOKENIZER)
    assert subject.model.get_input_embeddings().weight is module.letters.weight
    (own,) = glasshead.explain(subject, text, method="gradient", target=1, unit="token")
    inputs = TOKENIZER(text, return_tensors="pt")
    vectors = module.letters(inputs["input_ids"]).detach().requires_grad_()
    module.letters.register_forward_hook(lambda *_: vectors)
    p = module(inputs["input_ids"], inputs["attention_mask"]).softmax(dim=-1)[0, 1]
    (gradient,) = torch.autograd.grad(p, vectors)
    expected = (gradient * vectors).sum(dim=-1)[0]
    assert own.scores == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-6)


def test_attention_in_an_encoder_of_torch_is_refused_and_erasure_works():
    torch.manual_seed(0)
    module = Characters().eval()
    with pytest.raises(InputError, match=r"Characters computes its attention itself, .* use 'gradient'"):
        glasshead.explain(module, TEXTS, tokenizer=TOKENIZER, method="attention")
    explained = glasshead.explain(module, TEXTS, tokenizer=TOKENIZER, method="erasure-delete", target=1)
    for own, text in zip(explained, TEXTS, strict=True):
        assert own.prediction == pytest.approx(float(probabilities(module, text)[1]), rel=1e-4)
        assert any(own.scores)
    assert module.layers.use_nested_tensor  # the caller's stays as it was


def test_no_weight_of_a_twin_is_a_trained_one():
    torch.manual_seed(0)
    subject = glasshead.open(Characters(), TOKENIZER)
    with torch.no_grad():
        for tensor in subject.model.parameters():
            tensor.add_(torch.randn_like(tensor), alpha=0.1)  # as if it were trained
    twin, again = random_twin(subject.model, 1), random_twin(subject.model, 1)
    new, same = dict(twin.named_parameters()), dict(again.named_parameters())
    for name, tensor in subject.model.named_parameters():
        assert not torch.equal(tensor, new[name]), name
        assert torch.equal(new[name], same[name]), name
    question = subject.model.module.question.detach()
    assert float(twin.module.question.detach().std()) == pytest.approx(float(question.std()), rel=0.8)
    assert float(twin.module.gain.mean().detach()) == pytest.approx(1.0, abs=0.2)


def test_classes_are_not_named_after_those_of_the_model_inside():
    torch.manual_seed(0)
    names = {0: "negative", 1: "neutral", 2: "positive"}
    module = MeanPooled(hf.BertModel(hf.BertConfig(**BERT, id2label=names)))
    assert glasshead.open(module, TOKENIZER).labels == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert module.encoder.config.id2label == names


def test_a_module_that_cannot_be_copied():
    module = mean_pooled()
    module.lock = threading.Lock()
    with pytest.raises(
        InputError, match=r"MeanPooled cannot be copied \(.*lock.*\): keep uncopyable objects"
    ):
        glasshead.open(module, TOKENIZER)


@pytest.mark.parametrize("name", ["FNet", "Mamba", "no Transformers model"])
def test_models_without_attention_are_read_by_what_needs_none(name):
    model = without_attention(name).eval()
    for method in ("gradient", "erasure-delete", "captum:integrated-gradients"):
        explained = glasshead.explain(model, TEXTS, tokenizer=TOKENIZER, method=method, target=1)
        for own, text in zip(explained, TEXTS, strict=True):
            assert own.prediction == pytest.approx(float(probabilities(model, text)[1]), rel=1e-4)
            assert any(own.scores)
    for method in ("attention", "rollout", "value-zeroing", "attn-lrp"):
        with pytest.raises(InputError, match=NO_ATTENTION):
            glasshead.explain(model, TEXTS, tokenizer=TOKENIZER, method=method)
    data = Dataset.from_dict({"text": TEXTS * 2, "label": ["LABEL_0", "LABEL_1"] * 3})
    ranking = glasshead.rank(model, data, tokenizer=TOKENIZER, methods=["gradient", "erasure-delete"])
    assert "gradient" in repr(ranking)
    with pytest.raises(InputError, match=NO_ATTENTION):
        glasshead.audit(model, data, tokenizer=TOKENIZER, draws=2)


def test_a_classifier_of_images_without_attention_is_read_by_its_patches():
    torch.manual_seed(0)
    config = hf.ConvNextConfig(
        image_size=12, hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, num_labels=3, initializer_range=0.3
    )
    model = hf.ConvNextForImageClassification(config).eval()
    (picture, *_) = pictures()
    reader = glasshead.open(model, processor()).tokenizer
    inputs = reader.encode([picture]).inputs()
    p = model(pixel_values=inputs["pixel_values"]).logits.softmax(dim=-1)[0, 1]
    for method in ("gradient", "erasure-neutral-colour"):
        (own,) = glasshead.explain(model, picture, tokenizer=processor(), method=method, target=1)
        assert own.prediction == pytest.approx(float(p.detach()), rel=1e-4)
        assert len(own.scores) == 9
        assert any(own.scores)
    with pytest.raises(InputError, match=r"has no attention .* and 'erasure-neutral-colour'"):
        glasshead.explain(model, picture, tokenizer=processor(), method="attention")


def windows():
    """A model of windows."""
    return hf.SwinForImageClassification(
        hf.SwinConfig(
            image_size=12, patch_size=1, embed_dim=8, depths=[1, 1], num_heads=[1, 2], window_size=3
        )
    )


def convolutions():
    """A model of convolutions that overlap."""
    return hf.ResNetForImageClassification(hf.ResNetConfig(hidden_sizes=[8], depths=[1], num_labels=3))


@pytest.mark.parametrize(
    ("build", "reason"),
    [(windows, "not between the patches of a whole image"), (convolutions, "has no attention")],
)
def test_an_image_is_cut_for_a_model_of_which_no_token_is_a_patch(build, reason):
    torch.manual_seed(0)
    model, (picture, *_) = build().eval(), pictures()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    encoded = glasshead.open(model, processor()).tokenizer.encode([picture])
    pixels = encoded.inputs()["pixel_values"].requires_grad_()
    p = model(pixel_values=pixels).logits.softmax(dim=-1)[0, 1]
    p.backward()
    asked = {"tokenizer": processor(), "target": 1}
    (slopes,) = glasshead.explain(model, picture, method="gradient", **asked)
    (changes,) = glasshead.explain(model, picture, method="erasure-neutral-colour", **asked)
    assert len(slopes.scores) == 144
    for number, (left, top, right, bottom) in enumerate(slopes.boxes):
        own = (pixels * pixels.grad)[0, :, top:bottom, left:right].sum()
        assert slopes.scores[number] == pytest.approx(float(own.detach()), abs=1e-6)
        if number % 12 == 0:
            without = pixels.detach().clone()
            without[0, :, top:bottom, left:right] = 0
            with torch.no_grad():
                change = p.detach() - model(pixel_values=without).logits.softmax(dim=-1)[0, 1]
            assert changes.scores[number] == pytest.approx(float(change), abs=1e-6)
    for method in ("attention", "rollout", "erasure-masked"):
        with pytest.raises(InputError, match=reason):
            glasshead.explain(model, picture, method=method, **asked)
