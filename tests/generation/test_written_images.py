"""What a model of images and texts writes about a photo, and what each token was written from."""

import pytest
import torch
from transformers import GenerationConfig

import glasshead
from glasshead.errors import InputError
from image_text_families import FAMILIES, build, own_pass, photo

pytestmark = pytest.mark.usefixtures("quiet")
QUESTION = "what is the cat doing ?"
QUICK = ("llava", "gemma3")
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]
ANSWER = "yes no two"


def written(name="llava", text=QUESTION, tokens=3, **options):
    model, processor = build(name)
    allowed = set(processor.tokenizer(ANSWER, add_special_tokens=False)["input_ids"])
    every = set(range(model.config.get_text_config().vocab_size))
    strategy = GenerationConfig(suppress_tokens=sorted(every - allowed))  # no token of an image
    prompt = {"image": photo(), "text": text}
    options = {"strategy": strategy, "tokens": tokens} | options
    return glasshead.generate(model, prompt, tokenizer=processor, **options)


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_and_attention_are_those_of_the_model_itself(name):
    own = written(name)
    answer = list(own.ids[own.start :])
    output, inputs, _ = own_pass(name, QUESTION, answer)
    assert list(own.ids) == inputs["input_ids"][0].tolist()
    rows = slice(own.start - 1, len(own.ids) - 1)
    log_p = output.logits[0, rows].log_softmax(-1)[range(len(answer)), answer]
    assert [one.log_probability for one in own.answer_tokens] == pytest.approx(log_p.tolist(), abs=1e-4)
    weights = output.attentions[-1][0].mean(dim=0)[rows]
    for row, expected in zip(own.explain("attention").map.scores, weights, strict=True):
        assert row == pytest.approx(expected[: len(row)].tolist(), abs=1e-5)


def test_greedy_text_is_what_transformers_writes():
    model, processor = build("llava")
    inputs = processor(images=[photo()], text=[f"<image>{QUESTION}"], return_tensors="pt")
    config = GenerationConfig(max_new_tokens=3, pad_token_id=0)
    with torch.no_grad():
        ids = model.generate(**inputs, generation_config=config)[0].tolist()
    own = written(strategy="greedy")
    assert list(own.ids) == ids
    assert not own.notes


def test_image_tokens_have_places_in_the_image_and_none_in_the_text():
    own = written()
    assert own.text == f"{QUESTION}{own.answer}"
    assert own.tokens[:17] == (*(f"row {1 + n // 4}, column {1 + n % 4}" for n in range(16)), "what")
    assert own.words[:17] == tuple(range(17))
    assert own.boxes[0] == (16, 0, 32, 16)  # the processor cuts the photo at both sides
    assert own.boxes[16:] == (None,) * (len(own.ids) - 16)
    assert own.images[0].startswith("data:image/png;base64,")
    row = own.explain("attention").row(1)
    assert row.has_words
    assert len(row.boxes) == len(row.scores)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["gradient", "erasure-mean-embedding"])
def test_a_token_is_written_from_what_explain_says_of_the_next_token(name, method):
    """The other way to the same numbers: the prompt alone, and its next token as the class."""
    model, processor = build(name)
    own = written(name)
    rows = own.explain(method).map.scores
    (one,) = glasshead.explain(
        model, [{"image": photo(), "text": QUESTION}], tokenizer=processor, method=method, unit="token",
        target=f"{own.tokens[own.start].strip()}", target_fn="log-probability",
    )  # fmt: skip
    for place, word in enumerate(one.words):
        if word >= 0:  # special tokens are not erased there
            assert rows[0][place] == pytest.approx(one.scores[place], abs=1e-3, rel=1e-3)


def test_hiding_a_token_is_without_effect_where_nothing_reads_it():
    """Layers of attention are all that bring a token to another: hidden from all, no other token has it."""
    hidden = written().explain("erasure-all-layers").matrix
    erased = written().explain("erasure-mean-embedding").matrix
    assert abs(hidden[:, :16]).max() > 1e-3
    assert hidden.shape == erased.shape


def test_a_chat_with_an_image_and_several_prompts_are_written_one_by_one():
    model, processor = build("llava")
    prompts = [{"image": photo(seed=seed), "text": QUESTION} for seed in (0, 1)]
    together = glasshead.generate(model, prompts, tokenizer=processor, tokens=2, strategy="greedy")
    alone = glasshead.generate(model, prompts[1], tokenizer=processor, tokens=2, strategy="greedy")
    assert together[1].log_probability == pytest.approx(alone.log_probability, abs=1e-5)
    assert together[0].log_probability != pytest.approx(alone.log_probability, abs=1e-5)
    mixed = glasshead.generate(model, QUESTION, tokenizer=processor, tokens=2, strategy="greedy")
    assert mixed.images == ()


def test_what_has_no_meaning_for_image_tokens_is_refused():
    own = written()
    with pytest.raises(InputError, match="part of an image"):
        own.explain("erasure-unknown-token")
    with pytest.raises(InputError, match="image tokens are not"):
        own.explain("attn-lrp")  # no relevance would be left for the image
    model, processor = build("llava")
    token = processor.tokenizer.convert_tokens_to_ids("<image>")
    every = range(model.config.get_text_config().vocab_size)
    only = GenerationConfig(suppress_tokens=[one for one in every if one != token])
    with pytest.raises(InputError, match="wrote an image token"):
        written(strategy=only)
    with pytest.raises(InputError, match="pass its processor"):
        glasshead.generate(model, {"image": photo(), "text": QUESTION}, tokenizer=processor.tokenizer)
