"""Open what is to be explained or audited: a run, a saved model, a Hub id, a pipeline, a model in memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import (
    Pipeline,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from glasshead.errors import InputError, pluralise
from glasshead.files import partial_path
from glasshead.huggingface import (
    HALVES,
    NextTokenClassifier,
    TaskModel,
    arithmetic_of,
    check_name,
    class_name,
    classifies_images,
    config_to_save,
    device_of,
    forget_halves,
    has_packed_weights,
    in_arithmetic,
    isolated_copy,
    keep_halves,
    own_model,
    read_module,
    readable_copy,
    reads_images,
    unpack_maps_without_gradients,
    writes_behind_images,
)
from glasshead.models import REGRESSION, TextClassifier
from glasshead.opening.asked_task import ask_otherwise, check_name_of_task, check_task, output_model
from glasshead.opening.check_boxes import detects
from glasshead.opening.check_copy import HALF_TOLERANCE, CopyError, check_copy
from glasshead.opening.check_model import check_model
from glasshead.opening.check_tokenizer import check_tokenizer
from glasshead.opening.fit_tokenizer import fit_tokenizer, note_padding
from glasshead.opening.merge_adapters import merge_adapters
from glasshead.opening.open_captions import open_caption_model
from glasshead.opening.open_cross_encoder import (
    follow_cross_encoder,
    is_cross_encoder,
    parts_of_encoder,
)
from glasshead.opening.open_images import open_image_classifier
from glasshead.opening.open_images_with_text import divide_processor, read_images_too
from glasshead.opening.open_options import OpenOptions
from glasshead.opening.open_pipeline import follow_pipeline, parts_of, task_asked
from glasshead.opening.open_saved import also_reads, open_saved
from glasshead.opening.open_sentence_transformer import (
    follow_sentence_transformer,
    is_sentence_transformer,
    load_sentence_transformer,
    parts_of_sentence_transformer,
)
from glasshead.opening.precision import dtype_name, dtype_of
from glasshead.opening.remember import remember
from glasshead.opening.rename_classes import rename_classes
from glasshead.opening.run import RECORD, REPEATS, Run, load_run
from glasshead.opening.writers import (
    encoder_of,
    needs_decoder_inputs,
    only_answers,
    read_next_token,
    writes,
)
from glasshead.spelling import spell
from glasshead.tasks import (
    CLASSIFICATION,
    POOLINGS,
    SINGLE_LABEL,
    EntailmentModel,
    OutputModel,
    compares_captions,
    predicts_labels,
    task_named,
    task_of,
)
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject


@in_own_modes
def open(
    model: object,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    trust_remote_code: bool = False,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    task: str | None = None,
) -> Subject:
    """Open a model once, to explain and audit it as often as you like.

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, a ``Trainer``, a ``CrossEncoder``, a ``SentenceTransformer``, or a
    model, with adapters (PEFT) or without, which needs its ``tokenizer``; it stays as it is. ``labels``
    renames classes, by name or by number: ``{"LABEL_0": "negative", "LABEL_1": "positive"}``. ``device`` is
    where the model runs (default: its current device), ``dtype`` its precision: float32 or float64. ``task``
    is its task, if its configuration does not say so: classification, regression, labels (each of them yes or
    no), zero-shot (which name fits), or similarity-mean, -cls or -last (the cosine of two texts, by the mean
    of their tokens, the first or the last).

    Raises:
        InputError: as `open_subject`.
    """
    options = OpenOptions(
        labels or {}, trust_remote_code=trust_remote_code, device=device, dtype=dtype, task=task
    )
    return open_subject(model, tokenizer, options)


def open_subject(
    source: object,
    tokenizer: PreTrainedTokenizerBase | None = None,
    options: OpenOptions | None = None,
    *,
    shared: bool = False,
) -> Subject:
    """What can be explained and audited of ``source``: a folder (of a run, or one that ``save_pretrained``
    wrote), a Hub id, a ``pipeline("text-classification")``, a `Run`, a `Subject`, or a model with its
    ``tokenizer``.

    The caller's model and tokenizer stay as they are, bit for bit: a subject has copies that share the
    weights. Models in half precision run in float32. With ``shared``, a model in memory gives the subject of
    the last call again if nothing has changed: do not change that subject or add hooks to its model.

    Raises:
        InputError: if there is no such model, it reads no texts, predicts neither a class nor a rating, has
            no matching tokenizer, has adapters that cannot be merged, or runs code of its own; if there is
            no such device, and on half precision.
    """
    options = options or OpenOptions()
    check_name_of_task(options.task)
    if tokenizer is not None and (
        isinstance(source, (str, Path, Run, Subject, Pipeline))
        or is_cross_encoder(source)
        or is_sentence_transformer(source)
    ):
        kind = "a folder or a Hub id" if isinstance(source, (str, Path)) else f"a {class_name(source)}"
        raise InputError(f"{kind} already has a tokenizer: leave {spell('tokenizer')} out")
    if isinstance(source, Subject) and only_answers(source.model) and not options.answers:
        # It was opened to write, and is asked something else: its tokens are classes of no text.
        tokenizer, source = source.tokenizer, source.model.model
    subject = source if isinstance(source, Subject) else subject_of(source, tokenizer, options, shared)
    if subject is source and options.classifies and not isinstance(subject.model, TaskModel):
        check_model(own_model(subject.model), True)  # it may have been opened for its attention alone
    if subject is source:
        subject = ask_otherwise(subject, options.task)
    check_task(subject, options.task)
    if options.labels or subject is not source:
        subject = rename_classes(subject, options.labels)
    return convert_subject(subject, options)


def subject_of(
    source: object, tokenizer: PreTrainedTokenizerBase | None, options: OpenOptions, shared: bool
) -> Subject:
    """A model as it is found.

    Raises:
        InputError: as `open_subject`.
    """
    if options.task in POOLINGS:
        if is_sentence_transformer(source):
            raise InputError(f"a SentenceTransformer has its own pooling: leave {spell('task')} out")
        below = replace(options, classifies=False, task=None)
        return ask_otherwise(subject_of(source, tokenizer, below, shared), options.task)
    if isinstance(source, Run):
        return run_subject(source)
    if isinstance(source, (str, Path)):
        check_name(source)
        if is_run(Path(source)):
            return run_subject(load_run(Path(source)))
        source = load_sentence_transformer(source) if options.classifies else source
    if isinstance(source, (str, Path)):
        model, tokenizer = open_saved(source, options)
        model, notes = merge_adapters(model, tokenizer)
        name, folder = Path(source).name, Path(source) if Path(source).is_dir() else None
        return model_subject(model, tokenizer, name, folder, options, notes)
    if is_trainer(source):
        trainer: Any = source
        source, tokenizer = trainer.model, tokenizer or trainer.processing_class
    follow: Callable[[Subject], Subject] | None = None
    if options.classifies and is_sentence_transformer(source):
        follow = partial(follow_sentence_transformer, source)
        source, tokenizer = parts_of_sentence_transformer(source)
        options = replace(options, classifies=False)
    if isinstance(source, Pipeline):
        pipeline, follow = source, partial(follow_pipeline, source)
        source, tokenizer = parts_of(pipeline)
        options = replace(options, task=options.task or task_asked(pipeline))
    elif is_cross_encoder(source):
        follow = partial(follow_cross_encoder, source)
        source, tokenizer, task = parts_of_encoder(source)
        options = replace(options, task=options.task or task)
    source = getattr(source, "_orig_mod", source)  # torch.compile
    source = getattr(source, "module", source) if isinstance(source, torch.nn.DataParallel) else source
    source, notes = merge_adapters(source, tokenizer)
    if isinstance(source, torch.nn.Module) and not isinstance(source, PreTrainedModel):
        if tokenizer is None:
            raise InputError(f"{class_name(source)} needs its tokenizer: pass it as {spell('tokenizer')}")
        source = read_module(source)
    if not isinstance(source, PreTrainedModel):
        raise InputError(
            f"{class_name(source)} is not a model that can be read: give a folder, a Hub id, a "
            f"transformers model with its {spell('tokenizer')}, or a pipeline"
        )
    if isinstance(source, OutputModel | EntailmentModel):
        options = replace(options, task=options.task or source.task)
    source = own_model(source)  # what `open` gives may be opened again
    kind = class_name(source)
    if tokenizer is None:
        captions = options.classifies and compares_captions(config_to_save(source))
        reader = "processor" if captions else "image processor" if classifies_images(kind) else "tokenizer"
        raise InputError(f"{kind} needs its {reader}: pass it as {spell('tokenizer')}")
    name = Path(source.config.name_or_path or "").name or class_name(source)
    make = partial(model_subject, source, tokenizer, name, None, options, notes)
    if follow is not None:
        return follow(make())
    asked = options.classifies, options.answers, options.images, options.task
    return remember(source, tokenizer, asked, make) if shared else make()


def is_trainer(source: object) -> bool:
    """Whether it is a `transformers.Trainer`, which is not imported for that."""
    is_called = any(kind.__name__ == "Trainer" for kind in type(source).__mro__)
    return is_called and hasattr(source, "processing_class") and hasattr(source, "model")


def convert_subject(subject: Subject, options: OpenOptions) -> Subject:
    """A subject on the device and in the precision that were asked for.

    Raises:
        InputError: if there is no such device, and on half precision.
    """
    device = subject.model.device if options.device is None else device_of(options.device)
    dtype = None if options.dtype is None else dtype_of(options.dtype)
    if dtype is not None and has_packed_weights(subject.model):
        check_packed(dtype)
        dtype = None
    if device == subject.model.device and dtype in (None, subject.model.dtype):
        return subject
    model = subject.model
    if dtype is not None:
        model = isolated_copy(model)
        forget_halves(model)
    return replace(subject, model=isolated_copy(model, dtype, device))


def check_packed(dtype: torch.dtype) -> None:
    """Raise InputError unless a model with packed weights can be computed so."""
    if dtype != torch.float32:
        raise InputError(
            f"quantised weights are computed in float32, not in {dtype_name(dtype)}: leave "
            f"{spell('dtype')} out"
        )


def open_model(
    source: object, tokenizer: PreTrainedTokenizerBase | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model and tokenizer, opened to look at attention, for any kind of prediction."""
    subject = open_subject(source, tokenizer, OpenOptions(classifies=False))
    return subject.model, subject.tokenizer


def is_run(folder: Path) -> bool:
    """Whether the folder is, or is going to be, a run or repeats of one."""
    return (folder / RECORD).is_file() or (folder / REPEATS).is_file() or partial_path(folder).exists()


def run_subject(run: Run) -> Subject:
    """A run as it was trained, with train counts and gauge."""
    model, tokenizer = readable_copy(run.model), run.tokenizer
    notes: tuple[str, ...] = ()
    if reads_images(run.model.config):
        model, tokenizer = open_image_classifier(run.model, model, tokenizer)
    elif not isinstance(model, TextClassifier):
        tokenizer = copy.deepcopy(tokenizer)
        notes = note_padding(model, tokenizer)
    return Subject(
        model,
        tokenizer,
        run.folder.name,
        notes=notes,
        counts=run.counts if run.counts.size else None,
        gauge=run.record["gauge"],
        record=run.record,
        folder=run.folder,
    )


def model_subject(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
    folder: Path | None,
    options: OpenOptions,
    known: Sequence[str] = (),
) -> Subject:
    """A model that Glasshead did not train, and notes that are known of it. One whose own code cannot compute
    with its halves in float32 is read as a copy in float32.

    Raises:
        InputError: as `open_subject`.
    """
    make = partial(read_model, model, tokenizer, name, folder, known=known)
    if options.dtype is not None or not has_halves(model):
        return make(options)
    try:
        return make(options)
    except (RuntimeError, CopyError) as error:
        if isinstance(error, torch.OutOfMemoryError) or has_packed_weights(model):
            raise
        return make(replace(options, dtype=torch.float32))


def has_halves(model: PreTrainedModel) -> bool:
    """Whether some of the weights are in half precision."""
    return any(tensor.dtype in HALVES for tensor in model.parameters())


def read_model(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
    folder: Path | None,
    options: OpenOptions,
    known: Sequence[str],
) -> Subject:
    """`model_subject`, in the precision that the options name; with none halves are kept."""
    captions = compares_captions(config_to_save(model))
    images = classifies_images(class_name(model)) or (not captions and detects(model, tokenizer))
    processor = None
    if not captions and not images:  # these read by the whole processor
        processor, tokenizer = divide_processor(model, tokenizer)
    sees = processor is not None and options.images
    needs_image = sees and writes_behind_images(type(model), model.config)
    writer = options.classifies and (needs_image or writes(model, answers=options.answers))
    check_model(model, options.classifies and not writer, needs_image=needs_image, images=images)
    if captions and not options.classifies:
        raise InputError(
            f"{name} compares images with captions, but this needs a model that reads only "
            f"texts: leave {spell('task')} out, or add another audit"
        )
    if not images and not captions:
        check_tokenizer(name, model, tokenizer)
    notes = [*known]
    if writer:
        if processor is None and (other := also_reads(config_to_save(model))):
            notes.append(f"the model also reads {other}: it gets only texts here")
        model, tokenizer = read_next_token(model, tokenizer, ahead=sees)
    if not options.classifies and not writer and needs_decoder_inputs(model):
        model = encoder_of(model)
        notes.append("only the encoder of this encoder–decoder is analysed: its decoder has no text yet")
    quantised = has_packed_weights(model)
    halved = has_halves(model)
    if quantised and options.dtype is not None:
        check_packed(dtype_of(options.dtype))
    kept = halved and (options.dtype is None or quantised)
    if halved:
        finer = dtype_name(options.dtype or torch.float32)
        how = f"computed in {finer} without changing the weights" if kept else f"read in {finer}"
        notes.append(f"the model is saved in {dtype_name(model.dtype)} and {how}")
    read = readable_copy(model, torch.float32 if halved and not kept else None)
    if kept:
        keep_halves(read)
    far = ""
    with in_arithmetic(read):
        unpacked = unpack_maps_without_gradients(read, arithmetic_of(read)) if quantised else 0
    if has_packed_weights(read):
        notes.append("the model is quantised, so tiny changes of a prediction may be rounding")
    asks = output_model(read, options.task) if options.classifies and not writer else None
    if images:
        classifier: PreTrainedModel
        classifier, reader = open_image_classifier(model, read, tokenizer)
        notes += getattr(classifier, "notes", ())
        if asks is not None:
            classifier = asks(classifier)
        notes += note_unpacked(unpacked)
        return Subject(classifier, reader, name, folder=folder, notes=tuple(notes))
    if captions:
        asked, reader = open_caption_model(model, read, tokenizer)
        notes += note_unpacked(unpacked)
        return Subject(asked, reader, name, folder=folder, notes=tuple(notes))
    own = fit_tokenizer(read, tokenizer)
    if options.classifies:
        if options.task == CLASSIFICATION and predicts_labels(read.config):
            vars(read.config)["problem_type"] = SINGLE_LABEL
        if read.config.num_labels == 1 and asks is None:
            vars(read.config)["problem_type"] = REGRESSION
        if not (needs_image or isinstance(read, TextClassifier)):
            gap = check_copy(model, read, own, HALF_TOLERANCE if quantised else None)
            notes += note_padding(read, own)
            far = f", which moves a logit of a short text by up to {gap:.2g}"
        if asks is not None:
            read = asks(read)
        elif (task := task_named(options.task) or task_of(model)) is not None:
            read = task.wrap(read, own)
    if processor is not None and isinstance(read, NextTokenClassifier):
        read_images_too(model, read, own, processor)
    notes += note_unpacked(unpacked, far)
    return Subject(read, own, name, folder=folder, notes=tuple(notes))


def note_unpacked(layers: int, far: str = "") -> list[str]:
    """What a person should know of so many layers that were unpacked."""
    if not layers:
        return []
    count = pluralise(layers, "layer")
    return [f"quantised weights that block gradients ({count}) are unpacked{far}"]
