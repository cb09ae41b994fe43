"""Language models of many families are built small, plugged, and refused where they do not fit."""

import pytest
import torch
from corpora import sentences

from glasshead import InputError
from glasshead.data import train_tokenizer
from glasshead.huggingface import spec_of
from glasshead.language import LanguageModelConfig, Masking, new_language_model, objective_of

CAUSAL = ("gpt2", "llama", "mistral", "qwen3", "gemma", "opt", "gpt_neox")
MASKED = ("bert", "roberta", "distilbert", "electra", "modernbert")


@pytest.fixture(scope="module")
def tokenizer():
    words = train_tokenizer(sentences(), lowercase=False, min_freq=1)
    words.eos_token = words.sep_token
    return words


def tiny(model, **settings):
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "block_size": 12}
    return LanguageModelConfig(model=model, **(sizes | settings))


@pytest.mark.parametrize("model_type", [*CAUSAL, *MASKED])
def test_every_family_is_built_with_tied_embeddings_and_the_mechanism(model_type, tokenizer):
    config = tiny(model_type, attention="tanhmax")
    model = new_language_model(config, tokenizer).eval()
    assert config.masked == (model_type in MASKED)
    assert spec_of(model.config) == {"activation": "tanhmax"}
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert model.num_parameters() < 20_000
    ids = torch.arange(12)[None] % len(tokenizer)
    changed = ids.clone()
    changed[0, -1] = 7
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
        difference = (model(input_ids=ids).logits - model(input_ids=changed).logits)[0, :-1].abs().max()
    if config.masked:
        assert difference > 1e-3
    else:
        assert difference < 1e-5


def test_settings_of_the_model_are_handed_on(tokenizer):
    config = tiny("gpt2").with_settings({"activation_function": "relu", "hidden_size": 8})
    assert new_language_model(config, tokenizer).config.activation_function == "relu"
    with pytest.raises(InputError, match=r"unknown setting 'activation_functions'.*activation_function"):
        tiny("gpt2").with_settings({"activation_functions": "relu"})


@pytest.mark.parametrize(
    ("model_type", "objective", "message"),
    [
        ("gpt2", "masked", "from left to right"),
        ("bert", "causal", "both directions"),
        ("gpt-2", None, "did you mean 'gpt2'"),
        ("gpt2", "masking", "did you mean 'masked'"),
        ("vit", None, "is not a language model"),
    ],
)
def test_objectives_that_do_not_fit_are_refused(model_type, objective, message):
    with pytest.raises(InputError, match=message):
        objective_of(model_type, objective)


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden_size": 15}, {"epochs": 0}, {"learning_rate": 0.0}, {"block_size": 1}, {"dropout": 1.0},
        {"masked_fraction": 0.0}, {"attention": "tanhmix"}, {"batch_size": "many"},
    ],
)  # fmt: skip
def test_values_that_cannot_be_meant_are_refused(settings):
    with pytest.raises(InputError):
        tiny("gpt2", **settings)


def test_what_cannot_be_plugged_says_why(tokenizer):
    with pytest.raises(InputError, match="computes its attention itself"):
        new_language_model(
            tiny("gpt_neo", architecture={"attention_types": [[["global"], 2]]}, attention="tanhmax"),
            tokenizer,
        )
    with pytest.raises(InputError, match="no attention"):
        new_language_model(tiny("fnet", attention="tanhmax"), tokenizer)
    with pytest.raises(InputError, match="an encoder and a decoder"):
        new_language_model(tiny("bart"), tokenizer)


def test_tokens_are_hidden_as_in_bert(tokenizer):
    masking = Masking.of(tokenizer, 0.15)
    blocks = torch.randint(5, len(tokenizer), (400, 50), generator=torch.Generator().manual_seed(0))
    blocks[:, 0] = tokenizer.sep_token_id
    rows = masking.hide(blocks, torch.Generator().manual_seed(1))
    chosen = rows["labels"] != -100
    assert not chosen[:, 0].any()
    assert chosen.any(dim=1).all()
    assert torch.equal(rows["labels"][chosen], blocks[chosen])
    assert torch.equal(rows["input_ids"][~chosen], blocks[~chosen])
    assert float(chosen[:, 1:].double().mean()) == pytest.approx(0.15, abs=0.01)
    as_mask = (rows["input_ids"][chosen] == tokenizer.mask_token_id).double().mean()
    assert float(as_mask) == pytest.approx(0.8, abs=0.04)
    same = (rows["input_ids"][chosen] == blocks[chosen]).double().mean()
    assert float(same) == pytest.approx(0.1 + 0.1 / len(tokenizer), abs=0.03)
