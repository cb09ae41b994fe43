"""Passages as people have them, sentences of any script, and the prompt around them."""

import json
from types import SimpleNamespace

import pytest

from glasshead.errors import InputError
from glasshead.results import Passage
from glasshead.sources.passages import read_passages
from glasshead.sources.prompts import choose_frame, describe
from glasshead.sources.sentence_spans import sentence_spans, word_spans
from librarian import librarian

ONE = Passage("A cat.", "Cats", "https://cats.example")


@pytest.mark.parametrize(
    "found",
    [
        {"text": "A cat.", "title": "Cats", "url": "https://cats.example"},
        {"page_content": "A cat.", "metadata": {"title": "Cats", "source": "https://cats.example"}},
        {
            "node": {"text": "A cat.", "metadata": {"title": "Cats", "url": "https://cats.example"}},
            "score": 0.5,
        },
        SimpleNamespace(page_content="A cat.", metadata={"title": "Cats", "source": "https://cats.example"}),
        SimpleNamespace(
            node=SimpleNamespace(text="A cat.", metadata={"title": "Cats", "url": "https://cats.example"}),
            score=1,
        ),
    ],
)
def test_what_retrievers_return(found):
    assert read_passages([found, "A dog."]) == [ONE, Passage("A dog.")]
    assert read_passages({"documents": [found]}) == [ONE]


def test_files_and_folders(tmp_path):
    (tmp_path / "b.txt").write_text("A dog.")
    (tmp_path / "a.md").write_text("A cat.\n\nIt sleeps.")
    rows = [{"text": "A cat.", "title": "Cats", "link": "https://cats.example"}, {"text": "A fox."}]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "rows.csv").write_text("text,title\nA cat.,Cats\nNA,x\n")
    assert [one.title for one in read_passages(tmp_path)] == ["a.md", "b.txt"]
    assert [one.text for one in read_passages(tmp_path / "a.md")] == ["A cat.", "It sleeps."]
    assert len(read_passages(tmp_path / "a.md", "whole")) == 1
    assert len(read_passages(tmp_path, "paragraph")) == 3
    assert read_passages(tmp_path / "rows.json") == read_passages(tmp_path / "rows.jsonl")
    assert read_passages(tmp_path / "rows.json")[0] == ONE
    assert [one.text for one in read_passages(tmp_path / "rows.csv")] == ["A cat.", "NA"]


def test_what_is_no_passage(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    for context, says in (
        (tmp_path / "none.txt", "there is no file or folder"),
        (tmp_path / "bad.json", "is not JSON"),
        (tmp_path / "latin.txt", "is not UTF-8 text"),
        ([{"title": "x"}], "has no text"),
        (["A cat.", " \n"], "passage 2 has no text"),
        ([], "has no passage"),
    ):
        with pytest.raises(InputError, match=says):
            read_passages(context)


def test_a_passage_with_its_score_and_a_path_in_a_string(tmp_path):
    assert read_passages([(ONE.text, 0.83), ("A dog.", 0.5)]) == [Passage("A cat."), Passage("A dog.")]
    with pytest.raises(InputError, match="is a file or a folder: give Path"):
        read_passages(str(tmp_path))
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_passages(tmp_path / "empty.csv")


def test_the_same_passage_again_is_said():
    assert [one.repeats for one in read_passages(["A cat.", "A dog.", "A  cat. "])] == [None, None, 0]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith went home. He slept!", ["Dr. Smith went home.", "He slept!"]),
        ("Is it 3.5? Yes, e.g. here.", ["Is it 3.5?", "Yes, e.g. here."]),
        ("“Stop.” She left", ["“Stop.”", "She left"]),
        ("彼は行った。彼女は来た！", ["彼は行った。", "彼女は来た！"]),
        ("هل تأتي؟ نعم", ["هل تأتي؟", "نعم"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("one line\nanother", ["one line", "another"]),
        ("No. He left in 1990.", ["No.", "He left in 1990."]),
        ("See No. 5 here. Yes.", ["See No. 5 here.", "Yes."]),
        ("1. Anna keeps it.\n2. Bob left.", ["1. Anna keeps it.", "2. Bob left."]),
        ("**Yes.** It is.", ["**Yes.**", "It is."]),
        ("...", ["..."]),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert [text[start:stop] for start, stop in sentence_spans(text)] == sentences


def test_words():
    assert word_spans("a cat sleeps", 2, 12) == [(2, 5), (6, 12)]


DOG = Passage("A dog.")
BEHIND = "{% if add_generation_prompt %}<assistant>{% endif %}"
DOCUMENTS = (
    "{% for d in documents or [] %}<doc {{ loop.index }}: {{ d.title }}>{{ d.text }}</doc>{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}" + BEHIND
)
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}" + BEHIND
SHOUTS = CHAT.replace("trim", "upper")


def frame(template, question="Who?", prompt=None, passages=(ONE, DOG)):
    tokenizer = librarian()[1]
    tokenizer.chat_template = template
    return choose_frame(tokenizer, passages, question, prompt)


def test_the_templates_own_place_for_documents():
    found = frame(DOCUMENTS)
    assert describe(found) == "as documents of the chat template"
    whole = found.render(["A cat.", "A dog."])
    assert whole == "<doc 1: Cats>A cat.</doc><doc 2: >A dog.</doc><user>Who?<assistant>"
    assert found.render([None, "A dog."]) == "<doc 1: >A dog.</doc><user>Who?<assistant>"
    assert [whole[start:stop] for start, stop in found.spans()] == ["A cat.", "A dog."]


def test_in_the_message_of_the_user():
    found = frame(CHAT)
    whole = found.render(["A cat.", "A dog."])
    assert whole == "<user>Cats\nA cat.\n\nA dog.\n\nWho?<assistant>"
    assert found.render([None, None]) == "<user>Who?<assistant>"
    assert [whole[start:stop] for start, stop in found.spans()] == ["A cat.", "A dog."]
    chat = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]
    assert frame(CHAT, chat).render([None, None]) == "<system>Be short.<user>Who?<assistant>"


def test_in_a_plain_text():
    assert frame(None).render(["A cat.", None]) == "Cats\nA cat.\n\nWho?\n"
    own = frame(None, prompt="Read: {context} Answer: {question} =")
    assert own.render(["{question}", None]) == "Read: Cats\n{question} Answer: Who? ="


def test_documents_with_an_instruction_of_their_own_stand_in_the_message():
    """Which would be removed with the last of them."""
    assert describe(frame("{% if documents %}Use these.{% endif %}" + DOCUMENTS)).startswith("in the message")


def test_a_chat_that_the_assistant_ends_is_refused():
    with pytest.raises(InputError, match="must end with a user message"):
        frame(CHAT, [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "It is"}])


def test_a_template_that_changes_passages_has_no_places():
    assert frame(SHOUTS).spans() is None


def test_a_prompt_without_a_place_is_refused():
    for prompt in ("{context}", "{question}", "{context} {context} {question}"):
        with pytest.raises(InputError, match=r"must contain \{context\} once"):
            frame(None, prompt=prompt)
