"""Tables whose rows have several images, not the same number in each."""

import copy
import json

import numpy as np
import pytest
from datasets import Dataset, Features, Image, List, Value

import glasshead
from glasshead.data import Picture
from glasshead.data.given_answers import GivenAnswer, with_others
from image_text_families import FAMILIES, build, own_pass, photo
from planted_sink import with_image_sink
from typed import refusal

pytestmark = pytest.mark.usefixtures("quiet")
QUESTIONS = ("what is the cat doing ?", "is the dog at left ?", "what is at top ?")
ANSWERS = ("sleeping", "yes", "the cat", "no dog")
ALL = ("faithfulness", "agreement", "perturbation", "image-map", "image-sinks")
QUICK = ("llava",)
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]


def photos(*seeds):
    """Photos of several sizes."""
    return [photo(*((96, 64) if seed % 2 else (64, 64)), seed=seed) for seed in seeds]


def table(name="llava", seeds=((0, 1), (2,), (3, 4, 5), (6, 7))):
    """Two images, one, three, and two; words are between them, which some models need."""
    mark = build(name)[1].image_token
    return [
        {"images": photos(*own), "question": f"{mark} dog : " * len(own) + question, "answer": answer}
        for own, question, answer in zip(seeds, (*QUESTIONS, QUESTIONS[1]), ANSWERS, strict=True)
    ]


def audited(rows, name="llava", audits=("agreement", "faithfulness"), **options):
    model, processor = build(name)
    return glasshead.audit(model, rows, tokenizer=processor, audits=list(audits), draws=2, **options)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_is_the_log_probability_of_each_answer(name):
    rows = table(name)
    card = audited(rows, name, ["agreement"])
    for row, own in zip(rows, card.examples["predicted"], strict=True):
        output, _, ids = own_pass(name, row["question"], f" {row['answer']}", row["images"])
        log_p = output.logits[0, -len(ids) - 1 : -1].double().log_softmax(-1)
        assert own == pytest.approx(float(log_p[range(len(ids)), ids].sum()), abs=1e-3)


@pytest.fixture(scope="module")
def whole():
    return audited(table(), audits=ALL, by=["unit"])


def test_a_row_is_the_same_whatever_is_around_it(whole):
    """Also its random numbers. The rows of two images have each other's question, which belongs to them."""
    rows, others = table(), table(seeds=((8, 9), (9, 8, 7, 6), (8, 7, 9, 8, 9), (9, 8)))
    for place, row in enumerate(rows):
        card = audited([*others[:place], row, *others[place + 1 :]], audits=ALL, by=["unit"])
        numbers = {
            name: [one.examples[name][place] for one in (card, whole)]
            for name, values in whole.examples.items()
            if (isinstance(values[place], float | list) or name == "id")
            and not (name.startswith(("image-tokens", "words")) and "uniform" in name)
        }  # uniform weights of one kind of units have the mean sum that all rows have on it
        assert len(numbers) > 100
        for name, (own, known) in numbers.items():
            np.testing.assert_allclose(own, known, atol=1e-4, err_msg=name)


def test_all_audits_have_numbers_of_every_row(whole):
    assert {finding.audit for finding in whole.findings} >= set(ALL)
    assert {finding.group for finding in whole.findings} >= {"all", "image tokens", "words"}
    assert whole.finding("image-map.fall.centre.all").n == 4
    other = whole.finding("image-map.fall.other-question.all")
    assert (other.n, other.undefined) == (2, {"no row with as many images has another question": 2})
    assert whole.finding("image-map.fall-pixels.all").n == 4
    assert [one.attribution.images for one in whole.highlights]
    assert any(len(one.attribution.images) == 3 for one in whole.highlights)


def test_the_explanation_of_a_row_is_that_of_its_text_with_images(whole):
    row = table()[2]
    shown = next(one.attribution for one in whole.highlights if len(one.attribution.images) == 3)
    model, processor = build("llava")
    question = {"images": row["images"], "text": row["question"]}
    own = glasshead.explain(model, [question], tokenizer=processor, answer=f" {row['answer']}")[0]
    assert shown.tokens == own.tokens
    assert shown.image_numbers == own.image_numbers
    assert shown.image_numbers.count(3) == 16
    assert shown.scores == pytest.approx(own.scores, abs=1e-5)


def test_a_row_is_known_by_all_of_its_images_and_their_order():
    row = {"question": "<image> dog : <image> what ?", "answer": "no"}
    ids = [
        audited([row | {"images": images}], audits=["faithfulness"]).examples["id"][0]
        for images in (photos(0, 2), photos(2, 0), photos(0, 4), photos(0, 2))
    ]
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


def test_another_question_is_about_the_same_images_or_else_about_as_many():
    def row(prompt, *images):
        return GivenAnswer(prompt, "no", images=tuple(Picture("a.png", image) for image in images))

    rows = [row("what", b"A", b"B"), row("who", b"A"), row("where", b"B", b"A"), row("when", b"A", b"B")]
    assert [one.other for one in with_others(rows)] == ["when", None, "when", "what"]
    assert [one.other for one in with_others(rows[:3])] == ["where", None, "what"]


def test_a_file_a_folder_and_memory_give_the_same_numbers(tmp_path, monkeypatch):
    rows, names = table(), []
    for number, row in enumerate(rows):
        names.append([f"images/{number}-{at}.png" for at in range(len(row["images"]))])
        for name, image in zip(names[-1], row["images"], strict=True):
            (tmp_path / "images").mkdir(exist_ok=True)
            image.save(tmp_path / name)
    named = [{"images": own, "text": row["question"], "answer": row["answer"]}
             for own, row in zip(names, rows, strict=True)]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, named)))
    columns = [[json.dumps(row["images"]).replace('"', '""'), row["text"], row["answer"]] for row in named]
    cells = ["images,question,answer", *(f'"{images}",{text},{answer}' for images, text, answer in columns)]
    (tmp_path / "rows.csv").write_text("\n".join(cells))
    monkeypatch.chdir(tmp_path)
    kinds = Features({"images": List(Image()), "text": Value("string"), "answer": Value("string")})
    held = Dataset.from_list(named, features=kinds)
    held.save_to_disk(tmp_path / "saved")
    monkeypatch.chdir("/")
    expected = audited(rows, audits=["agreement"]).examples
    for source in (tmp_path / "rows.jsonl", tmp_path / "rows.csv", tmp_path / "saved"):
        card = audited(str(source), audits=["agreement"])
        assert card.examples["predicted"] == pytest.approx(expected["predicted"], abs=1e-6)


def test_a_sink_is_sought_in_all_images_of_a_row():
    model, processor = build("llava")
    sunk = with_image_sink(copy.deepcopy(model), 5)  # in each image
    rows = [row | {"images": photos(2 * n, 2 * n + 1)} for n, row in enumerate([table()[0]] * 4)]
    card = glasshead.audit(sunk, rows, tokenizer=processor, audits=["image-sinks"])
    for row, share in zip(rows, card.examples["image-sinks.share"], strict=True):
        question = {"images": row["images"], "text": row["question"]}
        (own,) = glasshead.explain(sunk, [question], tokenizer=processor, answer=f" {row['answer']}")
        sinks = {own.tokens[place] for place in own.image_sinks}
        assert sinks
        assert sinks <= {f"image {number}, row 2, column 2" for number in (1, 2)}
        on_images = sum(own.scores[at] for at, number in enumerate(own.image_numbers) if number)
        assert share == pytest.approx(sum(own.scores[at] for at in own.image_sinks) / on_images, abs=1e-4)
        assert share > 0.2


def test_heads_and_rank_read_such_tables():
    model, processor = build("llava")
    rows = table()
    report = glasshead.heads(model, rows, tokenizer=processor)
    shares = []
    for row in rows:
        output, inputs, ids = own_pass("llava", row["question"], f" {row['answer']}", row["images"])
        parts = (inputs["input_ids"][0] == model.config.image_token_id).numpy()
        weights = output.attentions[1][0, 0].double().detach().numpy()
        shares.append(weights[-len(ids) - 1 : -1][:, np.flatnonzero(parts)].sum(-1).mean())
    head = next(one for one in report.heads if (one.layer, one.head) == (1, 0))
    assert head.finding("image-answer").estimate == pytest.approx(np.mean(shares), abs=1e-4)
    ranking = glasshead.rank(model, rows, ["gradient", "random"], tokenizer=processor)
    assert {method.name for method in ranking.methods} == {"gradient", "random"}
    assert [text.count("[image") for text in ranking.examples["text"]] in ([2, 1, 3, 2], [2, 0, 3, 2])


def test_rows_that_cannot_be_read_are_named(tmp_path):
    model, processor = build("llava")
    model.save_pretrained(tmp_path / "llava")
    processor.save_pretrained(tmp_path / "llava")
    photo().save(tmp_path / "a.png")
    good = {"images": ["a.png", "a.png"], "question": "what ?", "answer": "no"}
    file = tmp_path / "rows.jsonl"

    def said(*rows):
        file.write_text("\n".join(map(json.dumps, rows)))
        return refusal(tmp_path, "audit", tmp_path / "llava", file, "--out", tmp_path / "out")

    assert "row 2: 'b.png' is not a file" in said(good, good | {"images": ["a.png", "b.png"]})
    assert "row 2 has no image in the column 'images'" in said(good, good | {"images": []})
    assert "row 2 has no image in the column 'images'" in said(good, {"question": "what ?", "answer": "no"})
    assert "columns 'image' and 'images'" in said(good | {"image": "a.png"})
    assert "images, but no answers" in said({"images": ["a.png"], "text": "what ?"})
    assert "write several images as" in said(good | {"images": "['a.png', 'a.png']"})
    assert "2 times for 1 image" in said(good | {"images": ["a.png"], "question": "<image> <image> what ?"})
