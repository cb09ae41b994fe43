"""Image tokens and words of the same texts, audited apart."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

import glasshead
from glasshead.audits import judge
from glasshead.audits.comparing.slice_tests import slice_tests
from glasshead.errors import InputError
from glasshead.results import AuditCard
from image_text_families import build, photo
from typed import glasshead as typed

pytestmark = pytest.mark.usefixtures("quiet")
QUESTIONS = ("what is the cat doing ?", "is the dog at left ?", "what is at top ?")
ANSWERS = ("sleeping", "yes", "the cat", "no dog")
PARTS = 16


class Alike(torch.nn.Module):
    """A projector whose image tokens are nearly the same."""

    def __init__(self, projector):
        super().__init__()
        self.projector = projector

    def forward(self, *args, **kwargs):
        vectors = self.projector(*args, **kwargs)
        return vectors[..., :1, :] + 1e-3 * vectors


def rows(count=24):
    return [
        {"image": photo(seed=n), "question": QUESTIONS[n % 3], "answer": ANSWERS[n % 4]} for n in range(count)
    ]


def audited(model, processor, audits, count=24, **options):
    return glasshead.audit(model, rows(count), tokenizer=processor, audits=audits, by=["unit"], **options)


@pytest.fixture(scope="module")
def alike():
    model, processor = build("llava")
    model = copy.deepcopy(model)
    model.model.multi_modal_projector = Alike(model.model.multi_modal_projector)
    return model, processor, audited(model, processor, ["agreement", "perturbation"], draws=5)


def test_weights_on_parts_that_say_the_same_may_be_shuffled_and_those_of_words_may_not(alike):
    _, _, card = alike
    image, words, whole = (
        card.finding(f"perturbation.permutation.absolute.{group}")
        for group in ("image tokens", "words", "all")
    )
    assert image.n == words.n == whole.n == 24
    assert image.interval[1] < words.interval[0]
    assert "hardly" in image.verdict or "negligible" in image.verdict
    assert image.by == words.by == "unit"
    assert image.level == pytest.approx(0.975)


def test_only_numbers_that_ignore_how_many_units_there_are_are_tested_and_notes_say_so(alike):
    _, _, card = alike
    pairs = ("gradient", "erasure-zero-weight", "erasure-renormalise")
    assert {one.finding for one in card.slice_tests} == {
        f"agreement.attention{absolute}.{against}.all" for absolute in ("", "-absolute") for against in pairs
    }
    assert any("corrected for all 2 slices" in note for note in card.facts["notes"])
    assert any("A paired test" in note for note in card.facts["notes"])
    assert not any("permutation test" in note for note in card.facts["notes"])
    assert card.facts["slices"] == {"unit": {"image tokens": 24, "words": 24}}


def test_other_cuts_count_both_kinds_and_keep_their_p(alike):
    model, processor, _ = alike
    halves = [
        row | {"question": QUESTIONS[number % 2] * (1 + number % 2), "answer": "yes"}
        for number, row in enumerate(rows(44))
    ]
    one, both = (
        glasshead.audit(model, halves, tokenizer=processor, audits=["agreement"], by=by)
        for by in (["length"], ["unit", "length"])
    )
    levels = {finding.level for finding in both.findings if finding.by}
    assert levels == {both.facts["slice_level"]}
    assert both.facts["slice_level"] == pytest.approx(1 - 0.05 / 4)
    assert any("corrected for all 4 slices" in note for note in both.facts["notes"])
    p = [{test.finding: test.p for test in card.slice_tests if test.by == "length"} for card in (one, both)]
    assert p[0] == p[1]
    assert any(value is not None for value in p[0].values())


def test_agreement_is_that_of_the_tokens_of_one_kind(alike):
    model, processor, card = alike
    prompts = [{"image": row["image"], "text": row["question"]} for row in rows(3)]
    for number, prompt in enumerate(prompts):
        weights, erased = (
            glasshead.explain(
                model, [prompt], tokenizer=processor, method=method, answer=f" {ANSWERS[number]}"
            )[0]
            for method in ("attention", "erasure")
        )
        for name, part in (("image-tokens", slice(PARTS)), ("words", slice(PARTS, None))):
            column = card.examples[f"{name}.tau.attention.erasure-zero-weight"]
            expected = kendalltau(weights.scores[part], erased.scores[part]).statistic
            assert column[number] == pytest.approx(expected, abs=0.05)


def test_pages_and_comparisons_have_both_kinds(alike, tmp_path):
    _, _, card = alike
    card.save(tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text()
    assert "By unit" in page
    again = replace(card, facts=card.facts | {"name": "again"})
    paired = [one for one in glasshead.compare(card, again).differences if one.name.endswith("image tokens")]
    assert paired
    assert all(one.estimate in (0.0, None) for one in paired)


def test_both_kinds_are_judged_again_where_they_were_measured(tmp_path):
    (tmp_path / "images").mkdir()
    lines = ["image,question,answer"]
    for number, row in enumerate(rows(4)):
        row["image"].save(tmp_path / "images" / f"{number}.png")
        lines.append(f"images/{number}.png,{row['question']},{row['answer']}")
    (tmp_path / "table.csv").write_text("\n".join(lines))
    model, processor = build("llava")
    model.save_pretrained(tmp_path / "llava")
    processor.save_pretrained(tmp_path / "llava")
    for by in ([], ["--by", "unit"]):
        out = tmp_path / f"audit{len(by)}"
        asked = ("audit", tmp_path / "llava", tmp_path / "table.csv", "--audits", "faithfulness", *by)
        typed(*asked, "--out", out)
    first = AuditCard.load(out)
    assert {one.group for one in first.findings} == {"all", "image tokens", "words"}
    assert [one.estimate for one in judge(out, by=["unit"]).findings] == [
        one.estimate for one in first.findings
    ]
    assert {one.group for one in judge(out).findings} == {"all"}
    with pytest.raises(InputError, match="unit was not measured"):
        judge(tmp_path / "audit0", by=["unit"])


def test_texts_without_images_have_one_kind():
    model, processor = build("llava")
    texts = [{"question": row["question"], "answer": row["answer"]} for row in rows(3)]
    with pytest.raises(InputError, match="no image is read with these texts"):
        glasshead.audit(model, texts, tokenizer=processor, audits=["agreement"], by=["unit"])


def test_curves_remove_tokens_of_one_kind_alone():
    card = audited(*build("llava"), ["faithfulness"], 6)
    curves = {name: np.array(card.examples[f"{name}faithfulness.deletion.curve"]) for name in
              ("", "image-tokens.", "words.")}  # fmt: skip
    np.testing.assert_allclose(curves["image-tokens."][:, 0], curves[""][:, 0], atol=1e-9)
    assert not np.allclose(curves["image-tokens."][:, -1], curves["words."][:, -1])


def differing(card, drawn, seed):
    """The verdict on other numbers for one finding."""
    name = "agreement.attention-absolute.gradient"
    whole = [one for one in card.findings if one.quantity == name]
    assert set(drawn) <= set(card.examples)
    (test,) = slice_tests(replace(card, examples={**card.examples, **drawn}, findings=whole), [], seed)
    return test.differs


def drawn_taus(rng, strength):
    """τ of numbers that are related as strongly in 16 image tokens as in 4 words, and of random ones."""
    columns = {}
    for part, units, own in (("image-tokens.", 16, strength[0]), ("words.", 4, strength[1])):
        for null, force in (("", own), (".null.random", 0.0)):
            pairs = rng.normal(size=(2, 24, units))
            pairs[1] += force * pairs[0]
            column = f"{part}tau.attention-absolute.gradient{null}"
            columns[column] = [kendalltau(*pair).statistic for pair in pairs.swapaxes(0, 1)]
    return columns


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_kinds_that_behave_alike_seldom_differ_however_many_units_they_have(alike, strength):
    rng = np.random.default_rng(0)
    draws = [drawn_taus(rng, (strength, strength)) for _ in range(60)]
    assert sum(differing(alike[-1], drawn, seed) for seed, drawn in enumerate(draws)) <= 7


def test_kinds_that_behave_in_other_ways_differ(alike):
    rng = np.random.default_rng(0)
    assert all(differing(alike[-1], drawn_taus(rng, (2.0, 0.0)), seed) for seed in range(10))
