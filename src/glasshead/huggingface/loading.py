"""Load a plugged model that was saved, with the parameters of its mechanism."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import transformers
from huggingface_hub import constants, get_session
from huggingface_hub import logging as hub_logging
from safetensors import SafetensorError
from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import ADAPTER_CONFIG_NAME, CONFIG_NAME
from transformers.utils import logging as transformers_logging

from glasshead.dispatch import MECHANISM, parse_saved_spec, restore_spec, spec_of
from glasshead.errors import InputError
from glasshead.files import check_readable
from glasshead.huggingface.plug import attach_mechanisms
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes

PICKLES = ("pytorch_model*.bin", "*.ckpt", "model*.pt")
POINTER = b"version https://git-lfs"
LOAD_SECONDS = 5.0
"""How long the Hub is waited for."""


@in_own_modes
def load(folder: str | Path, cls: Any = None, **options: Any) -> PreTrainedModel:
    """A saved plugged model with its mechanism and every learned parameter, or the model of a run folder.

    ``cls`` is a model class or an Auto class (default: the class that was saved). ``options`` go to its
    ``from_pretrained``.

    Raises:
        InputError: if the folder has no plugged model, or parameters of the mechanism are missing in the
            file or do not belong to it: such a model would run on uninitialised memory.
    """
    config = copy.deepcopy(read_config(folder, options.pop("config", None)))
    spec = spec_of(config)
    wanted = model_class(config, cls)
    if spec is None and not wanted.__module__.startswith("glasshead."):
        raise InputError(
            f"{folder} has no plugged model: load it with from_pretrained, then glasshead.plug it"
        )
    if spec is None:  # one of ours, which builds its mechanism itself
        return load_checkpoint(wanted, folder, config, options)[0]
    parse_saved_spec(spec)
    restore_spec(config)

    class Plugged(wanted):  # type: ignore[misc, valid-type]
        """The wanted class, whose instances have their mechanism before the weights arrive."""

        def __init__(self, config: PreTrainedConfig, *inputs: Any, **kwargs: Any) -> None:
            super().__init__(config, *inputs, **kwargs)
            attach_mechanisms(self, spec)

    Plugged.__module__, Plugged.__name__ = wanted.__module__, wanted.__name__
    Plugged.__qualname__ = wanted.__qualname__
    model, info = load_checkpoint(Plugged, folder, config, options)
    model.__class__ = wanted
    for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        # A mismatch is a key with its two shapes.
        keys = [key if isinstance(key, str) else key[0] for key in info[problem]]
        ours = sorted(key for key in keys if MECHANISM in key.split("."))
        if ours:
            raise InputError(
                f"{folder} has {problem.partition('_')[0]} parameters for {json.dumps(spec)}, such as "
                f"{ours[0]}: save the plugged model again with save_pretrained"
            )
    return model


def load_checkpoint(
    cls: Any, folder: str | Path, config: PreTrainedConfig, options: dict[str, Any]
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """A model, and which keys did not fit.

    Raises:
        InputError: if there are no weights.
    """
    try:
        return load_weights(cls, folder, config=config, **options)
    except OSError as error:
        raise InputError(f"{folder} cannot be loaded: {error}") from None


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Turn off Transformers' progress bars and reports in the block; we report what matters about a load."""
    level, bar = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    hub_level = hub_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    hub_logging.set_verbosity_error()  # it tells every attempt to reach the Hub
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        hub_logging.set_verbosity(hub_level)
        if bar:
            transformers_logging.enable_progress_bar()


def load_weights(cls: Any, folder: str | Path, **options: Any) -> tuple[Any, dict[str, Any]]:
    """A model from safetensors alone, which run no code, loaded silently; and the keys that did not fit.

    Raises:
        InputError: if there are only weights that could run code, or a tensor has another shape than the
            configuration says, unless ``ignore_mismatched_sizes`` is among the options.
    """
    check_weights(Path(folder))
    checked = not options.get("ignore_mismatched_sizes")
    options |= {"ignore_mismatched_sizes": True, "output_loading_info": True, "use_safetensors": True}
    with silence_transformers():
        model, info = cls.from_pretrained(folder, **options)
    if checked and info["mismatched_keys"]:
        name, saved, built = min(info["mismatched_keys"], key=lambda key: str(key[0]))
        raise InputError(
            f"{folder} does not fit its config.json: {name} has the shape {tuple(saved)} in the file, but "
            f"{tuple(built)} in the configuration: save both together with save_pretrained"
        )
    return model, info


def check_name(folder: object) -> None:
    """Raise InputError if this cannot be the name of a folder or of a model on the Hub."""
    if not isinstance(folder, str | os.PathLike):
        raise InputError(
            f"{ascii(folder)[:60]} is neither a folder nor a Hub id: pass one of these as a string"
        )
    try:
        Path(folder).exists()
    except OSError as error:
        raise InputError(f"{str(folder)[:60]}… is neither a folder nor a Hub id: {error.strerror}") from None


def check_weights(folder: Path) -> None:
    """Raise InputError for a folder whose only weights are pickles, which may run code."""
    pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if pickles and not any(folder.glob("*.safetensors")):
        raise InputError(
            f"{folder} has no model that loads safely: {pickles[0]} is a pickle, which may run code. If "
            "you trust it, load it with from_pretrained(…, use_safetensors=False): its save_pretrained "
            "writes safetensors"
        )


def check_pointers(folder: Path) -> None:
    """Raise InputError for a folder in which a file was never downloaded: Git LFS left a pointer."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.suffix in (".json", ".safetensors", ".model", ".txt", ".bin"):
            with path.open("rb") as file:
                if file.read(len(POINTER)) == POINTER:
                    raise InputError(
                        f"{path} is a Git LFS pointer, not the file itself: run `git lfs pull` in its "
                        "folder, or download the model with `hf download`"
                    )


def read_config(
    folder: str | Path, config: PreTrainedConfig | None = None, *, trust_remote_code: bool = False
) -> PreTrainedConfig:
    """The configuration of a folder or a hub name.

    Raises:
        InputError: if there is none.
    """
    if config is not None:
        return config
    check_name(folder)
    if os.fspath(folder).startswith(("/", ".", "~")) and not Path(folder).exists():
        raise InputError(f"there is no folder {folder}: give a saved model or a Hub name")
    check_readable(Path(folder))
    check_pointers(Path(folder))
    try:
        cached = not Path(folder).exists() and not hub_answers()
        with silence_transformers():
            config = AutoConfig.from_pretrained(
                folder, trust_remote_code=trust_remote_code, local_files_only=cached
            )
        if not all(isinstance(name, str) for name in config.architectures or ()):
            raise ValueError("architectures are not names")
        return config
    except Exception as error:  # configurations break in every way there is
        if not Path(folder).exists() and "couldn't connect" in str(error).lower():
            raise InputError(
                f"there is no folder {folder}, and the Hub cannot be reached: give a folder, or download "
                f"the model where you have a network (hf download {folder})"
            ) from None
        if not Path(folder).exists():
            raise InputError(
                f"there is no folder {folder}, and the Hub has no model of that name: check the name, and "
                "log in with `hf auth login` if it is gated or private"
            ) from None
        if "trust_remote_code" in str(error) or "custom code" in str(error):
            refuse_own_code(folder)
        reason = config_error(Path(folder))
        raise InputError(f"{folder} has no model that transformers knows: {reason}") from error


def config_error(folder: Path) -> str:
    """Why the configuration of a folder cannot be read."""
    try:
        config = json.loads((folder / CONFIG_NAME).read_text(encoding="utf-8"))
    except OSError:
        if (folder / ADAPTER_CONFIG_NAME).is_file():
            return "it contains only adapters (PEFT), so name their base model"
        return f"there is no {CONFIG_NAME}"
    except ValueError:
        return f"its {CONFIG_NAME} is not JSON"
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind is None:
        return f"its {CONFIG_NAME} names no model_type"
    if kind not in CONFIG_MAPPING:
        return f"transformers {transformers.__version__} has no model_type {shorten_text(str(kind), 40)!r}"
    return f"its {CONFIG_NAME} has values that {kind!r} does not take"


def refuse_own_code(folder: str | Path) -> NoReturn:
    """Raise InputError for a model that runs code which was not marked as trusted."""
    raise InputError(
        f"{folder} runs its own code: read it, and pass {spell('trust_remote_code', True)} if you trust it"
    ) from None


def hub_answers() -> bool:
    """Whether the Hub can be reached, by one request: a download would try for half a minute."""
    try:
        get_session().head(constants.ENDPOINT, timeout=LOAD_SECONDS)
    except Exception:  # of several libraries, and where offline mode is on
        return False
    return True


def shorten_text(text: str, size: int = 120) -> str:
    """The beginning of a long text."""
    return text if len(text) <= size else f"{text[: size - 1]}…"


def model_class(config: PreTrainedConfig, cls: Any = None) -> type[PreTrainedModel]:
    """The concrete class behind a class, an Auto class, or what the configuration says was saved.

    Raises:
        InputError: if there is no such class.
    """
    saved = [getattr(transformers, name, None) for name in config.architectures or ()]
    if cls is None:
        if saved and saved[0] is not None:
            return saved[0]
        usual = (transformers.AutoModel, transformers.AutoModelForImageClassification)
        cls = next(
            (auto for auto in usual if type(config) in auto._model_mapping),
            transformers.AutoModelForSequenceClassification,  # as our own classifiers
        )
    mapping = getattr(cls, "_model_mapping", None)
    if mapping is None:
        if not (isinstance(cls, type) and issubclass(cls, PreTrainedModel)):
            raise InputError(f"cls must be a class of transformers models, not {cls!r}")
        return cls
    if type(config) not in mapping:
        raise InputError(f"{cls.__name__} has no model for {config.model_type!r}: choose another class")
    candidates = mapping[type(config)]
    if isinstance(candidates, tuple):
        return next((candidate for candidate in candidates if candidate in saved), candidates[0])
    return candidates


def load_reason(source: str | Path, error: Exception) -> str:
    """Why weights do not load, and what to do."""
    folder = Path(source)
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        return "there are no weights (model.safetensors): save it again"
    if isinstance(error, SafetensorError):
        return "its weights (model.safetensors) are damaged: save it again, or download it again"
    return "its configuration and weights do not match: save both again with save_pretrained"
