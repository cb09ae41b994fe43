"""A given answer of a language model: its probability, what it rests on, and each of its tokens."""

import re

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers import ByteLevelBPETokenizer
from typer.testing import CliRunner

from classifier_families import FAMILIES
from glasshead import explain
from glasshead.cli.app import app
from glasshead.errors import InputError
from planted_answers import FOLLOWS, planted
from slow_cases import own_methods

PROMPTS = ["the plot is", "a warm , funny film so"]
ANSWER = " not very good"
SIZE = 3
"""Tokens of the answer."""


def writer(family="GPT2"):
    """A tiny model that writes from left to right; each word is a token."""
    torch.manual_seed(0)
    model = hf.AutoModelForCausalLM.from_config(FAMILIES[family].config(**FAMILIES[family].options)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[family].tokenizer()


def own_log_p(model, tokenizer, text, **inputs):
    """log p of each token of the answer at the end of a text, by the model's own softmax."""
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    log_p = model(**(inputs or {"input_ids": ids})).logits[0].log_softmax(dim=-1)
    places = torch.arange(len(ids[0]) - SIZE, len(ids[0]))
    return log_p[places - 1, ids[0, places]]


@pytest.mark.parametrize("family", ["GPT2", "Llama"])
def test_the_probability_is_the_product_of_those_of_the_tokens(family):
    model, tokenizer = writer(family)
    found = explain(model, PROMPTS, tokenizer=tokenizer, answer=ANSWER, method="gradient")
    assert len(found) == len(PROMPTS) * (1 + SIZE)
    for number, prompt in enumerate(PROMPTS):
        whole, *each = found[number * (1 + SIZE) : (number + 1) * (1 + SIZE)]
        with torch.no_grad():
            expected = own_log_p(model, tokenizer, prompt + ANSWER)
        assert np.log(whole.prediction) == pytest.approx(float(expected.sum()), abs=1e-5)
        assert [one.prediction for one in each] == pytest.approx(expected.exp().tolist(), abs=1e-6)
        assert (whole.asked, whole.target) == ("not very good", f"“{ANSWER}”")
        assert [one.asked for one in each] == ["not", "very", "good"]
        assert [one.text for one in each] == [prompt + " not", prompt + " not very", prompt + ANSWER]


@pytest.mark.parametrize("family", ["GPT2", "Llama"])
def test_gradients_are_those_by_hand_and_add_up(family):
    model, tokenizer = writer(family)
    ids = tokenizer(PROMPTS[1] + ANSWER, return_tensors="pt")["input_ids"]
    vectors = model.get_input_embeddings()(ids).detach().requires_grad_()
    own_log_p(model, tokenizer, PROMPTS[1] + ANSWER, inputs_embeds=vectors).sum().backward()
    expected = (vectors * vectors.grad)[0].sum(dim=-1).detach()
    found = explain(model, PROMPTS, tokenizer=tokenizer, answer=ANSWER, method="gradient")
    whole, *each = found[1 + SIZE :]
    np.testing.assert_allclose(whole.scores, expected, atol=1e-5)
    prompt = len(ids[0]) - SIZE
    sums = np.sum([one.scores[:prompt] for one in each], axis=0)
    np.testing.assert_allclose(sums, whole.scores[:prompt], atol=1e-5)


@pytest.mark.parametrize("removal", ["unknown-token", "mean-embedding", "delete"])
def test_erasures_are_those_by_hand_and_leave_the_answer(removal):
    model, tokenizer = writer()
    text = PROMPTS[1] + ANSWER
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    embeddings = model.get_input_embeddings()
    (whole, *_) = explain(model, PROMPTS[1], tokenizer=tokenizer, answer=ANSWER, method=f"erasure-{removal}")
    prompt = len(ids[0]) - SIZE
    assert whole.scores[prompt:] == (0.0,) * SIZE
    with torch.no_grad():
        full = own_log_p(model, tokenizer, text).sum()
        for place in range(prompt):
            vectors, words = embeddings(ids).clone(), text.split()
            if removal == "delete":
                without = own_log_p(model, tokenizer, " ".join(words[:place] + words[place + 1 :]))
            else:
                vectors[0, place] = (
                    embeddings.weight.mean(dim=0)
                    if removal == "mean-embedding"
                    else embeddings.weight[tokenizer.unk_token_id]
                )
                without = own_log_p(model, tokenizer, text, inputs_embeds=vectors)
            assert whole.scores[place] == pytest.approx(float(full - without.sum()), abs=1e-5)


@pytest.mark.parametrize("method", ["attention", "gradient", "rollout", "erasure-zero-value", "gradient-l2"])
def test_a_token_is_explained_as_the_next_one_behind_what_stands_before(method):
    """Later tokens do not matter, and neither does that the token stands in the text."""
    model, tokenizer = writer()
    _, *each = explain(model, PROMPTS[0], tokenizer=tokenizer, answer=ANSWER, method=method)
    words = ANSWER.split()
    prompt = len(PROMPTS[0].split())
    for number, one in enumerate(each):
        before = " ".join([PROMPTS[0], *words[:number]])
        (same,) = explain(model, before, tokenizer=tokenizer, target=words[number], method=method)
        np.testing.assert_allclose(one.scores[:prompt], same.scores[:prompt], atol=1e-5)
        assert one.scores[-1] == pytest.approx(0, abs=1e-5)
        assert one.prediction == pytest.approx(same.prediction, rel=1e-4)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch(method):
    model, tokenizer = writer()

    def run(prompts):
        return explain(model, prompts, tokenizer=tokenizer, answer=ANSWER, method=method)

    try:
        explain(model, PROMPTS, tokenizer=tokenizer, method=method)
    except InputError as reason:  # neither does it explain the next token
        with pytest.raises(InputError, match=re.escape(str(reason))):
            run(PROMPTS)
        return
    together = run(PROMPTS)
    alone = [one for prompt in PROMPTS for one in run(prompt)]
    for one, other in zip(together, alone, strict=True):
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        if method != "random":
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


@pytest.mark.parametrize("method", ["captum:lime", "captum:integrated-gradients"])
def test_captum_changes_the_prompt_alone(method):
    pytest.importorskip("captum")
    model, tokenizer = writer()
    found = explain(model, PROMPTS[0], tokenizer=tokenizer, answer=ANSWER, method=method)
    assert found[0].scores[-SIZE:] == (0.0,) * SIZE
    assert min(map(abs, found[0].scores[:-SIZE])) > 0
    if found[0].completeness_gap is not None:
        assert abs(found[0].completeness_gap) < 1e-2


@pytest.mark.slow
def test_the_word_that_decides_is_found():
    model, tokenizer, (prompts, answers, deciding) = planted()

    def hits(method):
        best = []
        for answer, word in ((" so warm", "good"), (" so dull", "bad")):
            own = [prompt for prompt, given in zip(prompts, answers, strict=True) if given == answer]
            found = explain(model, own, tokenizer=tokenizer, answer=answer, method=method)
            wholes = found[::3]
            assert np.mean([one.prediction for one in wholes]) > 0.95
            best += [max(zip(one.scores[:-2], one.tokens, strict=False))[1] == word for one in wholes]
        return np.mean(best)

    assert {*deciding} > {*FOLLOWS}
    assert hits("erasure-mean-embedding") >= 0.95
    assert hits("random") < 0.5


def test_the_word_that_decides_the_next_token_is_found():
    model, tokenizer, (prompts, answers, _) = planted()
    for method, least, most in (("erasure-mean-embedding", 0.95, 1.0), ("random", 0.0, 0.5)):
        best = []
        for token, word in (("warm", "good"), ("dull", "bad")):
            both = zip(prompts, answers, strict=True)
            own = [f"{prompt} so" for prompt, answer in both if answer == f" so {token}"]
            found = explain(model, own, tokenizer=tokenizer, target=token, method=method)
            assert np.mean([one.prediction for one in found]) > np.log(0.95)
            best += [max(zip(one.scores, one.tokens, strict=True))[1] == word for one in found]
        assert least <= np.mean(best) <= most


def byte_writer():
    """A tiny model whose tokens have their blank, as those of GPT-2 have."""
    pieces = ByteLevelBPETokenizer()
    texts = ["the key of the tables is old", "the doors are new", "a warm film"] * 20
    pieces.train_from_iterator(texts, vocab_size=320, special_tokens=["<|endoftext|>", "<|pad|>"])
    tokenizer = hf.GPT2TokenizerFast(tokenizer_object=pieces._tokenizer, pad_token="<|pad|>")
    options = {"vocab_size": len(tokenizer), "n_positions": 16, "bos_token_id": 0, "eos_token_id": 0}
    torch.manual_seed(0)
    return hf.GPT2LMHeadModel(hf.GPT2Config(**FAMILIES["GPT2"].options | options)).eval(), tokenizer


@pytest.mark.parametrize(
    ("prompt", "answer", "asked", "warned"),
    [
        ("the door", " is old", [" is", " old"], False),
        ("the key of the table", "s are", [" tables", " are"], True),  # the token reaches into both
        ("the door ", "is old", [" is", " old"], True),
        ("the door", " ", [" "], False),
        ("the door", " is<|endoftext|>", [" is", "<|endoftext|>"], False),
    ],
)
def test_the_answer_is_appended_as_it_is(prompt, answer, asked, warned):
    model, tokenizer = byte_writer()
    found = explain(model, prompt, tokenizer=tokenizer, answer=answer, method="erasure-delete")
    assert found[0].text == prompt + answer
    ids = tokenizer(prompt + answer)["input_ids"]
    assert tokenizer.batch_decode([[token] for token in ids[-len(asked) :]]) == asked
    with torch.no_grad():
        log_p = model(torch.tensor([ids])).logits[0].log_softmax(dim=-1)
    expected = [float(log_p[place - 1, ids[place]].exp()) for place in range(-len(asked), 0)]
    each = found[1:] if len(asked) > 1 else found
    assert [one.prediction for one in each] == pytest.approx(expected, rel=1e-4)
    assert any("is a blank missing or doubled" in note for note in found.remarks) == warned


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"answer": ""}, "is empty"),
        ({"answer": " is", "target": " is"}, "is explained as a whole: leave `target` out"),
        ({"answer": " is", "target": " is", "against": " are"}, "leave `target` out"),
        ({"answer": " is", "at": "door"}, "`at` is for models"),
        ({"answer": " is", "pairs": "a film"}, "reads one text"),
        ({"answer": " the door is" * 9}, "leaves no room for the prompt"),
        ({"answer": " is old", "text": "a", "method": "erasure-delete"}, "needs a prompt"),
    ],
)
def test_what_cannot_be_asked(options, says):
    model, tokenizer = byte_writer()
    with pytest.raises(InputError, match=says):
        explain(model, options.pop("text", "the door"), tokenizer=tokenizer, **options)


def test_a_prompt_that_is_one_token_with_the_answer():
    model, tokenizer = writer()
    with pytest.raises(InputError, match="share a token: begin the answer with a blank"):
        explain(model, "plot", tokenizer=tokenizer, answer="s")


@pytest.mark.parametrize(
    ("family", "cls", "says"),
    [
        ("Bert", hf.AutoModelForSequenceClassification, "writes no answer"),
        ("Bert", hf.AutoModelForMaskedLM, "writes no answer"),
    ],
)
def test_models_that_write_no_answer_behind_a_text(family, cls, says):
    model = cls.from_config(FAMILIES[family].config(**FAMILIES[family].options))
    with pytest.raises(InputError, match=says):
        explain(model, "a warm film", tokenizer=FAMILIES[family].tokenizer(), answer=" so")


def test_a_model_that_was_asked_about_an_answer_predicts_tokens_as_before():
    model, tokenizer = writer()
    (before,) = explain(model, PROMPTS[0], tokenizer=tokenizer)
    explain(model, PROMPTS[0], tokenizer=tokenizer, answer=ANSWER)
    (after,) = explain(model, PROMPTS[0], tokenizer=tokenizer)
    assert (before.predicted, before.scores) == (after.predicted, after.scores)


def test_the_command(tmp_path):
    model, tokenizer = byte_writer()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    asked = ["explain", str(tmp_path), "the door", "--answer", " is old", "--method", "erasure-delete"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "p(“ is old”) = " in shown.output
    assert "p(“ old”) = " in shown.output
    refused = CliRunner().invoke(app, [*asked, "--next", " is"])
    assert refused.exit_code
    assert "leave --next out" in refused.output + str(refused.exception)
