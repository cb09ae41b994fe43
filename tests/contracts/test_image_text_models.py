"""What holds for a model of images and texts of any family of Transformers: the page says what it can do."""

import pytest
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

import glasshead
from family_table import YES, page, read
from image_text_families import RARER, build, own_pass, photo
from image_text_table import HEAD, PAGE, QUESTION, TAIL, families, row_of

pytestmark = pytest.mark.usefixtures("quiet")
TABLE = read(PAGE.read_text(encoding="utf-8"))
READ = [kind for kind, row in TABLE.items() if row["attention"] == YES]
QUICK = ("llava", "ernie4_5_vl_moe", "mllama", "llama4")


def of_families(kinds, *quick):
    """Some families; all but some are slow."""
    rows = [pytest.param(kind, marks=() if kind in quick else pytest.mark.slow) for kind in kinds]
    return lambda test: pytest.mark.grid(10)(pytest.mark.parametrize("kind", rows)(test))


def test_the_page_has_every_family_and_most_that_are_tried_can_do_something():
    assert list(TABLE) == list(MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES) == list(families())
    assert page(TABLE, HEAD, TAIL) == PAGE.read_text(encoding="utf-8"), "run `make families`"
    tried = {kind for kind, reason in families().items() if reason is None}
    assert set(READ) < tried
    assert len(READ) > 0.7 * len(tried)
    assert {"llava", "qwen2_vl", "qwen3_5", "gemma3", "gemma4", "idefics3", "internvl", "paligemma"} < set(
        READ
    )
    assert not {"mllama", "florence2", "idefics", "pix2struct"} & set(READ)


@of_families(TABLE, *QUICK)
def test_the_page_says_what_the_family_can_do(kind):
    assert row_of(kind) == TABLE[kind]


@of_families([kind for kind in READ if kind in RARER.keys() - {"blip-2"}], "exaone4_5")  # BLIP-2 apart
def test_probability_and_attention_are_those_of_the_model_itself(kind):
    model, processor = build(kind)
    row = [{"image": photo(), "text": QUESTION}]
    (own,) = glasshead.explain(model, row, tokenizer=processor, answer=" sleeping", unit="token")
    output, inputs, ids = own_pass(kind, QUESTION, " sleeping")
    assert list(own.ids) == inputs["input_ids"][0].tolist()
    place = -len(ids) - 1
    log_p = output.logits[0, place].log_softmax(-1)[ids[0]]
    assert own.prediction == pytest.approx(float(log_p.exp()), rel=1e-4)
    expected = [weights for weights in output.attentions if weights is not None][-1][0].mean(dim=0)[place]
    assert own.scores == pytest.approx(expected.tolist(), abs=1e-6)
