"""Models whose tokenizer is written in Python, and does not say where its tokens are in a text."""

import json

import pytest
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Value

import glasshead
from glasshead.errors import InputError
from tolerances import ALL_LAYERS

LABELS = ["bad", "good"]
TEXTS = ["gute Grüße an @bob 😀", "a dull film", "so long a text that its end is cut away"]
PIECES = ["a", "d@@", "dull", "film", "u@@", "ll", "th", "the", "film@@", "s", "gut@@", "e", "@USER", "<3"]
MERGES = ["t h", "th e</w>", "f i", "fi l", "fil m</w>", "fil m", "d u", "l l</w>", "g u", "gu t"]


def sub_words(kind):
    """BERTweet's and PhoBERT's tokenizers, with few pieces."""

    def build(folder):
        vocabulary, merges = folder / "vocab.txt", folder / "bpe.codes"
        letters = sorted({*"".join(TEXTS).replace(" ", "")})
        every = [*PIECES, *letters, *(f"{letter}@@" for letter in letters)]
        vocabulary.write_text("".join(f"{piece} 1\n" for piece in dict.fromkeys(every)), encoding="utf-8")
        merges.write_text("".join(f"{merge} 1\n" for merge in MERGES), encoding="utf-8")
        return kind(str(vocabulary), str(merges), model_max_length=24)

    return build


def japanese_characters(folder):
    characters = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*"".join(TEXTS).replace(" ", "")})]
    (folder / "vocab.txt").write_text("\n".join(characters), encoding="utf-8")
    return hf.BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type="basic",
        subword_tokenizer_type="character",
        model_max_length=24,
    )


TOKENIZERS = {
    "ByT5": lambda folder: hf.ByT5Tokenizer(model_max_length=24),
    "CANINE": lambda folder: hf.CanineTokenizer(model_max_length=24),
    "BERTweet": sub_words(hf.BertweetTokenizer),
    "PhoBERT": sub_words(hf.PhobertTokenizer),
    "Japanese characters": japanese_characters,
}


def bert(tokenizer):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=max(tokenizer.get_vocab().values()) + 1,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.6,
        id2label=dict(enumerate(LABELS)),
        label2id={"bad": 0, "good": 1},
    )
    return hf.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module", params=TOKENIZERS)
def opened(request, tmp_path_factory):
    tokenizer = TOKENIZERS[request.param](tmp_path_factory.mktemp(request.param.replace(" ", "")))
    model = bert(tokenizer)
    return model, tokenizer, glasshead.open(model, tokenizer)


def probability(model, tokenizer, text, pair=None):
    inputs = tokenizer(text, pair, truncation=True, return_tensors="pt")
    with torch.no_grad():
        return float(model(**inputs).logits.softmax(dim=-1)[0, 1])


def explain_tokens(subject, texts, method):
    return glasshead.explain(subject, texts, method=method, unit="token")


@pytest.mark.parametrize("method", ["attention", "gradient", "rollout", "erasure-delete"])
def test_predictions_and_words_are_those_of_the_tokenizer(opened, method):
    model, tokenizer, subject = opened
    for own, text in zip(explain_tokens(subject, TEXTS, method), TEXTS, strict=True):
        assert own.prediction == pytest.approx(probability(model, tokenizer, text), rel=1e-4)
        assert list(own.ids) == tokenizer(text, truncation=True)["input_ids"]
        spans = {}
        for word, (start, stop) in zip(own.words, own.offsets, strict=True):
            if word >= 0 and start < stop:
                first, last = spans.get(word, (start, stop))
                spans[word] = min(first, start), max(last, stop)
        written = [text[start:stop] for _, (start, stop) in sorted(spans.items())]
        assert len(written) > 2
        assert written[:-1] == text.split()[: len(written) - 1]  # of the last one some may be cut away
        assert text.split()[len(written) - 1].startswith(written[-1])
        assert any(own.scores)


def test_an_erased_word_is_taken_out_with_all_its_pieces(opened):
    model, tokenizer, subject = opened
    text = TEXTS[1]
    (own,) = glasshead.explain(subject, text, method="erasure-delete", target="good")
    (pieces,) = explain_tokens(subject, [text], "attention")
    whole = probability(model, tokenizer, text)
    scores = {word: score for word, score in zip(own.words, own.scores, strict=True) if word >= 0}
    assert list(scores) == [0, 1, 2]
    for word, score in scores.items():
        kept = [number for number, at in zip(pieces.ids, pieces.words, strict=True) if at != word]
        with torch.no_grad():
            without = float(model(torch.tensor([kept])).logits.softmax(dim=-1)[0, 1])
        assert score == pytest.approx(whole - without, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_pairs_and_what_is_cut(opened, side):
    model, tokenizer, _ = opened
    tokenizer.truncation_side = side
    (own,) = glasshead.explain(
        model, TEXTS[2], pairs="a dull film", tokenizer=tokenizer, method="gradient", unit="token"
    )
    expected = tokenizer(TEXTS[2], "a dull film", truncation=True)["input_ids"]
    assert list(own.ids) == expected
    joined = f"{TEXTS[2]}\na dull film"
    covered = {place for start, stop in own.offsets for place in range(start, stop)}
    assert (0 in covered) == (side == "right")  # the longer of the two is cut
    assert (len(TEXTS[2]) - 1 in covered) == (side == "left")
    assert {joined[start:stop] for start, stop in own.offsets} > {"a", ""}


def test_an_audit(opened):
    _, _, subject = opened
    features = Features({"text": Value("string"), "label": ClassLabel(names=LABELS)})
    data = Dataset.from_dict({"text": TEXTS * 2, "label": [0, 1] * 3}, features=features)
    card = glasshead.audit(subject, data, audits=["faithfulness", "perturbation"], draws=2)
    finding = card.finding("faithfulness.sufficiency.all")
    assert finding is not None
    assert finding.estimate is not None
    assert finding.n == len(data)


def test_a_saved_model_is_opened_with_its_tokenizer(tmp_path):
    tokenizer = hf.ByT5Tokenizer(model_max_length=24)
    model = bert(tokenizer)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    subject = glasshead.open(tmp_path)
    (own,) = glasshead.explain(subject, TEXTS[0], method="gradient")
    (expected,) = glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, method="gradient")
    torch.testing.assert_close(torch.tensor(own.scores), torch.tensor(expected.scores), **ALL_LAYERS)


def test_a_package_that_a_tokenizer_lacks_is_named(tmp_path):
    try:
        import fugashi  # noqa: F401

        pytest.skip("its package is installed")
    except ImportError:
        pass
    tokenizer = japanese_characters(tmp_path)
    bert(tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    settings = json.loads(path.read_text()) | {"word_tokenizer_type": "mecab"}
    path.write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"needs a package that is not installed .*fugashi"):
        glasshead.open(tmp_path)


def test_a_tokenizer_of_other_inputs_is_not_supported():
    class Reversing(hf.ByT5Tokenizer):
        def _encode_plus(self, text, *args, **kwargs):
            return super()._encode_plus(text[::-1], *args, **kwargs)

    tokenizer = Reversing()
    with pytest.raises(InputError, match=r"\(Reversing\) reads texts in its own way"):
        glasshead.open(bert(tokenizer), tokenizer)


def test_a_prompt_of_a_language_model_is_read(tmp_path):
    words = ["<pad>", "the", "film", "is", "go@@", "od", "<unk>"]
    (tmp_path / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    pairs = ["t h", "th e</w>", "f i", "fi l", "fil m</w>", "i s</w>", "g o", "o d</w>"]
    (tmp_path / "merges.txt").write_text("\n".join(["#version", *pairs, ""]))
    tokenizer = hf.CTRLTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    torch.manual_seed(0)
    model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=8, n_embd=8, n_layer=1, n_head=2)).eval()
    (about, *each) = glasshead.explain(
        model, "the film", tokenizer=tokenizer, method="gradient", answer=" is good", unit="token"
    )
    assert [about.text[start:stop] for start, stop in about.offsets] == ["the", "film", "is", "go", "od"]
    assert len(each) == 3
    written = glasshead.generate(model, "the film", tokenizer=tokenizer, tokens=2, strategy="greedy")
    assert written.text.startswith("the film")
