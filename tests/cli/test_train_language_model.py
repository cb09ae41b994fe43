"""glasshead train of language models: what is printed, and what is refused in one line."""

import pytest

from typed import glasshead, refusal

LINES = (
    "\n".join(f"the {colour} {animal} sleeps ." for colour in ("red", "old") for animal in ("fox", "dog"))
    + "\n"
)
SMALL = (
    "--max-length", 8, "--epochs", 1, "--set", "num_hidden_layers=1", "--set", "num_attention_heads=2",
    "--set", "hidden_size=16",
)  # fmt: skip


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(LINES * 40)
    return path


def test_a_language_model_is_trained_and_explained(corpus, tmp_path):
    out = tmp_path / "lm"
    printed = glasshead(
        "train",
        corpus,
        "--model",
        "gpt2",
        "--tokenizer",
        "word",
        "--attention",
        "tanhmax",
        *SMALL,
        "--out",
        out,
    ).stdout
    assert "dev perplexity" in printed
    assert "floor: perplexity" in printed
    assert "the" in glasshead("explain", out, "the red fox", "--next").stdout


def test_hidden_tokens_go_to_an_encoder(corpus, tmp_path):
    glasshead(
        "train", corpus, "--objective", "masked", "--tokenizer", "word", *SMALL, "--out", tmp_path / "mlm"
    )
    assert '"bert"' in (tmp_path / "mlm" / "config.json").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "gpt2", "--objective", "masked"), "--objective causal"),
        (("--model", "bert", "--objective", "causal"), "--objective masked"),
        (("--model", "gtp2", "--objective", "causal"), "did you mean 'gpt2'"),
        (("--model", "gpt2", "--encoder", "lstm"), "--encoder is for classifiers"),
        (("--model", "gpt2", "--watch", "dynamic"), "unknown --watch"),
        (("--model", "gpt2", "--watch-every", 5), "needs --watch dynamics"),
        (("--model", "gpt2", "--max-length", "5000"), "--max-length"),
        (("--model", "gpt2", "--tokenizer", "./nowhere"), "no tokenizer that loads"),
        (("--model", "gpt2", "--attention", "tanhmix"), "tanhmax"),
        (("--model", "gpt2", "--set", "hidden=3"), "unknown setting"),
    ],
)
def test_what_does_not_fit_is_refused(corpus, tmp_path, options, words):
    assert words in refusal(tmp_path, "train", corpus, *options, "--out", tmp_path / "lm")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"a\0b\nc\n", "is binary"), (b"the the the\nthe the\n", "less than one block")],
)
def test_what_is_no_corpus_is_refused(tmp_path, content, words):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert words in refusal(tmp_path, "train", path, "--model", "gpt2", "--out", tmp_path / "lm")
