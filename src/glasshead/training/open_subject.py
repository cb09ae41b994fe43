"""Open what is to be explained or audited: a run, a saved model, a Hub id, a pipeline, a model in memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    Pipeline,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.files import check_readable, partial_path
from glasshead.huggingface import (
    class_names,
    first_line,
    isolated_copy,
    load,
    load_weights,
    model_class,
    positions_of,
    read_config,
    readable_copy,
    spec_of,
)
from glasshead.models import REGRESSION, TextClassifier
from glasshead.trace import Subject, logits_of
from glasshead.training.pretrained import check_vocabulary, read_tokenizer
from glasshead.training.run import RECORD, REPEATS, Run, load_run

CONFIG, ADAPTER = "config.json", "adapter_config.json"
RECOMMENDER = "glasshead-news"
POOLER = "pooler."
"""Weights that many models are saved without; no attention rests on them."""
HALVES = (torch.float16, torch.bfloat16)
SAME = 1e-3
"""How far logits may move, relative to the largest, when padding is beside a text or softmax is eager."""
HALF_SAME = 0.1
"""The same of a model in half precision and its copy in float32."""
PROBE = ("a", "a longer text than the first, so that one of them is padded")


@dataclass(frozen=True)
class OpenOptions:
    """How a model is opened: ``labels`` renames its classes (name or number → name), ``classifies`` says that
    a model without a class to predict is refused, ``trust_remote_code`` lets code of its folder run."""

    labels: Mapping[str, str] = field(default_factory=dict)
    classifies: bool = True
    trust_remote_code: bool = False


def open(
    model: object,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    trust_remote_code: bool = False,
) -> Subject:
    """Open a model once, to explain and audit it as often as you like.

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``labels`` renames classes, by name or by number: ``{"LABEL_0": "negative", "LABEL_1": "positive"}``.

    Raises:
        InputError: as `open_subject`.
    """
    return open_subject(model, tokenizer, OpenOptions(labels or {}, trust_remote_code=trust_remote_code))


def open_subject(
    source: object, tokenizer: PreTrainedTokenizerBase | None = None, options: OpenOptions | None = None
) -> Subject:
    """What can be explained and audited of ``source``: a folder (of a run, or one that ``save_pretrained``
    wrote), a Hub id, a ``pipeline("text-classification")``, a `Run`, a `Subject`, or a model with its
    ``tokenizer``.

    The caller's model and tokenizer stay as they are, bit for bit: a subject has copies that share the
    weights. Half precision is read in float32.

    Raises:
        InputError: if there is no such model, it reads no texts, predicts neither a class nor a rating, has
            no fast tokenizer that fits it, is quantised, has adapters, or runs code of its own.
    """
    options = options or OpenOptions()
    if isinstance(source, Subject):
        return source if not options.labels else rename_classes(source, options.labels)
    if isinstance(source, Run):
        return rename_classes(run_subject(source), options.labels)
    if isinstance(source, (str, Path)):
        if tokenizer is not None:
            raise InputError("a folder or a Hub id has its tokenizer beside it: leave `tokenizer` out")
        if is_run(Path(source)):
            return rename_classes(run_subject(load_run(Path(source))), options.labels)
        model, found = open_saved(source, options)
        name, folder = Path(source).name, Path(source) if Path(source).is_dir() else None
        return rename_classes(model_subject(model, found, name, folder, options.classifies), options.labels)
    if isinstance(source, Pipeline):
        source, tokenizer = of_pipeline(source)
    source = getattr(source, "_orig_mod", source)  # torch.compile
    source = getattr(source, "module", source) if isinstance(source, torch.nn.DataParallel) else source
    if not isinstance(source, PreTrainedModel):
        raise InputError(
            f"{type(source).__name__} is no model that can be read: give a folder, a Hub id, a "
            "transformers model with its `tokenizer`, or a pipeline"
        )
    if tokenizer is None:
        raise InputError(f"{type(source).__name__} needs its tokenizer beside it: add `tokenizer`")
    name = Path(source.config.name_or_path or "").name or type(source).__name__
    made = model_subject(source, tokenizer, name, None, options.classifies)
    return rename_classes(made, options.labels)


def open_model(
    source: object, tokenizer: PreTrainedTokenizerBase | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model and the tokenizer of what is opened to look at its attention, whatever it predicts."""
    subject = open_subject(source, tokenizer, OpenOptions(classifies=False))
    return subject.model, subject.tokenizer


def is_run(folder: Path) -> bool:
    """Whether the folder is, or is going to be, a run or repeats of one."""
    return (folder / RECORD).is_file() or (folder / REPEATS).is_file() or partial_path(folder).exists()


def run_subject(run: Run) -> Subject:
    """A run as it was trained, with train counts and gauge."""
    return Subject(
        readable_copy(run.model),
        run.tokenizer,
        run.folder.name,
        counts=run.counts,
        gauge=run.record["gauge"],
        record=run.record,
        folder=run.folder,
    )


def of_pipeline(pipeline: Pipeline) -> tuple[PreTrainedModel, Any]:
    """The model and the tokenizer of a pipeline.

    Raises:
        InputError: if it does something else than classifying texts.
    """
    if pipeline.task != "text-classification":
        raise InputError(
            f"a pipeline for {pipeline.task!r} classifies no texts: give one for 'text-classification'"
        )
    return pipeline.model, pipeline.tokenizer


def open_saved(source: str | Path, options: OpenOptions) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model of a folder or a Hub id as it was saved, and its tokenizer.

    Raises:
        InputError: as `open_subject`.
    """
    folder = Path(source)
    if folder.is_dir():
        check_readable(folder)
        if (folder / ADAPTER).is_file() and not (folder / CONFIG).is_file():
            raise InputError(
                f"{folder} holds adapters (PEFT) and no whole model: load it, call merge_and_unload(), and "
                "save the result with its tokenizer"
            )
        if not (folder / CONFIG).is_file():
            raise InputError(
                f"{folder} holds neither a run ({RECORD}) nor a model ({CONFIG}): make one with "
                "`glasshead.training.train`, or save a model and its tokenizer into it with save_pretrained"
            )
    elif isinstance(source, Path):
        raise InputError(f"there is no folder {folder}: give a run, or a folder with a saved model")
    config = read_config(source, trust_remote_code=options.trust_remote_code)
    model = load_saved(source, config, options)
    settings = {"trust_remote_code": options.trust_remote_code}
    return model, read_tokenizer(str(source), settings)


def load_saved(source: str | Path, config: PreTrainedConfig, options: OpenOptions) -> PreTrainedModel:
    """The weights in the class that reads texts with them."""
    if config.model_type == RECOMMENDER:
        raise InputError(
            f"{source} recommends news and reads no single text: give a classifier or an encoder"
        )
    settings: dict[str, Any] = {"config": config, "trust_remote_code": options.trust_remote_code}
    cls = AutoModelForSequenceClassification if is_classifier(config) else AutoModel
    if cls is AutoModel and options.classifies:
        refuse_other_tasks(config)
    if getattr(config, "is_encoder_decoder", False) and cls is AutoModel:
        raise InputError(f"{source} writes texts: give an encoder, or a classifier of texts")
    missing: list[str] = []
    try:
        if spec_of(config) is not None:
            model = load(str(source), cls, **settings)
        else:
            model, info = load_weights(cls, source, **settings)
            missing = sorted(key for key in info["missing_keys"] if not key.startswith(POOLER))
    except InputError:
        raise
    except Exception as error:  # weights and configurations break in every way there is
        raise InputError(
            f"{source} holds no model that loads ({first_line(error)}): save it again"
        ) from error
    if missing:
        raise InputError(f"{source} lacks weights of its model, such as {missing[0]}: save it again")
    return model


def is_classifier(config: PreTrainedConfig) -> bool:
    """Whether a classifier of texts was saved."""
    try:
        wanted = model_class(config, AutoModelForSequenceClassification)
    except InputError:
        return False
    return wanted.__name__ in (config.architectures or ())


def refuse_other_tasks(config: PreTrainedConfig) -> None:
    """Raise InputError for a model that was saved to do something else than classifying texts."""
    saved = (config.architectures or ["a model without a head"])[0]
    if saved.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")):
        raise InputError(
            f"{saved} writes texts and has no classes: read its attention with the audit 'identifiability' "
            "and glasshead.record, or fine-tune it with `model` as a classifier"
        )
    tagged = getattr(AutoModelForTokenClassification, "_model_mapping", {})
    if saved.endswith("ForTokenClassification") or saved in str(tagged.get(type(config), "")):
        raise InputError(f"{saved} classifies every token, not the text: give a classifier of texts")
    if saved.endswith("ForImageClassification"):
        raise InputError(f"{saved} reads images: give a classifier of texts")
    raise InputError(
        f"{saved} predicts no class of a text: give a classifier of texts (…ForSequenceClassification); "
        "only the audit 'identifiability' needs none"
    )


def model_subject(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
    folder: Path | None,
    classifies: bool,
) -> Subject:
    """A model that Glasshead did not train.

    Raises:
        InputError: as `open_subject`.
    """
    check_model(model, classifies)
    check_tokenizer(name, model, tokenizer)
    notes = []
    if any(tensor.dtype in HALVES for tensor in model.parameters()):
        notes.append(f"the model is saved in {str(model.dtype).removeprefix('torch.')} and read in float32")
    read = readable_copy(model, torch.float32)
    own = fitting_tokenizer(read, tokenizer)
    if classifies:
        if read.config.num_labels == 1:
            vars(read.config)["problem_type"] = REGRESSION
        if not isinstance(read, TextClassifier):
            check_probe(model, read, own)
    return Subject(read, own, name, folder=folder, notes=tuple(notes))


def check_model(model: PreTrainedModel, classifies: bool) -> None:
    """Raise InputError for a model that cannot be read, or predicts what has no explanation here."""
    kind = type(model).__name__
    if getattr(model, "peft_config", None) is not None or getattr(model, "_hf_peft_config_loaded", False):
        raise InputError(f"{kind} has adapters (PEFT): merge them first, with merge_and_unload()")
    if getattr(model, "is_quantized", False) or getattr(model.config, "quantization_config", None):
        raise InputError(f"{kind} is quantised, so no gradient passes through it: load it in full precision")
    if any(tensor.is_meta for tensor in model.parameters()):
        raise InputError(f"weights of {kind} are not in memory (offloaded): load it whole")
    if model.main_input_name not in ("input_ids", "decoder_input_ids"):
        raise InputError(f"{kind} reads {model.main_input_name}, no texts: give a classifier of texts")
    if not classifies:
        return
    if not isinstance(model, TextClassifier) and not kind.endswith("ForSequenceClassification"):
        config = copy.copy(model.config)
        config.architectures = [kind]
        refuse_other_tasks(config)
    if model.config.problem_type == "multi_label_classification":
        raise InputError(
            f"{kind} gives every class a probability of its own (multi-label), and explanations here are "
            "about one class of several: give a classifier of one label"
        )


def check_tokenizer(name: str, model: PreTrainedModel, tokenizer: object) -> None:
    """Raise InputError for a tokenizer that is slow, or knows more tokens than the model."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            f"the tokenizer of {name} does not know where its tokens stand in a text: give a fast one"
        )
    check_vocabulary(name, model, tokenizer)


def fitting_tokenizer(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerFast:
    """A copy that pads, cuts texts to what the model reads, and gives types to models that know them."""
    own: PreTrainedTokenizerFast = copy.deepcopy(tokenizer)  # type: ignore[assignment]
    positions = positions_of(model)
    if positions is not None and positions > 0:
        own.model_max_length = min(own.model_max_length, positions)
    if not isinstance(model, TextClassifier):
        if not reads_token_types(model):
            own.model_input_names = [name for name in own.model_input_names if name != "token_type_ids"]
        set_padding(model, own)
    return own


def reads_token_types(model: PreTrainedModel) -> bool:
    """Whether the model tells the two texts of a pair apart by types. GPT-2 would take them for words."""
    config = model.config.get_text_config()
    return (getattr(config, "type_vocab_size", None) or 0) > 1 or config.model_type == "xlnet"


def set_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """A padding token for a batch: the model's, else the tokenizer's, else one that ends no text.

    Decoders look for the last token that is no padding, so padding must be a token that texts do not end
    with.
    """
    if tokenizer.pad_token_id is None:
        ends = tokenizer("a", verbose=False)["input_ids"][-1:]
        special = [tokenizer.eos_token, tokenizer.unk_token, tokenizer.bos_token]
        usable = [
            token
            for token in special
            if token is not None and [tokenizer.convert_tokens_to_ids(token)] != ends
        ]
        tokenizer.pad_token = usable[0] if usable else tokenizer.convert_ids_to_tokens(0)
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    model.config.pad_token_id = tokenizer.pad_token_id


def check_probe(model: PreTrainedModel, read: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Raise InputError if the copy predicts otherwise than the model, or padding changes a prediction."""
    kind = type(model).__name__
    short, both = (encode(tokenizer, texts).inputs(device=read.device) for texts in (PROBE[:1], PROBE))
    with torch.no_grad():
        alone = logits_of(read, short)[0]
        padded = logits_of(read, both)[0]
        original = logits_of(isolated_copy(model), short)[0].float()
    if alone.ndim != 1:
        raise InputError(f"{kind} gives no number for each class of a text")
    largest = float(alone.abs().max().clamp(min=1.0))
    if float((alone - padded).abs().max()) > SAME * largest:
        raise InputError(
            f"{kind} predicts otherwise when a text stands beside a longer one: it reads padding, so batches "
            "cannot be trusted"
        )
    allowed = SAME if model.dtype not in HALVES else HALF_SAME
    if float((alone - original).abs().max()) > allowed * largest:
        raise InputError(
            f"{kind} predicts otherwise when its attention is computed step by step, as it has to be to be "
            "read"
        )


def rename_classes(subject: Subject, labels: Mapping[str, str]) -> Subject:
    """The subject with the classes called as ``labels`` says: by old name, or by number.

    Raises:
        InputError: on classes that do not exist, and where two classes have one name.
    """
    if not isinstance(labels, Mapping):
        raise InputError(f"`labels` is a mapping of old names to new ones, not {labels!r}")
    names = class_names(subject.model)
    places = {name: index for index, name in reversed(list(enumerate(names)))}
    for old, new in ((str(old), str(new)) for old, new in labels.items()):
        index = places.get(old, int(old) if old.isdigit() else -1)
        if not 0 <= index < len(names):
            raise InputError(f"the model has no class {old!r} to rename: it has {', '.join(names)}")
        names[index] = new
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        first, second = [index for index, name in enumerate(names) if name == twice][:2]
        raise InputError(
            f"the classes {first} and {second} of the model are both called {twice!r}: tell them apart with "
            f"`labels`, as in {first}=first, {second}=second"
        )
    if labels:
        subject.model.config.id2label = dict(enumerate(names))
    return replace(subject, notes=(*subject.notes, *case_notes(names)))


def case_notes(names: Sequence[str]) -> Iterator[str]:
    """Sentences about classes that only their case tells apart."""
    for index, name in enumerate(names):
        for other in names[:index]:
            if other.casefold() == name.casefold():
                yield f"the classes {other!r} and {name!r} differ by case alone"
