"""The history of a run: as it was recorded, or else one snapshot of the trained model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from glasshead.data import DATASETS, IMAGE_SETS, LoadOptions, describe, load, reader_of
from glasshead.errors import InputError
from glasshead.language import LANGUAGE_RECORD
from glasshead.opening import Run, load_run, read_object, read_record
from glasshead.papers.dynamics.context_comparison import reads_context, with_contexts
from glasshead.papers.dynamics.forms.select import no_closed_form_reason
from glasshead.papers.dynamics.post_hoc import check_not_regression, config_of, history_from_trained_run
from glasshead.papers.dynamics.token_groups import groups_from_source
from glasshead.papers.results import HISTORY_FOLDER, History, read_history
from glasshead.spelling import spell
from glasshead.training import TensorDataset, check_kind, encoded_split, labels_for

NO_CONTEXTS = "tokens are not shown in their texts and alone"
Progress = Callable[[str], None]


@dataclass(frozen=True)
class LoadedHistory:
    """The history of a run, its title, whether it was recorded during the training, and remarks.

    The last remark says why contexts were requested but are missing.
    """

    history: History
    title: str
    recorded: bool
    remarks: list[str] = field(default_factory=list)


def load_history(
    folder: Path, data: str | None = None, *, contexts: bool = True, progress: Progress = lambda stage: None
) -> LoadedHistory:
    """The recorded history, or else one snapshot of the trained model; with ``contexts`` also its tokens in
    their texts and alone, if the encoder reads the words around them. ``data`` are those of the training,
    if they are needed and have moved.

    Raises:
        InputError: if the folder is not a run of a classifier or a language model, if its model cannot be
        analysed, and on ``data`` that are not needed or not those of the run.
    """
    record = read_trained(folder)
    if not (folder / HISTORY_FOLDER).exists():
        return load_trained_model(folder, data, contexts, progress)
    history = read_history(folder)
    if contexts and reads_context(history):
        history, remarks = load_contexts(folder, data, history, progress)
        return LoadedHistory(history, run_title(record, history), True, remarks)
    if data is not None:
        raise InputError(
            f"the training of {folder} was recorded, so its data are not needed: leave {data!r} out"
        )
    return LoadedHistory(history, run_title(record, history), True)


def read_trained(folder: Path) -> dict[str, Any]:
    """The trained model of a folder, a classifier or a language model.

    Raises:
        InputError: if the folder holds neither, and for a language model whose training was not recorded,
        since its weights alone give no history.
    """
    if not (folder / LANGUAGE_RECORD).is_file():
        return read_record(folder)
    if not (folder / HISTORY_FOLDER).exists():
        raise InputError(
            f"the training of {folder} was not recorded, and a trained language model alone does not show "
            "it: train it again with recording"
        )
    return read_object(folder / LANGUAGE_RECORD)


def load_trained_model(folder: Path, data: str | None, contexts: bool, progress: Progress) -> LoadedHistory:
    """One snapshot of a model whose training was not recorded.

    Raises:
        InputError: if nothing can be said of it.
    """
    run = load_run(folder)
    check_not_regression(run)
    reason = no_closed_form_reason(run.model)
    inputs = reader_of(run.tokenizer).nouns.texts
    nothing = f"a model whose scores depend on its {inputs} cannot be shown ({reason})"
    texts, remarks = training_texts(
        run, data, "there are no weights and no terms" if reason is None else nothing
    )
    if texts is None and reason is not None:
        raise InputError(*remarks)
    source = run.record["data"]
    truth = groups_from_source(source) if "source" in source and data in (None, source["source"]) else None
    history = history_from_trained_run(run, texts, truth)
    if contexts and texts is not None and reads_context(history):
        progress("reading its texts")
        history, more = add_contexts(history, run, texts)
        remarks += more
    return LoadedHistory(history, run_title(run.record, history), False, remarks)


def load_contexts(
    folder: Path, data: str | None, history: History, progress: Progress
) -> tuple[History, list[str]]:
    """A recorded history with the trained model's tokens in their texts and alone, if the texts are there.

    Raises:
        InputError: if ``data`` are not those of the run.
    """
    run = load_run(folder)
    try:
        texts, remarks = training_texts(run, data, NO_CONTEXTS)
    except InputError as error:
        if data is not None:
            raise
        return history, [f"{NO_CONTEXTS}: {error}"]
    if texts is None:
        return history, remarks
    progress("reading its texts")
    history, more = add_contexts(history, run, texts)
    return history, remarks + more


def add_contexts(history: History, run: Run, texts: TensorDataset) -> tuple[History, list[str]]:
    """The history with contexts, or a remark why it has none."""
    history = with_contexts(history, run, texts.encoded)
    return history, [] if history.contexts else [f"no token of a group is in these texts, so {NO_CONTEXTS}"]


def training_texts(run: Run, data: str | None, consequence: str) -> tuple[TensorDataset | None, list[str]]:
    """The texts that a run was trained on, encoded, with a remark if they have changed; or None, with a
    remark that they are not there and what follows from it.

    Data without a name are read again if they are a set by name or lie where they lay.

    Raises:
        InputError: if the texts or their labels are not such as the run knows.
    """
    recorded = run.record["data"]
    source = recorded.get("source")
    named = source in DATASETS or source in IMAGE_SETS
    if data is None and (source is None or not (named or Path(source).exists())):
        lost = "the data of the training are not recorded" if source is None else f"{source} is not here"
        return None, [f"{lost}, so {consequence}: name the data of the training ({spell('data')})"]
    options: dict[str, Any] = dict(recorded.get("options", {}))
    if data not in (None, source):
        options.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
    splits = load(data or source, LoadOptions(**options))
    train = splits["train"]
    check_kind(config_of(run.record), splits)
    labels, _ = labels_for(run.model, train)
    same = describe(splits)["fingerprint"] == recorded.get("fingerprint")
    inputs = reader_of(run.tokenizer).nouns.texts
    remarks = (
        [] if same else [f"the {inputs} of {data or source} are not those of the training, or no longer"]
    )
    return TensorDataset(encoded_split(run.tokenizer, train), torch.from_numpy(labels)), remarks


def run_title(record: dict[str, Any], history: History) -> str:
    """A run in a few words: data, mechanism, seed."""
    data = Path(str(record["data"].get("source", "data"))).name
    mechanism = (
        history.facts.get("activation")
        or history.facts.get("attention")
        or record["recipe"].get("model", "classifier")
    )
    return f"{data} · {mechanism} · seed {record['seed']}"
