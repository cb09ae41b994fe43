"""A data set of the Hugging Face Hub → its columns."""

import re

from huggingface_hub import HfApi, constants

from glasshead.data.read import Columns, class_names
from glasshead.data.undecoded import undecoded
from glasshead.errors import InputError
from glasshead.spelling import spell

NAME = re.compile(r"[\w.-]+(/[\w.-]+)?(:[\w.-]+)?")


def from_hub(name: str) -> dict[str, Columns]:
    """The splits of ``owner/name`` or ``owner/name:configuration``.

    Raises:
        InputError: if there is no such data set, or no connection.
    """
    import datasets

    repository, _, configuration = name.partition(":")
    remedy = f"give a folder, a file, or a name in {spell('DATASETS')}"
    if not constants.HF_HUB_OFFLINE:
        # load_dataset would try for half a minute, and print every attempt.
        try:
            exists = HfApi().repo_exists(repository, repo_type="dataset")
        except Exception as error:  # the HTTP library beneath changes from version to version
            raise InputError(
                f"{name!r} is no file or folder, and the Hugging Face Hub cannot be reached: {remedy}, "
                "or set HF_HUB_OFFLINE=1 to use a downloaded copy"
            ) from error
        if not exists:
            raise InputError(f"{name!r} is no file, no folder and not on the Hugging Face Hub: {remedy}")
    try:
        splits = datasets.load_dataset(repository, configuration or None)
    except Exception as error:  # loading scripts, formats and servers fail in every way there is
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"cannot load {name!r} from the Hugging Face Hub ({reason}): {remedy}") from error
    return {
        str(split): Columns(
            f"{name} ({split})",
            {
                column: list(rows[column])
                for column, kind in rows.features.items()
                if isinstance(kind, datasets.Value | datasets.ClassLabel | datasets.Image)
            },
            class_names(rows.features),
        )
        for split, rows in ((split, undecoded(rows)) for split, rows in splits.items())
    }
