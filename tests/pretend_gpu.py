"""A device that is none: tensors on it are computed on the CPU, but may not meet those that are not on it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend


class Backend(_DummyBackendModule):
    """What autocast asks of a device."""

    def get_amp_supported_dtype(self):
        return [torch.float16, torch.bfloat16]


def without_gradients(mode=True):
    """In place of inference mode, in which wrapped tensors cannot have versions."""
    return torch.no_grad() if mode else nullcontext()


# For the whole process: give it one of its own.
torch.inference_mode = without_gradients
_setup_privateuseone_for_python_backend("pretend", backend_module=Backend())
GPU = torch.device("pretend", 0)
CROSSING = {"_to_copy", "copy_", "_local_scalar_dense", "lift_fresh"}
"""What takes numbers from one device to the other."""
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}
"""Whose indices may be on the CPU."""


class OnGPU(torch.Tensor):
    """A tensor that says that it is on the GPU."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=GPU,
        )
        made.held = held
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.data_ptr, torch.Tensor.untyped_storage, torch.Tensor.tolist):
            return func(args[0].held)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})


def run(func, args, kwargs):
    """Compute on the CPU, and refuse what a GPU would refuse."""
    name = func.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if torch.is_tensor(leaf)]
    here = [tensor for tensor in tensors if isinstance(tensor, OnGPU)]
    checked = tensors if name not in INDEXING else [args[0], *tree_leaves(args[2:3])]
    apart = [x for x in checked if torch.is_tensor(x) and not isinstance(x, OnGPU) and x.ndim]
    if here and apart and name not in CROSSING:
        raise RuntimeError(f"{name}: tensors on the GPU and on the CPU, {[tuple(x.shape) for x in apart]}")
    device = kwargs.get("device")
    plain = kwargs if device is None else kwargs | {"device": torch.device("cpu")}
    bare_args, bare_kwargs = tree_map(lambda x: x.held if isinstance(x, OnGPU) else x, (args, plain))
    result = func(*bare_args, **bare_kwargs)
    on_gpu = bool(here) if device is None else torch.device(device).type == GPU.type
    if not on_gpu:
        return result
    wrapped = tree_map(lambda x: OnGPU(x) if isinstance(x, torch.Tensor) else x, result)
    return return_and_correct_aliasing(func, args, kwargs, wrapped) if here else wrapped


class Numbers(TorchFunctionMode):
    """Numbers from Python, which torch would take to the device past all modes."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        device = kwargs.pop("device", None) if func is torch.tensor else None
        result = func(*args, **kwargs)
        return result if device is None else result.to(device)


class Dispatch(TorchDispatchMode):
    """New tensors, too."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})


@contextmanager
def pretend_gpu() -> Iterator[torch.device]:
    """A machine with such a device."""
    with Dispatch(), Numbers():
        yield GPU
