"""What is particular to each of the relative positions."""

import math

import pytest
import torch

from glasshead.attention import HeadSizes, Mask, TokenPositions, attend, mechanism
from glasshead.attention.positions.relative import skew, unskew
from glasshead.attention.positions.shaw import Shaw
from glasshead.attention.positions.tener import Tener
from glasshead.attention.positions.transformer_xl import TransformerXL
from glasshead.errors import InputError
from tolerances import EXACT_MATHS


def random(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 5), (4, 1), (3, 7), (7, 3), (4, 0), (0, 4)])
def test_a_skewed_block_has_the_offsets_in_its_diagonals_and_goes_back(queries, keys):
    rows = random(2, queries, queries + keys)
    block = skew(rows)
    assert block.shape == (2, queries, keys)
    for q in range(queries):
        for k in range(keys):
            assert torch.equal(block[:, q, k], rows[:, q, k - q + queries - 1])
    back = unskew(block)
    for q in range(queries):
        for column in range(queries + keys):
            inside = 0 <= column + q - queries + 1 < keys
            assert torch.equal(back[:, q, column], rows[:, q, column] * inside)


def test_shaw_sees_nothing_beyond_its_clip():
    """Tokens further than the clip are alike: with equal keys their weights are equal."""
    position = Shaw(HeadSizes(1, 4, 4), clip=2).double()
    q, k = random(1, 1, 9, 4), torch.ones(1, 1, 9, 4, dtype=torch.float64)
    scores = position.scores(q, k, 1.0, Mask(9, 9, query_positions=range(9)).token_positions(q.device))[
        0, 0, 4
    ]
    torch.testing.assert_close(scores[[0, 1, 7]], scores[[2, 2, 6]], **EXACT_MATHS)
    torch.testing.assert_close(scores[8], scores[6], **EXACT_MATHS)
    assert (scores[[2, 5]] - scores[[3, 6]]).abs().min() > 1e-3


def test_shaw_values_reach_the_output():
    using = mechanism("shaw", num_heads=1, head_dim=2, value_dim=3).double()
    zeros = torch.zeros(1, 1, 3, 2, dtype=torch.float64)
    output = attend(using, zeros, zeros, zeros.new_zeros(1, 1, 3, 3), kernel="reference").output
    # Uniform weights: token 0 sees the offsets 0, 1 and 2.
    expected = using.position.values[16:19].mean(dim=0)
    torch.testing.assert_close(output[0, 0, 0], expected)


@pytest.mark.parametrize("name", ["shaw", "distance-aware", "transformer-xl", "tener", "cosine"])
@pytest.mark.parametrize("shape", [(0, 2, 5), (1, 2, 0)])
def test_no_texts_and_no_tokens(name, shape):
    using = mechanism(name, num_heads=2, head_dim=4)
    q, k, v = torch.randn(3, *shape, 4)
    assert attend(using, q, k, v, kernel="reference").output.shape == (*shape, 4)
    assert attend(using, q, k, v, rows=[], kernel="reference").output.shape == (*shape[:2], 0, 4)


@pytest.mark.parametrize("clip", [0, -1, 2.5, True, "16"])
@pytest.mark.wrong_types
def test_shaw_clips_at_a_whole_number(clip):
    with pytest.raises(InputError, match="clip must be a whole number above 0"):
        Shaw(HeadSizes(2, 4, 4), clip=clip)


def test_transformer_xl_takes_an_odd_size():
    position = TransformerXL(HeadSizes(2, 5, 3))
    assert position.w.shape == (2, 5, 6)
    q, k = random(1, 2, 4, 5), random(1, 2, 4, 5)
    queries, keys = position.double().features(
        q, k, 1.0, Mask(4, 4, query_positions=range(4)).token_positions(q.device)
    )
    assert queries.shape == keys.shape == (1, 2, 4, 11)


@pytest.mark.parametrize("size", [0, -2, 7, 2.0, "12"])
@pytest.mark.wrong_types
def test_transformer_xl_has_an_r_of_pairs(size):
    with pytest.raises(InputError, match=r"relative_dim`? must be"):
        TransformerXL(HeadSizes(2, 4, 4), relative_dim=size)


def test_r_of_the_size_of_the_model_is_that_of_the_paper():
    """(q_i + u)ᵀ W_E x_j + (q_i + v)ᵀ W_R R_{i−j} with one R for all heads (Dai et al. 2019, section 3.3)."""
    heads, d, model = 3, 4, 12
    using = mechanism(
        {"position": {"name": "transformer-xl", "relative_dim": model}}, num_heads=heads, head_dim=d
    ).double()
    u, v, w = (getattr(using.position, name) for name in "uvw")
    assert w.shape == (heads, d, model)
    torch.nn.init.normal_(w)
    q, k, values = random(3, 1, heads, 5, d)
    scores = torch.zeros(1, heads, 5, 5, dtype=torch.float64)
    for head in range(heads):
        for i in range(5):
            for j in range(5):
                r = torch.zeros(model, dtype=torch.float64)
                for m in range(model // 2):
                    angle = (i - j) / 10000 ** (2 * m / model)
                    r[m], r[model // 2 + m] = math.sin(angle), math.cos(angle)
                content = (q[0, head, i] + u[head]) @ k[0, head, j]
                scores[0, head, i, j] = (content + (q[0, head, i] + v[head]) @ (w[head] @ r)) / math.sqrt(d)
    expected = scores.softmax(dim=-1) @ values
    for kernel in ("reference", "blockwise", "sdpa"):
        torch.testing.assert_close(attend(using, q, k, values, kernel=kernel).output, expected)


def test_tener_is_the_paper_and_not_its_code():
    """The errata: the code has a key term, R of j − i, and other frequencies; each changes the scores."""
    position = Tener(HeadSizes(1, 8, 8)).double()
    q, k = random(1, 1, 6, 8), random(1, 1, 6, 8) + 1
    scores = position.scores(q, k, 1.0, Mask(6, 6, query_positions=range(6)).token_positions(q.device))[0, 0]

    def formula(sign, frequencies, key_term):
        """s_ij for R_{sign (i − j)}, with k_j · R_{i−j} or without."""
        offsets = torch.arange(6)[:, None] - torch.arange(6)
        angles = offsets.double()[..., None] * frequencies
        r, mine = (torch.cat([(s * angles).sin(), angles.cos()], dim=-1) for s in (1, sign))
        content = (q[0, 0] + position.u[0]) @ k[0, 0].T
        along = torch.einsum("id,ijd->ij", q[0, 0] + position.v[0], mine)
        return content + along + key_term * torch.einsum("jd,ijd->ij", k[0, 0], r)

    m = torch.arange(4, dtype=torch.float64)
    paper, code = 10000 ** (-2 * m / 8), 10000 ** (-m / 3)
    torch.testing.assert_close(scores, formula(1, paper, 0))
    for other in (formula(1, paper, 1), formula(-1, paper, 0), formula(1, code, 0)):
        assert (other - scores).abs().max() > 0.1


def test_tener_needs_pairs_and_takes_no_scale():
    with pytest.raises(InputError, match="even size, not 5"):
        Tener(HeadSizes(2, 5, 5))
    position = Tener(HeadSizes(2, 4, 4)).double()
    q, k = random(1, 2, 4, 4), random(1, 2, 4, 4)
    positions = Mask(4, 4, query_positions=range(4)).token_positions(q.device)
    torch.testing.assert_close(
        position.scores(q, k, 0.5, positions), position.scores(q, k, 1.0, positions), **EXACT_MATHS
    )


@pytest.mark.parametrize("name", ["tener", "transformer-xl"])
def test_sinusoids_tell_left_from_right(name):
    using = mechanism(name, num_heads=1, head_dim=4).double()
    q, k = random(1, 1, 5, 4), torch.zeros(1, 1, 5, 4, dtype=torch.float64)
    scores = using.position.scores(q, k, 1.0, Mask(5, 5, query_positions=range(5)).token_positions(q.device))[
        0, 0, 2
    ]
    assert (scores[3:] - scores[:2].flip(0)).abs().min() > 1e-4


@pytest.mark.parametrize("name", ["tener", "transformer-xl", "cosine"])
def test_sinusoids_are_exact_at_far_positions(name):
    """In float32, tokens 100,000 positions into a text score as at its beginning, to rounding."""
    spec = {"name": name, "reach": 200_000} if name == "cosine" else {"name": name}
    position = mechanism({"position": spec}, num_heads=2, head_dim=8).position
    q, k = random(1, 2, 16, 8).float(), random(1, 2, 16, 8).float()
    at = torch.arange(16)[None]
    near = position.scores(q, k, 1.0, TokenPositions(at, at, 0))
    far = position.scores(q, k, 1.0, TokenPositions(at + 100_000, at + 100_000, None))
    torch.testing.assert_close(far, near, rtol=0, atol=1e-5)


def test_cosformer_weighs_near_tokens_most_and_is_free_of_the_scale():
    using = mechanism({"activation": "sum", "position": {"name": "cosine", "reach": 10}})
    q = k = torch.ones(1, 1, 10, 4, dtype=torch.float64)
    v = random(1, 1, 10, 4)
    small, large = (attend(using, q, k, v, scale=scale, need_weights=True) for scale in (0.1, 7.0))
    torch.testing.assert_close(small.weights, large.weights)
    expected = torch.tensor([math.cos(math.pi / 2 * j / 10) for j in range(10)], dtype=torch.float64)
    torch.testing.assert_close(small.weights[0, 0, 0], expected / expected.sum())


def test_cosine_refuses_what_is_beyond_its_reach():
    using = mechanism({"position": {"name": "cosine", "reach": 8}})
    assert attend(using, *random(3, 1, 2, 8, 4)).output.shape == (1, 2, 8, 4)
    with pytest.raises(InputError, match=r'reaches 8 tokens, not 9: give \{"name": "cosine", "reach": 9\}'):
        attend(using, *random(3, 1, 2, 9, 4))
    with pytest.raises(InputError, match="scale above 0"):
        attend(using, *random(3, 1, 2, 4, 4), scale=-1.0)
    with pytest.raises(InputError, match="reach must be a whole number above 0"):
        mechanism({"position": {"name": "cosine", "reach": 0}})


@pytest.mark.parametrize("kernel", ["auto", "reference", "blockwise", "sdpa", "linear"])
@pytest.mark.parametrize(
    "real",
    [[1, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 0, 0, 0]],
)
def test_cosine_counts_real_tokens_and_never_the_padded_length(kernel, real):
    """In a batch padded beyond the reach, a sequence comes out as it does alone."""
    activation = "softmax" if kernel == "sdpa" else "sum"
    using = mechanism({"activation": activation, "position": {"name": "cosine", "reach": 5}})
    real = torch.tensor([real, [1, 1, 0, 0, 0, 0, 0, 0]], dtype=torch.bool)
    q, k, v = random(3, 2, 2, 8, 4)
    found = attend(using, q, k, v, mask=real, kernel=kernel).output
    assert found.isfinite().all()
    for b in range(2):
        alone = attend(using, *(each[b : b + 1, :, real[b]] for each in (q, k, v))).output
        torch.testing.assert_close(found[b : b + 1, :, real[b]], alone)
    weights = attend(using, q, k, v, mask=real, need_weights=True).weights
    assert weights.min() >= 0  # for padded queries too
    with pytest.raises(InputError, match="reaches 5 tokens, not 6"):
        attend(using, q, k, v, mask=torch.arange(8)[None].expand(2, -1) < 6)


def test_cosine_in_a_static_cache_longer_than_its_reach():
    """Token by token, with the room for tokens to come behind the last one: as the whole text at once."""
    using = mechanism({"activation": "sum", "position": {"name": "cosine", "reach": 5}})
    q, k, v = random(3, 1, 2, 5, 4)
    whole = attend(using, q, k, v, is_causal=True).output
    k, v = (torch.cat([each, torch.zeros(1, 2, 11, 4, dtype=each.dtype)], dim=2) for each in (k, v))
    for at in range(5):
        mask = Mask(1, 16, causal=True, query_positions=range(at, at + 1))
        torch.testing.assert_close(attend(using, q[:, :, [at]], k, v, mask=mask).output, whole[:, :, [at]])
    with pytest.raises(InputError, match="reaches 5 tokens, not 6"):
        attend(using, q[:, :, :1], k, v, mask=Mask(1, 16, causal=True, query_positions=range(5, 6)))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("name", ["tener", "transformer-xl"])
def test_sinusoids_score_as_their_features(name, batch):
    """Two ways to one score: for kernels as a product of long features, else without a copy of the keys."""
    position = mechanism(name, num_heads=3, head_dim=6).double().position
    q, k = random(2, batch, 3, 7, 6)
    hole = torch.tensor([[True] * 7, [True, False, True, True, False, True, True]])[-batch:]
    for mask in (Mask(7, 7, query_positions=range(7)), Mask(7, 7, padding=hole, query_positions=range(7))):
        for chosen in (slice(None), slice(6, 7), slice(0, 0)):
            positions = mask.rows(chosen).token_positions(q.device)
            queries, keys = position.features(q[:, :, chosen], k, 0.4, positions)
            scores = position.scores(q[:, :, chosen], k, 0.4, positions)
            torch.testing.assert_close(scores, queries @ keys.transpose(2, 3))


@pytest.mark.parametrize(
    ("name", "is_causal"),
    [
        ("distance-aware", False),
        ("shaw", True),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("tener", False), ("cosine", True))),
    ],
)
@pytest.mark.compiled
def test_positions_and_padding_compile_whole(name, is_causal):
    """Whether padding has holes is a question to the data, which a compiler cannot ask."""
    using = mechanism(name, num_heads=2, head_dim=4).double()
    q, k, v = random(3, 2, 2, 9, 4)
    real = torch.ones(2, 9, dtype=torch.bool)
    real[0, 3:5] = False
    torch.compiler.reset()
    compiled = torch.compile(
        lambda q, real: attend(using, q, k, v, mask=real, is_causal=is_causal, kernel="blockwise").output,
        fullgraph=True,
        backend="eager",
    )
    expected = attend(using, q, k, v, mask=real, is_causal=is_causal).output
    torch.testing.assert_close(compiled(q, real), expected)
