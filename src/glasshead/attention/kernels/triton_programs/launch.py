"""The paired programs as two operators of torch, with their gradients, tile sizes and precision."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton
from torch import Tensor

from glasshead.attention.kernels.triton_programs import paired_exponential as paired

LOG2E = 1.4426950408889634
SHORT_LENGTH = 512
"""Up to so many keys the first tiling is taken untried: trying costs more than it saves."""


def tiling(queries: int, keys: int, warps: int, stages: int) -> triton.Config:
    return triton.Config({"Q": queries, "K": keys}, num_warps=warps, num_stages=stages)


# Chosen among those that the compiler fits into registers at head sizes 64 and 128 on sm_80 and sm_90.
FORWARD = [tiling(64, 32, 4, 2), tiling(64, 64, 4, 3), tiling(128, 64, 8, 3), tiling(128, 128, 8, 3)]
QUERIES = [tiling(64, 32, 4, 2), tiling(64, 64, 4, 3), tiling(128, 32, 8, 3), tiling(128, 64, 8, 2)]
TILINGS = [tiling(32, 64, 4, 2), tiling(32, 64, 8, 2), tiling(32, 128, 8, 2), tiling(64, 128, 8, 2)]
NARROW_TILING = tiling(32, 32, 8, 1)
"""For rows of more than 256 bytes, whose tiles would not fit into shared memory otherwise."""


def worth_trying(configs: list[triton.Config], named: dict[str, Any], **options: Any) -> list[triton.Config]:
    """One tiling for short inputs and without a GPU, and for wide heads; the best of several otherwise."""
    q = named["q"]
    if max(options["WIDE"], options["WIDE_V"]) * q.element_size() > 256:
        return [NARROW_TILING]
    return configs if q.is_cuda and named["bucket"] > SHORT_LENGTH else configs[:1]


def autotune_tiles(program: Callable[..., None], configs: list[triton.Config]) -> Any:
    """The program with the fastest of its tilings, found at its first call for inputs of that kind."""
    return triton.autotune(configs, ["bucket", "CAUSAL", "PADDED", "PRECISION", "WIDE", "WIDE_V"])(program)


def launch(program: Any, grid: Callable[[dict[str, Any]], tuple[int]], *args: Any, **options: Any) -> None:
    """Launch a tuned program; a single tiling goes past the tuner, which would time even that, on a GPU."""
    tilings = worth_trying(program.configs, dict(zip(program.arg_names, args, strict=False)), **options)
    if len(tilings) == 1:
        program.fn[grid](*args, **options, **tilings[0].all_kwargs())
    else:
        program[grid](*args, **options)


attend_paired = autotune_tiles(paired.forward_head, FORWARD)
attend_queries = autotune_tiles(paired.backward_queries, QUERIES)
attend_keys = autotune_tiles(paired.backward_keys, TILINGS)


def kind(q: Tensor, v: Tensor, padding: Tensor | None, first: int | None) -> dict[str, Any]:
    """What the programs are compiled for."""
    # Three tf32 products give single precision on tensor cores; one, if the user allowed it for all of torch.
    fast = q.dtype != torch.float32 or torch.get_float32_matmul_precision() != "highest"
    size, value = q.shape[3], v.shape[3]
    return {
        "CAUSAL": first is not None, "PADDED": padding is not None, "PRECISION": "tf32" if fast else "tf32x3",
        "SIZE": size, "VALUE": value,
        # Products are added up without rounding in between; unset, Triton 3.9 warns.
        "enable_fp_fusion": True,
        "WIDE": max(16, triton.next_power_of_2(size)), "WIDE_V": max(16, triton.next_power_of_2(value)),
    }  # fmt: skip


def sizes(q: Tensor, k: Tensor, first: int | None) -> tuple[int, ...]:
    """first, heads, groups, queries, keys and the bucket of lengths that share a tiling."""
    heads, queries, keys = q.shape[1], q.shape[2], k.shape[2]
    bucket = min(max(SHORT_LENGTH, triton.next_power_of_2(keys)), 16384)
    return first or 0, heads, heads // k.shape[1], queries, keys, bucket


def strides(*tensors: Tensor) -> tuple[int, ...]:
    """Strides of batch, head and length, for one tensor after the other."""
    return tuple(step for tensor in tensors for step in tensor.stride()[:3])


def rowwise(tensor: Tensor) -> Tensor:
    """A tensor whose rows lie in one piece."""
    return tensor if tensor.stride(3) == 1 else tensor.contiguous()


def on_device(device: torch.device) -> AbstractContextManager[Any]:
    """Launches go to this device."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def padding_and_stride(padding: Tensor | None, q: Tensor) -> tuple[Tensor, int]:
    """Padding as bytes and its stride; without padding some pointer that nobody reads."""
    if padding is None:
        return q, 0
    return padding.contiguous().view(torch.uint8), padding.shape[1] if padding.shape[0] > 1 else 0


@torch.library.custom_op("glasshead::paired", mutates_args=())
def attend_pairs(
    q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, scale: float, first: int | None
) -> tuple[Tensor, Tensor]:
    """Output ``[B, H, Q, d_v]`` and log₂ Z ``[B, H, Q]``; ``first`` is the index of the first query among the
    keys under a causal mask, None without one."""
    q, k, v = rowwise(q), rowwise(k), rowwise(v)
    out, norm = pair_shapes(q, k, v, padding, scale, first)
    real, p_b = padding_and_stride(padding, q)
    if out.numel():
        with on_device(q.device):
            launch(
                attend_paired, lambda tile: (triton.cdiv(q.shape[2], tile["Q"]) * q.shape[0] * q.shape[1],),
                q, k, v, real, out, norm, scale * LOG2E, *sizes(q, k, first), *strides(q, k, v, out), p_b,
                **kind(q, v, padding, first),
            )  # fmt: skip
    return out, norm


@attend_pairs.register_fake
def pair_shapes(
    q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, scale: float, first: int | None
) -> tuple[Tensor, Tensor]:
    """Heads are adjacent in memory, so that merging them costs nothing."""
    batch, heads, queries, _ = q.shape
    out = q.new_empty(batch, queries, heads, v.shape[3]).transpose(1, 2)
    return out, q.new_empty(batch, heads, queries, dtype=torch.float32)


@torch.library.custom_op("glasshead::paired_backward", mutates_args=())
def pair_gradients(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, out: Tensor, norm: Tensor,
    scale: float, first: int | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """dQ, dK and dV."""
    grad_q, grad_k, grad_v = gradient_shapes(grad, q, k, v, padding, out, norm, scale, first)
    q, k, v, grad = rowwise(q), rowwise(k), rowwise(v), rowwise(grad)
    delta = torch.zeros_like(norm)
    real, p_b = padding_and_stride(padding, q)
    common, options = sizes(q, k, first), kind(q, v, padding, first)
    with on_device(q.device):
        if q.numel():
            launch(
                attend_queries, lambda tile: (triton.cdiv(q.shape[2], tile["Q"]) * q.shape[0] * q.shape[1],),
                q, k, v, real, out, grad, norm, delta, grad_q, scale * LOG2E, scale, *common,
                *strides(q, k, v, out, grad, grad_q), p_b, **options,
            )  # fmt: skip
        if k.numel():
            launch(
                attend_keys, lambda tile: (triton.cdiv(k.shape[2], tile["K"]) * k.shape[0] * k.shape[1],),
                q, k, v, real, grad, norm, delta, grad_k, grad_v, scale * LOG2E, scale, *common,
                *strides(q, k, v, grad, grad_k, grad_v), p_b, **options,
            )  # fmt: skip
    return grad_q, grad_k, grad_v


@pair_gradients.register_fake
def gradient_shapes(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, out: Tensor, norm: Tensor,
    scale: float, first: int | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    return (
        torch.empty_like(q, memory_format=torch.contiguous_format),
        torch.empty_like(k, memory_format=torch.contiguous_format),
        torch.empty_like(v, memory_format=torch.contiguous_format),
    )


def save_paired_inputs(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, padding, ctx.scale, ctx.first = inputs
    ctx.save_for_backward(q, k, v, padding, *output)
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)


def pair_backward(ctx: Any, grad: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return (None,) * 6
    q, k, v, padding, out, norm = ctx.saved_tensors
    return *pair_gradients(grad, q, k, v, padding, out, norm, ctx.scale, ctx.first), None, None, None


attend_pairs.register_autograd(pair_backward, setup_context=save_paired_inputs)
