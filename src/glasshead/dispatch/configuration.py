"""What the configuration of a plugged model says: which mechanism it has, and that glasshead computes it.

Transformers reads ``attn_implementation`` from a config.json and forgets it: a model that is loaded and saved
again would come back with softmax. So once this is imported, a hook of torch, which sees
every module as it is built, puts it back (`keep_implementation`).
"""

import json
import warnings
from collections.abc import Iterator
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_module_registration_hook
from transformers import PreTrainedConfig

KEY = "glasshead"
"""The name under which Transformers knows our attention; it must not contain flash, sdpa, flex_attention or a
slash."""
SPEC = "glasshead_mechanism"
"""Attribute of a configuration that holds the mechanism."""
IMPLEMENTATION = "attn_implementation"
"""What a config.json says of the attention."""


class Plugged(dict[str, Any]):
    """The spec of a configuration that was plugged in memory; saved and loaded again it is a plain dict."""


def spec_of(config: Any) -> Any:
    """The spec of the mechanism that a configuration names; None where it names none."""
    return getattr(config, SPEC, None)


def set_spec(config: PreTrainedConfig, spec: dict[str, Any]) -> None:
    """Name a mechanism, and the attention that runs it; both are saved."""
    setattr(config, SPEC, spec)
    setattr(config, IMPLEMENTATION, KEY)


def clear_spec(config: PreTrainedConfig) -> None:
    """Remove the mechanism from a configuration."""
    if spec_of(config) is not None:
        for name in (SPEC, IMPLEMENTATION):
            vars(config).pop(name, None)


def restore_spec(config: PreTrainedConfig) -> None:
    """Make a configuration that names a mechanism use the attention that runs it."""
    for part in with_parts(config):
        spec = spec_of(part)
        if spec is not None:
            set_spec(part, spec)
            part._attn_implementation_internal = KEY


def with_parts(config: PreTrainedConfig) -> Iterator[PreTrainedConfig]:
    """A configuration and those in it."""
    yield config
    for name in config.sub_configs:
        part = getattr(config, name, None)
        if part is not None:
            yield from with_parts(part)


def keep_implementation(module: nn.Module, name: str, part: nn.Module | None) -> None:
    """Hook on modules as they are built: let what was loaded name its attention when it is saved again.

    Also where another attention was asked for, which is for that load only.
    """
    config = vars(module).get("config")
    if not isinstance(config, PreTrainedConfig) or vars(config).get(IMPLEMENTATION) == KEY:
        return
    spec = spec_of(config)
    if spec is None:
        return
    setattr(config, IMPLEMENTATION, KEY)
    if config._attn_implementation != KEY:
        warnings.warn(
            (
                f"{type(module).__name__} was saved with the mechanism {json.dumps(spec)} and now runs "
                f"without it, with {config._attn_implementation!r}: glasshead.load restores it"
            ),
            stacklevel=2,
        )


register_module_module_registration_hook(keep_implementation)
