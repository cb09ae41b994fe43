"""What every worker has, as it is sent: a structure that is pickled, and its tensors in a safetensors file of
their own, which all workers of a computer map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import torch
from safetensors.torch import load, load_file, save, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.output_capturing import _active_collector

from glasshead.errors import InputError, one_line
from glasshead.trace import Subject

STRUCTURE, TENSORS = "model.pickle", "model.safetensors"
TENSORS_SENT: ContextVar[Mapping[str, Tensor]] = ContextVar("TENSORS_SENT")
"""Those of the structure that is being unpickled."""


class Holding(NamedTuple):
    """What every worker has: the subject, and its model in the precision of the audit."""

    subject: Subject
    model: PreTrainedModel

    def to_files(self, folder: Path) -> None:
        """Write it into a folder.

        Raises:
            InputError: if it cannot be pickled.
        """
        structure, tensors = take_apart(self)
        save_file(tensors, folder / TENSORS)
        (folder / STRUCTURE).write_bytes(structure)

    @classmethod
    def of_files(cls, folder: Path) -> Holding:
        """Read it back from the process that wrote it; the tensors are mapped."""
        return put_together((folder / STRUCTURE).read_bytes(), load_file(folder / TENSORS))

    def to_bytes(self) -> tuple[bytes, bytes]:
        """Its structure, and its tensors.

        Raises:
            InputError: if it cannot be pickled.
        """
        structure, tensors = take_apart(self)
        return structure, save(tensors)

    @classmethod
    def of_bytes(cls, structure: bytes, tensors: bytes) -> Holding:
        """Put together what another process of the same audit sent."""
        return put_together(structure, load(tensors))


class StructurePickler(cloudpickle.Pickler):
    """Pickles everything but dense tensors, and keeps one tensor for each piece of memory. Tied weights are
    one object again when they are read."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file)
        self.tensors: dict[str, Tensor] = {}
        self.names: dict[Any, str] = {}
        self.storages: set[int] = set()

    def reducer_override(self, value: Any) -> Any:
        if type(value) in (Tensor, nn.Parameter) and value.layout == torch.strided and not value.is_quantized:
            is_parameter = isinstance(value, nn.Parameter)
            return sent_tensor, (self.name(value.detach()), value.device, is_parameter, value.requires_grad)
        if value is _active_collector:  # of the hooks that a pass with `output_attentions=True` leaves behind
            return "_active_collector"
        return super().reducer_override(value)

    def name(self, tensor: Tensor) -> str:
        """Under which name a tensor is kept."""
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
        key = place if tensor.numel() else len(self.tensors)
        if key not in self.names:
            self.names[key] = str(len(self.tensors))
            storage = tensor.untyped_storage().data_ptr()
            overlaps = storage in self.storages or not tensor.is_contiguous()
            self.storages.add(storage)
            own = tensor.clone(memory_format=torch.contiguous_format) if overlaps else tensor
            self.tensors[self.names[key]] = own
        return self.names[key]


def sent_tensor(name: str, device: torch.device, is_parameter: bool, requires_grad: bool) -> Tensor:
    """A tensor of the structure that is being unpickled."""
    tensor = TENSORS_SENT.get()[name].to(device)
    return nn.Parameter(tensor, requires_grad) if is_parameter else tensor.requires_grad_(requires_grad)


def take_apart(held: Holding) -> tuple[bytes, dict[str, Tensor]]:
    """A pickled structure and the tensors in it, by name."""
    file = BytesIO()
    pickler = StructurePickler(file)
    try:
        pickler.dump(held)
    except Exception as error:  # whatever its classes raise where they are pickled
        reason = one_line(error)
        raise InputError(
            f"This model cannot be sent to other processes, because it cannot be pickled ({reason[:150]}). "
            "Leave the workers out."
        ) from None
    return file.getvalue(), pickler.tensors


def put_together(structure: bytes, tensors: Mapping[str, Tensor]) -> Holding:
    """The inverse of `take_apart`."""
    with tensors_at_hand(tensors):
        held: Holding = cloudpickle.loads(structure)
    return held


@contextmanager
def tensors_at_hand(tensors: Mapping[str, Tensor]) -> Iterator[None]:
    """Within, tensors are found by their names."""
    token = TENSORS_SENT.set(tensors)
    try:
        yield
    finally:
        TENSORS_SENT.reset(token)
