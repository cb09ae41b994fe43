"""An interrupted training goes on where it stopped, to the same weights as one that was never stopped."""

from pathlib import Path

import torch
from transformers import TrainerCallback

from glasshead.data import LoadOptions, load
from glasshead.opening import load_run
from glasshead.training import TRAINING_PRESETS, train


class StopAfterTwo(TrainerCallback):
    """What Ctrl-C does, at a fixed place: a batch after the second epoch has been saved."""

    def on_step_begin(self, args, state, control, **kwargs):
        if state.epoch and state.epoch > 2:
            raise KeyboardInterrupt


data = load("synthetic", LoadOptions(generator={"instances": 400}))
recipe = TRAINING_PRESETS["s0-paper"].with_changes(epochs=4)
try:
    train(data, recipe, Path("runs/cut"), callbacks=[StopAfterTwo()])
except KeyboardInterrupt:
    print("stopped; finished:", Path("runs/cut").exists(), "kept:", Path("runs/cut.partial").exists())

train(data, recipe, Path("runs/cut"), resume=True)
train(data, recipe, Path("runs/whole"))
cut, whole = (load_run(Path("runs") / name).model.state_dict() for name in ("cut", "whole"))
print("same weights:", all(torch.equal(cut[name], whole[name]) for name in whole))
