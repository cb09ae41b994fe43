"""Gradients along a token where a layer norm follows the embeddings."""

from functools import partial

import pytest
import torch
import transformers as hf
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutput

import glasshead
import image_families
from classifier_families import FAMILIES, TEXTS, widened, word_tokenizer
from glasshead.data import encode
from glasshead.explainers import EXPLAINERS
from readable import family

NORMALISED = ("Bert", "DistilBert", "ModernBert", "Bart", "DebertaV2", "Longformer")
MEANS_TAKEN_OFF = (*NORMALISED, "GPT2")


@pytest.mark.parametrize("name", [*MEANS_TAKEN_OFF, "Llama", "T5"])
def test_the_model_says_which_gradients_mean_little(name):
    model, tokenizer = FAMILIES[name].build(), FAMILIES[name].tokenizer()

    def caveats(method):
        explained = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)
        caveat = explained[0].caveat
        assert (caveat in explained.notes) == (caveat is not None)
        return caveat is not None

    assert caveats("gradient") == (name in NORMALISED)
    assert caveats("gradient-mean") == (name in MEANS_TAKEN_OFF)
    assert not caveats("gradient-after-norm")


def test_the_derivative_along_a_word_is_minus_that_along_its_place():
    model, tokenizer = FAMILIES["Bert"].build().double(), FAMILIES["Bert"].tokenizer()
    embeddings = model.bert.embeddings
    places = [embeddings.position_embeddings, embeddings.token_type_embeddings]
    captured = {}
    hooks = [
        table.register_forward_hook(lambda _, ids, out, table=table: captured.setdefault(table, out))
        for table in places
    ]
    logits = model(**tokenizer(TEXTS[0], return_tensors="pt")).logits
    for hook in hooks:
        hook.remove()
    gradients = torch.autograd.grad(logits[0, 2], list(captured.values()))
    along = sum((g * e).sum(dim=-1)[0] for g, e in zip(gradients, captured.values(), strict=True))
    (attribution,) = EXPLAINERS["gradient"](model, tokenizer, TEXTS[:1], target=2, target_fn="logit")
    torch.testing.assert_close(torch.tensor(attribution.scores).double(), -along, rtol=1e-4, atol=1e-6)
    assert along.abs().max() > 0.01


@pytest.mark.parametrize("name", image_families.FAMILIES)
def test_of_images_clip_alone_normalises_its_patches(name):
    """Patches come of a convolution, places and class tokens are parameters: no table is looked up."""
    model, images = image_families.image_model(name), image_families.pictures(2)
    explained = glasshead.explain(model, images, tokenizer=image_families.processor(), method="gradient")
    caveat = explained[0].caveat
    assert (caveat is not None) == (name == "clip")
    assert caveat is None or "use 'gradient-after-norm' or 'erasure-neutral-colour'" in caveat


def test_behind_the_norm_a_patch_has_what_its_own_vector_does():
    """What the first layer reads has the class token in front, which what is looked up has not."""
    model, images = image_families.image_model("clip").double(), image_families.pictures(1)
    (explained,) = glasshead.explain(
        model, images, tokenizer=image_families.processor(), method="gradient-after-norm", target_fn="logit"
    )
    reader = glasshead.open(model, tokenizer=image_families.processor()).tokenizer
    pixels = reader.encode(images).inputs()["pixel_values"].double()
    encoder, step = model.vision_model.encoder, 1e-6

    def logit(row, size):
        def move(module, args, options):
            moved = options["inputs_embeds"].clone()
            moved[:, row] *= 1 + size
            return args, options | {"inputs_embeds": moved}

        hook = encoder.register_forward_pre_hook(move, with_kwargs=True)
        with torch.no_grad():
            logits = model(pixel_values=pixels).logits[0]
        hook.remove()
        return float(logits[model.config.label2id[explained.target]])

    patches = range(1, len(explained.scores))
    slopes = [(logit(row, step) - logit(row, -step)) / (2 * step) for row in patches]
    assert explained.scores[1:] == pytest.approx(slopes, rel=1e-3, abs=1e-6)


def test_a_norm_of_no_module_is_known_too():
    """It is a few operations inside of the embeddings, on words that nothing is added to before."""

    class Embeddings(nn.Module):
        def __init__(self, own):
            super().__init__()
            self.own, self.word_embeddings = own, own.word_embeddings

        def forward(self, input_ids, **options):
            words = self.word_embeddings(input_ids)
            return words / words.square().mean(dim=-1, keepdim=True).sqrt() + self.own.position_embeddings(
                torch.arange(input_ids.shape[1])
            )

    model, tokenizer = FAMILIES["Bert"].build(), FAMILIES["Bert"].tokenizer()
    model.bert.embeddings = Embeddings(model.bert.embeddings)
    explained = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="gradient")
    assert explained[0].caveat is not None


def in_sequence(layers):
    return nn.Sequential(*layers)


def one_by_one(layers):
    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = layers

        def __iter__(self):
            return iter((self.first, self.second))

        def __getitem__(self, part):
            return [self.first, self.second][part]

        def __len__(self):
            return 2

    return Layers()


@pytest.mark.parametrize("held", [in_sequence, one_by_one])
@pytest.mark.parametrize("name", ["Bert", "GPT2", "Llama"])
def test_it_does_not_matter_what_holds_the_layers(name, held):
    owner, attribute = {"Bert": ("bert.encoder", "layer"), "GPT2": ("transformer", "h")}.get(
        name, ("model", "layers")
    )
    tokenizer, results = FAMILIES[name].tokenizer(), []
    for change in (nn.ModuleList, held):
        model = FAMILIES[name].build()
        layers = getattr(model.get_submodule(owner), attribute)
        setattr(model.get_submodule(owner), attribute, change(layers))
        one, behind = (
            glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)[0]
            for method in ("gradient", "gradient-after-norm")
        )
        results.append((one.caveat is not None, [round(score, 4) for score in behind.scores]))
    assert results[0] == results[1]
    assert results[0][0] == (name in NORMALISED)


class OneLayerForSequenceClassification(hf.PreTrainedModel):
    """A class of one's own with a single layer, which no list holds."""

    config_class = hf.BertConfig

    def __init__(self, config, *, first):
        super().__init__(config)
        self.words, self.places = nn.Embedding(60, 16), nn.Embedding(64, 16)
        self.norm, self.first, self.head = nn.LayerNorm(16), first, nn.Linear(16, 2)
        self.attention = OwnAttention()
        self.post_init()

    def get_input_embeddings(self):
        return self.words

    def forward(self, input_ids, attention_mask=None, **options):
        states = self.words(input_ids) + self.places(torch.arange(input_ids.shape[1]))
        if self.first:
            states = self.norm(states)
        weights = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = states + self.attention(states if self.first else self.norm(states), weights)
        pooled = (states.tanh() * weights[..., None]).sum(dim=1) / weights.sum(dim=1, keepdim=True)
        return SequenceClassifierOutput(logits=self.head(pooled))


class OwnAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_heads, self.keys = 1, nn.Linear(16, 16)

    def forward(self, states, mask):
        keys = self.keys(states)[:, None]
        scores = (states[:, None] @ keys.mT).masked_fill(mask[:, None, None] == 0, -1e9)
        return (scores.softmax(dim=-1) @ keys)[:, 0]


def one_layer(*, first):
    build = partial(OneLayerForSequenceClassification, first=first)
    return widened(build, hf.BertConfig(num_labels=2, hidden_size=16))


def caveat_of_gradient(model):
    (explained,) = glasshead.explain(model, TEXTS[0], tokenizer=word_tokenizer(), method="gradient")
    return explained.caveat or ""


@pytest.mark.parametrize("first", [True, False])
def test_a_single_layer_of_ones_own(first):
    assert ("this model normalises" in caveat_of_gradient(one_layer(first=first))) == first


def test_what_reads_no_word_cannot_tell():
    model = one_layer(first=True)
    nn.init.zeros_(model.head.weight)
    assert "may normalise" in caveat_of_gradient(model)


def test_without_places_there_is_nothing_along_a_word_and_something_behind_the_norm():
    model, tokenizer = FAMILIES["Bert"].build().double(), FAMILIES["Bert"].tokenizer()
    with torch.no_grad():
        model.bert.embeddings.position_embeddings.weight.zero_()
        model.bert.embeddings.token_type_embeddings.weight.zero_()
    largest = {
        method: max(map(abs, EXPLAINERS[method](model, tokenizer, TEXTS[:1])[0].scores))
        for method in ("gradient", "gradient-after-norm")
    }
    assert largest["gradient"] < 1e-6 < 1e-3 < largest["gradient-after-norm"]


@pytest.mark.parametrize("name", ["encoder", "hierarchical"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned"])
@pytest.mark.parametrize("normalised", [True, False])
def test_an_encoder_of_ours_that_normalises_is_known_by_it(name, positions, normalised):
    """Sinusoids count as what is added."""
    kind = family(name, positions=positions, layernorm_embedding=normalised, attention="distance-aware")
    explained = glasshead.explain(kind.model, TEXTS[:2], tokenizer=kind.tokenizer, method="gradient")
    assert (explained[0].caveat is not None) == normalised
    largest = max(abs(score) for one in explained for score in one.scores)
    if positions == "none":
        assert (largest < 1e-5) == normalised
    assert EXPLAINERS["gradient-after-norm"](kind.model, kind.tokenizer, TEXTS[:2])[0].caveat is None


@pytest.mark.parametrize("name", ["encoder", "pair-encoder", "cross-encoder", "hierarchical"])
def test_behind_the_norm_a_token_has_what_its_own_vector_does(name):
    """Moving what the first layer reads of one token moves the score by that, wherever it was packed."""
    kind = family(name, layernorm_embedding=True, positions="sinusoidal", scale_embedding=False)
    model = kind.model.double()
    (attribution,) = EXPLAINERS["gradient-after-norm"](
        model, kind.tokenizer, TEXTS[:1], None if kind.pairs is None else list(kind.pairs[:1]),
        target=1, target_fn="logit",
    )  # fmt: skip
    encoded = encode(kind.tokenizer, TEXTS[:1], None if kind.pairs is None else kind.pairs[:1])
    layer = (model.words if name == "hierarchical" else model.encoder).layers[0]
    read = []

    def logit(row=None, column=None, step=0.0):
        def move(module, args):
            read.append(args[0])
            moved = args[0].clone()
            if row is not None:
                moved[row, column] *= 1 + step
            return (moved, *args[1:])

        hook = layer.register_forward_pre_hook(move)
        with torch.no_grad():
            found = model(**encoded.inputs()).logits[0, 1]
        hook.remove()
        return float(found)

    logit()
    segments = model.segments(encoded.ids, encoded.mask, encoded.types)
    width = encoded.ids.shape[1] if segments is None else segments.mask.shape[1]
    places = torch.arange(int(encoded.mask.sum())) if segments is None else segments.places
    step = 1e-6
    slopes = [
        (
            logit(int(place) // width, int(place) % width, step)
            - logit(int(place) // width, int(place) % width, -step)
        )
        / (2 * step)
        for place in places
    ]
    assert read[0].shape[1] == width
    torch.testing.assert_close(
        torch.tensor(attribution.scores).double(), torch.tensor(slopes).double(), rtol=1e-4, atol=1e-6
    )
    assert max(map(abs, slopes)) > 1e-3
