"""Chats are explained and continued as the text that the tokenizer's template makes of them."""

import json

import pytest
import torch
import transformers as hf
from tokenizers import AddedToken
from typer.testing import CliRunner

import glasshead
from classifier_families import FAMILIES, GPT
from glasshead.cli.app import app
from glasshead.data import encode, message_spans, read_chats, render_chat
from glasshead.data.byte_pairs import train_byte_pairs
from glasshead.errors import InputError

CHAT = [
    {"role": "system", "content": "be warm"},
    {"role": "user", "content": " user , the plot is not good "},
]
BEGUN = [*CHAT, {"role": "assistant", "content": "the food is"}]
TURNS = (
    "{{ bos_token }}{% for message in messages %}"
    "<|{{ message['role'] }}|>{{ message['content'] | trim }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def chat_tokenizer(template=TURNS):
    """Byte pairs with a token before each text, which the template has too, and marks of roles."""
    made = train_byte_pairs(["be warm user the plot is not good food"], vocab_size=300, first=True)
    made.split_special_tokens = False
    marks = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")
    made.add_tokens([AddedToken(mark, special=True) for mark in marks])
    made.chat_template = template
    return made


def writer(tokenizer):
    torch.manual_seed(0)
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": None, "pad_token_id": None}
    model = hf.GPT2LMHeadModel(hf.GPT2Config(**GPT | {"vocab_size": len(tokenizer)} | ids))
    return model.eval()


@pytest.fixture(scope="module")
def tokenizer():
    return chat_tokenizer()


@pytest.fixture(scope="module")
def model(tokenizer):
    return writer(tokenizer)


def test_a_chat_is_the_text_of_its_template(model, tokenizer):
    text = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert text.endswith("<|assistant|>")
    for options in ({}, {"method": "erasure-delete"}, {"method": "gradient", "answer": " good"}):
        (one, *_), (other, *_) = (
            glasshead.explain(model, asked, tokenizer=tokenizer, **options) for asked in (CHAT, text)
        )
        assert one.text.startswith(text)
        assert one == other
    both = glasshead.explain(model, [CHAT, "the plot"], tokenizer=tokenizer)
    assert [one.text for one in both] == [text, "the plot"]


def test_the_model_reads_what_the_template_tokenises(model, tokenizer):
    ids = tokenizer.apply_chat_template(CHAT, add_generation_prompt=True, return_dict=False)
    assert ids.count(tokenizer.bos_token_id) == 1
    assert encode(tokenizer, [render_chat(tokenizer, CHAT, writes=True)]).ids[0].tolist() == ids
    found = glasshead.explain(model, CHAT, tokenizer=tokenizer, unit="token")
    assert list(found[0].ids) == ids
    assert not any("template" in note for note in found.notes)


def test_tokens_that_a_template_lacks_are_named(model):
    bare = chat_tokenizer(TURNS.replace("{{ bos_token }}", ""))
    (note,) = [one for one in glasshead.explain(model, CHAT, tokenizer=bare).notes if "template" in one]
    assert note.startswith("the tokenizer adds special tokens around the chat")
    assert note in glasshead.generate(model, CHAT, tokenizer=bare, tokens=1).notes


def test_an_answer_that_was_begun_goes_on(model, tokenizer):
    text = render_chat(tokenizer, BEGUN, writes=True)
    assert text.endswith("<|assistant|>the food is")
    assert render_chat(tokenizer, BEGUN, writes=False).endswith("the food is<|end|>")
    written = glasshead.generate(model, BEGUN, tokenizer=tokenizer, tokens=2)
    assert written.prompt == text
    plain = glasshead.generate(model, text, tokenizer=tokenizer, tokens=2)
    assert (written.ids, written.answer_tokens) == (plain.ids, plain.answer_tokens)


def test_several_chats_are_written_one_by_one(model, tokenizer):
    written = glasshead.generate(model, [CHAT, "the plot", BEGUN], tokenizer=tokenizer, tokens=1)
    assert [one.prompt for one in written] == [
        render_chat(tokenizer, CHAT, writes=True),
        "the plot",
        render_chat(tokenizer, BEGUN, writes=True),
    ]


def test_a_classifier_reads_the_chat_alone(tokenizer):
    torch.manual_seed(0)
    own = FAMILIES["Llama"]
    config = own.config(
        **own.options | {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    )
    judge = hf.LlamaForSequenceClassification(config).eval()
    (one,) = glasshead.explain(judge, BEGUN, tokenizer=tokenizer, method="gradient")
    assert one.text == tokenizer.apply_chat_template(BEGUN, tokenize=False)


def test_what_is_no_chat_for_this_tokenizer_is_said(model, tokenizer):
    strict = chat_tokenizer("{{ raise_exception('Roles must alternate') }}")
    for made, message in ((chat_tokenizer(None), "no chat template"), (strict, "Roles must alternate")):
        with pytest.raises(InputError, match=message):
            glasshead.explain(model, CHAT, tokenizer=made)
        with pytest.raises(InputError, match=message):
            glasshead.generate(model, CHAT, tokenizer=made)


class TestMessages:
    def test_each_message_is_one_unit(self, model, tokenizer):
        (words,) = glasshead.explain(model, CHAT, tokenizer=tokenizer, method="gradient")
        (one,) = glasshead.explain(model, CHAT, tokenizer=tokenizer, method="gradient", unit="message")
        said = [message["content"].strip() for message in CHAT]
        assert [token for token, word in zip(one.tokens, one.words, strict=True) if word >= 0] == said
        for token, (start, end), score in zip(one.tokens, one.offsets, one.scores, strict=True):
            if token in said:
                assert one.text[start:end] == token
                inside = [
                    number
                    for number, (first, last) in zip(words.scores, words.offsets, strict=True)
                    if start <= first < last <= end
                ]
                assert len(inside) > 1
                assert score == pytest.approx(sum(inside), abs=1e-6)

    def test_contents_are_found_though_roles_have_their_words(self, tokenizer):
        text = render_chat(tokenizer, CHAT, writes=True)
        spans = message_spans(tokenizer, CHAT, writes=True)
        assert [text[start:end] for start, end in spans] == ["be warm", "user , the plot is not good"]
        assert text.index("user") < spans[1][0]  # that of the role

    def test_a_template_that_rewrites_is_refused(self, model):
        louder = chat_tokenizer(TURNS.replace("| trim", "| upper"))
        with pytest.raises(InputError, match="name the parts as segments"):
            glasshead.explain(model, CHAT, tokenizer=louder, unit="message")

    def test_a_text_has_none(self, model, tokenizer):
        with pytest.raises(InputError, match="a list of messages with roles"):
            glasshead.explain(model, "the plot", tokenizer=tokenizer, unit="message")


@pytest.mark.parametrize(
    "written",
    [
        json.dumps([CHAT, BEGUN]),
        json.dumps([{"messages": CHAT}, {"messages": BEGUN}]),
        "\n".join(json.dumps({"messages": one, "id": 1}) for one in (CHAT, BEGUN)),
        "\n".join(json.dumps(one) for one in (CHAT, BEGUN)),
    ],
)
def test_files_of_chats(written):
    assert read_chats(written) == [CHAT, BEGUN]


@pytest.mark.parametrize("written", ["the plot\nis good", "[]", '{"text": "a"}', '[{"text": "a"}]', "[1, 2]"])
def test_other_files_have_none(written):
    assert read_chats(written) is None


def test_chats_of_a_file_on_the_command_line(model, tokenizer, tmp_path):
    model.save_pretrained(tmp_path / "chatty")
    tokenizer.save_pretrained(tmp_path / "chatty")
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    asked = [str(tmp_path / "chatty"), "--file", str(tmp_path / "chat.json"), "--format", "json"]
    printed = CliRunner().invoke(app, ["explain", *asked, "--unit", "message"])
    assert printed.exit_code == 0, printed.output
    (one,) = json.loads(printed.stdout)
    assert one["text"] == render_chat(tokenizer, CHAT, writes=True)
    assert "user , the plot is not good" in one["tokens"]
    printed = CliRunner().invoke(app, ["generate", *asked, "--tokens", "1"])
    assert printed.exit_code == 0, printed.output
    (one,) = json.loads(printed.stdout)
    assert one["prompt"] == render_chat(tokenizer, CHAT, writes=True)


def test_a_message_without_content_is_refused(tokenizer):
    with pytest.raises(InputError, match=r"message 1 of the chat has no content \(it has: role, text\)"):
        render_chat(tokenizer, [{"role": "system", "text": "be warm"}], writes=True)
