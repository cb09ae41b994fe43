"""A model that gives every token a vector is asked how similar two texts are, by a pooling that is named."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, WORDS
from glasshead import explain
from glasshead.errors import InputError
from glasshead.tasks import POOLINGS
from typed import glasshead as command

FIRST, SECOND = "a warm , funny film", "the plot is dull and not very good"


def random_encoder(family="Bert", cls=None):
    """A tiny model that is told apart by every token."""
    torch.manual_seed(0)
    model = (cls or hf.AutoModel.from_config)(FAMILIES[family].config(**FAMILIES[family].options)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model, FAMILIES[family].tokenizer()


def vector(model, tokenizer, text, pooling):
    """The vector of a text by the words of a textbook."""
    with torch.no_grad():
        states = model(input_ids=tokenizer(text, return_tensors="pt")["input_ids"])[0][0]
    return {"mean": states.mean(dim=0), "cls": states[0], "last": states[-1]}[pooling]


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
@pytest.mark.parametrize("family", ["Bert", "GPT2", "ConvBert"])
def test_the_cosine_is_that_of_the_pooled_states(family, pooling):
    model, tokenizer = random_encoder(family)
    expected = torch.cosine_similarity(
        *(vector(model, tokenizer, text, pooling) for text in (FIRST, SECOND)), dim=0
    )
    task = f"similarity-{pooling}"
    # Texts of two lengths in one batch: padding is not pooled.
    found = explain(
        model, [FIRST, "bad"], pairs=[SECOND] * 2, tokenizer=tokenizer, task=task, method="gradient"
    )
    assert [one.prediction for one in found[:2]] == pytest.approx([float(expected)] * 2, abs=1e-5)
    assert [one.asked for one in found] == ["first text", "second text"] * 2


def test_the_head_of_a_saved_model_is_left_out(tmp_path):
    model, tokenizer = random_encoder(cls=hf.BertForMaskedLM)
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path)
    expected = torch.cosine_similarity(
        *(vector(model.bert, tokenizer, text, "mean") for text in (FIRST, SECOND)), dim=0
    )
    asked = ["explain", tmp_path, FIRST, "--pair", SECOND, "--task", "similarity-mean"]
    typed = command(*asked, "--target", "second text")
    assert typed.exit_code == 0
    assert f"similarity {float(expected):.2f} for “second text”" in typed.stdout
    assert "predicted similarity" not in typed.stdout


def test_what_gives_no_vectors_is_refused():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 16, "vocab_size": 40}
    model = hf.FunnelForSequenceClassification(
        hf.FunnelConfig(block_sizes=[1, 1], **sizes)
    )  # it shortens texts
    with pytest.raises(InputError, match="does not give a vector for each token"):
        glasshead.open(model, FAMILIES["Bert"].tokenizer(), task="similarity-mean")
    with pytest.raises(InputError, match="similarity-mean"):
        glasshead.open(*random_encoder(), task="similarity-maen")
    with pytest.raises(InputError, match="similarity-mean, similarity-cls, similarity-last"):
        glasshead.open(*random_encoder(), task="similarity")


PAIRED = [("sentence1", "sentence2", "score"), ("text1", "text2", "label"), ("text", "text_pair", "score")]


@pytest.mark.parametrize(
    ("first", "second", "rating"), [*PAIRED, ("sentence_A", "sentence_B", "relatedness_score")]
)
def test_columns_are_called_as_data_sets_of_similarity_call_them(first, second, rating):
    rows = [{first: FIRST, second: SECOND, rating: number / 2} for number in range(6)]
    model, tokenizer = random_encoder()
    asked = {"tokenizer": tokenizer, "task": "similarity-mean", "audits": ["performance"]}
    card = glasshead.audit(model, rows, **asked)
    own = explain(model, FIRST, pairs=SECOND, tokenizer=tokenizer, task="similarity-mean", method="random")
    # Ratings of 0 to 2.5 are divided by the largest.
    errors = [own[0].prediction - number / 5 for number in range(6)]
    rmse = next(finding for finding in card.findings if finding.statistic == "rmse")
    assert rmse.estimate == pytest.approx(np.sqrt(np.mean(np.square(errors))), abs=1e-4)
    alone = [{"text": row[first], "label": row[rating]} for row in rows]
    with pytest.raises(InputError, match="name the column of the second 'text_pair'"):
        glasshead.audit(model, alone, **asked)


@cache
def planted():
    """A model that has learnt that texts are similar if they have the same word of three, and such pairs."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
    rest = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    family = FAMILIES["Bert"]
    model, tokenizer = hf.BertModel(family.config(**family.options | sizes | rest)), family.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.2)
    names, random = ["good", "bad", "long"], np.random.default_rng(0)
    others = [word for word in WORDS.split() if word not in names]

    def text(name):
        words = [str(word) for word in random.choice(others, random.integers(3, 7), replace=False)]
        words.insert(int(random.integers(len(words) + 1)), name)
        return " ".join(words)

    def pairs(count):
        asked = random.integers(3, size=(count, 2))
        return [(text(names[one]), text(names[two]), float(one == two)) for one, two in asked]

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(150):
        firsts, seconds, same = zip(*pairs(48), strict=True)
        read = tokenizer([*firsts, *seconds], padding=True, return_tensors="pt")
        pooled = POOLINGS["similarity-mean"](model(**read)[0], read["attention_mask"])
        cosine = torch.cosine_similarity(pooled[:48], pooled[48:])
        loss = (cosine - torch.tensor(same)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, names, pairs(60), loss.item()


@pytest.mark.slow
def test_the_word_that_decides_is_found():
    model, tokenizer, names, rows, loss = planted()
    assert loss < 0.05
    firsts, seconds, same = zip(*rows, strict=True)
    asked = {"pairs": list(seconds), "tokenizer": tokenizer, "task": "similarity-mean"}
    for method, least, most in (("erasure-mask-token", 0.95, 1.0), ("random", 0.0, 0.5)):
        found = explain(model, list(firsts), method=method, **asked)
        alike = [one for one, is_same in zip(found, np.repeat(same, 2), strict=True) if is_same]
        best = [one.tokens[1 + int(np.argmax(one.scores[1:-1]))] in names for one in alike]
        assert len(best) > 20
        assert least <= np.mean(best) <= most
    data = [{"text": one, "text_pair": two, "label": label} for one, two, label in rows]
    card = glasshead.audit(
        model, data, tokenizer=tokenizer, task="similarity-mean", audits=["performance"], draws=2
    )
    (error,) = (one for one in card.findings if one.statistic == "rmse")
    assert error.interval[1] < 0.1
