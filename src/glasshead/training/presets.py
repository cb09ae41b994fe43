"""Settings by name: those of the papers, and smaller ones that a laptop trains in minutes."""

from typing import Any

from glasshead.errors import InputError
from glasshead.models import IMAGE_MODELS, MODELS
from glasshead.registry import Registry
from glasshead.spelling import spell
from glasshead.training.config import TrainingConfig

TRAINING_PRESETS: Registry[TrainingConfig] = Registry("preset")


def register_preset(name: str, **settings: Any) -> None:
    """File a configuration under its name, which it carries."""
    TRAINING_PRESETS.register(name)(TrainingConfig(preset=name, **settings))


# Huang, Yang and Wang (2024), section 5.1: Adam, uniform ±0.1, dropout. Sizes, rate and epochs are ours:
# the paper leaves them to a supplement.
POOLED = {
    "score": "query-key",
    "head_dim": 100,
    "value_dim": 100,
    "temperature": 10.0,
    "dropout": 0.5,
}
register_preset("s0-paper", architecture=POOLED)

# The settings of the published code of Huang, Yang and Wang (2024); batch size and epochs are ours.
register_preset(
    "s0-code",
    max_length=30,
    vocab_size=8_000,
    architecture=POOLED | {"embedding_size": 30, "head_dim": 10, "value_dim": 10, "temperature": 3.0},
    optimizer="adadelta",
    learning_rate=0.5,
    batch_size=32,
    epochs=30,
    loss_scale=100.0,
)

# Sun and Lu (2020), section C: context vector, plain SGD at a fixed rate, no dropout, no bias; λ = 10 as in
# their figures. Rate and epochs are ours.
register_preset(
    "s4",
    architecture={"score": "context", "temperature": 10.0, "bias": False},
    optimizer="sgd",
    learning_rate=1.0,
    epochs=30,
)

# Wu, Wu and Huang (2021), section 4.1: one layer, 16 heads of size 16 projected to the size of the word
# vectors (300), Adam at 1e-3. Feed-forward size, dropout, batch size, epochs and pooling are ours: the paper
# does not state them. The baselines of section 4.2 differ in the mechanism; "transformer" alone adds
# sinusoidal positions to its embeddings, the others know distances by themselves. What the first layer reads
# is normalised for all of them: at first "transformer" alone multiplied its embeddings by √d_e.
BASELINES = {
    "da-transformer": "distance-aware",
    "transformer": "softmax",
    "shaw": "shaw",
    "transformer-xl": "transformer-xl",
    "tener": "tener",
}
PAPER_ENCODER: dict[str, Any] = {
    "hidden_size": 300,
    "num_attention_heads": 16,
    "head_dim": 16,
    "value_dim": 16,
    "intermediate_size": 512,
    "dropout": 0.2,
    "initializer_range": 0.1,
    "scale_embedding": False,
    "layernorm_embedding": True,
}
SMALL_ENCODER: dict[str, Any] = PAPER_ENCODER | {
    "hidden_size": 64,
    "num_attention_heads": 8,
    "head_dim": 8,
    "value_dim": 8,
    "intermediate_size": 128,
}
for word, attention in BASELINES.items():
    for suffix, sizes in (("", PAPER_ENCODER), ("-small", SMALL_ENCODER)):
        register_preset(
            word + suffix,
            model="encoder",
            max_length=512,
            min_freq=2,
            architecture=sizes | {"attention": attention},
            batch_size=64,
            epochs=10,
            by_length=True,
        )

# Bhardwaj et al. (2021), section 6: embeddings and learned positions from a normal distribution, d_e = 512,
# 8 summed heads (d_v = d_e), the vector of the first token, Adam at 1e-3, batches of 256, 20 epochs,
# 30 % of train for validation. "regular" concatenates heads of d_v = d_e / 8. Dropout is ours.
ADDED: dict[str, Any] = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "head_dim": 64,
    "head_combination": "add",
    "intermediate_size": 2048,
    "positions": "learned",
    "pooling": "first",
    "dropout": 0.1,
    "initializer_range": 1.0,
}
for word, head_combination in (("identifiable", "add"), ("regular", "concat")):
    for suffix, sizes, epochs in (
        ("", {}, 20),
        ("-small", {"hidden_size": 128, "head_dim": 16, "intermediate_size": 512}, 8),
    ):
        register_preset(
            word + suffix,
            model="encoder",
            max_length=512 if not suffix else 128,
            dev_fraction=0.3,
            architecture=ADDED | {"head_combination": head_combination} | sizes,
            batch_size=256,
            epochs=epochs,
            by_length=True,
        )

# Dosovitskiy et al. (2021), with sizes for images of 8 to 64 pixels and some thousands of them: 4 layers of 4
# heads, 8 × 8 patches. All else is ours.
register_preset(
    "vit",
    model="vit",
    optimizer="adamw",
    learning_rate=1e-3,
    batch_size=64,
    epochs=20,
    augment="shift",
)

# Cui et al. (2024), section 2: one layer, one head, letters and places in vectors of their own. Sizes,
# rate and epochs are ours; their embeddings are fixed, these are learned.
register_preset(
    "token-classifier",
    model="token-classifier",
    max_length=16,
    learning_rate=6e-3,
    batch_size=256,
    epochs=60,
)

# Fine-tuning of a pretrained classifier, at the usual rate.
FINE_TUNING = "fine-tune"
TRAINING_PRESETS.register(FINE_TUNING)(
    TrainingConfig(
        preset=FINE_TUNING,
        model="",  # to be named
        max_length=256,
        optimizer="adamw",
        learning_rate=5e-5,
        batch_size=16,
        epochs=3,
        by_length=True,
    )
)

USUAL = {
    "pooled": "s0-paper",
    "encoder": "da-transformer-small",
    "token-classifier": "token-classifier",
    "vit": "vit",
}


def preset_config(name: str | None, model: str | None) -> TrainingConfig:
    """The preset of that name, for that model; if you leave out one, it follows from the other.

    Raises:
        InputError: if the two do not belong together.
    """
    if model is not None and not model.strip():
        raise InputError(
            f"an empty name is not a model: choose from {', '.join([*MODELS, *IMAGE_MODELS])}, or a folder"
        )
    if name is None:
        if model is None:
            return TRAINING_PRESETS[USUAL["pooled"]]
        known = model in MODELS or model in IMAGE_MODELS
        name = USUAL.get(model, USUAL["encoder"]) if known else FINE_TUNING
    config = TRAINING_PRESETS[name]
    if model is None:
        if config.pretrained:
            raise InputError(f"the preset {name!r} tunes a pretrained model: name it with {spell('model')}")
        return config
    ours = [*MODELS, *IMAGE_MODELS]
    kinds = [family if family in USUAL else "encoder" for family in (config.model, model) if family in ours]
    if config.pretrained != (model not in ours) or len(set(kinds)) > 1:
        raise InputError(f"the preset {name!r} is not for the model {model!r}: leave one of them out")
    return config.with_changes(model=model)
