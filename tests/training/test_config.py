"""What decides a model, as plain data."""

import json

import pytest

from glasshead.errors import InputError
from glasshead.models import MODELS
from glasshead.training import OPTIMIZERS, TRAINING_PRESETS, TrainingConfig, preset_config

POOLED, ENCODER = TRAINING_PRESETS["s0-paper"], TRAINING_PRESETS["da-transformer-small"]


def test_presets_know_their_names():
    assert {name: recipe.preset for name, recipe in TRAINING_PRESETS.items()} == {
        name: name for name in TRAINING_PRESETS
    }


def test_the_settings_of_the_published_code():
    recipe = TRAINING_PRESETS["s0-code"]
    config = recipe.model_config()
    assert (config.embedding_size, config.head_dim, config.value_dim, config.temperature) == (30, 10, 10, 3)
    assert (recipe.max_length, recipe.vocab_size) == (30, 8000)
    assert (recipe.optimizer, recipe.learning_rate, recipe.loss_scale) == ("adadelta", 0.5, 100)
    assert config.dropout == 0.5


def test_s4_is_plain_gradient_descent():
    recipe, config = TRAINING_PRESETS["s4"], TRAINING_PRESETS["s4"].model_config()
    assert (recipe.optimizer, config.dropout, config.bias, config.score) == ("sgd", 0, False, "context")


def test_five_mechanisms_with_sixteen_heads_of_sixteen():
    words = {"transformer": "softmax", "da-transformer": "distance-aware"}
    for name in ("transformer", "shaw", "transformer-xl", "tener", "da-transformer"):
        recipe, config = TRAINING_PRESETS[name], TRAINING_PRESETS[name].model_config()
        assert recipe.attention == words.get(name, name)
        assert (config.num_attention_heads, config.head_dim, config.value_dim) == (16, 16, 16)
        assert config.hidden_size == 300
        assert (config.num_hidden_layers, config.head_combination) == (1, "concat")
        assert (recipe.optimizer, recipe.learning_rate) == ("adam", 1e-3)


@pytest.mark.parametrize("word", ["sum", "add"])
def test_heads_that_are_summed_have_the_size_of_their_layer(word):
    preset = TRAINING_PRESETS["transformer"]
    summed = preset.with_settings({"head_combination": word}).model_config()
    assert (summed.head_combination, summed.value_dim) == ("add", None)
    assert preset.with_settings({"head_combination": "concat"}).model_config().value_dim == 16
    with pytest.raises(InputError, match="of the layer, not 8"):
        preset.with_settings({"head_combination": word, "value_dim": 8}).model_config().check()


def test_added_and_concatenated_heads_of_512():
    added, joined = TRAINING_PRESETS["identifiable"], TRAINING_PRESETS["regular"]
    assert added.model_config().head_combination == "add"
    assert joined.model_config().head_combination == "concat"
    for recipe in (added, joined):
        config = recipe.model_config()
        assert (config.hidden_size, config.num_attention_heads, config.max_length) == (512, 8, 512)
        assert (config.positions, config.pooling, config.initializer_range) == ("learned", "first", 1.0)
        assert (recipe.batch_size, recipe.epochs, recipe.dev_fraction) == (256, 20, 0.3)
    same = added.as_dict() | {
        "preset": "",
        "architecture": added.architecture | {"head_combination": "concat"},
    }
    assert same == joined.as_dict() | {"preset": ""}


@pytest.mark.parametrize("name", [name for name in TRAINING_PRESETS if name.endswith("-small")])
def test_small_presets_differ_in_size_alone(name):
    small, full = TRAINING_PRESETS[name], TRAINING_PRESETS[name.removesuffix("-small")]
    sizes = {"hidden_size", "num_attention_heads", "head_dim", "value_dim", "intermediate_size"}
    kept = [
        {key: each.architecture[key] for key in each.architecture.keys() - sizes} for each in (small, full)
    ]
    assert kept[0] == kept[1]
    assert small.model_config().hidden_size < full.model_config().hidden_size
    assert (small.optimizer, small.learning_rate) == (full.optimizer, full.learning_rate)


@pytest.mark.parametrize("name", sorted(TRAINING_PRESETS))
def test_json_and_back(name):
    recipe = TRAINING_PRESETS[name]
    assert TrainingConfig(**json.loads(json.dumps(recipe.as_dict()))) == recipe


def test_changes_leave_the_preset_alone():
    changed = TRAINING_PRESETS["s4"].with_changes(epochs=2, temperature=3, attention=None)
    assert changed.epochs == 2
    assert changed.architecture == TRAINING_PRESETS["s4"].architecture | {"temperature": 3.0}
    assert changed.attention == TRAINING_PRESETS["s4"].attention == "softmax"
    assert TRAINING_PRESETS["s4"].epochs == 30


def test_settings_may_be_null():
    assert POOLED.architecture["value_dim"] == 100
    assert POOLED.with_settings({"value_dim": None}).model_config().value_dim is None
    assert POOLED.with_changes(value_dim=None).model_config().value_dim == 100


def test_two_names_of_one_option():
    assert POOLED.with_changes(attention="tanhmax") == POOLED.with_changes(activation="tanhmax")
    assert POOLED.with_changes(attention="tanhmax").with_changes(activation="relu").attention == "relu"
    assert ENCODER.with_changes(hidden_size=32).model_config().hidden_size == 32
    with pytest.raises(InputError, match="'activation' and 'attention' are one option"):
        POOLED.with_changes(attention="tanhmax", activation="relu")


def test_a_number_is_as_good_as_a_float():
    assert ENCODER.with_changes(dropout=0).model_config().dropout == 0.0
    assert ENCODER.with_changes(learning_rate=1).learning_rate == 1.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"optimizer": "adagrda"}, "did you mean 'adagrad'"),
        ({"dropout": 1.0}, "`dropout` must be in"),
        ({"dropout": -0.1}, "`dropout` must be in"),
        ({"dropout": float("nan")}, "`dropout` must be in"),
        ({"loss_scale": float("inf")}, "`loss_scale` must be a positive number"),
        ({"embedding_size": 0}, "`embedding_size` must be at least 1"),
        ({"value_dim": 0}, "`value_dim` must be at least 1"),
        ({"initializer_range": -1.0}, "`initializer_range`"),
        ({"encoder": "lstm", "hidden_size": 7}, "even hidden size"),
        ({"embeding_size": 8}, "no option 'embeding_size': did you mean 'embedding_size'"),
        ({"optimiser": "sgd"}, "did you mean 'optimizer'"),
        (
            {"num_attention_heads": 2},
            "no option `num_attention_heads`: it is one of cross-encoder, encoder, hierarchical",
        ),
        ({"epochs": "two"}, "`epochs` must be a whole number, not 'two'"),
        ({"epochs": 1.5}, "`epochs` must be a whole number, not 1.5"),
        ({"head_dim": 2**63}, "`head_dim` must lie between"),
        ({"vocab_size": 2**70}, "`vocab_size` must lie between"),
        ({"learning_rate": "x"}, "`learning_rate` must be a number, not 'x'"),
        ({"by_length": "yes"}, "`by_length` must be true or false, not 'yes'"),
        ({"word_vectors": 3}, "`word_vectors` must be a word or null, not 3"),
        ({"attention": {"activation": "tanhmax"}}, "`activation` must be a word"),
    ],
)
def test_refused(change, says):
    with pytest.raises(InputError, match=says) as refused:
        POOLED.with_changes(**change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"num_hidden_layers": "two"}, "`num_hidden_layers` must be a whole number, not 'two'"),
        ({"num_hidden_layers": True}, "`num_hidden_layers` must be a whole number, not True"),
        ({"num_hidden_layers": 0}, "`num_hidden_layers` must be at least 1"),
        ({"head_dim": 1.5}, "`head_dim` must be a whole number or null"),
        ({"attention": 3}, "`attention` must be a word or a mapping, not 3"),
        ({"attention": {"activaton": "relu"}}, "did you mean 'activation'"),
        ({"attention": "tanmax"}, "did you mean 'tanhmax'"),
        ({"head_combination": "joined"}, "must be concat or sum"),
        ({"head_combination": "add", "value_dim": 4}, "have the size 64 of the layer, not 4"),
        ({"positions": "lerned"}, "did you mean 'learned'"),
        ({"temperature": 2.0}, "no option `temperature`: it is one of pooled"),
        ({"sentence_length": 9}, "it is one of hierarchical"),
        ({"vocab_sise": 9}, "did you mean 'vocab_size'"),
        ({"max_position_embeddings": 9}, "no option 'max_position_embeddings'"),
        ({"gauge": [[1]]}, "no option 'gauge'"),
        ({"num_labels": 2}, "no option 'num_labels'"),
    ],
)
def test_refused_for_an_encoder(change, says):
    with pytest.raises(InputError, match=says) as refused:
        ENCODER.with_changes(**change)
    assert "\n" not in str(refused.value)


def test_heads_that_do_not_divide():
    with pytest.raises(InputError, match="7 heads do not divide"):
        ENCODER.with_settings({"num_attention_heads": 7, "head_dim": None, "value_dim": None})


def test_optimizers():
    assert set(OPTIMIZERS) == {"adam", "adamw", "adadelta", "adagrad", "sgd"}


@pytest.mark.parametrize(
    ("word", "alone"),
    [("distance-aware", "softmax"), ("tanhmax+distance-aware", "tanhmax"), ("cosformer", "sum")],
)
def test_a_query_at_no_position_has_no_distances(word, alone):
    with pytest.raises(InputError, match=f"has no position.*such as '{alone}'") as refused:
        POOLED.with_changes(attention=word)
    assert "\n" not in str(refused.value)


def test_no_position_may_be_said_in_words():
    assert POOLED.with_changes(attention="tanhmax+none").attention == "tanhmax+none"


def test_unknown_mechanism():
    with pytest.raises(InputError, match="did you mean 'dot-product'"):
        POOLED.with_changes(attention="dot-produkt")


class TestPresetAndModel:
    def test_what_is_left_out_follows(self):
        assert preset_config(None, None) == TRAINING_PRESETS["s0-paper"]
        assert preset_config(None, "pooled") == TRAINING_PRESETS["s0-paper"]
        assert preset_config(None, "encoder") == TRAINING_PRESETS["da-transformer-small"]
        assert preset_config("tener", None) == TRAINING_PRESETS["tener"]
        assert preset_config(None, "some/folder") == TRAINING_PRESETS["fine-tune"].with_changes(
            model="some/folder"
        )

    @pytest.mark.parametrize("model", [name for name in MODELS if name not in ("pooled", "token-classifier")])
    def test_an_encoder_preset_serves_every_encoder(self, model):
        recipe = preset_config("tener-small", model)
        assert recipe == TRAINING_PRESETS["tener-small"].with_changes(model=model)

    @pytest.mark.parametrize(
        ("preset", "model", "says"),
        [
            ("s4", "encoder", "is not for the model 'encoder'"),
            ("tener", "pooled", "is not for the model 'pooled'"),
            ("tener", "some/folder", "is not for the model 'some/folder'"),
            ("tener", "token-classifier", "is not for the model 'token-classifier'"),
            ("token-classifier", "encoder", "is not for the model 'encoder'"),
            ("fine-tune", "encoder", "is not for the model 'encoder'"),
            ("fine-tune", None, "name it with `model`"),
            ("s5", None, "did you mean 's4'"),
            (None, " ", "an empty name is not a model"),
        ],
    )
    def test_refused(self, preset, model, says):
        with pytest.raises(InputError, match=says):
            preset_config(preset, model)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"num_hidden_layers": 2}, "its `num_hidden_layers` cannot be chosen"),
            ({"encoder": "lstm"}, "its `encoder` cannot be chosen"),
            ({"word_vectors": "glove.txt"}, "has its own word vectors"),
            ({"attention": "tanmax"}, "did you mean 'tanhmax'"),
        ],
    )
    def test_a_pretrained_model_is_what_it_is(self, change, says):
        with pytest.raises(InputError, match=says):
            preset_config(None, "some/folder").with_changes(**change)


def test_words_are_the_usual_tokens_and_records_stay_as_they_were():
    assert "tokenizer" not in TrainingConfig().as_dict()
    assert "adversary_weight" not in TrainingConfig().as_dict()
    assert TrainingConfig(tokenizer="bpe").as_dict()["tokenizer"] == "bpe"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokenizer": "bp"}, "bpe"),
        ({"word_vectors": "vectors.txt"}, "word vectors need words"),
        ({"model": "hierarchical"}, "finds sentences by the words"),
        ({"model": "somebody/elses"}, "its own tokenizer"),
    ],
)
def test_where_byte_pairs_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        TrainingConfig(**({"tokenizer": "bpe"} | settings))
