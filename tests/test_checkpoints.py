"""Long loops without modules can be told to stop, in their own thread alone."""

import threading

import numpy as np
import pytest

from glasshead.checkpoints import check_at_checkpoints, checkpoint
from glasshead.explainers.attention_flow import FlowNetwork


class StopError(Exception):
    pass


def stop():
    raise StopError


def test_without_a_check_and_after_the_block_nothing_happens():
    checkpoint()
    with pytest.raises(StopError), check_at_checkpoints(stop):
        checkpoint()
    checkpoint()


def test_other_threads_go_on():
    went_on = []
    with check_at_checkpoints(stop):
        thread = threading.Thread(target=lambda: went_on.append(checkpoint()))
        thread.start()
        thread.join()
    assert went_on == [None]


def test_every_token_of_a_flow_is_a_checkpoint():
    calls = []
    network = FlowNetwork(np.arange(3, dtype=np.int32))
    (source,) = network.add_layer((np.full((1, 3), 0.25), network.tokens))
    with check_at_checkpoints(lambda: calls.append(1)):
        np.testing.assert_allclose(network.flows(int(source)), 0.25)
    assert len(calls) == 3
