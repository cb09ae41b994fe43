"""Devices of this machine, and how much memory is free on them."""

from __future__ import annotations

import psutil
import torch

from glasshead.errors import ParameterError


def device_of(device: str | torch.device) -> torch.device:
    """A device of this machine.

    Raises:
        InputError: if it has none of that name.
    """
    try:
        target = torch.device(device)
        if target.type == "meta":
            raise RuntimeError("the device meta holds no numbers")
        return torch.empty(0, device=target).device
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        reason = f"names no device {str(device)[:60]!r} here: leave it out, or use cpu"
        raise ParameterError("device", reason) from error


def free_memory(device: torch.device) -> int | None:
    """The free memory of a device in bytes; None where it is not known."""
    if device.type == "cpu":
        return int(psutil.virtual_memory().available)
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return None


def gigabytes(number: int) -> str:
    """A number of bytes in readable units."""
    return f"{number / 1e9:.1f} GB"
