"""A hook of one's own, outside of `record` and `intervene`."""

import pytest
import torch
from torch._dynamo import eval_frame

from glasshead.attention import ACTIVE_HOOKS, MultiHeadAttention
from glasshead.attention.compile_guard import COMPILE_GUARD
from glasshead.trace import record


class Listener:
    """Counts the calls, and asks for no weights."""

    def __init__(self):
        self.calls = 0

    def before(self, flow):
        self.calls += 1

    def after(self, flow, output):
        assert flow.weights is None


def heard(layer, x):
    """The output of a layer under a lone hook, and what the hook has counted."""
    listener = Listener()
    token = ACTIVE_HOOKS.set((listener,))
    try:
        return layer(x).output, listener.calls
    finally:
        ACTIVE_HOOKS.reset(token)


@pytest.mark.parametrize("stance", ["default", "eager_on_recompile"])
def test_a_lone_tap_leaves_the_compiler_as_it_is(stance):
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8)
    expected = layer(x).output
    for _ in range(2):  # before the first block and after a finished one
        with torch.compiler.set_stance(stance):
            output, calls = heard(layer, x)
            assert eval_frame._stance.stance == stance
        torch.testing.assert_close(output, expected)
        assert calls == 1
        with record(layer):
            layer(x)
            assert eval_frame._stance.stance == "force_eager"
    assert eval_frame._stance.stance == "default"
    assert (COMPILE_GUARD.blocks, COMPILE_GUARD.kernels, COMPILE_GUARD.taken) == (0, 0, None)
