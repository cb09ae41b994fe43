"""A model in memory is opened once: every change of it, or of its tokenizer, gives the new answer."""

import copy
import gc
import sys
import weakref

import pytest
import torch
from tokenizers import normalizers

import glasshead
from classifier_families import FAMILIES
from glasshead.errors import InputError
from glasshead.opening import remember

TEXT = "a warm film"
BERT = FAMILIES["Bert"]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return BERT.build(2).eval()


@pytest.fixture
def tokenizer():
    return BERT.tokenizer()


@pytest.fixture
def opened(monkeypatch):
    """The models that were opened anew."""
    models = []
    original = remember.remember

    def counted(model, tokenizer, options, open_model):
        def make():
            models.append(model)
            return open_model()

        return original(model, tokenizer, options, make)

    monkeypatch.setattr(sys.modules["glasshead.opening.open_subject"], "remember", counted)
    return models


def explain(model, tokenizer):
    return glasshead.explain(model, TEXT, tokenizer=tokenizer)[0]


def is_fresh(model, tokenizer):
    """Whether the answer is that for copies, which nobody remembers."""
    return explain(model, tokenizer) == explain(copy.deepcopy(model), copy.deepcopy(tokenizer))


def test_what_has_not_changed_is_opened_once(model, tokenizer, opened):
    answers = [explain(model, tokenizer) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    tokenizer(["a", "a film"], padding=True, truncation=True)  # what one call says is not about the next
    with torch.no_grad():
        model(**tokenizer(TEXT, return_tensors="pt"))
    assert explain(model, tokenizer) == answers[0]
    assert opened == [model]


def in_place(model):
    with torch.no_grad():
        model.bert.encoder.layer[0].attention.self.query.weight.mul_(3.0)


def loaded(model):
    model.load_state_dict({name: 2.0 * tensor for name, tensor in model.state_dict().items()})


def replaced(model):
    model.classifier.weight = torch.nn.Parameter(-model.classifier.weight.detach())


def behind_autograd(model):
    model.classifier.weight.data.mul_(-2.0)


def other_data(model):
    model.classifier.weight.data = -3.0 * model.classifier.weight.data


def other_module(model):
    model.bert.encoder.layer[0].intermediate.intermediate_act_fn = torch.nn.Tanh()


def other_scale(model):
    model.bert.encoder.layer[0].attention.self.scaling *= 3


def renamed(model):
    model.config.id2label[1] = "good"


def hooked(model):
    model.classifier.register_forward_hook(lambda module, args, output: -output)


def trained(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    model(input_ids=torch.tensor([[1, 2, 3]]), labels=torch.tensor([0])).loss.backward()
    optimizer.step()


CHANGES = (
    in_place, loaded, replaced, behind_autograd, other_data, other_module, other_scale, renamed, hooked,
    trained,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_model_gives_the_new_answer(change, model, tokenizer):
    before = explain(model, tokenizer)
    change(model)
    assert explain(model, tokenizer) != before
    assert is_fresh(model, tokenizer)


def normalised(tokenizer):
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("warm", "film")


def shorter(tokenizer):
    tokenizer.model_max_length = 3


def added(tokenizer):
    tokenizer.add_tokens(["warm film"])


@pytest.mark.parametrize("change", [normalised, shorter, added], ids=lambda change: change.__name__)
def test_a_changed_tokenizer_gives_the_new_answer(change, model, tokenizer):
    model.resize_token_embeddings(len(tokenizer) + 8)
    before = explain(model, tokenizer)
    change(tokenizer)
    assert explain(model, tokenizer) != before
    assert is_fresh(model, tokenizer)


def test_what_opening_refuses_is_refused_later_too(model, tokenizer):
    explain(model, tokenizer)
    with torch.no_grad():
        model.classifier.weight.fill_(torch.nan)
    with pytest.raises(InputError, match="NaN or infinity"):
        explain(model, tokenizer)


def test_halves_are_opened_once_for_their_copy_shares_them(model, tokenizer, opened):
    half = model.to(torch.bfloat16)
    before = explain(half, tokenizer)
    half.classifier.weight.data.mul_(-2.0)
    changed = explain(half, tokenizer)
    assert changed != before
    assert len(opened) == 1
    half.classifier.weight.data = half.classifier.weight.data * -1  # other memory
    assert explain(half, tokenizer) != changed
    assert len(opened) == 2


def test_another_tokenizer_is_another_subject(model, tokenizer, opened):
    explain(model, tokenizer)
    explain(model, copy.deepcopy(tokenizer))
    assert len(opened) == 2


def test_open_gives_everybody_a_subject_of_their_own(model, tokenizer):
    explain(model, tokenizer)
    first, second = glasshead.open(model, tokenizer), glasshead.open(model, tokenizer)
    assert first.model is not second.model
    assert first.tokenizer is not second.tokenizer


def test_nothing_is_kept_alive(model, tokenizer):
    there = copy.deepcopy(model), copy.deepcopy(tokenizer)
    explain(*there)
    gone = [weakref.ref(one) for one in there]
    del there
    gc.collect()
    assert [one() for one in gone] == [None, None]
