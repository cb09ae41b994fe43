"""What a call of attention accepts, and what it makes of mixed precision and of nothing at all."""

import pytest
import torch

from glasshead.attention import ACTIVATIONS, Mask, attend, mechanism
from glasshead.attention.mechanism import AttentionInputs
from glasshead.errors import InputError
from tolerances import EXACT_MATHS

SHAPE = (2, 4, 5, 3)


def tensors(shape=SHAPE, keys=None, value_dim=None, kv_heads=None):
    torch.manual_seed(0)
    batch, heads, queries, size = shape
    keys = queries if keys is None else keys
    kv_heads = heads if kv_heads is None else kv_heads
    value_dim = size if value_dim is None else value_dim
    return (
        torch.randn(batch, heads, queries, size),
        torch.randn(batch, kv_heads, keys, size),
        torch.randn(batch, kv_heads, keys, value_dim),
    )


def call(q, k, v, **options):
    return AttentionInputs.of(mechanism("tanhmax"), q, k, v, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, k, v: (q.numpy(), k, v), "q must be a floating tensor .*, not ndarray"),
        (lambda q, k, v: (q, k.long(), v), "k must be a floating tensor .*, not torch.int64"),
        (
            lambda q, k, v: (q[0], k, v),
            r"q, k and v must have the shape \[batch, heads, length, size\], not q \[4, 5, 3\]",
        ),
        (
            lambda q, k, v: (q, k.double(), v),
            "must have one type, not torch.float32, torch.float64 and",
        ),
        (lambda q, k, v: (q, k, v.to("meta")), "on one device, not cpu, cpu and meta"),
        (lambda q, k, v: (q[:1], k, v), "one batch size"),
        (lambda q, k, v: (q[..., :2], k, v), "one size above 0, not 2 and 3"),
        (lambda q, k, v: (q[..., :0], k[..., :0], v), "one size above 0, not 0 and 0"),
        (lambda q, k, v: (q, k, v[:, :, :4]), "one value for each key"),
        (lambda q, k, v: (q, k[:, :1], v), "one value for each key"),
        (lambda q, k, v: (q, k[:, :3], v[:, :3]), "4 query heads cannot share 3 key heads"),
        (lambda q, k, v: (q, k[:, :0], v[:, :0]), "4 query heads cannot share 0 key heads"),
    ],
)
@pytest.mark.wrong_types
def test_shapes_that_do_not_fit(change, message):
    with pytest.raises(InputError, match=message):
        call(*change(*tensors()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout": 1.0}, r"`dropout` must be a probability in \[0, 1\), not 1.0"),
        ({"dropout": -0.1}, "not -0.1"),
        ({"dropout": "0.1"}, "not '0.1'"),
        ({"scale": float("inf")}, "the scale must be a finite number, not inf"),
        ({"scale": "1"}, "not '1'"),
        ({"mask": torch.ones(2, 5)}, "boolean"),
    ],
)
@pytest.mark.wrong_types
def test_options_that_do_not_fit(options, message):
    with pytest.raises(InputError, match=message):
        call(*tensors(), **options)


def test_the_scale_is_that_of_the_key_size():
    q, k, v = tensors(value_dim=7)
    assert call(q, k, v).scale == pytest.approx(3**-0.5)
    scores = call(q, k, v, scale=2).mechanism.scores(call(q, k, v, scale=2))
    torch.testing.assert_close(scores, 2 * q @ k.transpose(2, 3))


def test_query_heads_that_share_a_key_head():
    """Query head h reads key head h // (H/G)."""
    q, k, v = tensors(kv_heads=2)
    shared = call(q, k, v)
    assert shared.groups == 2
    output, _ = shared.mechanism(shared)
    for head in range(4):
        alone = call(q[:, [head]], k[:, [head // 2]], v[:, [head // 2]])
        torch.testing.assert_close(output[:, [head]], alone.mechanism(alone)[0])


@pytest.mark.parametrize("rows", [slice(1, 4), slice(0, 5, 2), slice(3, 2), torch.tensor([4, 0, 0])])
def test_rows_of_a_call(rows):
    made = call(*tensors(), is_causal=True)
    output, weights = made.mechanism(made)
    some = made.mechanism(made.rows(rows))
    torch.testing.assert_close(some[0], output[:, :, rows])
    torch.testing.assert_close(some[1], weights[:, :, rows])


def test_places_are_computed_for_those_who_ask():
    made = call(*tensors(), mask=torch.ones(2, 5, dtype=torch.bool))
    assert made.token_positions() is None
    assert made.mask.token_positions(made.q.device).start == 0


def test_who_needs_a_gradient():
    q, k, v = tensors()
    assert not call(q, k, v).needs_gradient
    assert call(q, k, v.requires_grad_()).needs_gradient
    with torch.no_grad():
        assert not call(q, k, v).needs_gradient


@pytest.mark.parametrize("name", list(ACTIVATIONS))
@pytest.mark.parametrize(("queries", "keys"), [(0, 3), (3, 0), (0, 0)])
def test_no_queries_or_no_keys(name, queries, keys):
    """Nothing to attend to gives zeros."""
    q, k, v = (each.requires_grad_() for each in tensors((2, 4, queries, 3), keys=keys, value_dim=6))
    attended = attend(name, q, k, v, need_weights=True)
    assert attended.weights.shape == (2, 4, queries, keys)
    assert attended.output.shape == (2, 4, queries, 6)
    assert attended.output.count_nonzero() == 0
    assert torch.equal(attend(name, q, k, v).output, attended.output)
    attended.output.sum().backward()
    assert q.grad.count_nonzero() == 0


@pytest.mark.parametrize("name", ["softmax", "tanhmax"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("automatic", [False, True], ids=["half tensors", "autocast"])
def test_scores_beyond_the_range_of_float16(name, dtype, automatic):
    """q·k is about 10⁶ here, and float16 ends at 65504."""
    q, k, v = tensors()
    q, k = 1e3 * q, 1e3 * k
    expected = attend(name, *(each.to(dtype).double() for each in (q, k, v))).output
    if automatic:
        with torch.autocast("cpu", dtype=dtype):
            found = attend(name, q, k, v, need_weights=True)
            torch.testing.assert_close(attend(name, q, k, v).output, found.output, rtol=0.01, atol=0.01)
    else:
        found = attend(name, q.to(dtype), k.to(dtype), v.to(dtype), need_weights=True)
    assert found.output.dtype == found.weights.dtype == dtype
    torch.testing.assert_close(found.output.double(), expected, rtol=0.01, atol=0.01)


def test_autocast_mends_mixed_types_and_leaves_float64_alone():
    """Rotary embeddings leave q and k in float32 where v is lower; fused attention casts them, so do we."""
    q, k, v = tensors()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert attend("softmax", q, k, v.bfloat16()).output.dtype == torch.bfloat16
        doubled = attend("softmax", q.double(), k.double(), v.double()).output
    assert doubled.dtype == torch.float64
    torch.testing.assert_close(
        doubled, attend("softmax", q.double(), k.double(), v.double()).output, **EXACT_MATHS
    )


def test_shapes_without_numbers():
    """On the meta device, where a model can be looked at before its weights are loaded."""
    q, k, v = (each.to("meta") for each in tensors(value_dim=6))
    assert attend("tanhmax", q, k, v).output.shape == (2, 4, 5, 6)


def test_a_mask_object_is_checked_against_the_call():
    with pytest.raises(InputError, match="for 4 queries and 5 keys, not 5 and 5"):
        call(*tensors(), mask=Mask(4, 5))
