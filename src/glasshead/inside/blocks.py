"""The blocks of a model in the order in which they run: the elements of its lists of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.trace import modules_with_attention, outermost_element, thread_hook


def find_blocks(model: PreTrainedModel) -> dict[nn.Module, str]:
    """The elements of every list of layers that holds an attention module, each with the name of its list.

    Raises:
        InputError: if the model has no such list.
    """
    lists = [name for name, module in model.named_modules() if isinstance(module, nn.ModuleList)]
    owners = [outermost_element(name, lists) for name in modules_with_attention(model)]
    blocks = {
        module: around
        for around in dict.fromkeys(owner[0] for owner in owners if owner is not None)
        for module in model.get_submodule(around).children()
    }
    if not blocks:
        raise InputError(
            f"{class_name(model)} has no list of layers with attention, so its layers cannot be inspected: "
            "explain it with 'contribution'"
        )
    return blocks


def stream_of(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a block is given to read: its first argument."""
    return args[0] if args else options.get("hidden_states")


def with_states(output: Any, states: Tensor) -> Any:
    """What a module handed on, with other states."""
    return type(output)([states, *output[1:]]) if isinstance(output, tuple | list) else states


@contextmanager
def watch_blocks(
    blocks: Iterable[nn.Module],
    before: Callable[[nn.Module, Any], None],
    after: Callable[[nn.Module, Any], None],
) -> Iterator[None]:
    """See what every block of a pass in this thread reads, and what it passes on."""

    def begin(module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        before(module, stream_of(args, options))

    def end(module: nn.Module, args: Any, output: Any) -> None:
        after(module, output)

    with ExitStack() as stack:
        for block in blocks:
            stack.callback(block.register_forward_pre_hook(thread_hook(begin), with_kwargs=True).remove)
            stack.callback(block.register_forward_hook(thread_hook(end)).remove)
        yield
