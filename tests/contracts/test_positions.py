"""Every registered position, with all its options, keeps the promises of its kind."""

import pytest
import torch

from glasshead.attention import (
    ACTIVATIONS,
    POSITIONS,
    HeadSizes,
    Mask,
    Mechanism,
    TokenPositions,
    attend,
    mechanism,
)
from glasshead.attention.mechanism import AttentionInputs
from glasshead.errors import InputError
from positions import CHOICES, SIZES, built, tensors
from tolerances import EXACT_MATHS

every_choice = pytest.mark.parametrize("choice", list(CHOICES))
every_position = pytest.mark.parametrize("name", list(POSITIONS))
PATHS = ("consecutive", "indexed")


def placed(choice, activation="softmax"):
    return Mechanism(
        ACTIVATIONS[activation](), built(choice), {"activation": activation, "position": CHOICES[choice]}
    )


def reference(using, *args, **options):
    return attend(using, *args, kernel="reference", **options)


def mask_at(path, queries, keys, first=0, causal=False, padding=None):
    """The same positions, known as a range or only as indices."""
    at = range(first, first + queries)
    at = at if path == "consecutive" else torch.tensor(at)
    return Mask(queries, keys, padding=padding, causal=causal, query_positions=at)


def close(left, right):
    torch.testing.assert_close(left, right, **EXACT_MATHS)


@pytest.mark.parametrize(
    ("choice", "path"), [(choice, PATHS[number % 2]) for number, choice in enumerate(CHOICES)]
)
def test_gradcheck_with_parameters(choice, path):
    sizes = HeadSizes(num_heads=2, head_dim=2, value_dim=2)
    position = built(choice, sizes)
    parameters = list(position.parameters())
    inputs = [each.requires_grad_() for each in tensors(1, 4, 5, sizes)]
    using = Mechanism(ACTIVATIONS["softmax"](), position, {"position": CHOICES[choice]})
    mask = mask_at(path, 4, 5, first=1, causal=True)
    assert torch.autograd.gradcheck(
        lambda q, k, v, *_: reference(using, q, k, v, mask=mask).output,
        (*inputs, *parameters),
        fast_mode=choice == "shaw",  # which has 132 parameters; "shaw 2" is checked one by one
    )


@every_choice
@pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
def test_padding_at_either_end_changes_nothing_at_real_tokens(choice, activation):
    using = placed(choice, activation)
    lengths, longest = (6, 3), 6
    texts = [tensors(1, n, n, seed=n) for n in lengths]
    alone = [reference(using, *text).output for text in texts]
    for side in ("left", "right"):
        batch = [torch.full((2, SIZES.num_heads, longest, each.shape[-1]), 9.0).double() for each in texts[0]]
        padding = torch.zeros(2, longest, dtype=torch.bool)
        real = []
        for row, (n, text) in enumerate(zip(lengths, texts, strict=True)):
            where = slice(longest - n, longest) if side == "left" else slice(0, n)
            padding[row, where] = True
            for whole, part in zip(batch, text, strict=True):
                whole[row, :, where] = part[0]
            real.append((row, where))
        attended = reference(using, *batch, mask=padding, need_weights=True)
        for (row, where), expected in zip(real, alone, strict=True):
            close(attended.output[row, :, where], expected[0])
            assert (attended.weights[row].transpose(0, -1)[~padding[row]] == 0).all()


@every_choice
def test_holes_between_real_tokens_are_no_distance(choice):
    using = placed(choice)
    q, k, v = tensors(1, 5, 5)
    alone = reference(using, q, k, v).output
    real = torch.tensor([1, 2, 4, 7, 8])
    wide = [torch.full((1, SIZES.num_heads, 10, each.shape[-1]), 9.0).double() for each in (q, k, v)]
    for whole, part in zip(wide, (q, k, v), strict=True):
        whole[:, :, real] = part
    padding = torch.zeros(1, 10, dtype=torch.bool)
    padding[:, real] = True
    close(reference(using, *wide, mask=padding).output[:, :, real], alone)


@pytest.mark.parametrize(
    ("choice", "path", "causal"),
    [
        (choice, PATHS[(number + causal) % 2], causal)
        for number, choice in enumerate(CHOICES)
        for causal in (False, True)
    ],
)
def test_blocks_rows_and_a_cache_give_the_rows_of_the_whole(choice, path, causal):
    using = placed(choice)
    q, k, v = tensors(2, 9, 9)
    padding = torch.ones(2, 9, dtype=torch.bool)
    padding[0, 7:] = False
    whole = reference(using, q, k, v, mask=mask_at(path, 9, 9, causal=causal, padding=padding)).output
    call = AttentionInputs.of(using, q, k, v, mask=mask_at(path, 9, 9, causal=causal, padding=padding))
    blocks = [using(call.rows(rows))[0] for rows in (slice(0, 4), slice(4, 8), slice(8, 9))]
    close(torch.cat(blocks, dim=2), whole)
    close(using(call.rows(slice(1, 9, 3)))[0], whole[:, :, 1:9:3])
    rows = [8, 0, 5]
    chosen = reference(using, q, k, v, mask=mask_at(path, 9, 9, causal=causal, padding=padding), rows=rows)
    close(chosen.output, whole[:, :, rows])
    cached = mask_at(path, 3, 9, first=5, causal=causal, padding=padding)
    close(reference(using, q[:, :, 5:8], k, v, mask=cached).output, whole[:, :, 5:8])


@every_choice
def test_consecutive_and_indexed_places_agree_for_any_block(choice):
    position = built(choice)
    q, k, v = tensors(2, 30, 30)
    for first, queries in ((0, 1), (0, 30), (3, 20), (29, 1), (12, 5)):
        block = q[:, :, first : first + queries]
        positions = [mask_at(path, queries, 30, first).token_positions(q.device) for path in PATHS]
        weights = torch.rand(2, SIZES.num_heads, queries, 30, dtype=torch.float64)
        fast, slow = (
            (
                position.scores(block, k, 0.3, each),
                position.weights(weights, each),
                position.output(weights, v, each),
            )
            for each in positions
        )
        for left, right in zip(fast, slow, strict=True):
            close(left, right)


@every_choice
def test_only_distances_matter(choice):
    position = built(choice)
    q, k, _ = tensors(1, 6, 6)
    at = torch.arange(6)[None]
    here = position.scores(q, k, 0.5, TokenPositions(at, at, 0))
    close(position.scores(q, k, 0.5, TokenPositions(at + 20, at + 20, None)), here)
    # After a prefix of other tokens, as a cache or a longer text has it.
    longer = torch.cat([torch.ones_like(k[:, :, :4]), k], dim=2)
    after = position.scores(q, longer, 0.5, TokenPositions(at + 4, torch.arange(10)[None], 4))
    close(after[..., 4:], here)


@every_choice
def test_facts_are_as_declared(choice):
    position = built(choice)
    q, k, v = tensors(2, 8, 8)
    positions = Mask(8, 8, query_positions=range(8)).token_positions(q.device)
    scores = position.scores(q, k, 0.5, positions)
    weights = torch.softmax(scores, dim=-1)
    assert position.nonnegative_scores == bool((scores >= 0).all())
    assert position.changes_weights != torch.equal(position.weights(weights, positions), weights)
    assert position.may_flip_sign == bool((position.weights(weights, positions) < 0).any())
    assert position.changes_output != torch.allclose(position.output(weights, v, positions), weights @ v)
    assert position.learned == bool(list(position.parameters()))
    moved = TokenPositions(positions.query, positions.key.flip(-1), None)
    whole = Mechanism(ACTIVATIONS["softmax"](), position, {"position": CHOICES[choice]})
    steps = [
        position.output(position.weights(torch.softmax(position.scores(q, k, 0.5, at), -1), at), v, at)
        for at in (positions, moved)
    ]
    assert position.needs_positions != torch.allclose(*steps)
    assert whole.signed == position.may_flip_sign
    if position.is_dot_product:
        queries, keys = position.features(q, k, 0.5, positions)
        close(queries @ keys.transpose(-1, -2), scores)
    else:
        with pytest.raises(TypeError, match="not dot products"):
            position.features(q, k, 0.5, positions)


@every_choice
@pytest.mark.parametrize("holes", [False, True])
def test_the_score_change_gives_the_scores(choice, holes):
    position = built(choice)
    q, k, _ = tensors(2, 7, 7)
    padding = torch.ones(2, 7, dtype=torch.bool)
    padding[0, 2:4] = not holes
    positions = Mask(7, 7, padding=padding, query_positions=range(7)).token_positions(q.device)
    changed = position.score_mod(q, 0.5, positions)
    if changed is None:
        assert position.is_dot_product
        return
    index = torch.meshgrid(*(torch.arange(n) for n in (2, SIZES.num_heads, 7, 7)), indexing="ij")
    close(changed(q @ k.transpose(-1, -2), *index), position.scores(q, k, 0.5, positions))


@every_choice
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_finite_and_of_the_type_given(choice, dtype):
    using = placed(choice).to(dtype)
    q, k, v = (each.to(dtype).requires_grad_() for each in tensors(2, 12, 12))
    attended = reference(using, q, k, v, need_weights=True)
    attended.output.float().sum().backward()
    assert attended.output.dtype == attended.weights.dtype == dtype
    assert all(torch.isfinite(each.grad).all() for each in (q, k, v))
    positions = Mask(12, 12, query_positions=range(12)).token_positions(q.device)
    assert torch.isfinite(using.position.scores(q, k, 0.5, positions)).all()
    # The same rounded parameters and inputs, calculated exactly.
    exact = reference(using.double(), *(each.detach().double() for each in (q, k, v))).output
    bound = {torch.bfloat16: 1e-2, torch.float16: 2e-3, torch.float32: 1e-5}[dtype]
    assert (attended.output - exact).abs().max() <= bound * exact.abs().max()


@every_choice
def test_state_dict_round_trip_and_reset(choice):
    position, fresh = built(choice, seed=1), built(choice, seed=2)
    q, k, v = tensors(1, 6, 6)
    positions = Mask(6, 6, query_positions=range(6)).token_positions(q.device)
    weights = torch.softmax(q @ k.transpose(-1, -2), dim=-1)

    def results(which):
        return (
            which.scores(q, k, 0.5, positions),
            which.weights(weights, positions),
            which.output(weights, v, positions),
        )

    before = results(fresh)
    fresh.load_state_dict(position.state_dict())
    for loaded, saved in zip(results(fresh), results(position), strict=True):
        torch.testing.assert_close(loaded, saved, **EXACT_MATHS)
    changed = any(not torch.equal(*pair) for pair in zip(before, results(fresh), strict=True))
    assert changed == position.learned
    if position.learned:
        with torch.no_grad():
            for parameter in fresh.parameters():
                parameter.fill_(torch.nan)
        fresh.reset_parameters()
        assert all(torch.isfinite(parameter).all() for parameter in fresh.parameters())


@every_position
def test_cross_attention_is_refused(name):
    using = mechanism(name, num_heads=3, head_dim=4, value_dim=5).double()
    q, k, v = tensors(1, 4, 6)
    if POSITIONS[name].needs_positions:
        with pytest.raises(InputError, match="self-attention"):
            reference(using, q, k, v)
    else:
        assert reference(using, q, k, v).output.shape == (1, 3, 4, 5)


@every_position
def test_learned_positions_need_sizes_and_hold_to_them(name):
    if not POSITIONS[name].learned:
        assert not list(mechanism(name).parameters())
        return
    with pytest.raises(InputError, match="name their number and size"):
        mechanism(name)
    using = mechanism(name, num_heads=2, head_dim=4, value_dim=5).double()
    with pytest.raises(InputError, match="was built for"):
        reference(using, *tensors())


@every_position
def test_grouped_query_heads(name):
    using = mechanism(name, num_heads=4, head_dim=4).double()
    q = torch.randn(2, 4, 6, 4, dtype=torch.float64)
    k, v = torch.randn(2, 2, 2, 6, 4, dtype=torch.float64)
    expanded = [each.repeat_interleave(2, dim=1) for each in (k, v)]
    close(reference(using, q, k, v).output, reference(using, q, *expanded).output)
