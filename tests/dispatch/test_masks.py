"""What the masks of plugged models say, and what is read off those of others."""

import pytest
import torch
import transformers as hf

from glasshead.dispatch.masks import infer_query_positions, mask_function, parse_mask
from glasshead.errors import InputError


def test_masks_are_linear_where_they_can_be():
    padded = torch.tensor([[True, True, False], [True, True, True]])
    full = torch.ones(2, 3, dtype=torch.bool)
    common = {"batch_size": 2, "q_length": 3, "kv_length": 3}
    causal = mask_function(**common, attention_mask=padded)
    assert causal.shape == (2, 1, 1, 3)
    assert torch.equal(causal[:, 0, 0] == 0, padded)
    q = torch.randn(2, 1, 3, 4)
    for attention_mask in (full, None):
        unpadded = mask_function(**common, attention_mask=attention_mask)
        assert unpadded.shape == (2, 1, 1, 3)
        assert not any(unpadded.stride())
        assert parse_mask(unpadded, q, q, causal=True, needs_positions=True).mask.padding is None
    hf_bidirectional = hf.masking_utils.bidirectional_mask_function
    plain = {**common, "mask_function": hf_bidirectional, "allow_is_bidirectional_skip": True}
    bidirectional = mask_function(**plain, attention_mask=padded)
    assert bidirectional.shape == (2, 1, 1, 3)
    for says in (True, False, None):  # our mask decides, whatever the module says of itself
        for given, expected in ((causal, True), (bidirectional, False)):
            mask = parse_mask(given, q, q, causal=says, needs_positions=True).mask
            assert mask.causal == expected
            assert mask.attn_mask is None
            assert torch.equal(mask.padding, padded)
    window = hf.masking_utils.sliding_window_causal_mask_function(2)
    whole = mask_function(**common, mask_function=window, local_size=2)
    assert torch.equal(whole[0, 0] == 0, torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]]).bool())
    wide = hf.masking_utils.sliding_window_causal_mask_function(9)
    assert mask_function(**common, mask_function=wide, local_size=9).shape == (2, 1, 1, 3)
    assert mask_function(**common, allow_is_causal_skip=False).shape == (2, 1, 3, 3)
    static = mask_function(2, 2, 8, q_offset=torch.tensor(3))
    assert static.shape == (2, 1, 2, 8)
    assert infer_query_positions(static == 0, 2).tolist() == [3, 4]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_bias_can_be_added_to_our_masks(dtype, rows):
    padded = torch.tensor([[True, True, False], [True, True, True]])
    hf_bidirectional = hf.masking_utils.bidirectional_mask_function
    given = mask_function(
        2, 3, 3, mask_function=hf_bidirectional, allow_is_bidirectional_skip=rows == 1, attention_mask=padded
    )
    assert given.shape == (2, 1, rows, 3)
    bias, q = torch.randn(1, 2, 3, 3).to(dtype), torch.randn(2, 2, 3, 4)
    mask, added = parse_mask(bias + given, q, q, causal=False, needs_positions=False)
    allowed = padded[:, None, None, :].expand(2, 2, 3, 3)
    assert torch.equal(mask.allowed(q.device).expand(2, 2, 3, 3), allowed)
    assert torch.equal(added, (bias * allowed).expand(2, 2, 3, 3))


def test_masks_that_say_too_little_are_refused():
    q, k = torch.randn(2, 1, 3, 4), torch.randn(2, 1, 5, 4)
    with pytest.raises(InputError, match="the positions of the queries are unknown"):
        parse_mask(None, q, k, causal=None, needs_positions=False)
    for dtype in (torch.bool, torch.long):
        with pytest.raises(InputError, match=rf"a mask of shape \[2, 5\] and type {dtype}"):
            parse_mask(torch.ones(2, 5, dtype=dtype), q, k, causal=True, needs_positions=False)
    for dtype in (torch.long, torch.int16, torch.int8):
        with pytest.raises(InputError, match=rf"boolean or additive, not {dtype}"):
            parse_mask(torch.ones(2, 1, 3, 5, dtype=dtype), q, k, causal=True, needs_positions=False)
    with pytest.raises(InputError, match="a mask for 7 keys reached attention over 5 keys"):
        parse_mask(torch.ones(2, 1, 3, 7, dtype=torch.bool), q, k, causal=True, needs_positions=False)
