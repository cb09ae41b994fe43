"""All encoder models: batches, padding, saving, pipelines, precision, compilation."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification, pipeline

from glasshead.data import train_tokenizer
from glasshead.models import MODELS
from glasshead.trace import intervene, record, uniform
from small_encoders import FAMILIES, LENGTHS, batch, moved, one, small
from tolerances import ALL_LAYERS, ONE_MODEL

MECHANISMS = (
    "softmax",
    "tanhmax",
    "relu",
    "sigmoid",
    "dot-product",
    "distance-aware",
    "tanhmax+distance-aware",
    "shaw",
    "transformer-xl",
    "tener",
    "cosformer",
    {"position": {"name": "distance-aware", "mapping": "clip", "threshold": 0.5, "adjust": "late-add"}},
)
every_family = pytest.mark.parametrize("family", FAMILIES)
# Each in two families, another two for the next one.
every_mechanism = pytest.mark.parametrize(
    ("family", "spec"),
    [
        (family, spec)
        for number, spec in enumerate(MECHANISMS)
        for place, family in enumerate(FAMILIES)
        if (number + place) % 2 == 0
    ],
    ids=str,
)
VARIANTS = {
    "first token": {"pooling": "first", "positions": "learned"},
    "attention pooling": {"pooling": "attention", "positions": "sinusoidal"},
    "mean, normalised": {"pooling": "mean", "positions": "sinusoidal", "layernorm_embedding": True},
    "distances and sinusoids": {
        "attention": "distance-aware",
        "positions": "sinusoidal",
        "scale_embedding": True,
        "pooling": "attention",
    },
    "added, first token": {
        "pooling": "first",
        "head_combination": "add",
        "head_dim": 1,
        "positions": "sinusoidal",
    },
    "distance-aware": {
        "attention": "distance-aware",
        "positions": "none",
        "num_hidden_layers": 2,
        "pooling": "first",
    },
}
every_variant = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)


def test_the_families_are_those_of_the_catalogue():
    assert {name: MODELS[name] for name in FAMILIES} == {name: kind for name, (kind, _) in FAMILIES.items()}


@every_family
@pytest.mark.parametrize("labels", [2, 3, 6])
def test_shapes(family, labels):
    model = small(family, labels)
    found = model(**batch(family), labels=torch.tensor([0, 1, 1, 0]), output_attentions=True)
    assert found.logits.shape == (4, labels)
    assert found.loss.isfinite()
    assert model(**batch(family)).attentions is None
    if labels == 2:
        assert found.logits[:, 0].count_nonzero() == 0  # [0, z]
        assert model.classifier.out_features == 1


@every_family
def test_a_rating_is_one_number(family):
    model = small(family, 1, problem_type="regression")
    stars = torch.tensor([5.0, 1.0, 3.5, 2.0])
    found = model(**batch(family), labels=stars)
    assert found.logits.shape == (4, 1)
    torch.testing.assert_close(found.loss, ((found.logits[:, 0] - stars) ** 2).mean())


@every_family
@every_variant
def test_a_batch_is_one_by_one(family, options):
    model, given = small(family, **options), batch(family)
    together = model(**given).logits
    alone = torch.cat([model(**one(given, row, length)).logits for row, length in enumerate(LENGTHS)])
    torch.testing.assert_close(together, alone, **ONE_MODEL)


@every_family
@every_variant
def test_padding_changes_nothing_wherever_it_stands(family, options):
    model, given = small(family, **options), batch(family)
    expected = model(**given).logits
    wider = batch(family, width=14)
    for name, each in given.items():
        wider[name] = torch.nn.functional.pad(each, (0, 3))
    torch.testing.assert_close(model(**wider).logits, expected, **ONE_MODEL)
    torch.testing.assert_close(model(**moved(given, 3)).logits, expected, **ONE_MODEL)


@every_family
@every_variant
def test_what_stands_on_padding_changes_nothing(family, options):
    model, given = small(family, **options), batch(family)
    real = given["attention_mask"].bool()
    poisoned = given | {"input_ids": torch.where(real, given["input_ids"], 17)}
    torch.testing.assert_close(model(**poisoned).logits, model(**given).logits, **ONE_MODEL)


@every_family
def test_padding_is_known_from_ids(family):
    model, given = small(family), batch(family)
    expected = model(**given).logits
    del given["attention_mask"]
    torch.testing.assert_close(model(**given).logits, expected)


@every_variant
@pytest.mark.parametrize("family", ["encoder", "hierarchical"])
def test_an_empty_text_among_others(family, options):
    model, given = small(family, **options), batch(family, lengths=(5, 0, 3))
    found = model(**given).logits
    assert found.isfinite().all()
    alone = torch.cat([model(**one(given, row, length)).logits for row, length in ((0, 5), (2, 3))])
    torch.testing.assert_close(found[[0, 2]], alone, **ONE_MODEL)
    empty = model(**batch(family, lengths=(0, 0), width=4)).logits
    torch.testing.assert_close(empty[0], found[1], **ONE_MODEL)


@every_family
@every_variant
def test_gradients_reach_every_parameter(family, options):
    model = small(family, **options).train()
    model(**batch(family), labels=torch.tensor([0, 1, 2, 0])).loss.backward()
    # The bias of keys moves all scores of a row alike: no gradient, but for rounding.
    silent = [
        name
        for name, each in model.named_parameters()
        if each.grad is None or not (each.grad.count_nonzero() or name.endswith("attention.key.bias"))
    ]
    assert silent == []
    assert model.embedding.weight.grad[0].count_nonzero() == 0  # padding


@every_family
@every_variant
def test_asking_for_the_weights_changes_nothing_but_rounding(family, options):
    model, given = small(family, **options), batch(family)
    plain, asked = model(**given), model(**given, output_attentions=True)
    torch.testing.assert_close(asked.logits, plain.logits, **ONE_MODEL)
    levels = 2 if family == "hierarchical" else 1
    per_level = options.get("num_hidden_layers", 1) + (options["pooling"] == "attention")
    assert len(asked.attentions) == levels * per_level


@every_family
@every_variant
def test_recorded_and_edited(family, options):
    model, given = small(family, **options), batch(family)
    plain = model(**given).logits
    with record(model) as trace:
        recorded = model(**given).logits
    torch.testing.assert_close(recorded, plain, **ONE_MODEL)
    asked = model(**given, output_attentions=True).attentions
    assert len(trace) == len(asked)
    for seen, weights in zip(trace, asked, strict=True):
        rows = seen.weights.shape[2]  # of the last layer only the row that is read
        torch.testing.assert_close(seen.weights, weights[:, :, :rows], **ONE_MODEL)
    with intervene(model, uniform):
        assert not torch.allclose(model(**given).logits, plain, atol=1e-3)


@every_mechanism
def test_every_mechanism_saves_and_loads(tmp_path, family, spec):
    model = small(family, attention=spec, positions="none", head_combination="add", pooling="first")
    model.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert type(again) is type(model)
    assert again.config.attention == spec
    torch.testing.assert_close(again(**batch(family)).logits, model(**batch(family)).logits, **ONE_MODEL)


WORDS = "the film was good . a bad plot ! long and short ?"


@every_family
@pytest.mark.parametrize("labels", [1, 2, 3])
def test_a_pipeline_from_a_folder(tmp_path, family, labels):
    kind, _ = FAMILIES[family]
    tokenizer = train_tokenizer(
        [WORDS],
        min_freq=1,
        max_length=16,
        first=family != "hierarchical",
        pairs=kind.texts_per_example == 2,
    )
    told = kind.tokenizer_settings(tokenizer)
    if labels == 1:
        told["problem_type"] = "regression"
    model = small(family, labels, attention="distance-aware", **told)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    pipe = pipeline("text-classification", model=str(tmp_path), device="cpu")
    if kind.texts_per_example == 2:
        examples = [
            {"text": "the film was good", "text_pair": "a bad plot"},
            {"text": "the", "text_pair": "long"},
        ]
        encoded = [tokenizer(each["text"], each["text_pair"], return_tensors="pt") for each in examples]
    else:
        examples = ["the film was good . a bad plot !", "short"]
        encoded = [tokenizer(each, return_tensors="pt") for each in examples]
    found = pipe(examples, top_k=None, batch_size=2)
    for scores, each in zip(found, encoded, strict=True):
        logits = model(**each).logits[0].detach()
        if labels == 1:
            (score,) = scores
            assert score["score"] == pytest.approx(float(logits[0]), rel=1e-4)
            continue
        expected = logits.softmax(dim=-1)
        assert len(scores) == labels
        for score in scores:
            index = model.config.label2id[score["label"]]
            assert score["score"] == pytest.approx(float(expected[index]), rel=1e-4)


@every_family
@every_variant
def test_bfloat16_by_autocast(family, options):
    model, given = small(family, **options).train(), batch(family)
    expected = model(**given).logits
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(**given, labels=torch.tensor([0, 1, 2, 0]))
    found.loss.backward()
    assert found.loss.isfinite()
    assert all(each.grad.isfinite().all() for each in model.parameters())
    torch.testing.assert_close(found.logits.float(), expected, rtol=0.1, atol=0.2)


@every_mechanism
def test_every_mechanism_in_bfloat16(family, spec):
    model = small(family, attention=spec, positions="none").train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(**batch(family), labels=torch.tensor([0, 1, 2, 0])).loss
    loss.backward()
    assert loss.isfinite()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"pooling": "first", "head_combination": "add"}, {"attention": "distance-aware"}]
)
def test_a_compiled_training_step(options):
    torch._dynamo.reset()
    model, given = small(**options).train(), batch()
    labels = torch.tensor([0, 1, 2, 0])
    expected = model(**given, labels=labels)
    expected.loss.backward()
    gradients = {name: each.grad.clone() for name, each in model.named_parameters()}
    model.zero_grad()
    found = torch.compile(model, backend="aot_eager")(**given, labels=labels)
    found.loss.backward()
    torch.testing.assert_close(found.logits, expected.logits, **ONE_MODEL)
    for name, each in model.named_parameters():
        torch.testing.assert_close(each.grad, gradients[name], **ALL_LAYERS)
