"""Eigenvalues against the whole Hessian, the loss on a line, and hidden units that are only renamed."""

import copy

import numpy as np
import pytest
import torch

from glasshead.data import as_encoded
from glasshead.errors import InputError
from glasshead.papers.minima import curvature, losses_between, match_hidden_units, polish
from glasshead.papers.models import TokenClassifier, TokenClassifierConfig
from glasshead.training import TensorDataset

SIZES = {"vocab_size": 6, "embedding_size": 2, "position_size": 2, "max_length": 4, "intermediate_size": 3}
NAMES = {index: str(index) for index in range(3)}


def build(seed=0, **options):
    torch.manual_seed(seed)
    labels = {"id2label": NAMES, "label2id": {name: index for index, name in NAMES.items()}}
    return TokenClassifier(TokenClassifierConfig(**SIZES | options, **labels)).eval()


@pytest.fixture(scope="module")
def rows():
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(1, 6, (700, 4), generator=draw)  # more than one part
    return TensorDataset(as_encoded(ids), torch.randint(0, 3, (700,), generator=draw))


def whole_hessian(model, rows):
    model = copy.deepcopy(model).double()
    names = [name for name, _ in model.named_parameters()]
    shapes = [parameter.shape for parameter in model.parameters()]
    sizes = [shape.numel() for shape in shapes]
    batch = rows.__getitems__(range(len(rows)))

    def loss(flat):
        parts = [part.view(shape) for part, shape in zip(flat.split(sizes), shapes, strict=True)]
        return torch.func.functional_call(model, dict(zip(names, parts, strict=True)), kwargs=batch).loss

    flat = torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        hessian = torch.autograd.functional.hessian(loss, flat)
    return hessian, torch.func.grad(loss)(flat)


def test_the_eigenvalues_are_those_of_the_whole_hessian(rows):
    model = build(tied=True)
    hessian, slope = whole_hessian(model, rows)
    values = torch.linalg.eigvalsh(hessian)
    found = curvature(model, rows)
    assert found.smallest == pytest.approx(float(values[0]), rel=0.01)
    assert found.largest == pytest.approx(float(values[-1]), rel=0.01)
    assert found.gradient == pytest.approx(float(slope.norm()), rel=1e-6)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_gradient_is_that_of_all_texts_and_the_hessian_that_of_the_first(rows):
    model = build(tied=True)
    few = TensorDataset(rows.encoded.some(slice(0, 50)), rows.labels[:50])
    found, whole, part = curvature(model, rows, limit=50), curvature(model, rows), curvature(model, few)
    assert (found.loss, found.gradient) == (whole.loss, whole.gradient)
    assert (found.smallest, found.largest) == (part.smallest, part.largest)
    assert part.largest != pytest.approx(whole.largest, rel=0.01)


@pytest.mark.parametrize("scores", ["positional", "semantic"])
def test_a_polished_model_has_no_slope_within_what_its_scores_read(rows, scores):
    model, teacher = (build(seed, tied=True, scores=scores) for seed in (0, 1))
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():  # hidden units at rest: an optimum may lie on the edge of one, where no slope is 0
        for each in (model, teacher):
            each.layers[0].feed_forward[0].bias.fill_(-100.0)
        chances = teacher(**rows.encoded.inputs()).logits.softmax(dim=1)
    rows = TensorDataset(rows.encoded, torch.multinomial(chances, 1, generator=draw)[:, 0])
    kept = model.embedding.weight.clone()
    before, polished = curvature(model, rows), polish(model, rows)
    found = curvature(polished, rows)
    assert found.loss < before.loss
    assert found.gradient < 1e-3 * before.gradient
    values = torch.linalg.eigvalsh(whole_hessian(polished, rows)[0])
    assert found.smallest == pytest.approx(float(values[0]), abs=1e-3 * found.largest)
    assert found.largest == pytest.approx(float(values[-1]), rel=0.01)
    unread = polished.config.read_by({"positional": "semantic", "semantic": "positional"}[scores])
    queries = [each.layers[0].attention.query.weight[:, unread] for each in (model, polished)]
    assert torch.equal(queries[0].double(), queries[1])
    assert torch.equal(model.embedding.weight, kept)


def test_the_line_begins_and_ends_at_the_models_and_leaves_them_as_they_were(rows):
    first, second = build(0), build(1)
    before = [parameter.clone() for model in (first, second) for parameter in model.parameters()]
    losses = losses_between(first, second, rows, points=5)
    assert len(losses) == 5
    for end, model in ((0, first), (-1, second)):
        with torch.no_grad():
            assert losses[end] == pytest.approx(float(model(**rows.__getitems__(range(700))).loss), rel=1e-5)
    assert losses[2] != pytest.approx(losses[0], rel=1e-4)
    after = [parameter for model in (first, second) for parameter in model.parameters()]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))
    assert np.ptp(losses_between(first, first, rows, points=3)) < 1e-9


def test_renamed_hidden_units_are_found_again(rows):
    model = build(intermediate_size=8)
    renamed = copy.deepcopy(model)
    order = torch.randperm(8, generator=torch.Generator().manual_seed(3))
    before, _, after = renamed.layers[0].feed_forward
    with torch.no_grad():
        before.weight.copy_(before.weight[order])
        before.bias.copy_(before.bias[order])
        after.weight.copy_(after.weight[:, order])
    assert np.ptp(losses_between(model, renamed, rows)) > 1e-4
    kept = [parameter.clone() for parameter in renamed.parameters()]
    matched = match_hidden_units(renamed, model)
    for found, wanted in zip(matched.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(found, wanted)
    assert all(torch.equal(*pair) for pair in zip(kept, renamed.parameters(), strict=True))


def test_models_of_other_sizes_have_no_line(rows):
    with pytest.raises(InputError, match="parameters of different shapes"):
        losses_between(build(), build(intermediate_size=4), rows)
