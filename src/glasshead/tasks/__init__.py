"""Tasks: each file turns a kind of model into a classifier.

`QUESTIONS`    how data ask it: hidden_words.py, next_tokens.py, spans.py, tags.py
`ChoiceModel`  a model that chooses between texts: choices.py, zero_shot.py
`Task`         questions to the models with a head of some kind                        task.py
`PartModel`    a model that is asked about a part of a text                            places.py
`OutputModel`  a model of several outputs, asked about one: labels.py, ratings.py      outputs.py
`CaptionModel` a model that compares images with texts                                  captions.py
`RegionClassifier` a model that gives each pixel of an image a class                    regions.py
`BoxClassifier`    a model that finds objects in an image                               boxes.py
`SimilarityModel`  a model that gives texts vectors                                    similarity.py
`ask_answer`   a language model, asked about an answer that is given                   answer_contrasts.py
               behind a prompt: answers.py; of an encoder–decoder: source_answers.py
`LikelihoodModel`  the same, before data with an answer in each row                    likelihoods.py
`PreferenceModel`  or with two                                                         preferences.py
"""

from glasshead.registry import import_entries
from glasshead.tasks.answer_contrasts import ask_answer
from glasshead.tasks.answer_models import GIVEN
from glasshead.tasks.answers import AnswerClassifier
from glasshead.tasks.boxes import NO_OBJECT, BoxClassifier
from glasshead.tasks.captions import (
    CAPTION,
    TRIED,
    CaptionModel,
    compares_captions,
    compares_otherwise,
    pipeline_of,
    text_inputs,
    text_parts,
)
from glasshead.tasks.choices import ChoiceModel, check_named
from glasshead.tasks.labels import (
    CLASSIFICATION,
    LABELS,
    SINGLE_LABEL,
    TASKS,
    LabelClassifier,
    predicts_labels,
)
from glasshead.tasks.likelihoods import LikelihoodModel, about_ends
from glasshead.tasks.outputs import OutputModel
from glasshead.tasks.preferences import PreferenceModel
from glasshead.tasks.ratings import RatingModel, predicts_ratings
from glasshead.tasks.regions import RegionClassifier
from glasshead.tasks.similarity import POOLINGS, SimilarityModel, ask_similarity
from glasshead.tasks.task import (
    QUESTIONS,
    Chosen,
    Questions,
    Task,
    questions_to,
    task_named,
    task_of,
    task_of_config,
    task_of_pipeline,
)
from glasshead.tasks.zero_shot import ZERO_SHOT, EntailmentModel, as_choosing

import_entries(__name__, __path__, "QUESTIONS")

__all__ = [
    "CAPTION",
    "CLASSIFICATION",
    "GIVEN",
    "LABELS",
    "NO_OBJECT",
    "POOLINGS",
    "QUESTIONS",
    "SINGLE_LABEL",
    "TASKS",
    "TRIED",
    "ZERO_SHOT",
    "AnswerClassifier",
    "BoxClassifier",
    "CaptionModel",
    "ChoiceModel",
    "Chosen",
    "EntailmentModel",
    "LabelClassifier",
    "LikelihoodModel",
    "OutputModel",
    "PreferenceModel",
    "Questions",
    "RatingModel",
    "RegionClassifier",
    "SimilarityModel",
    "Task",
    "about_ends",
    "as_choosing",
    "ask_answer",
    "ask_similarity",
    "check_named",
    "compares_captions",
    "compares_otherwise",
    "pipeline_of",
    "predicts_labels",
    "predicts_ratings",
    "questions_to",
    "task_named",
    "task_of",
    "task_of_config",
    "task_of_pipeline",
    "text_inputs",
    "text_parts",
]
