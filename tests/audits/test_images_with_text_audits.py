"""Tables of images, questions and answers: a model of both is audited."""

import numpy as np
import pytest

import glasshead
from glasshead.audits.head_report.conclusion import image_sentences
from glasshead.audits.head_report.row_statistics import spatial_entropy
from glasshead.audits.head_report.verdicts import GATHERED
from glasshead.data.texts_with_images import share_edges
from glasshead.errors import InputError
from glasshead.results import Finding, HeadSummary, PairedDifference
from image_text_families import FAMILIES, build, own_pass, photo
from typed import glasshead as typed
from typed import refusal

pytestmark = pytest.mark.usefixtures("quiet")
QUESTIONS = ("what is the cat doing ?", "is the dog at left ?", "what is at top ?")
ANSWERS = ("sleeping", "yes", "the cat", "no dog")
QUICK = ("llava", "gemma3")
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]


def table(count=4):
    """Images of two sizes, each with a question and an answer of one or two tokens."""
    return [
        {
            "image": photo(*((96, 64) if row % 2 else (64, 64)), seed=row),
            "question": QUESTIONS[row % len(QUESTIONS)],
            "answer": ANSWERS[row % len(ANSWERS)],
        }
        for row in range(count)
    ]


def audited(rows, name="llava", audits=("agreement", "faithfulness"), **options):
    model, processor = build(name)
    return glasshead.audit(model, rows, tokenizer=processor, audits=list(audits), draws=2, **options)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_is_the_log_probability_of_each_answer(name):
    rows = [
        {"image": photo(), "question": question, "answer": answer}
        for question, answer in zip(QUESTIONS, ANSWERS, strict=False)
    ]
    card = audited(rows, name, ["agreement"])
    for row, own in zip(rows, card.examples["predicted"], strict=True):
        output, _, ids = own_pass(name, row["question"], f" {row['answer']}")
        log_p = output.logits[0, -len(ids) - 1 : -1].double().log_softmax(-1)
        assert own == pytest.approx(float(log_p[range(len(ids)), ids].sum()), abs=1e-3)
    shown = [text.split() for text in card.examples["text"]]  # PaliGemma has a new line between both
    assert shown == [[*row["question"].split(), *row["answer"].split()] for row in rows]
    assert card.facts["task"] == "answer"


@pytest.mark.slow
def test_a_row_is_the_same_alone():
    """Whatever images are beside it: also its random numbers, which follow from its image."""
    rows = table()
    together = audited(rows)
    for place, row in enumerate(rows):
        others = [{**one, "image": photo(48, 48, 9)} for one in rows]  # the same questions, another photo
        alone = audited([*others[:place], row, *others[place + 1 :]])
        assert alone.examples["id"][place] == together.examples["id"][place]
        for name, values in together.examples.items():
            if name.startswith(("agreement", "faithfulness")) and np.ndim(values[place]) == 0:
                np.testing.assert_allclose(alone.examples[name][place], values[place], atol=1e-4)


@pytest.mark.slow
def test_an_image_is_part_of_what_a_row_is():
    row = table(1)[0]
    ids = [audited([{**row, "image": photo(64, 64, seed)}]).examples["id"][0] for seed in (0, 1)]
    assert ids[0] != ids[1]


@pytest.mark.slow
def test_all_usual_audits_and_methods_are_asked_or_refused_in_a_sentence():
    card = audited(table(), audits=["agreement", "perturbation", "faithfulness", "identifiability"])
    assert {finding.audit for finding in card.findings} == {
        "agreement", "perturbation", "faithfulness", "identifiability",
    }  # fmt: skip
    assert card.highlights[0].attribution.boxes is not None
    for method in ("gradient", "erasure-mean-embedding", "rollout"):
        assert audited(table(2), method=method, audits=["faithfulness"]).findings
    with pytest.raises(InputError, match="erasure-mean-embedding"):
        audited(table(2), method="erasure-delete", audits=["faithfulness"])


def test_tables_that_a_model_cannot_be_asked_about_are_refused():
    rows = table(2)
    with pytest.raises(InputError, match="remove its column"):
        audited([{**row, "prompt": row["question"], "rejected": "no two"} for row in rows])
    with pytest.raises(InputError, match="row 2"):
        audited([rows[0], {**rows[1], "image": None}])
    with pytest.raises(InputError, match="needs an image with each text"):
        audited([{"question": row["question"], "answer": row["answer"]} for row in rows], "paligemma")
    model, processor = build("llava")
    with pytest.raises(InputError, match="reads only texts"):
        glasshead.audit(model, rows, tokenizer=processor.tokenizer)


@pytest.mark.slow
def test_images_are_named_in_a_table_from_its_folder(tmp_path):
    model, processor = build("llava")
    folder, data = tmp_path / "llava", tmp_path / "data"
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    data.mkdir()
    lines = ["image,question,answer"]
    for number, row in enumerate(table(3)):
        row["image"].save(data / f"{number}.png")
        lines.append(f"{number}.png,{row['question']},{row['answer']}")
    (data / "table.csv").write_text("\n".join(lines))
    out = tmp_path / "audit"
    asked = ("audit", folder, data / "table.csv", "--audits", "agreement", "--out", out)
    assert "log-probability that the model gives it" in " ".join(typed(*asked).stdout.split())
    assert (out / "report.html").read_text().count("data:image/png") >= 2
    (data / "table.csv").write_text("\n".join([*lines, "9.png,what is the cat ?,no"]))
    assert "row 4" in refusal(folder, "audit", folder, data / "table.csv", "--out", tmp_path / "other")


@pytest.mark.slow
def test_the_share_of_a_head_on_the_image_is_that_of_the_model_itself():
    model, processor = build("llava")
    row = {"image": photo(), "question": QUESTIONS[0], "answer": "yes no"}
    report = glasshead.heads(model, [row], tokenizer=processor)
    output, _, ids = own_pass("llava", row["question"], f" {row['answer']}")
    parts = 16
    for head in report.heads:
        weights = output.attentions[head.layer][0, head.head].double()
        of_words = weights[parts:, :parts].sum(-1)
        of_answer = weights[-len(ids) - 1 : -1, :parts].sum(-1)
        assert head.finding("image").estimate == pytest.approx(float(of_words.mean()), abs=1e-4)
        assert head.finding("image-answer").estimate == pytest.approx(float(of_answer.mean()), abs=1e-4)
        assert not [one for one in head.findings if one.against in ("yes", "no", "special tokens")]
        copies = head.finding("same-token")
        assert copies is None or copies.estimate == 0  # image tokens have one id, and are not one token


def head(number, over_uniform, spread="not distinguishable from heads with random weights"):
    """A head of the first layer: what it gives the image over uniform attention, and how far that spreads."""

    def finding(statistic, verdict, **over):
        return Finding(
            "heads", statistic, "", "all", 0.5, 0.1, (0.4, 0.6), {}, 30, {}, None, "–", verdict,
            status="evidence", over_null=over,
        )  # fmt: skip

    share = finding("image-answer", "", uniform=PairedDifference(0.2, over_uniform, 30))
    return HeadSummary(0, number, [share, finding("image-spread", spread)], "", ())


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        (
            [head(0, (-0.5, 0.5))],
            "no head is shown to look at the image more than uniform attention does.",
        ),
        (
            [head(0, (0.1, 0.3)), head(1, (0.1, 0.3), GATHERED), head(2, (-0.5, 0.5), GATHERED)],
            "heads 0-0, 0-1 look at the image more than uniform attention does; head 0-1 looks at fewer "
            "places than heads with random weights do.",
        ),
        (
            [head(0, (0.1, 0.3)), head(1, (0.1, 0.3))],
            "heads 0-0, 0-1 look at the image more than uniform attention does; none of them is shown to "
            "look at fewer places than heads with random weights do.",
        ),
        (
            [head(0, (0.1, 0.3))],
            "head 0-0 looks at the image more than uniform attention does; it is not shown to look at fewer "
            "places than heads with random weights do.",
        ),
    ],
)
def test_what_heads_look_at_is_said_in_whole_sentences_and_no_more_than_is_shown(heads, says):
    assert [*image_sentences(heads)] == [f"When the answer is predicted, {says}"]


def test_spatial_entropy_counts_pieces():
    boxes = np.array([(4 * (n % 4), 4 * (n // 4), 4 * (n % 4) + 4, 4 * (n // 4) + 4) for n in range(16)])
    adjacent = share_edges(boxes)
    assert adjacent.sum() == 2 * 24  # edges within a grid of 4 × 4
    own = np.zeros(16)
    own[[0, 1, 4, 5]] = 1
    assert spatial_entropy(own, adjacent) == 0
    own[15] = 1
    assert spatial_entropy(own, adjacent) == pytest.approx(-(0.8 * np.log(0.8) + 0.2 * np.log(0.2)))
    assert spatial_entropy(np.ones(16), adjacent) == pytest.approx(np.log(16))


@pytest.mark.slow
def test_methods_are_ranked_on_images_with_questions():
    model, processor = build("llava")
    ranking = glasshead.rank(model, table(5), ["gradient", "random"], tokenizer=processor)
    assert {method.name for method in ranking.methods} == {"gradient", "random"}
    assert ranking.examples["text"][0] == f"{QUESTIONS[0]} {ANSWERS[0]}"
