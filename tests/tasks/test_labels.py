"""A model of several labels is asked about one of them: as the classifier of yes and no that it is then."""

import copy
from functools import cache

import numpy as np
import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS, WORDS
from glasshead import explain
from glasshead.audits.measuring import data_view
from glasshead.audits.measuring.data_view import input_ids, read_sample
from glasshead.data import LoadOptions, as_dataset, read_questions
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import EXPLAINERS
from image_families import image_model, processor
from image_families import rows as image_rows
from slow_cases import own_methods
from small_encoders import small

MULTI_LABEL = "multi_label_classification"
LABELS = {0: "toxic", 1: "insult", 2: "threat"}
FAMILY = FAMILIES["Bert"]


def several_labels(**changes):
    """A model of three labels."""
    return FAMILY.build(3, problem_type=MULTI_LABEL, id2label=LABELS, **changes)


def yes_or_no(model, label):
    """The classifier of no and yes whose logits are 0 and that of a label."""
    twin = FAMILY.build(2)
    state = copy.deepcopy(model.state_dict())
    for name in ("classifier.weight", "classifier.bias"):
        state[name] = torch.stack([torch.zeros_like(state[name][0]), state[name][label]])
    twin.load_state_dict(state)
    return twin


def usable(name):
    """Whether a method can be asked of such a model."""
    return EXPLAINERS[name].package is None


@pytest.mark.parametrize("method", own_methods(usable))
def test_each_method_explains_a_label_as_it_explains_yes(method):
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    own, twin = (
        answer_of(explained, tokenizer, method, target)
        for explained, target in ((model, "insult"), (yes_or_no(model, 1), 1))
    )
    if isinstance(own, str):
        assert own == twin
        return
    for one, other in zip(own, twin, strict=True):
        assert one.target == "insult"
        np.testing.assert_allclose(one.prediction, other.prediction, atol=1e-6)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def answer_of(model, tokenizer, method, target):
    """Attributions, or why there are none."""
    try:
        return list(explain(model, TEXTS, tokenizer=tokenizer, method=method, target=target))
    except InputError as error:
        return str(error)


def test_left_out_it_is_the_likeliest_label_of_each_text():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**given).logits
    for row, one in enumerate(explain(model, TEXTS, tokenizer=tokenizer)):
        label = int(logits[row].argmax())
        assert one.target == LABELS[label]
        assert one.prediction == pytest.approx(float(logits[row, label].sigmoid()), abs=1e-6)
        assert one.predicted == (LABELS[label] if logits[row, label] > 0 else f"not {LABELS[label]}")


def test_a_label_that_is_lacking_is_a_target():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    has, lacks = (
        explain(model, TEXTS, tokenizer=tokenizer, target=name, method="gradient")
        for name in ("threat", "not threat")
    )
    for one, other in zip(has, lacks, strict=True):
        assert one.prediction + other.prediction == pytest.approx(1)
        np.testing.assert_allclose(one.scores, -np.array(other.scores), atol=1e-6)
    with pytest.raises(InputError, match="no label 'thread': did you mean"):
        explain(model, TEXTS, tokenizer=tokenizer, target="thread")


def rows_of(labels, count=24):
    """Texts with labels, drawn once and for all."""
    random = np.random.default_rng(7)
    words = WORDS.split()
    return [
        {
            "text": " ".join(random.choice(words, random.integers(4, 9))),
            "labels": [name for name in labels if random.random() < 0.4],
        }
        for _ in range(count)
    ]


def named(finding):
    """Which finding it is, and what it says."""
    return finding.audit, finding.statistic, finding.against, finding.group, finding.n, finding.status


@pytest.mark.slow
def test_an_audit_of_one_label_is_that_of_the_classifier_of_yes_and_no(monkeypatch):
    # Draws follow from the id of an input, of which what it is asked is a part.
    monkeypatch.setattr(data_view, "input_ids", lambda *of: input_ids(*of[:5]))
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    rows = rows_of(LABELS.values())
    card = glasshead.audit(model, rows, tokenizer=tokenizer, classes=["insult"])
    binary = [{"text": row["text"], "label": "yes" if "insult" in row["labels"] else "no"} for row in rows]
    twin = yes_or_no(model, 1)
    twin.config.id2label = {0: "no", 1: "yes"}
    expected = glasshead.audit(twin, binary, tokenizer=tokenizer)
    for one, other in zip(card.findings, expected.findings, strict=True):
        assert named(one) == named(other)
        assert one.estimate == pytest.approx(other.estimate, abs=1e-6, nan_ok=True), named(one)
    assert all("insult" in shown.attribution.target for shown in card.highlights)
    assert {shown.label for shown in card.highlights} <= {"insult", "not insult"}


SECRETS = {"toxic": "dull", "insult": "bad", "threat": "plot"}
OTHERS = [word for word in WORDS.split() if word not in SECRETS.values()]


@cache
def planted():
    """A model trained so that each label is decided by a word of its own, and texts that it has not seen."""
    torch.manual_seed(0)
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(250):
        rows = planted_rows(random, 64)
        given = tokenizer([row["text"] for row in rows], padding=True, return_tensors="pt")
        wanted = torch.tensor([[float(name in row["labels"]) for name in SECRETS] for row in rows])
        optimizer.zero_grad()
        model(**given, labels=wanted).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_rows(random, 60)


def planted_rows(random, count):
    """Random words, and one for each label of a text."""
    rows = []
    for _ in range(count):
        labels = [name for name in SECRETS if random.random() < 0.4]
        words = [*random.choice(OTHERS, 6), *(SECRETS[name] for name in labels)]
        rows.append({"text": " ".join(random.permutation(words)), "labels": labels})
    return rows


def hits(method):
    """In which share of the texts that have a label its own word is the first."""
    model, tokenizer, rows = planted()
    found = []
    for name, word in SECRETS.items():
        texts = [row["text"] for row in rows if name in row["labels"]]
        for one in explain(model, texts, tokenizer=tokenizer, method=method, target=name):
            found.append(one.tokens[int(np.argmax(one.scores))] == word)
    return np.mean(found)


@pytest.mark.slow
def test_a_planted_word_decides_its_label_and_no_other():
    assert hits("erasure-delete") >= 0.95
    assert hits("random") < 0.3


def test_the_card_of_planted_words_says_that_removing_them_matters():
    model, tokenizer, rows = planted()
    card, control = (
        glasshead.audit(
            model, rows, tokenizer=tokenizer, audits=["faithfulness", "performance"], method=method, by=by
        )
        for method, by in (("erasure-delete", ["question"]), ("random", []))
    )
    assert card.finding("performance.accuracy.all").estimate > 0.9
    assert {one.group for one in card.findings} >= {f"question: {name}" for name in SECRETS}
    assert any(note.startswith("each input is about one label") for note in card.facts["notes"])
    assert {*card.examples["question"]} == {*SECRETS}
    assert any("has the label in question" in note for note in card.facts["notes"])
    good, bad = (one.finding("faithfulness.comprehensiveness.all") for one in (card, control))
    assert good.over_null["random"].interval[0] > 0
    assert bad.over_null["random"].interval[0] <= 0


def test_an_input_that_is_asked_something_else_is_another_input():
    """Of the same text, that it has a label may be true of another one: its measurement does not serve."""
    subject = glasshead.open(several_labels(), FAMILY.tokenizer())
    asked = [{"text": text, "labels": list(LABELS.values())} for text in TEXTS]
    one, other, again = (
        read_sample(
            subject, read_questions(as_dataset(asked), "all", subject.labels, LoadOptions(), asked=[name])
        ).ids
        for name in ("toxic", "threat", "toxic")
    )
    assert not {*one} & {*other}
    assert [*one] == [*again]


def test_training_data_tell_nothing_about_one_label():
    model, tokenizer, rows = planted()
    with pytest.raises(ParameterError, match="is for models with one output"):
        glasshead.audit(model, rows, tokenizer=tokenizer, train=rows)


def test_other_names_for_labels():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    subject = glasshead.open(model, tokenizer, labels={"insult": "offence"})
    assert subject.labels == ["toxic", "offence", "threat"]
    (one,) = explain(subject, TEXTS[:1], target="offence")
    assert one.target == "offence"
    # What is opened may be opened again, as model and tokenizer.
    (again,) = explain(subject.model, TEXTS[:1], tokenizer=subject.tokenizer, target=1)
    assert again.scores == pytest.approx(one.scores)


def test_a_task_may_be_named_where_the_configuration_does_not():
    model, tokenizer = FAMILY.build(3, id2label=LABELS), FAMILY.tokenizer()
    (several,) = explain(model, TEXTS[:1], tokenizer=tokenizer, task="labels", target="toxic")
    (chosen,) = explain(model, TEXTS[:1], tokenizer=tokenizer, target="toxic")
    given = tokenizer(TEXTS[:1], return_tensors="pt")
    with torch.no_grad():
        logits = model(**given).logits[0]
    assert several.prediction == pytest.approx(float(logits.sigmoid()[0]), abs=1e-6)
    assert chosen.prediction == pytest.approx(float(logits.softmax(dim=-1)[0]), abs=1e-6)
    (chosen_too,) = explain(
        several_labels(), TEXTS[:1], tokenizer=tokenizer, task="classification", target="toxic"
    )
    assert chosen_too.prediction == pytest.approx(chosen.prediction, abs=1e-6)


@pytest.mark.slow
def test_what_is_opened_may_be_asked_otherwise():
    """A task that is named holds for a subject, and for its model that is opened again."""
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    given = tokenizer(TEXTS[:1], return_tensors="pt")
    with torch.no_grad():
        logits = model(**given).logits[0]
    wanted = {"labels": float(logits.sigmoid()[0]), "classification": float(logits.softmax(dim=-1)[0])}
    for first in wanted:
        subject = glasshead.open(model, tokenizer, task=first)
        for task, probability in {**wanted, None: wanted[first]}.items():
            for source, reader in ((subject, None), (subject.model, subject.tokenizer)):
                (one,) = explain(source, TEXTS[:1], tokenizer=reader, target="toxic", task=task)
                assert one.prediction == pytest.approx(probability, abs=1e-6), (first, task)
    with pytest.raises(InputError, match="has one output, a rating"):
        explain(FAMILY.build(1), TEXTS, tokenizer=tokenizer, task="classification")


def test_names_stay_with_their_labels_when_a_model_is_opened_again():
    subject = glasshead.open(
        several_labels(), FAMILY.tokenizer(), labels={"toxic": "threat", "threat": "toxic"}
    )
    for source, reader in ((subject, None), (subject.model, subject.tokenizer)):
        (one,) = explain(source, TEXTS[:1], tokenizer=reader, target="toxic")
        (other,) = explain(several_labels(), TEXTS[:1], tokenizer=FAMILY.tokenizer(), target="threat")
        assert one.prediction == pytest.approx(other.prediction, abs=1e-6)


def test_a_number_is_a_number_and_a_name_a_name():
    model = FAMILY.build(3, problem_type=MULTI_LABEL, id2label={0: "2", 1: "1", 2: "0"})
    for target, label in ((0, "2"), ("0", "0"), (2, "0"), ("2", "2")):
        (one,) = explain(model, TEXTS[:1], tokenizer=FAMILY.tokenizer(), target=target)
        assert one.target == label


@pytest.mark.slow
def test_heads_are_measured_on_the_label_that_is_named():
    model, tokenizer, rows = planted()
    one, other = (
        glasshead.heads(model, rows[:8], tokenizer=tokenizer, classes=[name] if name else None)
        for name in ("threat", None)
    )
    assert "Effects are measured on the label 'threat'." in one.remarks
    assert any("most likely" in remark for remark in other.remarks)
    assert not any("no labels" in remark for remark in (*one.remarks, *other.remarks))
    with pytest.raises(InputError, match="names one label here"):
        glasshead.heads(model, rows[:8], tokenizer=tokenizer, classes=["threat", "toxic"])


def test_what_cannot_be_asked_is_refused():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    for task, says in (("label", "unknown task 'label': did you mean 'labels'"), ("regression", "no rating")):
        with pytest.raises(InputError, match=says):
            explain(model, TEXTS, tokenizer=tokenizer, task=task)


def test_models_without_labels_are_not_asked_about_any():
    writer = FAMILIES["GPT2"]
    ours = small(vocab_size=len(FAMILY.tokenizer()), pad_token_id=0)
    for model, tokenizer in ((writer.language_model(), writer.tokenizer()), (ours, FAMILY.tokenizer())):
        with pytest.raises(InputError, match="has no separate labels"):
            explain(model, TEXTS, tokenizer=tokenizer, task="labels")


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_is_asked_about_its_labels(name):
    family = FAMILIES[name]
    model, tokenizer = family.build(3, problem_type=MULTI_LABEL), family.tokenizer()
    subject = glasshead.open(model, tokenizer)
    for one in explain(subject, TEXTS, target=2, method="erasure-delete"):
        given = tokenizer(one.text, return_tensors="pt")
        with torch.no_grad():
            expected = model.eval()(given["input_ids"]).logits[0, 2].sigmoid()
        assert one.prediction == pytest.approx(float(expected), abs=1e-4)


@pytest.mark.slow
def test_heads_and_rankings_of_labels():
    model, tokenizer, rows = planted()
    report = glasshead.heads(model, rows[:8], tokenizer=tokenizer)
    assert len(report.heads) == 4
    ranking = glasshead.rank(model, rows[:8], tokenizer=tokenizer, methods=["erasure-delete", "random"])
    assert [one.name for one in ranking.methods]


def test_images_of_several_labels_are_audited():
    model = copy.deepcopy(image_model())  # which other tests read, too
    model.config.problem_type = MULTI_LABEL
    pictures = image_rows(6).remove_columns("label")
    asked = pictures.add_column("labels", [["cat"], [], ["dog", "ship"], ["ship"], ["cat"], []])
    card = glasshead.audit(model, asked, tokenizer=processor(), audits=["performance", "agreement"])
    assert card.finding("performance.accuracy.all").n == 6
    assert {shown.label.removeprefix("not ") for shown in card.highlights} <= {"cat", "dog", "ship"}
