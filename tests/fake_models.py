"""Run folders of small random models, as a training writes them, for what only has to load one."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from glasshead.data import train_tokenizer
from glasshead.models import MODELS

TEXT = "a warm film . the plot is thin ! but the end was good , and the music too ."
NAMES = {0: "negative", 1: "positive"}


def spread_out(model):
    """Positions that have learned something: w from −1 to 1 in another order, v = w²."""
    for module in model.modules():
        if hasattr(module, "adjust"):  # a distance-aware position
            heads = module.sizes.num_heads
            w = torch.linspace(-1.0, 1.0, heads).roll(1)
            with torch.no_grad():
                module.get_parameter("w").copy_(w)
                for name in module.mapping.learned:
                    module.get_parameter(name).copy_(w**2)
    return model


def write_model(folder, family="encoder", *, seed=0, **options):
    """A run folder of a random model of ours; positions as `spread_out` leaves them, times ``1 + seed``."""
    cls = MODELS[family]
    kind = {"first": cls.special_tokens, "pairs": cls.texts_per_example == 2}
    tokenizer = train_tokenizer([TEXT], min_freq=1, max_length=128, **kind)
    sizes = {
        "hidden_size": 16,
        "num_attention_heads": 6,
        "head_dim": 4,
        "value_dim": 4,
        "intermediate_size": 8,
    }
    sizes = {} if family == "pooled" else sizes
    torch.manual_seed(seed)
    names = {"id2label": NAMES, "label2id": {name: index for index, name in NAMES.items()}}
    config = cls.config_class(**cls.tokenizer_settings(tokenizer), **sizes | names | options)
    model = spread_out(cls(config))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("position.w"):
                parameter.mul_(1 + seed)
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    tokens = list(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    counts = np.ones((len(tokens), 2), dtype=int).tolist()
    pq.write_table(pa.table({"token": tokens, "counts": pa.array(counts)}), folder / "vocabulary.parquet")
    record = {"recipe": {"model": family}, "data": {"source": "made up"}, "seed": seed, "gauge": None}
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder
