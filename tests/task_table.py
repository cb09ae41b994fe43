"""Which task can be asked how: docs/reference/tasks.md, computed, written and read again.

`make families` computes every row and writes the page; a slow test computes the rows anew and compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers as hf
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from transformers import PreTrainedModel

import caption_models
import glasshead
from classifier_families import FAMILIES, WORDS, labelled_data
from family_table import METHODS, TEXT_AUDITS, YES, Row, outcome, page, without_names
from glasshead.audits import AUDITS
from glasshead.errors import InputError
from glasshead.serve.opened_model import EXPLAINED, open_served_model
from image_families import pictures, rows
from segmenters import photo, segmented, segmenter, segmenting_processor

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "tasks.md"
TESTS = Path(__file__).parent
NO = "no test of this kind"
HEAD = """# Tasks

What Glasshead can do with a model of each task. A number refers to the reason below why something does not
work.

- *page*: `glasshead serve`; *notebook*: what an explanation shows there.
- *planted truth*: a test trains a model in which it is known which word decides; erasure must find it, and
  random scores must not.
- *oracle*: a test compares numbers with those computed without Glasshead.

Audits that run only by name are not listed.

"""
TAIL = """
Every row was computed with a tiny random model of one family (`make families`), and a test repeats it.
Other families are on [the page of families](families.md); how to use each task is in
[Taggers, question answering and other tasks](../how-to/tasks.md).
"""
COMMANDS = ("ranking", "report on heads", "page")
MARKED = "it compares with what people marked, which these data have not"
OF_TEXTS = "it is about words, and images have none: use 'erasure-neutral-colour'"
ABOUT_WORDS = ("images have none", "cannot remove a part of images", "has no word embeddings")
TEXTS = ["a warm , funny film", "the plot is dull and not very good", "bad film"]
MANY = [" ".join(WORDS.split()[start : start + 7]) for start in range(12)]


@dataclass(frozen=True)
class Asked:
    """A task: a tiny model, what it is asked, the data that ask it, and its tests; an empty
    name is a test that there is not. ``method`` is the one that is audited."""

    cls: type[PreTrainedModel]
    data: Sequence[Any] | Dataset
    planted: str
    oracle: str
    pairs: Sequence[str] | None = None
    family: str = "Bert"
    config: dict[str, Any] | None = None
    options: dict[str, Any] | None = None
    asks: dict[str, Any] | None = None
    method: str = "attention"

    def build(self) -> PreTrainedModel:
        """A model whose weights differ enough that no number is zero to rounding."""
        family = FAMILIES[self.family]
        config = family.config(**family.options)
        for name, value in (self.config or {}).items():
            setattr(config, name, value)
        torch.manual_seed(0)
        model = self.cls(config).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        return model

    def reader(self) -> Any:
        """Its tokenizer."""
        return FAMILIES[self.family].tokenizer()

    def inputs(self) -> list[Any]:
        """Texts."""
        return TEXTS

    def reason(self, answer: str) -> str:
        """A reason as the page has it."""
        return answer


@dataclass(frozen=True)
class AskedOfImages(Asked):
    """A task of images and captions."""

    def build(self) -> PreTrainedModel:
        """A CLIP."""
        return caption_models.build("clip")[0]

    def reader(self) -> Any:
        """Its processor."""
        tokenizer = caption_models.build("clip")[1]
        return hf.CLIPProcessor(image_processor=caption_models.clip_processor(), tokenizer=tokenizer)

    def inputs(self) -> list[Any]:
        """Images."""
        return pictures(3)

    def reason(self, answer: str) -> str:
        """One for all methods that are about words."""
        return OF_TEXTS if any(part in answer for part in ABOUT_WORDS) else answer


@dataclass(frozen=True)
class AskedOfPixels(AskedOfImages):
    """A task of images whose pixels have classes."""

    def build(self) -> PreTrainedModel:
        """A BEiT."""
        return segmenter("beit")

    def reader(self) -> Any:
        """Its image processor."""
        return segmenting_processor()

    def inputs(self) -> list[Any]:
        """Images."""
        return [photo(seed) for seed in range(3)]


NAMES = {0: "bad", 1: "good", 2: "long"}
QUESTIONS = [
    {"question": "which film", "context": text, "answers": text.split()[number % 5]}
    for number, text in enumerate(MANY)
]
CHOICES = [
    {"question": text, "choices": MANY[number : number + 3], "label": number % 3}
    for number, text in enumerate(MANY[:9])
]
ANSWERS = [{"source": text, "target": "was bad"} for text in MANY]
TASKS = {
    "classes": Asked(
        hf.BertForSequenceClassification,
        labelled_data(24),
        "explainers/test_explain.py::test_a_planted_token_is_found_by_every_faithful_method_and_not_by_chance",
        "oracles/test_captum_classifiers.py::test_gradient_times_input",
        config={"id2label": {0: "bad", 1: "good"}},
    ),
    "labels": Asked(
        hf.BertForSequenceClassification,
        [{"text": text, "labels": [NAMES[number % 3]]} for number, text in enumerate(MANY)],
        "tasks/test_labels.py::test_a_planted_word_decides_its_label_and_no_other",
        "tasks/test_labels.py::test_each_method_explains_a_label_as_it_explains_yes",
        config={"num_labels": 3, "id2label": NAMES, "problem_type": "multi_label_classification"},
    ),
    "ratings": Asked(
        hf.BertForSequenceClassification,
        [{"text": text, **dict.fromkeys(NAMES.values(), number / 3)} for number, text in enumerate(MANY)],
        "tasks/test_several_ratings.py::test_the_word_that_decides_a_rating_is_found",
        "tasks/test_several_ratings.py::test_each_method_explains_it_as_of_a_model_of_this_rating_alone",
        config={"num_labels": 3, "id2label": NAMES, "problem_type": "regression"},
        options={"classes": ["good"]},
    ),
    "tags": Asked(
        hf.BertForTokenClassification,
        [{"tokens": text.split(), "tags": ["O", *["A", "B"] * 3]} for text in MANY],
        "tasks/test_tags.py::test_the_word_that_decides_a_tag_is_found",
        "tasks/test_tags.py::test_gradients_and_erasures_are_those_of_the_word",
        config={"num_labels": 3, "id2label": {0: "O", 1: "A", 2: "B"}},
    ),
    "spans": Asked(
        hf.BertForQuestionAnswering,
        QUESTIONS,
        "tasks/test_answer_spans.py::test_the_word_of_the_question_that_decides_is_found",
        "tasks/test_answer_spans.py::test_gradients_and_erasures_are_those_of_the_part",
        pairs=TEXTS[::-1],
    ),
    "choices": Asked(
        hf.BertForMultipleChoice,
        CHOICES,
        "tasks/test_choices.py::test_the_word_that_decides_is_found",
        "tasks/test_choices.py::test_gradients_and_erasures_are_those_of_the_whole_model",
        asks={"choices": TEXTS[::-1]},
    ),
    "zero-shot": Asked(
        hf.BertForSequenceClassification,
        labelled_data(24),
        "tasks/test_zero_shot.py::test_the_word_that_decides_is_found",
        "tasks/test_zero_shot.py::test_probabilities_are_those_that_the_pipeline_prints",
        config={"id2label": {0: "contradiction", 1: "neutral", 2: "entailment"}},
        options={"task": "zero-shot"},
        asks={"choices": ["praise", "blame"]},
    ),
    "similarity": Asked(
        hf.BertModel,
        [
            {"text": text, "text_pair": MANY[-number], "label": number / 12}
            for number, text in enumerate(MANY)
        ],
        "tasks/test_similarity.py::test_the_word_that_decides_is_found",
        "opening/test_sentence_transformers.py::test_gradients_and_erasures_are_those_by_hand",
        pairs=TEXTS[::-1],
        options={"task": "similarity-mean"},
        asks={"task": "similarity-mean"},
    ),
    "captions": AskedOfImages(
        hf.CLIPModel,
        rows(12, caption_models.NAMES),
        "tasks/test_image_captions.py::test_the_patch_that_decides_is_found",
        "tasks/test_image_captions.py::test_gradients_and_erasures_are_those_of_the_whole_model",
        asks={"choices": caption_models.NAMES},
    ),
    "regions of images": AskedOfPixels(
        hf.BeitForSemanticSegmentation,
        segmented(12),
        "tasks/test_regions.py::test_the_patch_that_decides_is_found",
        "tasks/test_regions.py::test_erasure_is_the_change_of_the_same_region",
    ),
    "hidden words": Asked(
        hf.BertForMaskedLM,
        MANY,
        "tasks/test_hidden_words.py::test_the_word_that_decides_is_found",
        "tasks/test_hidden_words.py::test_gradients_and_contrasts_are_those_of_the_hidden_word",
    ),
    "next token": Asked(
        hf.GPT2LMHeadModel,
        MANY,
        "tasks/test_answers.py::test_the_word_that_decides_the_next_token_is_found",
        "oracles/test_inseq_numbers.py::test_gradients_and_erasure",
        family="GPT2",
    ),
    "given answer": Asked(
        hf.GPT2LMHeadModel,
        ANSWERS,
        "tasks/test_answers.py::test_the_word_that_decides_is_found",
        "tasks/test_answers.py::test_gradients_are_those_by_hand_and_add_up",
        family="GPT2",
        asks={"answer": " was bad"},
    ),
    "given answer of an encoder–decoder": Asked(
        hf.T5ForConditionalGeneration,
        ANSWERS,
        "tasks/test_source_answers.py::test_the_word_of_the_source_that_decides_is_found",
        "tasks/test_source_answers.py::test_gradients_are_those_by_hand_and_add_up",
        family="T5",
        asks={"answer": "was bad"},
    ),
    "answer against another": Asked(
        hf.GPT2LMHeadModel,
        [{**row, "against": "was good"} for row in ANSWERS],
        "tasks/test_source_answers.py::test_the_word_that_decides_between_two_answers_is_found",
        "tasks/test_answer_contrasts.py::test_the_odds_are_those_of_the_losses",
        family="GPT2",
        asks={"answer": " was bad", "against": " was good"},
        method="erasure-mean-embedding",
    ),
}


def row_of(asked: Asked, methods: Sequence[str] = METHODS) -> Row:
    """What a model of the task can be asked; of the methods, some."""
    model, tokenizer = asked.build(), asked.reader()
    data = Dataset.from_dict({"text": MANY}) if asked.data is MANY else asked.data
    about = {"tokenizer": tokenizer, **(asked.options or {})}

    def explained(method: str) -> glasshead.Attributions:
        return glasshead.explain(
            model, asked.inputs(), pairs=asked.pairs, tokenizer=tokenizer, method=method, **(asked.asks or {})
        )

    row = {name: asked.reason(outcome(partial(explained, name))) for name in methods}
    usual = [name for name in TEXT_AUDITS if AUDITS[name].by_default]
    tests = {"planted truth": tested(asked.planted), "oracle": tested(asked.oracle)}
    notebook = {"notebook": outcome(lambda: explained("gradient")._repr_html_())}
    card = glasshead.audit(model, data, draws=2, method=asked.method, **about)
    notes = "\n".join(card.facts["notes"])
    reasons = re.findall(r"^The audits? (.*) (?:was|were) left out: (.*)\.$", notes, re.MULTILINE)
    left_out = {"plausibility": MARKED}
    for names, reason in reasons:
        left_out |= dict.fromkeys(re.findall(r"'([\w-]+)'", names), without_names(reason))
    found = {finding.audit for finding in card.findings}
    row |= {name: YES if name in found else left_out[name] for name in usual}
    ask: dict[str, Callable[[], object]] = {
        "ranking": lambda: glasshead.rank(model, data, methods=["gradient", "random"], **about),
        "report on heads": lambda: glasshead.heads(model, data, **about),
        "page": lambda: served(model, tokenizer),
    }
    row |= {name: outcome(attempt) for name, attempt in ask.items()}
    return row | notebook | tests


def served(model: PreTrainedModel, tokenizer: Any) -> None:
    """Open a model as the page does, and see that it offers methods."""
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        if isinstance(model, hf.BertModel):  # how texts are compared is saved by sentence-transformers
            words = modules.Transformer(folder)
            folder += "/whole"
            pooling = modules.Pooling(words.get_embedding_dimension())
            SentenceTransformer(modules=[words, pooling], device="cpu").save(folder)
        try:
            opened = open_served_model(folder)
        except InputError as error:
            raise InputError(str(error).replace(folder, "the model")) from error
        assert opened.kind in EXPLAINED
        assert "gradient" not in opened.refused


def tested(name: str) -> str:
    """Whether there is such a test: its file, and its name in it."""
    if not name:
        return NO
    file, test = name.split("::")
    assert f"def {test}(" in (TESTS / file).read_text(encoding="utf-8"), name
    return YES


if __name__ == "__main__":
    PAGE.write_text(page({name: row_of(asked) for name, asked in TASKS.items()}, HEAD, TAIL))
