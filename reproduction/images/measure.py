"""The image rows of Table 2 and Figure 5 of Huang, Yang and Wang (2024) on CIFAR-10.

python docs/results/images.py train DATA RUNS [SEED…]    trains what is missing, with these seeds, or five
python docs/results/images.py table RUNS                 writes images/accuracy.json
python docs/results/images.py figure RUNS IMAGE…         writes images/figure5.svg
"""

import json
import re
import sys
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path
from statistics import mean

import torch
from PIL import Image
from transformers import ResNetConfig, ResNetForImageClassification, set_seed

import glasshead
import glasshead.report  # draws what is saved
from glasshead.data import AUGMENTATIONS, as_picture, inputs_of, load
from glasshead.explainers import explain_texts
from glasshead.requests import MethodRequest
from glasshead.training import TensorDataset, label_tensor, preset_config, train
from glasshead.training.build_model import build_image_model, label_settings
from glasshead.training.predict import predict
from glasshead.training.trainer import make_trainer
from study import t_half

HERE = Path(__file__).parent / "images"
MECHANISMS = ("softmax", "tanhmax", "uniform")
CONVOLUTION = "convolution"
EPOCHS = 10
SEEDS = 5
PATCHES = 8
"""In a row of an image."""


def config(mechanism="softmax", **more):
    """The preset vit with convolutional patches and flipped images."""
    settings = {
        "attention": mechanism,
        "epochs": EPOCHS,
        "augment": "shift+flip",
        "stem": "convolution",
    } | more
    return preset_config(None, "vit").with_settings(settings)


def train_all(data, runs, seeds):
    """Every row of every seed that is missing, so that all rows have the same seeds if it is stopped."""
    loaded = load(data)
    for seed in seeds:
        for mechanism in MECHANISMS:
            out = runs / f"{mechanism}-{seed}"
            if not out.exists():
                train(loaded, config(mechanism), out, seed=seed, source={"source": data})
        if not (runs / f"{CONVOLUTION}-{seed}").exists():
            train_convolution(loaded, runs, seed)


class Convolutional(ResNetForImageClassification):
    """Transformers' ResNet, called as the other models are."""

    def forward(self, pixel_values, labels=None, attention_mask=None):
        return super().forward(pixel_values, labels=labels)


def train_convolution(loaded, runs, seed):
    """A small residual network by the same trainer, images, steps and choice of the epoch."""
    set_seed(seed)
    settings = config()
    _, reader = build_image_model(settings, loaded, label_settings(loaded))
    encoded = {split: reader.encode(inputs_of(rows)[0]) for split, rows in loaded.items()}
    rows = {
        split: TensorDataset(
            encoded[split],
            label_tensor(loaded[split]),
            AUGMENTATIONS["shift+flip"] if split == "train" else None,
        )
        for split in loaded
    }
    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32, 64], "depths": [1, 1, 1], "layer_type": "basic"}
    model = Convolutional(ResNetConfig(**sizes, downsample_in_first_stage=False, **label_settings(loaded)))
    model.resnet.embedder.embedder.convolution.stride = (1, 1)  # its first steps are for images of 224 pixels
    model.resnet.embedder.pooler = torch.nn.Identity()
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(model, settings, rows, Path(folder), seed, ())
        trainer.train()
        logits = predict(trainer, rows["test"])
    right = logits.argmax(axis=1) == rows["test"].labels.numpy()
    accuracy = {"test": {"accuracy": float(right.mean())}, "parameters": model.num_parameters()}
    out = runs / f"{CONVOLUTION}-{seed}"
    out.mkdir(parents=True)
    (out / "metrics.json").write_text(json.dumps(accuracy))


def measured(runs):
    """Test accuracy by row and seed: what is known already, and what came out."""
    known = json.loads((HERE / "accuracy.json").read_text())
    return {
        row: known.get(row, {})
        | {
            path.parent.name.rpartition("-")[2]: json.loads(path.read_text())["test"]["accuracy"]
            for path in sorted(runs.glob(f"{row}-*/metrics.json"))
            if not path.parent.name.endswith(".partial")
        }
        for row in (*MECHANISMS, CONVOLUTION)
    }


def write_table(runs):
    """images/accuracy.json, and to the terminal the mean and its t-interval where there are five seeds."""
    table = measured(runs)
    (HERE / "accuracy.json").write_text(json.dumps(table, indent=1) + "\n")
    for row, accuracies in table.items():
        print(row, *map(str, accuracies.values()), in_words(accuracies.values()))
    shared = sorted(set(table["softmax"]) & set(table["tanhmax"]))
    differences = [table["tanhmax"][seed] - table["softmax"][seed] for seed in shared]
    print("TanhMax - softmax", in_words(differences))


def in_words(values):
    """Mean ± half of the 95 % interval of the mean; no ± of fewer than five."""
    values = list(values)
    if len(values) < SEEDS:
        return f"{mean(values):.3f} (n = {len(values)})" if values else "none"
    return f"{mean(values):.3f} ± {t_half(values):.3f} (n = {len(values)})"


def as_mosaics(svg, patches):
    """The figure with one colour for each patch: the images of the data set stay there."""

    def mosaic(found):
        image = Image.open(BytesIO(b64decode(found[1]))).convert("RGBA")
        small = image.resize((patches, patches), Image.Resampling.BOX)
        made = BytesIO()
        small.resize(image.size, Image.Resampling.NEAREST).save(made, "png", optimize=True)
        return f"data:image/png;base64,{b64encode(made.getvalue()).decode()}"

    return re.sub(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)", mosaic, svg)


def write_figure(runs, images):
    """Images, positive and negative weights of the last layer, in the canonical sign of each head."""
    subject = glasshead.open(runs / "tanhmax-0")
    pictures = [as_picture(path) for path in images]
    explained = explain_texts(subject, pictures, None, MethodRequest(method="attention"))
    with tempfile.TemporaryDirectory() as folder:
        explained.save(Path(folder) / "figure5.svg")
        drawn = (Path(folder) / "figure5.svg").read_text(encoding="utf-8")
        (HERE / "figure5.svg").write_text(as_mosaics(drawn, PATCHES), encoding="utf-8")


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    if what == "train":
        train_all(words[0], Path(words[1]), [int(seed) for seed in words[2:]] or range(SEEDS))
    elif what == "table":
        write_table(Path(words[0]))
    else:
        write_figure(Path(words[0]), words[1:])
