"""The one function that chooses: what it takes, what it refuses, and what it costs."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.measuring import peak_bytes
from glasshead.attention import KERNELS, AttentionInputs, Mask, attend, mechanism, select_kernel
from glasshead.attention.attend import run_kernel
from glasshead.errors import InputError
from tolerances import ONE_FORMULA, ONE_MODEL


def tensors(queries=6, keys=6, heads=4, key_heads=4, size=8, value_dim=8, batch=2):
    torch.manual_seed(0)
    return (
        torch.randn(batch, heads, queries, size),
        torch.randn(batch, key_heads, keys, size),
        torch.randn(batch, key_heads, keys, value_dim),
    )


class TestDropInBesideTorch:
    @pytest.mark.parametrize("kernel", ["auto", "reference", "sdpa", "blockwise"])
    @pytest.mark.parametrize("key_heads", [4, 2, 1])
    def test_softmax(self, kernel, key_heads):
        q, k, v = tensors(6, 9, key_heads=key_heads)
        expected = scaled_dot_product_attention(q, k, v, enable_gqa=True)
        torch.testing.assert_close(attend("softmax", q, k, v, kernel=kernel).output, expected, **ONE_MODEL)

    @pytest.mark.parametrize("kernel", ["auto", "reference", "sdpa", "blockwise"])
    def test_causal_and_scaled(self, kernel):
        q, k, v = tensors()
        expected = scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7)
        found = attend("softmax", q, k, v, is_causal=True, scale=0.7, kernel=kernel).output
        torch.testing.assert_close(found, expected, **ONE_MODEL)

    @pytest.mark.parametrize("kernel", ["auto", "reference", "sdpa", "blockwise"])
    @pytest.mark.parametrize(
        "shape", [(6, 9), (2, 9), (2, 1, 1, 9), (1, 4, 6, 9), (2, 4, 6, 9), (2, 1, 6, 9)]
    )
    def test_every_form_of_mask(self, kernel, shape):
        q, k, v = tensors(6, 9)
        mask = torch.rand(shape) < 0.6
        mask[..., 0] = True
        full = mask[:, None, None] if shape == (2, 9) else mask
        expected = scaled_dot_product_attention(q, k, v, attn_mask=full)
        found = attend("softmax", q, k, v, mask=mask, kernel=kernel).output
        torch.testing.assert_close(found, expected, **ONE_MODEL)

    def test_weights_are_those_of_the_output(self):
        q, k, v = tensors(6, 9)
        output, weights = attend("tanhmax", q, k, v, need_weights=True)
        assert weights.shape == (2, 4, 6, 9)
        torch.testing.assert_close(weights @ v, output, **ONE_MODEL)
        assert attend("tanhmax", q, k, v).weights is None


class TestRows:
    @pytest.mark.parametrize("kernel", ["auto", "reference", "sdpa", "blockwise"])
    @pytest.mark.parametrize("is_causal", [False, True])
    def test_they_are_those_of_the_whole(self, kernel, is_causal):
        q, k, v = tensors()
        whole = attend("tanhmax", q, k, v, is_causal=is_causal).output
        some = attend("tanhmax", q, k, v, is_causal=is_causal, rows=[4, -1, 0], kernel=kernel).output
        torch.testing.assert_close(some, whole[:, :, [4, 5, 0]], **ONE_MODEL)

    def test_positions_stay_those_of_the_whole(self):
        q, k, v = tensors()
        attention = mechanism("distance-aware", num_heads=4, head_dim=8)
        whole = attend(attention, q, k, v, need_weights=True).weights
        some = attend(attention, q, k, v, rows=[3], need_weights=True).weights
        torch.testing.assert_close(some, whole[:, :, [3]], **ONE_MODEL)

    @pytest.mark.parametrize(
        ("name", "need_weights"),
        [
            ("softmax", True),
            ("tanhmax", False),
            ("dot-product", True),
            ("relu", False),
            ("distance-aware", True),
            ("distance-aware", False),
            ("tener", False),
            ("transformer-xl", False),
        ],
    )
    def test_one_of_16384_costs_one_row(self, name, need_weights):
        """A row is half a MiB and the keys are 32: the formula copies no keys, not even for sinusoids.

        A kernel may copy those of some heads at a time.
        """
        length, heads, size = 16_384, 8, 64
        q, k, v = tensors(length, length, heads, heads, size, size, batch=1)
        attention = mechanism(name, num_heads=heads, head_dim=size).requires_grad_(False)
        peak = peak_bytes(lambda: attend(attention, q, k, v, rows=[0], need_weights=need_weights))
        assert peak < (k.nbytes / 2 if need_weights else k.nbytes)

    @pytest.mark.parametrize(
        ("rows", "said"),
        [([6], "there is no row 6: there are 6 rows"), ([0, -7], "no row -7"), ([0.5], "whole numbers")],
    )
    @pytest.mark.wrong_types
    def test_that_are_not_there(self, rows, said):
        with pytest.raises(InputError, match=said):
            attend("softmax", *tensors(), rows=rows)

    def test_none_at_all(self):
        assert attend("tanhmax", *tensors(), rows=[]).output.shape == (2, 4, 0, 8)


class TestChoice:
    def call(self, name, length=6, **options):
        spec = {"activation": "sum", "position": {"name": "cosine", "reach": 4096}} if name == "sum" else name
        q, k, v = (each.requires_grad_() for each in tensors(length, length, batch=1))
        return AttentionInputs.of(mechanism(spec, num_heads=4, head_dim=8), q, k, v, **options)

    @pytest.mark.parametrize(
        ("name", "length", "options", "chosen"),
        [
            ("softmax", 6, {}, "sdpa"),
            ("tanhmax", 2000, {"is_causal": True}, "sdpa"),
            ("tener", 100, {}, "sdpa"),
            ("tanhmax", 100, {"dropout": 0.1}, "reference"),
            ("tanhmax", 2000, {"dropout": 0.1}, "blockwise"),
            ("relu", 100, {}, "reference"),
            ("relu", 2000, {}, "blockwise"),
            ("distance-aware", 2000, {}, "blockwise"),
            ("sigsoftmax", 2000, {}, "blockwise"),
            ("dot-product", 2000, {}, "linear"),
            ("dot-product", 4, {}, "reference"),
            ("sum", 2000, {"is_causal": True}, "linear"),
        ],
    )
    def test_on_a_cpu_with_gradients(self, name, length, options, chosen):
        assert select_kernel(self.call(name, length, **options)) == chosen

    def test_linear_time_is_not_worth_one_row(self):
        assert select_kernel(self.call("dot-product", 2000).rows(slice(0, 1))) == "reference"

    @pytest.mark.parametrize("name", list(KERNELS))
    def test_a_named_kernel_serves_or_says_why_not(self, name):
        for wanted in ("softmax", "tanhmax", "dot-product", "shaw"):
            call = self.call(wanted)
            reason = KERNELS[name].unsupported_reason(call)
            if reason is None:
                torch.testing.assert_close(run_kernel(call, name), run_kernel(call, "reference"), **ONE_MODEL)
                continue
            with pytest.raises(InputError) as refused:
                run_kernel(call, name)
            said = str(refused.value)
            assert said.startswith(f"the {name} kernel cannot serve {wanted}: {reason} (can: ")
            can = said.removesuffix(")").rpartition("(can: ")[2].split(", ")
            assert set(can) >= {"blockwise", "reference"}
            assert all(KERNELS[each].unsupported_reason(call) is None for each in can)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("name", "options", "said"),
        [
            ("relu", {"kernel": "sdpa"}, "its weights are not a softmax of dot products"),
            ("shaw", {"kernel": "sdpa"}, "its scores are not dot products"),
            ("tanhmax", {"kernel": "sdpa", "dropout": 0.1}, "set dropout=0"),
            ("softmax", {"kernel": "linear"}, "not linear in the scores"),
            ("sum", {"kernel": "linear"}, "add a cosine position"),
            ("dot-product", {"kernel": "linear", "dropout": 0.1}, "set dropout=0"),
            ("dot-product", {"kernel": "linear", "mask": torch.ones(6, 6).bool()}, "no masks of pairs"),
            ("dot-product", {"kernel": "linear", "is_causal": True, "rows": [3, 1]}, "consecutive"),
            ("softmax", {"kernel": "sdap"}, "unknown kernel 'sdap': did you mean 'sdpa'?"),
            ("softmax", {"kernel": "sdap", "need_weights": True}, "did you mean 'sdpa'?"),
            ("softmax", {"kernel": "sdpa", "need_weights": True}, "never stores the weights.*'reference'"),
            ("softmaxx", {}, "did you mean 'softmax'?"),
            ("softmax", {"mask": torch.ones(6, 6)}, "boolean tensor.*float32"),
            ("softmax", {"mask": torch.ones(7, 7).bool()}, "does not fit"),
            ("softmax", {"mask": [[True]]}, "boolean tensor.*not list"),
            ("softmax", {"mask": Mask(6, 7)}, "for 6 queries and 7 keys, not 6 and 6"),
            ("softmax", {"dropout": 1.0}, "probability"),
            ("softmax", {"scale": float("nan")}, "finite"),
        ],
    )
    @pytest.mark.wrong_types
    def test_options(self, name, options, said):
        attention = mechanism(name, num_heads=4, head_dim=8) if name == "shaw" else name
        with pytest.raises(InputError, match=said) as refused:
            attend(attention, *tensors(), **options)
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"q": (2, 4, 6, 7)}, "one size above 0, not 7 and 8"),
            ({"v": (2, 4, 5, 8)}, "one value for each key"),
            ({"k": (3, 4, 6, 8)}, "one batch size"),
            ({"q": (2, 5, 6, 8)}, "5 query heads cannot share 4 key heads"),
            ({"q": (4, 6, 8)}, r"\[batch, heads, length, size\]"),
        ],
    )
    def test_shapes(self, change, said):
        given = dict(zip("qkv", tensors(), strict=True))
        given |= {name: torch.randn(shape) for name, shape in change.items()}
        with pytest.raises(InputError, match=said):
            attend("softmax", *given.values())

    def test_causal_needs_one_sequence(self):
        with pytest.raises(InputError, match="as many queries as keys, not 6 and 9"):
            attend("softmax", *tensors(6, 9), is_causal=True)

    def test_a_mechanism_built_for_other_heads(self):
        with pytest.raises(InputError, match="built for"):
            attend(mechanism("distance-aware", num_heads=3, head_dim=8), *tensors())


class TestHalfPrecision:
    @pytest.mark.parametrize("kernel", ["reference", "blockwise", "linear"])
    def test_an_output_beyond_float16_is_infinite_not_cut(self, kernel):
        """Dot products of 64 · 300 · 300 times values of 300: the mean is 1.7 · 10⁹."""
        q = k = v = torch.full((1, 1, 5, 64), 300.0, dtype=torch.float16)
        output = attend("dot-product", q, k, v, scale=1.0, kernel=kernel).output
        assert output.dtype == torch.float16
        assert (output == torch.inf).all()

    @pytest.mark.parametrize("kernel", ["reference", "blockwise", "sdpa"])
    @pytest.mark.parametrize("name", ["softmax", "tanhmax"])
    @pytest.mark.parametrize("keys", [1, 7, 15, 16, 40, 70])
    @pytest.mark.parametrize("is_causal", [False, True])
    def test_not_a_number_stays_visible(self, kernel, name, keys, is_causal):
        q, k, v = tensors(keys, keys)
        q[0, 0, -1, 0] = torch.nan
        output = attend(name, q, k, v, kernel=kernel, is_causal=is_causal).output
        assert output[0, 0, -1].isnan().all()
        assert output.isnan().sum() == 8


def test_second_derivatives_by_the_kernels_of_formulas():
    """Blocks are recomputed under autograd as well."""
    q, k, v = (each[:1, :1, :5, :2].double().requires_grad_() for each in tensors())
    k, v = k[:, :1], v[:, :1]

    def second(kernel):
        output = attend("tanhmax", q, k, v, kernel=kernel).output
        first = torch.autograd.grad(output.pow(2).sum(), q, create_graph=True)[0]
        return torch.autograd.grad(first.pow(2).sum(), k)[0]

    torch.testing.assert_close(second("blockwise"), second("reference"), **ONE_FORMULA)


def test_softmax_through_torch_copies_nothing():
    """What is handed on to the fused kernel are q, k and v themselves: all that is new is the output."""
    q, k, v = tensors(256, 256)
    peak = peak_bytes(lambda: attend("softmax", q, k, v, kernel="sdpa"))
    assert peak == peak_bytes(lambda: scaled_dot_product_attention(q, k, v))


@torch.no_grad()
@pytest.mark.parametrize("shape", [(6, 6), (4, 6, 6), (2, 1, 6, 6), (1, 6)])
def test_arguments_of_scaled_dot_product_attention(shape):
    q, k, v = (each.double() for each in tensors())
    attn_mask = torch.rand(shape) < 0.6
    attn_mask[..., 0] = True  # no row without a key, which PyTorch makes NaN
    expected = scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=0.0, scale=0.7)
    found = attend(mechanism="softmax", q=q, k=k, v=v, attn_mask=attn_mask, dropout_p=0.0, scale=0.7).output
    torch.testing.assert_close(found, expected, **ONE_FORMULA)


def test_dropout_by_either_name():
    q, k, v = tensors()
    made = []
    for name in ("dropout", "dropout_p"):
        torch.manual_seed(0)
        made.append(attend("tanhmax", q, k, v, **{name: 0.5}).output)
    torch.testing.assert_close(*made, **ONE_FORMULA)
    assert not torch.allclose(made[0], attend("tanhmax", q, k, v).output)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attn_mask": torch.zeros(6, 6)}, "attn_mask must be a boolean tensor"),
        ({"attn_mask": torch.ones(6, 5, dtype=torch.bool)}, "does not fit"),
        (
            {"attn_mask": torch.ones(6, 6).bool(), "mask": torch.ones(6, 6).bool()},
            "mask and attn_mask are two",
        ),
        ({"dropout": 0.1, "dropout_p": 0.1}, "dropout and dropout_p are two names"),
        ({"dropout_p": 1.0}, "`dropout` must be a probability"),
    ],
)
def test_arguments_that_do_not_fit(options, says):
    with pytest.raises(InputError, match=says):
        attend("softmax", *tensors(), **options)
