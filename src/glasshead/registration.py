"""Make Transformers know us as soon as both are imported, in whichever order, without importing either.

What is registered here only stands in until it is called, which imports `glasshead.models`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

KEY = "glasshead"
"""The name under which Transformers knows us; it must not contain flash, sdpa, flex_attention or a slash."""

HOST = "transformers.modeling_utils"
AUTO = "transformers.models.auto.configuration_auto"
MODEL_TYPES = (
    "glasshead-pooled",
    "glasshead-encoder",
    "glasshead-pair-encoder",
    "glasshead-hierarchical",
    "glasshead-news",
)
"""What our own models are called in their config.json."""
SPEC = "attention_mechanism"
"""Attribute of a configuration that names the mechanism."""


def watch() -> None:
    """Register with both modules now if they are imported, else as soon as they are."""
    for host in (HOST, AUTO):
        if host in sys.modules:
            arrived(host)
        elif not any(isinstance(finder, Watcher) and finder.host == host for finder in sys.meta_path):
            sys.meta_path.insert(0, Watcher(host))


def arrived(host: str) -> None:
    """Register with one of them."""
    if host == HOST:
        register()
    else:
        introduce()


def register(attention: Callable | None = None, mask: Callable | None = None) -> None:
    """Give Transformers our functions, or what stands in for them, and its configurations our attribute."""
    import_module(HOST).AttentionInterface.register(KEY, attention or late_attention)
    import_module("transformers.masking_utils").AttentionMaskInterface.register(KEY, mask or late_mask)
    setattr(
        import_module("transformers.configuration_utils").PreTrainedConfig,
        SPEC,
        property(spec_of, set_spec, delete_spec),
    )


def introduce() -> None:
    """Tell Transformers' Auto classes the names of our models."""
    auto = import_module(AUTO).AutoConfig
    for model_type in MODEL_TYPES:
        auto.register(model_type, LateConfig)


class LateConfig:
    """Stands in for the configurations of our models, which `glasshead.models` registers when imported."""

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **options: Any) -> Any:
        """The configuration that a config.json describes, of the class that belongs to it."""
        for room in ("glasshead.models", "glasshead.recommend"):
            import_module(room)
        return import_module(AUTO).CONFIG_MAPPING[config_dict["model_type"]].from_dict(config_dict, **options)


def late_attention(*given: Any, **options: Any) -> Any:
    """Stands in for `glasshead.huggingface.dispatch.attention_function`, which replaces it when imported."""
    return import_module("glasshead.huggingface.dispatch").attention_function(*given, **options)


def late_mask(*given: Any, **options: Any) -> Any:
    """Stands in for `glasshead.huggingface.masks.mask_function`."""
    return import_module("glasshead.huggingface.dispatch").mask_function(*given, **options)


def spec_of(config: Any) -> Any:
    """The mechanism that a configuration names.

    Raises:
        AttributeError: if it names none.
    """
    try:
        return config.__dict__[SPEC]
    except KeyError:
        raise AttributeError(SPEC) from None


def set_spec(config: Any, spec: Any) -> None:
    """Name a mechanism, and with it the attention that runs it, which Transformers forgets when it loads.

    Where another attention was asked for, the key is left out: Transformers would overwrite and save it, and
    the next load, which asks for nothing, would not bring the mechanism back.
    """
    config.__dict__[SPEC] = spec
    asked = config.__dict__.get("_attn_implementation_internal")
    if asked is None:
        config._attn_implementation = KEY
    if asked in (None, KEY):
        config.__dict__["attn_implementation"] = KEY


def delete_spec(config: Any) -> None:
    """Name no mechanism any more."""
    spec_of(config)
    del config.__dict__[SPEC]
    config.__dict__.pop("attn_implementation", None)


class Watcher(MetaPathFinder):
    """Finds nothing itself: lets the others find a module of Transformers, and registers once it has run."""

    def __init__(self, host: str = HOST) -> None:
        self.host = host

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.host:
            return None
        for finder in sys.meta_path:
            found = None if finder is self else finder.find_spec(fullname, path, target)
            if found is not None:
                if found.loader is not None:
                    found.loader = Registering(self, found.loader)
                return found
        return None


class Registering(Loader):
    """The loader of a module of Transformers, and afterwards the registration."""

    def __init__(self, watcher: Watcher, loader: Loader) -> None:
        self.watcher = watcher
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        if self.watcher in sys.meta_path:
            sys.meta_path.remove(self.watcher)
        try:
            arrived(self.watcher.host)
        except Exception as error:  # whatever it is, it must not break somebody's import of transformers
            warnings.warn(f"glasshead cannot register with transformers: {error}", stacklevel=2)
