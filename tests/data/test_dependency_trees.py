"""Sentences with dependency trees, and where their words stand in the text."""

import gzip

import pytest

from glasshead.data import ROOT, read_conllu
from glasshead.errors import InputError

SENTENCE = """# sent_id = 1
# text = He don't see (it).
1	He	he	PRON	_	_	4	nsubj	_	_
2-3	don't	_	_	_	_	_	_	_	_
2	do	do	AUX	_	_	4	aux	_	_
3	n't	not	PART	_	_	4	advmod	_	_
4	see	see	VERB	_	_	0	root	_	_
4.1	see	see	VERB	_	_	_	_	0:root	_
5	(	(	PUNCT	_	_	6	punct	_	SpaceAfter=No
6	it	it	PRON	_	_	4	obj	_	SpaceAfter=No
7	)	)	PUNCT	_	_	6	punct	_	SpaceAfter=No
8	.	.	PUNCT	_	_	4	punct	_	_

"""
FUSED = """1-2	au	_	_	_	_	_	_	_	_
1	à	à	ADP	_	_	3	case	_	_
2	le	le	DET	_	_	3	det	_	_
3	jardin	jardin	NOUN	_	_	0	root	_	SpaceAfter=No
4	.	.	PUNCT	_	_	3	punct	_	_

"""


def written(sentence):
    return [sentence.text[start:end] for start, end in sentence.spans]


def test_words_stand_where_their_forms_do(tmp_path):
    path = tmp_path / "one.conllu"
    path.write_text(SENTENCE, encoding="utf-8")
    (sentence,) = read_conllu(path)
    assert sentence.text == "He don't see (it)."
    assert written(sentence) == ["He", "do", "n't", "see", "(", "it", ")", "."]
    assert list(sentence.heads) == [3, 3, 3, ROOT, 5, 3, 5, 3]
    assert sentence.relations[5] == "obj"


def test_a_text_that_is_not_there_is_made_of_the_forms(tmp_path):
    path = tmp_path / "one.conllu.gz"
    lines = SENTENCE.splitlines(keepends=True)
    for text in (
        "".join(line for line in lines if not line.startswith("# text")),
        SENTENCE.replace("(it)", "[it]", 1),
    ):
        path.write_bytes(gzip.compress(text.encode()))
        (sentence,) = read_conllu(path)
        assert sentence.text == "He don't see (it)."
        assert written(sentence) == ["He", "do", "n't", "see", "(", "it", ")", "."]


def test_fused_words_share_the_span_of_the_whole(tmp_path):
    path = tmp_path / "two.conllu"
    path.write_text(SENTENCE + FUSED, encoding="utf-8")
    sentence = read_conllu(path)[1]
    assert sentence.text == "au jardin."
    assert written(sentence) == ["au", "au", "jardin", "."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no sentence"),
        ("1\tHe\n", "has no head"),
        ("one\tHe\t_\n", "as CoNLL-U"),
        (SENTENCE.replace("4\tnsubj", "9\tnsubj"), "has no head"),
        (SENTENCE.replace("4\tnsubj", "_\tnsubj"), "has no head"),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path, text, message):
    path = tmp_path / "bad.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_conllu(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_conllu(tmp_path / "none.conllu")
    packed = tmp_path / "cut.conllu.gz"
    packed.write_bytes(gzip.compress(SENTENCE.encode())[:40])
    with pytest.raises(InputError, match="as CoNLL-U"):
        read_conllu(packed)
    latin = tmp_path / "latin.conllu"
    latin.write_bytes("1\tà\tà\tADP\t_\t_\t0\troot\t_\t_\n\n".encode("latin-1"))
    with pytest.raises(InputError, match="as CoNLL-U"):
        read_conllu(latin)
