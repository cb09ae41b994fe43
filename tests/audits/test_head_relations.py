"""Which relation a head follows, in a made-up language whose trees one head was built to follow."""

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from glasshead.audits.head_report.relations import align, predict_heads
from glasshead.audits.head_report.views import attention_views
from glasshead.data import encode, read_conllu
from planted_heads import empty_bert, place_map, set_head, to_conllu, tokenizer_of

PAIRS = 12
NOUNS, VERBS = ([f"{kind}{number}" for number in range(PAIRS)] for kind in "nv")
WORDS = [*NOUNS, *VERBS, "a", "b", "c", "good", "bad"]
FOLLOWS, FOLLOWED, NEXT = 2, 5, 6


def language(n, seed=0):
    """Sentences of nine words. A noun depends on the verb of its number, at any distance (obj); it is rare:
    four words in five depend on the word behind them (amod), the last one is the root."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        number = rng.integers(PAIRS)
        noun, verb = rng.choice(8, 2, replace=False)
        words = []
        for place in range(9):
            form = "abc"[rng.integers(3)]
            if place in (noun, verb):
                form = NOUNS[number] if place == noun else VERBS[number]
            head, relation = (verb + 1, "obj") if place == noun else (place + 2, "amod")
            words.append((form, *((0, "root") if place == 8 else (head, relation))))
        sentences.append(words)
    return sentences


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "language.conllu"
    path.write_text(to_conllu(language(120)), encoding="utf-8")
    return path


def planted():
    model, tokenizer = empty_bert(WORDS), tokenizer_of(WORDS)
    follows = torch.zeros_like(place_map(model, 1))
    for noun, verb in zip(NOUNS, VERBS, strict=True):
        follows[tokenizer.convert_tokens_to_ids(verb), tokenizer.convert_tokens_to_ids(noun)] = 1.0
    set_head(model, FOLLOWS, follows)
    set_head(model, FOLLOWED, follows.T)
    set_head(model, NEXT, place_map(model, 1))
    return model, tokenizer


def by_name(report):
    return {(one.relation, one.direction): one for one in report.relations}


@pytest.mark.slow
def test_the_head_that_was_built_for_a_relation_is_found(trees):
    model, tokenizer = planted()
    report = glasshead.heads(model, trees, tokenizer=tokenizer, dtype="float32")
    found = by_name(report)
    for direction, head in (("dependent → head", FOLLOWS), ("head → dependent", FOLLOWED)):
        obj = found["obj", direction]
        assert obj.best == f"0-{head}"
        assert obj.accuracy.estimate == pytest.approx(1.0)
        assert obj.baseline.estimate < 0.4
        assert obj.difference.interval[0] > 0.5
        assert obj.difference.n == obj.accuracy.n <= 60
    amod = found["amod", "dependent → head"]
    assert (amod.best, amod.offset) == (f"0-{NEXT}", 1)
    assert amod.difference.estimate == pytest.approx(0.0)
    assert "shown" in amod.difference.verdict  # no better than a fixed offset
    assert any("obj" in sentence and f"head 0-{FOLLOWS}" in sentence for sentence in report.conclusion)
    assert report.facts["sentences"] == 120


@pytest.mark.slow
def test_random_heads_follow_nothing_better_than_a_fixed_offset(trees):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=len(WORDS) + 4, hidden_size=32, num_attention_heads=4, num_hidden_layers=1,
        intermediate_size=32, max_position_embeddings=16, initializer_range=0.3,
    )  # fmt: skip
    model = hf.BertForSequenceClassification(config).eval()
    report = glasshead.heads(model, trees, tokenizer=tokenizer_of(WORDS), dtype="float32", limit=None)
    assert {one.relation for one in report.relations} == {"all", "obj", "amod"}
    for one in report.relations:
        assert one.difference.interval[0] <= 0, one.relation
    assert any("No head is shown to follow a relation better" in sentence for sentence in report.conclusion)


@pytest.mark.slow
def test_causal_heads_look_back_only(trees):
    config = hf.GPT2Config(vocab_size=60, n_embd=16, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=1)
    torch.manual_seed(1)
    model = hf.GPT2ForSequenceClassification(config).eval()
    model.config.pad_token_id = 0
    report = glasshead.heads(model, trees, tokenizer=tokenizer_of(WORDS), dtype="float32", effects=False)
    found = by_name(report)
    assert found["amod", "dependent → head"].accuracy.estimate == 0.0  # every such head stands behind


def test_predictions_are_those_of_a_literal_loop(trees):
    """The same by single numbers: sums to pieces, means from pieces, argmax over other words."""
    sentences = read_conllu(trees)[:6]
    model, tokenizer = hf.BertModel, tokenizer_of([*"abcnv", *map(str, range(PAIRS))])
    from tokenizers import pre_tokenizers

    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits()]
    )
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=30, hidden_size=16, num_attention_heads=2, num_hidden_layers=1, intermediate_size=16,
        max_position_embeddings=32, initializer_range=1.0,
    )  # fmt: skip
    subject = glasshead.opening.open_model(model(config).eval(), tokenizer)
    encoded = encode(subject[1], [sentence.text for sentence in sentences])
    trees_of_texts = [align(sentence, encoded, text) for text, sentence in enumerate(sentences)]
    split = 0
    for batch in attention_views(subject[0], encoded):
        for view in batch:
            tree = trees_of_texts[view.text]
            weights = view.weights.double().numpy()
            pieces = [np.flatnonzero(tree.words == word) for word in range(len(tree.heads))]
            split += sum(len(piece) > 1 for piece in pieces)
            for direction, predicted in enumerate(predict_heads(view, tree)):
                for head in range(2):
                    for word, own in enumerate(pieces):
                        best, place = -1.0, -1
                        for other, theirs in enumerate(pieces):
                            if other == word:
                                continue
                            rows, columns = (own, theirs) if direction == 0 else (theirs, own)
                            value = sum(weights[head, i, j] for i in rows for j in columns) / len(rows)
                            if value > best:
                                best, place = value, other
                        assert predicted[head, word] == place
    assert split == 12  # a noun and a verb in each sentence
