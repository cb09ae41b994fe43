"""Words with their tags are read from lists in tables and from files of the CoNLL tasks."""

import json

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value

from glasshead.data import LoadOptions, read_tagged
from glasshead.errors import InputError

WORDS = [["Ada", "lives", "in", "Turin"], ["It", "rains"]]
TAGS = [["PER", "O", "O", "LOC"], ["O", "O"]]


def read(source, split="all", **options):
    return [
        (one.text, [*one.spans], [*one.tags]) for one in read_tagged(source, split, LoadOptions(**options))
    ]


EXPECTED = [
    ("Ada lives in Turin", [(0, 3), (4, 9), (10, 12), (13, 18)], TAGS[0]),
    ("It rains", [(0, 2), (3, 8)], TAGS[1]),
]


def test_lists_in_tables(tmp_path):
    names = ["O", "PER", "LOC"]
    coded = [[names.index(tag) for tag in own] for own in TAGS]
    features = Features({"tokens": List(Value("string")), "ner_tags": List(ClassLabel(names=names))})
    rows = Dataset.from_dict({"tokens": WORDS, "ner_tags": coded}, features=features)
    assert read(rows) == EXPECTED
    assert read(DatasetDict({"test": rows}), "test") == EXPECTED
    path = tmp_path / "words.jsonl"
    lines = [{"words": own, "tags": tags} for own, tags in zip(WORDS, TAGS, strict=True)]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read(path) == EXPECTED
    rows.to_parquet(tmp_path / "words.parquet")
    assert read(tmp_path / "words.parquet") == EXPECTED


def test_files_of_lines(tmp_path):
    path = tmp_path / "words.conll"
    path.write_text(
        "-DOCSTART- -X- O\n\nAda NNP PER\nlives VBZ O\nin IN O\nTurin NNP LOC\n\nIt PRP O\nrains VBZ O\n"
    )
    assert read(path) == EXPECTED
    path.write_text("Ada\n")
    with pytest.raises(InputError, match="line 1 has no tag behind its word: 'Ada'"):
        read(path)
    path.write_text("\n")
    with pytest.raises(InputError, match="has no word"):
        read(path)


def test_parts_of_speech_of_trees(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(
        "# text = It rains.\n1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\train\tVERB\t_\t_\t0\troot\t_\t"
        "SpaceAfter=No\n3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
    )
    assert read(path) == [("It rains.", [(0, 2), (3, 8), (8, 9)], ["PRON", "VERB", "PUNCT"])]


def test_what_is_missing_is_named():
    with pytest.raises(InputError, match="row 2 has no tag for each word"):
        read(Dataset.from_dict({"tokens": WORDS, "tags": [TAGS[0], ["O"]]}))
    with pytest.raises(InputError, match=r"no lists of tags .it has: tokens."):
        read(Dataset.from_dict({"tokens": WORDS}))
    with pytest.raises(InputError, match=r"no lists of words .it has: tags."):
        read(Dataset.from_dict({"tags": TAGS}))
