"""Open what a request is about: the model, and the rows of a split."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from datasets import Dataset, DatasetDict
from transformers import PreTrainedModel

from glasshead.audits.measuring.data_view import random_ranks_of_rows, sample_rows
from glasshead.data import (
    ALL_SPLITS,
    LABEL_TASKS,
    AnswerColumns,
    ImageTextReader,
    LoadOptions,
    NoLabelError,
    RatingError,
    as_dataset,
    find_answer_columns,
    has_images,
    has_lines,
    image_column_of,
    is_conllu,
    is_undivided,
    names_of_columns,
    nouns_of_split,
    read_given,
    read_plain,
    read_split,
    reader_of,
)
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import find_explainer
from glasshead.huggingface import NextTokenClassifier, TaskModel
from glasshead.models import is_regression
from glasshead.opening import NoClassError, OpenOptions, open_subject
from glasshead.registry import did_you_mean
from glasshead.requests import DataRequest, JudgedRequest
from glasshead.results import REGRESSION
from glasshead.spelling import spell
from glasshead.tasks import (
    CAPTION,
    CaptionModel,
    Chosen,
    LikelihoodModel,
    OutputModel,
    PreferenceModel,
    Questions,
    check_named,
    questions_to,
)
from glasshead.trace import Subject, check_one_pass
from glasshead.training import with_train_data

AuditInputs = TypeVar("AuditInputs", bound=DataRequest)


class OpenedRequest(NamedTuple):
    """A model, the rows of a split that it is asked about, and what a card records of these."""

    subject: Subject
    split: Dataset
    facts: dict[str, Any]


def with_datasets(request: AuditInputs) -> AuditInputs:
    """The request; a table or a list of rows is a data set from here on."""
    train = getattr(request, "train", None)
    changes = {} if train is None else {"train": as_dataset(train)}
    return request.replace(data=as_dataset(request.data), **changes)


def open_request(request: JudgedRequest, columns: Sequence[str] = ()) -> OpenedRequest:
    """Open the model, and read the data as it reads them, with further ``columns``.

    Raises:
        InputError: if one of them cannot be opened, or they do not fit.
    """
    subject = open_asked(request)
    load_options = data_options(request, subject)
    split_name = request.split or default_split(request.data, subject)
    if (questions := questions_to(subject.model)) is not None:
        if columns:
            raise ParameterError(
                "by",
                f"{columns[0]}: other columns cannot be used when the question is about a part of a text",
            )
        return open_questions(request, subject, questions, split_name, load_options)
    model, note = subject.model, None
    try:
        if isinstance(model, OutputModel):
            split, note = model.read(
                request.data, split_name, load_options, columns, asked=request.classes, seed=request.seed
            )
        else:
            split = read_split(request.data, split_name, load_options, columns)
    except RatingError as error:
        if subject.record or "task" in load_options_of(request):
            raise
        raise InputError(
            f"{subject.name} has one output and so predicts ratings, but {str(error).partition(';')[0]}: "
            "give data with ratings, or a model with an output for each class"
        ) from error
    reader = reader_of(subject.tokenizer)
    if (data_nouns := nouns_of_split(split)) != reader.nouns:
        raise InputError(
            f"{subject.name} reads {reader.nouns.texts}, and the data contain {data_nouns.texts}"
        )
    subject = replace(subject, tokenizer=reader.with_limit(request.max_length, request.blocks))
    if note is not None:
        if request.train is not None:
            raise ParameterError("train", "is for models with one output, or for one class of several")
        subject = replace(subject, notes=(*subject.notes, note))
    if request.train is not None:
        train_rows = read_split(request.train, train_split(request.train), load_options)
        subject = with_train_data(subject, train_rows)
    in_memory = isinstance(request.data, Dataset | DatasetDict)
    facts = {} if in_memory else source_facts(request, split_name, load_options)
    trained_on = subject.record.get("data", {}).get("source")
    if facts and subject.record and facts["data"] != trained_on:
        facts["trained_on"] = trained_on
    if request.train is not None:
        facts["train"] = str(request.train) if isinstance(request.train, str | Path) else "in memory"
    return OpenedRequest(subject, split, facts)


def open_asked(request: DataRequest) -> Subject:
    """The model of a request. One that writes is asked about the answers in the data, if there are any; an
    encoder–decoder is asked about nothing else. One that reads captions is asked about the classes.

    Raises:
        InputError: as `open_subject`, and if the data cannot be read.
    """
    opening = OpenOptions.of(request, images=True)
    try:
        subject = open_subject(request.model, request.tokenizer, opening)
    except NoClassError:
        if answer_columns(request, None) is None:
            raise
        subject = open_subject(request.model, request.tokenizer, replace(opening, answers=True))
    if isinstance(subject.model, CaptionModel):
        return with_captions(request, subject)
    model = subject.model
    if type(model) is not NextTokenClassifier:
        return subject
    columns = answer_columns(request, subject)
    check_images(request, subject, columns)
    if columns is None:
        return subject
    kind = LikelihoodModel if columns.against is None else PreferenceModel
    return replace(subject, model=kind.of(model, subject.tokenizer))


def check_images(request: DataRequest, subject: Subject, columns: AnswerColumns | None) -> None:
    """Raise InputError if data have images and a language model reads none, or the reverse, or if they have
    images and no answers, unless a column of texts is named."""
    reader, column = reader_of(subject.tokenizer), None if columns is None else columns.image
    if column is not None and not isinstance(reader, ImageTextReader):
        raise InputError(
            f"the data have images, but {subject.name} reads only texts: give a model for both with its "
            f"processor as {spell('tokenizer')}, or remove the column {column!r}"
        )
    if column is not None or not isinstance(reader, ImageTextReader):
        return
    if columns is None and load_options_of(request).get("text_column") is None:
        unread = image_column_of(column_names(request, subject))
        if unread is not None:
            raise InputError(
                "the data have images, but no answers: add a column 'answer', or remove the column "
                f"{unread!r} so that only texts are used"
            )
    if reader.needs_images:
        raise InputError(
            f"{subject.name} needs an image with each text: give data with the columns image, question and "
            "answer"
        )


def answer_columns(request: DataRequest, subject: Subject | None) -> AnswerColumns | None:
    """The columns of prompts and their answers in the data; None: there are none."""
    options = make_load_options(load_options_of(request))
    return find_answer_columns(column_names(request, subject), options)


def column_names(request: DataRequest, subject: Subject | None) -> Collection[str]:
    """What the columns of the data are called; trees have none."""
    if isinstance(request.data, str | Path) and is_conllu(request.data):
        return ()
    options = make_load_options(load_options_of(request))
    return names_of_columns(request.data, request.split or default_split(request.data, subject), options)


def with_captions(request: DataRequest, subject: Subject) -> Subject:
    """A subject that reads captions, asked about the names of the classes of the data.

    Raises:
        InputError: if these are numbers, or there are none, and as `read_split`.
    """
    assert isinstance(subject.model, CaptionModel)
    split = request.split or default_split(request.data, subject)
    try:
        rows = read_split(request.data, split, data_options(request, subject))
    except NoLabelError as error:
        raise InputError(
            f"{subject.name} chooses between captions, the names of the data's classes, but these data have "
            "none: give each image a caption as its label"
        ) from error
    names = rows.features["label"].names
    check_named(names)
    note = f"the classes of the data are the captions, each read as {CAPTION!r}"
    model = subject.model.about(subject.tokenizer, names)
    return replace(subject, model=model, notes=(*subject.notes, note))


def open_questions(
    request: JudgedRequest, subject: Subject, questions: Questions, split_name: str, options: LoadOptions
) -> OpenedRequest:
    """The rows of a request, each asked as its model is asked.

    Raises:
        InputError: if there are no such rows, and on what only classifiers have.
    """
    if request.train is not None:
        raise ParameterError("train", "is for classifiers of texts: these data ask about parts of one")
    subject = replace(
        subject, tokenizer=reader_of(subject.tokenizer).with_limit(request.max_length, request.blocks)
    )
    rows = questions.as_read(subject.tokenizer, questions.read(request.data, split_name, options))
    places = sample_rows(len(rows), request.limit, request.seed)
    ranks = random_ranks_of_rows(len(rows), request.seed)[places]
    chosen = Chosen([rows[place] for place in places], places, ranks, request.seed)
    assert isinstance(subject.model, TaskModel)
    split, note = questions.draw(subject.model, subject.tokenizer, chosen)
    facts: dict[str, Any] = {}
    if isinstance(request.data, str | Path):
        facts = {"data": str(request.data), "split": ALL_SPLITS if has_lines(request.data) else split_name}
    return OpenedRequest(replace(subject, notes=(*subject.notes, note)), split, facts)


def check_attention_is_one(model: PreTrainedModel, methods: Iterable[str]) -> None:
    """Refuse, before anything is measured, a method that reads attention where none is behind a prediction.

    Raises:
        InputError: if there is such a method.
    """
    if any(find_explainer(name).reads_attention for name in methods):
        check_one_pass(model)


READING_OPTIONS = (
    "text_column", "label_column", "marks_column", "classes", "task", "encoding", "separator",
)  # fmt: skip
"""Fields of requests that are fields of `LoadOptions`."""


def load_options_of(request: DataRequest) -> dict[str, Any]:
    """What a request says of how the data are read."""
    columns = {name: getattr(request, name, None) for name in READING_OPTIONS}
    return {
        **(request.load_options or {}),
        **{
            name: value
            for name, value in columns.items()
            if value is not None and (name != "task" or value in LABEL_TASKS)
        },
    }


def data_options(request: DataRequest, subject: Subject) -> LoadOptions:
    """How to read the data: as a run read what it was trained on, except what the request says."""
    recorded = subject.record.get("data", {})
    options = recorded.get("options", {}) | load_options_of(request)
    if isinstance(subject.model, OutputModel):
        options.pop("classes", None)  # they are the outputs that are asked about
    if request.data != recorded.get("source"):
        options.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
    if not subject.record and is_regression(subject.model.config):
        options.setdefault("task", REGRESSION)
    return make_load_options(options)


def make_load_options(options: Mapping[str, Any]) -> LoadOptions:
    """Fields by name as options of the data.

    Raises:
        InputError: on a name that is not a field.
    """
    known = [field.name for field in fields(LoadOptions)]
    for name in options:
        if name not in known:
            raise ParameterError("load_options", f"has no field {name!r}: {did_you_mean(str(name), known)}")
    return LoadOptions(**options)


def default_split(data: object, subject: Subject | None) -> str:
    """Test; but all rows of a file, or of a folder of images, that the model is not known to be trained on a
    part of."""
    if isinstance(data, Dataset | DatasetDict):
        return "test" if isinstance(data, DatasetDict) and "test" in data else ALL_SPLITS
    path = Path(str(data))
    trained_on = None if subject is None else subject.record.get("data", {}).get("source")
    known = trained_on is not None and Path(str(trained_on)).resolve() == path.resolve()
    return ALL_SPLITS if not known and (path.is_file() or is_undivided(path)) else "test"


def train_split(data: object) -> str:
    """Train, or all rows of a file."""
    return ALL_SPLITS if isinstance(data, str | Path) and Path(data).is_file() else "train"


def read_unlabelled_texts(data: object, split: str, options: LoadOptions) -> Dataset:
    """Texts for audits that need no label: also the lines of a file of texts, rows of texts in memory, and
    prompts whose answers are not read.

    Raises:
        InputError: as `read_split`.
    """
    try:
        return read_texts_alone(data, split, options)
    except InputError:
        if not isinstance(data, str | Path | Dataset | DatasetDict):
            raise
        if find_answer_columns(names_of_columns(data, split, options), options) is None:
            raise
        prompts = [row.prompt for row in read_given(data, split, options)]
        if not all(isinstance(prompt, str) for prompt in prompts):
            raise InputError(
                "chat messages can only be read with answers: make texts with the tokenizer's "
                "apply_chat_template first"
            ) from None
        return Dataset.from_dict({"text": prompts})


def read_texts_alone(data: object, split: str, options: LoadOptions) -> Dataset:
    """Texts where they are called so.

    Raises:
        InputError: as `read_split`.
    """
    if has_lines(data):
        return Dataset.from_dict({"text": list(read_plain(Path(str(data)), options).firsts)})
    if isinstance(data, Dataset) and not has_images(data):
        plain = read_plain(data, options)
        seconds = {} if plain.seconds is None else {"text_pair": list(plain.seconds)}
        return Dataset.from_dict({"text": list(plain.firsts), **seconds})
    return read_split(data, split, options)


def source_facts(request: DataRequest, split: str, options: LoadOptions) -> dict[str, Any]:
    """What a card records about its data."""
    return {
        "data": str(request.data) if isinstance(request.data, str | Path) else "in memory",
        "split": split,
        "data_options": asdict(options),
    }
