"""torch.compile changes the time that training takes, not what it gives."""

import pytest
import torch

from glasshead.opening import load_run
from glasshead.training import train
from kinds import data, recipe


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch means to hide it
def test_a_compiled_training_gives_the_same_model(tmp_path):
    settings = recipe("encoder").with_changes(epochs=1, dropout=0, batch_size=64)
    models = [
        load_run(train(data("encoder"), settings.with_changes(compile=each), tmp_path / str(each))).model
        for each in (False, True)
    ]
    names = [name for name, _ in models[0].named_parameters()]
    assert names == [name for name, _ in models[1].named_parameters()]
    for name in names:
        torch.testing.assert_close(*(model.get_parameter(name) for model in models), rtol=1e-3, atol=1e-4)
