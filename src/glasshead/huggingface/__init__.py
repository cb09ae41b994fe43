"""Our mechanisms in anybody's Hugging Face model: plug, save, load, and a doctor for what would go wrong.

To import this package is to import `glasshead.models` too: `from_pretrained` then knows every folder that
we save.
"""

from glasshead.dispatch import MECHANISM, clear_spec, mechanism_of, spec_of
from glasshead.huggingface.caught_softmax import CAUGHT_HEADS
from glasshead.huggingface.devices import device_of, free_memory, gigabytes
from glasshead.huggingface.doctor import doctor
from glasshead.huggingface.half_weights import (
    HALVES,
    arithmetic_of,
    forget_halves,
    in_arithmetic,
    keep_halves,
    kept_arithmetic,
    narrow_products,
    overflow,
    products_of,
)
from glasshead.huggingface.image_vectors import (
    PIXELS,
    check_takes_vectors,
    needed_inputs,
    parameters_of,
    see,
    writes_behind_images,
)
from glasshead.huggingface.isolated_copy import isolated_copy
from glasshead.huggingface.labels import class_names, place_of
from glasshead.huggingface.lend_copy import lend_copy
from glasshead.huggingface.loading import (
    check_name,
    load,
    load_reason,
    load_weights,
    model_class,
    read_config,
    refuse_own_code,
    silence_transformers,
)
from glasshead.huggingface.model_state import ModelState, shares_tensors, version_of
from glasshead.huggingface.module_classifier import ModuleClassifier
from glasshead.huggingface.next_token import (
    SEES,
    NextTokenClassifier,
    class_names_in,
    decoder_start,
    find_class,
    is_answerer,
    is_writer,
    quote,
    token_id,
    vocabulary_names,
)
from glasshead.huggingface.patch_classifier import (
    NoPatchesError,
    PatchClassifier,
    classifies_images,
    logits_in,
    reads_images,
)
from glasshead.huggingface.plug import plug, unplug
from glasshead.huggingface.quantised import (
    has_packed_weights,
    is_packed_map,
    is_plain,
    unpack_maps_without_gradients,
    unpacked,
)
from glasshead.huggingface.random_twin import new_like, random_twin
from glasshead.huggingface.read_module import read_module, watch_lookups
from glasshead.huggingface.readable_copy import lacks_attention, no_attention, readable_copy, shows_attention
from glasshead.huggingface.seeing_model import (
    SeeingModel,
    image_inputs,
    with_images_of,
    with_same_images,
)
from glasshead.huggingface.structure import (
    attention_modules,
    config_to_save,
    every_attention,
    position_limit,
    positions_of,
)
from glasshead.huggingface.task_model import (
    NO_PLACE,
    At,
    Inputs,
    PairsNeeded,
    Target,
    TaskModel,
    answers_of,
    as_asked,
    ask_rows,
    ask_usual,
    class_name,
    measured_on,
    own_model,
    question_in_words,
    question_names,
    rated_name,
    target_names,
    usual_class,
)
from glasshead.huggingface.vocabulary_at import vocabulary_at
from glasshead.models import MODELS

__all__ = [
    "CAUGHT_HEADS",
    "HALVES",
    "MECHANISM",
    "NO_PLACE",
    "PIXELS",
    "SEES",
    "At",
    "Inputs",
    "ModelState",
    "ModuleClassifier",
    "NextTokenClassifier",
    "NoPatchesError",
    "PairsNeeded",
    "PatchClassifier",
    "SeeingModel",
    "Target",
    "TaskModel",
    "answers_of",
    "arithmetic_of",
    "as_asked",
    "ask_rows",
    "ask_usual",
    "attention_modules",
    "check_name",
    "check_takes_vectors",
    "class_name",
    "class_names",
    "class_names_in",
    "classifies_images",
    "clear_spec",
    "config_to_save",
    "decoder_start",
    "device_of",
    "doctor",
    "every_attention",
    "find_class",
    "forget_halves",
    "free_memory",
    "gigabytes",
    "has_packed_weights",
    "image_inputs",
    "in_arithmetic",
    "is_answerer",
    "is_packed_map",
    "is_plain",
    "is_writer",
    "isolated_copy",
    "keep_halves",
    "kept_arithmetic",
    "lacks_attention",
    "lend_copy",
    "load",
    "load_reason",
    "load_weights",
    "logits_in",
    "measured_on",
    "mechanism_of",
    "model_class",
    "narrow_products",
    "needed_inputs",
    "new_like",
    "no_attention",
    "overflow",
    "own_model",
    "parameters_of",
    "place_of",
    "plug",
    "position_limit",
    "positions_of",
    "products_of",
    "question_in_words",
    "question_names",
    "quote",
    "random_twin",
    "rated_name",
    "read_config",
    "read_module",
    "readable_copy",
    "reads_images",
    "refuse_own_code",
    "see",
    "shares_tensors",
    "shows_attention",
    "silence_transformers",
    "spec_of",
    "target_names",
    "token_id",
    "unpack_maps_without_gradients",
    "unpacked",
    "unplug",
    "usual_class",
    "version_of",
    "vocabulary_at",
    "vocabulary_names",
    "watch_lookups",
    "with_images_of",
    "with_same_images",
    "writes_behind_images",
]
