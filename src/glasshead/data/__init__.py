"""Classification data, texts and images, in one schema, synthetic data with known truth, tokenizers."""

from glasshead.data import datasets  # importing the folder registers all it holds
from glasshead.data.align_labels import align_labels
from glasshead.data.aligned_pieces import has_places, offsets_of
from glasshead.data.answered_questions import AnsweredQuestion, read_answered
from glasshead.data.augmentation import AUGMENTATIONS, Augmentation
from glasshead.data.batching import (
    PAIRS,
    TOKENS_PER_BATCH,
    Inputs,
    batch_size,
    batches,
    heads_of,
    layers_of,
    length_of,
    longest,
)
from glasshead.data.byte_pairs import train_byte_pairs
from glasshead.data.chats import ChatText, chat_note, is_chat, message_spans, read_chats, render_chat
from glasshead.data.columns import column_values
from glasshead.data.coverage import Coverage, coverage
from glasshead.data.dependency_trees import ROOT, Sentence, is_conllu, read_conllu
from glasshead.data.describe import describe, describe_in_words, has_images, has_ratings, nouns_of_split
from glasshead.data.encode import (
    NO_MAXIMUM,
    as_encoded,
    begins_twice,
    check_utf8,
    encode,
    is_utf8,
    join_pair,
    keep_lengths_apart,
    occurrences,
)
from glasshead.data.encoded import Encoded, Unit
from glasshead.data.encoded_images import FILLS, EncodedImages, Fill, PatchGrid
from glasshead.data.given_answers import (
    AnswerColumns,
    GivenAnswer,
    find_answer_columns,
    image_column_of,
    names_of_columns,
    no_prompts,
    read_given,
)
from glasshead.data.image_folders import list_images
from glasshead.data.image_reader import (
    CaptionedImage,
    CaptionReader,
    ImageReader,
    image_size,
    normalisation_of,
)
from glasshead.data.image_sets import IMAGE_SETS
from glasshead.data.image_text_reader import ImageTextReader, Processed
from glasshead.data.in_memory import as_dataset, as_split
from glasshead.data.label_columns import NO, PLACE, QUESTION, RANK, YES, read_questions
from glasshead.data.load import ALL_SPLITS, load, select_split
from glasshead.data.marks import Marks, marks_of
from glasshead.data.offered_choices import OfferedChoices, read_offered
from glasshead.data.options import LABEL_TASKS, LoadOptions
from glasshead.data.pictures import IMAGE_SUFFIXES, Picture, as_picture, decode_pixels
from glasshead.data.rating_columns import read_ratings
from glasshead.data.ratings import RatingError
from glasshead.data.read import SUFFIXES
from glasshead.data.read import read as read_columns
from glasshead.data.resolve import is_undivided, named_files
from glasshead.data.rows_of_split import read_plain_split, read_split
from glasshead.data.schema import NoLabelError, NoTextError
from glasshead.data.segmented_images import NO_CLASS, SegmentedImage, read_segmented
from glasshead.data.segments import find_segments, strip_marks, with_segments
from glasshead.data.split_inputs import OTHER_TEXT, PAIR, SEEN_IMAGES, TEXT_BEHIND, inputs_of
from glasshead.data.synthetic import (
    DATASETS,
    DrawnSplit,
    SyntheticDataset,
    SyntheticOptions,
    check_integer,
    check_sizes,
    planted_groups,
    split_sizes,
)
from glasshead.data.synthetic_vocabulary import NEUTRAL_WORDS, split_words
from glasshead.data.tagged_words import TaggedText, read_tagged
from glasshead.data.text_files import read_text
from glasshead.data.text_reader import IMAGE_READER, TextReader, as_sources, as_texts, reader_of
from glasshead.data.texts_with_images import (
    EncodedTextsWithImages,
    TextImages,
    TextWithImages,
    number_units,
    seen_tokens,
)
from glasshead.data.token_groups import token_groups
from glasshead.data.token_names import token_names
from glasshead.data.tokenizer import train_tokenizer
from glasshead.data.unit_reader import UnitReader
from glasshead.data.unlabelled import PlainTexts, has_lines, plain_splits, read_plain

__all__ = [
    "ALL_SPLITS",
    "AUGMENTATIONS",
    "DATASETS",
    "FILLS",
    "IMAGE_READER",
    "IMAGE_SETS",
    "IMAGE_SUFFIXES",
    "LABEL_TASKS",
    "NEUTRAL_WORDS",
    "NO",
    "NO_CLASS",
    "NO_MAXIMUM",
    "OTHER_TEXT",
    "PAIR",
    "PAIRS",
    "PLACE",
    "QUESTION",
    "RANK",
    "ROOT",
    "SEEN_IMAGES",
    "SUFFIXES",
    "TEXT_BEHIND",
    "TOKENS_PER_BATCH",
    "YES",
    "AnswerColumns",
    "AnsweredQuestion",
    "Augmentation",
    "CaptionReader",
    "CaptionedImage",
    "ChatText",
    "Coverage",
    "DrawnSplit",
    "Encoded",
    "EncodedImages",
    "EncodedTextsWithImages",
    "Fill",
    "GivenAnswer",
    "ImageReader",
    "ImageTextReader",
    "Inputs",
    "LoadOptions",
    "Marks",
    "NoLabelError",
    "NoTextError",
    "OfferedChoices",
    "PatchGrid",
    "Picture",
    "PlainTexts",
    "Processed",
    "RatingError",
    "SegmentedImage",
    "Sentence",
    "SyntheticDataset",
    "SyntheticOptions",
    "TaggedText",
    "TextImages",
    "TextReader",
    "TextWithImages",
    "Unit",
    "UnitReader",
    "align_labels",
    "as_dataset",
    "as_encoded",
    "as_picture",
    "as_sources",
    "as_split",
    "as_texts",
    "batch_size",
    "batches",
    "begins_twice",
    "chat_note",
    "check_integer",
    "check_sizes",
    "check_utf8",
    "column_values",
    "coverage",
    "datasets",
    "decode_pixels",
    "describe",
    "describe_in_words",
    "encode",
    "find_answer_columns",
    "find_segments",
    "has_images",
    "has_lines",
    "has_places",
    "has_ratings",
    "heads_of",
    "image_column_of",
    "image_size",
    "inputs_of",
    "is_chat",
    "is_conllu",
    "is_undivided",
    "is_utf8",
    "join_pair",
    "keep_lengths_apart",
    "layers_of",
    "length_of",
    "list_images",
    "load",
    "longest",
    "marks_of",
    "message_spans",
    "named_files",
    "names_of_columns",
    "no_prompts",
    "normalisation_of",
    "nouns_of_split",
    "number_units",
    "occurrences",
    "offsets_of",
    "plain_splits",
    "planted_groups",
    "read_answered",
    "read_chats",
    "read_columns",
    "read_conllu",
    "read_given",
    "read_offered",
    "read_plain",
    "read_plain_split",
    "read_questions",
    "read_ratings",
    "read_segmented",
    "read_split",
    "read_tagged",
    "read_text",
    "reader_of",
    "render_chat",
    "seen_tokens",
    "select_split",
    "split_sizes",
    "split_words",
    "strip_marks",
    "token_groups",
    "token_names",
    "train_byte_pairs",
    "train_tokenizer",
    "with_segments",
]
