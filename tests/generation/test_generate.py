"""What is written, and what is known of every token of it."""

import copy
import json

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

import glasshead
from classifier_families import FAMILIES, word_tokenizer
from glasshead.errors import InputError
from glasshead.generation import STRATEGIES, generate, generate_texts, sampling_probabilities
from glasshead.requests import WritingRequest
from model_state import model_state
from tolerances import ALL_LAYERS, ONE_MODEL
from writers import PROMPT, small_writer

WRITERS = ["GPT2", "GPTNeo", "GPTNeoX", "OPT", "Llama", "Mistral", "Qwen3", "Gemma", "Bloom", "Falcon"]


def write(prompt=PROMPT, **options):
    model, tokenizer = small_writer()
    return generate(model, prompt, tokenizer=tokenizer, **{"tokens": 8} | options)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "GPT2" else pytest.mark.slow) for name in WRITERS]
)
@pytest.mark.parametrize("use_cache", [True, False])
def test_the_plugged_model_writes_what_the_model_writes(name, use_cache):
    family = FAMILIES[name]
    model, tokenizer = family.language_model(), family.tokenizer()
    before = model_state(model, tokenizer)
    written = generate(model, "a warm film", tokenizer=tokenizer, tokens=6, use_cache=use_cache)
    ids = tokenizer("a warm film", return_tensors="pt")["input_ids"]
    own = model.generate(ids, max_new_tokens=6, do_sample=False, num_beams=1, pad_token_id=0)
    assert written.ids == tuple(own[0].tolist())
    with torch.no_grad():
        logs = model(own).logits.double().log_softmax(dim=-1)[0, written.start - 1 : -1]
    expected = logs.gather(-1, own[0, written.start :, None])[:, 0]
    np.testing.assert_allclose(
        [token.log_probability for token in written.answer_tokens], expected, **ALL_LAYERS
    )
    assert model_state(model, tokenizer) == before


def test_log_probability_and_perplexity_are_those_of_the_answer_by_the_model():
    model, _ = small_writer()
    written = write(strategy="nucleus=0.8", seed=3)
    ids = torch.tensor([written.ids])
    labels = ids.clone()
    labels[:, : written.start] = -100
    with torch.no_grad():
        loss = float(model(ids, labels=labels).loss)
    assert written.perplexity == pytest.approx(np.exp(loss), rel=1e-4)
    assert written.log_probability == pytest.approx(-loss * len(written.answer_tokens), rel=1e-4)


def test_chances_are_those_of_the_strategy_on_the_distribution_of_the_model():
    model, _ = small_writer()
    written = write(strategy="temperature=0.5+top-k=3", seed=5, alternatives=32)
    with torch.no_grad():
        logits = model(torch.tensor([written.ids])).logits[0, written.start - 1 : -1]
    for place, token in enumerate(written.answer_tokens):
        sharper = (logits[place] / 0.5).softmax(dim=-1)
        kept = sharper.topk(3).indices
        expected = torch.zeros_like(sharper).scatter(0, kept, sharper[kept] / sharper[kept].sum())
        chances = {other.id: other.chance for other in token.alternatives}
        np.testing.assert_allclose([chances[i] for i in range(32)], expected, **ONE_MODEL)
        own = {other.id: other.probability for other in token.alternatives}
        np.testing.assert_allclose([own[i] for i in range(32)], logits[place].softmax(-1), **ONE_MODEL)
        assert token.chance == chances[written.ids[written.start + place]] > 0
        ranks = [other.id for other in token.alternatives]
        assert ranks.index(written.ids[written.start + place]) + 1 == token.rank <= 3


def test_the_nucleus_is_the_fewest_tokens_with_so_much_probability():
    written = write(strategy="nucleus=0.6", seed=2, alternatives=32)
    for token in written.answer_tokens:
        kept = [other.probability for other in token.alternatives if other.chance]
        assert sum(kept) >= 0.6 - 1e-6
        assert sum(kept[:-1]) < 0.6


def test_greedy_takes_the_most_probable_and_leaves_it_no_chance_to_others():
    written = write()
    assert written.seed is None
    for token in written.answer_tokens:
        assert (token.rank, token.chance) == (1, 1.0)
        assert [other.chance for other in token.alternatives] == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("strategy", ["sample", "greedy", "nucleus=0.6", "temperature=1.5+top-k=4"])
def test_chances_of_a_distribution_are_those_with_which_a_model_of_it_writes(strategy):
    token = write(strategy=strategy, seed=1, tokens=1, alternatives=32).answer_tokens[0]
    probabilities = torch.tensor([other.probability for other in token.alternatives])
    own = [other.chance for other in token.alternatives]
    np.testing.assert_allclose(sampling_probabilities(probabilities, strategy), own, **ONE_MODEL)


def test_beams_give_single_tokens_no_chances():
    with pytest.raises(InputError, match="whole texts"):
        sampling_probabilities(torch.tensor([0.5, 0.5]), "beam=2")


@pytest.mark.slow
def test_sampling_draws_like_the_distribution():
    """A chi-squared statistic over first tokens, of 120 seeds."""
    model, tokenizer = small_writer()
    subject = glasshead.open(model, tokenizer)
    drawn = np.zeros(32)
    for seed in range(120):
        (written,) = generate_texts(
            subject, [PROMPT], WritingRequest(strategy="sample", tokens=1, seed=seed, alternatives=32)
        )
        drawn[written.ids[-1]] += 1
    probability = np.zeros(32)
    for other in written.answer_tokens[0].alternatives:
        probability[other.id] = other.probability
    common = probability > 5 / 120  # five expected draws
    counts = [*drawn[common], drawn[~common].sum()]
    expected = [*(120 * probability[common]), 120 * probability[~common].sum()]
    statistic = sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True))
    from scipy.stats import chi2

    assert chi2.sf(statistic, len(counts) - 1) > 1e-4


def test_a_seed_that_was_drawn_writes_the_same_again_and_leaves_random_numbers_alone():
    torch.manual_seed(7)
    following = torch.rand(3)
    torch.manual_seed(7)
    written = write(strategy="sample")
    assert torch.equal(torch.rand(3), following)
    assert written.seed is not None
    again = write(strategy="sample", seed=written.seed)
    assert (again.ids, again.answer_tokens) == (written.ids, written.answer_tokens)


def test_beams_find_a_text_at_least_as_probable_and_keep_the_others_in_order():
    greedy, beams = write(tokens=5), write(tokens=5, strategy="beam=6")
    assert beams.log_probability >= greedy.log_probability - 1e-4
    probable = [beams.log_probability, *(other.log_probability for other in beams.other_answers)]
    assert len(probable) == 6
    assert probable == sorted(probable, reverse=True)
    assert all(token.chance is None for token in beams.answer_tokens)


def test_beams_that_see_everything_find_the_most_probable_text():
    model, _ = small_writer()
    written = write(tokens=2, strategy="beam=32")
    start = torch.tensor([written.ids[: written.start]])
    with torch.no_grad():
        first = model(start).logits[0, -1].log_softmax(dim=-1)
        seconds = model(torch.cat([start.expand(32, -1), torch.arange(32)[:, None]], dim=1)).logits[:, -1]
    totals = first[:, None] + seconds.log_softmax(dim=-1)
    totals[1] = first[1]  # token 1 ends a text
    assert written.log_probability == pytest.approx(float(totals.max()), rel=1e-4)


@pytest.mark.parametrize("strategy", [*STRATEGIES, "temperature=2+nucleus=0.5", "beam=3+sample"])
def test_every_strategy_writes_a_text_that_its_tokens_make_up(strategy):
    written = write(strategy=strategy, seed=1)
    assert written.text == PROMPT + written.answer
    assert "".join(written.text[a:b] for a, b in written.offsets[written.start :]) == written.answer
    assert written.tokens[: written.start] == ("the", "film", "was", "not")
    assert len(written.ids) == len(written.words) == len(written.tokens)
    assert len(written.answer_tokens) == len(written.ids) - written.start
    data = json.loads(written.to_json())
    assert data["log_probability"] == pytest.approx(written.log_probability)
    assert "subject" not in data


def test_a_generation_config_of_ones_own_is_followed_and_stays_as_it_is():
    config = GenerationConfig(do_sample=False, no_repeat_ngram_size=1, max_new_tokens=5)
    before = config.to_dict()
    written = write(strategy=config)
    assert len(set(written.ids)) == len(written.ids) == written.start + 5
    assert "no_repeat_ngram_size=1" in written.strategy
    assert config.to_dict() == before


def test_what_transformers_refuses_is_said_in_a_line():
    with pytest.raises(
        InputError, match=r"cannot write with these settings.*stop_strings.*'greedy'$"
    ) as refusal:
        write(strategy=GenerationConfig(stop_strings=["film"]))  # it cannot cut a vocabulary of words
    assert "substring" not in str(refusal.value)
    assert "substring" in str(refusal.value.__cause__)


def test_a_model_whose_own_settings_fail_writes_by_another_strategy():
    model, tokenizer = copy.deepcopy(small_writer())
    model.generation_config.stop_strings = ["film"]
    with pytest.raises(InputError, match=r"the model's own \(.*stop_strings.*'greedy'$"):
        glasshead.generate(model, "a warm", tokens=2, tokenizer=tokenizer)
    assert glasshead.generate(model, "a warm", tokens=2, tokenizer=tokenizer, strategy="greedy").ids


@pytest.fixture
def configured():
    """The small writer with a generation configuration, and what it writes itself by it."""
    model, tokenizer = small_writer()
    own = model.generation_config

    def configure(**settings):
        model.generation_config = GenerationConfig(eos_token_id=1, **settings)
        ids = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
        torch.manual_seed(3)
        expected = model.generate(ids, max_new_tokens=8, pad_token_id=0)
        return {"model": model, "prompt": PROMPT, "tokenizer": tokenizer, "tokens": 8}, expected[0].tolist()

    yield configure
    model.generation_config = own


@pytest.mark.parametrize(
    "settings",
    [
        {"repetition_penalty": 9.0},
        {"num_beams": 3, "length_penalty": 2.0},
        {"do_sample": True, "temperature": 5.0},
        {"min_length": 11},
        {"min_new_tokens": 6},
        {"no_repeat_ngram_size": 1, "max_length": 5},
        {"bad_words_ids": [[number] for number in range(2, 20)]},
        {"suppress_tokens": list(range(3, 25))},
        {"forced_eos_token_id": 1},
        {"exponential_decay_length_penalty": (1, 1.5)},
        {"sequence_bias": [[[7], 50.0]]},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_the_configuration_of_the_model_is_its_usual_strategy(settings, configured):
    options, expected = configured(**settings)
    written = generate(**options, seed=3)
    assert list(written.ids) == expected
    for name in settings.keys() - {"max_length"}:
        assert f"{name}=" in written.strategy


def test_a_named_strategy_takes_nothing_from_the_model_but_what_it_never_writes(configured):
    plain = write(strategy="greedy")
    options, _ = configured(do_sample=True, temperature=5.0, repetition_penalty=9.0)
    assert generate(**options, strategy="greedy").ids == plain.ids
    options, _ = configured(bad_words_ids=[[plain.ids[plain.start]]], min_length=3)
    written = generate(**options, strategy="greedy")
    assert plain.ids[plain.start] not in written.ids[written.start :]
    assert written.strategy == "greedy, with the model's own bad_words_ids"
    allowed = generate(**options, strategy=GenerationConfig(do_sample=False, bad_words_ids=[[0]]))
    assert allowed.ids[: allowed.start + 1] == plain.ids[: plain.start + 1]


def test_unknown_options_are_refused_with_the_nearest_name():
    for name, nearest in (
        ("max_new_tokens", "tokens"),
        ("strategie", "strategy"),
        ("alternative", "alternatives"),
    ):
        with pytest.raises(InputError, match=f"no option '{name}': did you mean '{nearest}'"):
            write(**{name: 3})


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ("beam=100000", "from 2 to 100"),
        (GenerationConfig(num_beams=100_000), "at most 100"),
        ("temperature=1e-40", "at least 0.001"),
        (GenerationConfig(do_sample=True, temperature=1e-40), "at least 0.001"),
        ({"num_beams": 2}, "not dict"),
    ],
)
def test_numbers_that_no_machine_can_follow(strategy, says):
    with pytest.raises(InputError, match=says):
        write(strategy=strategy)


def test_why_a_text_ends():
    assert write(tokens=3).stop == "3 tokens, the requested number"
    model, tokenizer = small_writer(positions=6)
    written = generate(model, PROMPT, tokenizer=tokenizer, tokens=50)
    assert (len(written.ids), "reads no more" in written.stop) == (7, True)
    ended = next(
        one for seed in range(120) if (one := write(strategy="temperature=9", seed=seed)).ids[-1] == 1
    )
    assert ended.stop == "the model ended the text"
    assert ended.words[-1] == -1


def test_an_empty_prompt_begins_with_the_first_token_of_the_model():
    written = write("", tokens=3)
    assert (written.start, written.ids[0], written.prompt) == (1, 1, "")
    assert written.explain("attention").matrix.shape == (3, 3)


def test_prompts_are_written_one_by_one_from_the_same_seed():
    several = write([PROMPT, "a dull plot"], strategy="sample", seed=4)
    assert [one.ids for one in several] == [
        write(prompt, strategy="sample", seed=4).ids for prompt in (PROMPT, "a dull plot")
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "nuclear"}, "did you mean 'nucleus'"),
        ({"strategy": "nucleus=2"}, "above 0 to 1"),
        ({"strategy": "top-k=1.5"}, "a whole number"),
        ({"strategy": "beam=1"}, "from 2"),
        ({"strategy": "greedy=3"}, "takes no number"),
        ({"strategy": "greedy+sample"}, "leaves nothing to choose"),
        ({"strategy": "top-k=3+top-k=4"}, "is in the strategy"),
        ({"strategy": "contrastive"}, "left Transformers"),
        ({"strategy": "temperature=nan"}, "a number above 0"),
        ({"tokens": 0}, "at least 1"),
        ({"seed": -1}, "from 0 to"),
    ],
)
def test_what_is_no_strategy_is_refused_in_a_sentence(options, words):
    with pytest.raises(InputError, match=words):
        write(**options)


def test_models_that_cannot_write_and_prompts_without_room_are_refused():
    family = FAMILIES["Bert"]
    with pytest.raises(InputError, match="writes no text"):
        generate(family.build(), "a film", tokenizer=family.tokenizer())
    model, tokenizer = small_writer(positions=6)
    with pytest.raises(InputError, match=r"7 tokens.* reads at most 6"):
        generate(model, "the film was not the film was", tokenizer=tokenizer)
    model, tokenizer = small_writer()
    config = model.generation_config
    model.generation_config = GenerationConfig(eos_token_id=1)
    try:
        with pytest.raises(InputError, match="no token for the beginning"):
            generate(model, "", tokenizer=word_tokenizer(""))
    finally:
        model.generation_config = config
