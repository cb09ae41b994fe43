"""Train vision transformers and a convolutional network on CIFAR-10, and draw what attention does."""

import re
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import torch
from PIL import Image
from transformers import ResNetConfig, ResNetForImageClassification, set_seed

import glasshead
import glasshead.report  # draws what is saved
from glasshead.data import AUGMENTATIONS, as_picture, inputs_of
from glasshead.explainers import explain_texts
from glasshead.opening import MEASURED, read_object
from glasshead.requests import MethodRequest
from glasshead.training import TensorDataset, label_tensor, preset_config, train
from glasshead.training.build_model import build_image_model, label_settings
from glasshead.training.predict import predict
from glasshead.training.trainer import make_trainer
from reproduction.study import DATA, RUNS, picture, read_numbers, write_numbers
from reproduction.trainings import Set, loaded

CIFAR = Set("cifar10_jpg")
MECHANISMS = ("softmax", "tanhmax", "uniform")
CONVOLUTION = "convolution"
SHOWN = ("bird", "dog", "ship", "airplane")
"""The classes of Figure 5: number 7 of each in the test set."""
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


def measure_accuracy(processes=1):
    """Every row of every seed that is missing, so that all rows have the same seeds if it is stopped."""
    values = read_numbers("images", "accuracy")
    for seed in map(str, range(SEEDS)):
        for row in (*MECHANISMS, CONVOLUTION):
            seeds = values.setdefault(row, {})
            if seed not in seeds:
                seeds[seed] = (convolution if row == CONVOLUTION else transformer)(row, int(seed))
                write_numbers("images", "accuracy", values)
                print(row, seed, seeds[seed], flush=True)


def transformer(mechanism, seed):
    """Test accuracy of a vision transformer, by the run that is kept."""
    return read_object(run_of(mechanism, seed) / MEASURED)["test"]["accuracy"]


def run_of(mechanism, seed):
    """The run of a vision transformer, which is trained unless it is there."""
    out = RUNS / "images" / f"{mechanism}-{seed}"
    if not out.exists():
        train(loaded(CIFAR), config(mechanism), out, seed=seed, source=CIFAR.source())
    return out


class Convolutional(ResNetForImageClassification):
    """Transformers' ResNet, called as the other models are."""

    def forward(self, pixel_values, labels=None, attention_mask=None):
        return super().forward(pixel_values, labels=labels)


def convolution(row, seed):
    """Test accuracy of a small residual network with the same trainer, images, steps and choice of epoch."""
    set_seed(seed)
    settings, data = config(), loaded(CIFAR)
    _, reader = build_image_model(settings, data, label_settings(data))
    encoded = {split: reader.encode(inputs_of(rows)[0]) for split, rows in data.items()}
    rows = {
        split: TensorDataset(
            encoded[split],
            label_tensor(data[split]),
            AUGMENTATIONS["shift+flip"] if split == "train" else None,
        )
        for split in data
    }
    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32, 64], "depths": [1, 1, 1], "layer_type": "basic"}
    model = Convolutional(ResNetConfig(**sizes, downsample_in_first_stage=False, **label_settings(data)))
    model.resnet.embedder.embedder.convolution.stride = (1, 1)  # its first steps are for images of 224 pixels
    model.resnet.embedder.pooler = torch.nn.Identity()
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(model, settings, rows, Path(folder), seed, ())
        trainer.train()
        logits = predict(trainer, rows["test"])
    right = logits.argmax(axis=1) == rows["test"].labels.numpy()
    return float(right.mean())


def as_mosaics(svg, patches):
    """The figure with one colour for each patch: the images of the data set stay there."""

    def mosaic(found):
        image = Image.open(BytesIO(b64decode(found[1]))).convert("RGBA")
        small = image.resize((patches, patches), Image.Resampling.BOX)
        made = BytesIO()
        small.resize(image.size, Image.Resampling.NEAREST).save(made, "png", optimize=True)
        return f"data:image/png;base64,{b64encode(made.getvalue()).decode()}"

    return re.sub(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)", mosaic, svg)


def measure_figure(processes=1):
    """Unless it is there: images, positive and negative weights of the last layer, each head in its sign."""
    if picture("figure5.svg").exists():
        return
    subject = glasshead.open(run_of("tanhmax", 0))
    with tempfile.TemporaryDirectory() as folder, ZipFile(DATA / CIFAR.folder / "test.zip") as images:
        pictures = [as_picture(images.extract(f"test/{name}/0007.jpg", folder)) for name in SHOWN]
        explained = explain_texts(subject, pictures, None, MethodRequest(method="attention"))
        explained.save(Path(folder) / "figure5.svg")
        drawn = (Path(folder) / "figure5.svg").read_text(encoding="utf-8")
    picture("figure5.svg").write_text(as_mosaics(drawn, PATCHES), encoding="utf-8")
