"""What people have becomes a `Subject`: a run or another folder, a Hub id, a pipeline, a model in memory."""

from glasshead.opening.check_model import NoClassError
from glasshead.opening.check_tokenizer import check_vocabulary
from glasshead.opening.fit_tokenizer import fit_tokenizer
from glasshead.opening.open_images import find_patches
from glasshead.opening.open_options import OpenOptions
from glasshead.opening.open_subject import is_run, open, open_model, open_subject
from glasshead.opening.precision import dtype_between_products, dtype_name, dtype_of, halves_of
from glasshead.opening.readers import read_tokenizer
from glasshead.opening.remember import definition_of
from glasshead.opening.run import (
    MEASURED,
    RECORD,
    REPEATS,
    VOCABULARY,
    Run,
    load_run,
    load_run_model,
    open_record,
    read_object,
    read_record,
    run_folders,
)
from glasshead.opening.run_record import RecommenderRecord, Record, validate_record

__all__ = [
    "MEASURED",
    "RECORD",
    "REPEATS",
    "VOCABULARY",
    "NoClassError",
    "OpenOptions",
    "RecommenderRecord",
    "Record",
    "Run",
    "check_vocabulary",
    "definition_of",
    "dtype_between_products",
    "dtype_name",
    "dtype_of",
    "find_patches",
    "fit_tokenizer",
    "halves_of",
    "is_run",
    "load_run",
    "load_run_model",
    "open",
    "open_model",
    "open_record",
    "open_subject",
    "read_object",
    "read_record",
    "read_tokenizer",
    "run_folders",
    "validate_record",
]
