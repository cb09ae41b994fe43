"""The news recommender: shapes, sizes, padding, and what it cannot know."""

import pytest
import torch
from transformers import AutoConfig, AutoModel

from glasshead.attention import mechanism
from glasshead.attention.mechanism import AttentionInputs
from glasshead.errors import InputError
from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig
from tolerances import ONE_MODEL

MECHANISMS = ["softmax", "distance-aware", "shaw", "transformer-xl", "tener", "tanhmax"]
SIZES = {"vocab_size": 20, "hidden_size": 12, "num_attention_heads": 2, "head_dim": 4, "value_dim": 6}


def model(attention="distance-aware", seed=0, **options):
    torch.manual_seed(seed)
    options = SIZES | {"intermediate_size": 10, "attention": attention} | options
    made = NewsRecommender(NewsRecommenderConfig(**options)).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if name.endswith(("position.w", "position.v")):
                parameter.uniform_(-1, 1)
    return made


def titles(count=7, length=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, 20, (count, length), generator=generator)
    for row in range(count):
        ids[row, 1 + row % length :] = 0
    return ids


HISTORY = torch.tensor([[0, 1, 2, 3], [4, 5, -1, -1], [-1, -1, -1, -1]])
CANDIDATES = torch.tensor([[4, 5, 6], [6, 0, -1], [1, 2, 3]])


@pytest.mark.parametrize("attention", MECHANISMS)
def test_shapes_and_scores(attention):
    output = model(attention)(titles(), HISTORY, CANDIDATES, output_attentions=True)
    assert output.logits.shape == (3, 3)
    assert output.users.shape == (3, 12)
    assert output.news.shape == (7, 12)
    assert [tuple(each.shape) for each in output.attentions] == [
        (7, 2, 5, 5), (7, 1, 1, 5), (3, 2, 4, 4), (3, 1, 1, 4),
    ]  # fmt: skip
    assert torch.isneginf(output.logits).tolist() == [[False] * 3, [False, False, True], [False] * 3]
    by_hand = output.users[1] @ output.news[6]
    assert torch.allclose(output.logits[1, 0], by_hand, atol=1e-5)


def test_without_clicks_all_candidates_tie():
    output = model()(titles(), HISTORY, CANDIDATES)
    assert output.users[2].tolist() == [0.0] * 12
    assert output.logits[2].tolist() == [0.0] * 3


def test_parameter_count():
    d, h, k, v, f, words = 12, 2, 4, 6, 10, 20
    maps = 2 * (d * h * k + h * k) + (d * h * v + h * v) + (h * v * d + d)
    layer = maps + 2 * h + 2 * 2 * d + (d * f + f) + (f * d + d)  # w and v of every head: 2h
    pooling = d * d + d + d
    expected = words * d + 2 * (layer + pooling)
    assert sum(each.numel() for each in model().parameters()) == expected
    assert sum(each.numel() for each in model("softmax").parameters()) == expected - 2 * 2 * h


@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
@pytest.mark.parametrize("attention", MECHANISMS)
def test_padding_and_company_change_nothing(attention, positions):
    made, ids = model(attention, positions=positions), titles()
    with torch.no_grad():
        together = made(ids, HISTORY, CANDIDATES)
        wide = torch.nn.functional.pad(ids, (0, 4))
        long = torch.nn.functional.pad(HISTORY, (0, 3), value=-1)
        padded = made(wide, long, CANDIDATES)
        alone = made(ids, HISTORY[1:2, :2], CANDIDATES[1:2])
    finite = together.logits.isfinite()
    assert (padded.logits.isfinite() == finite).all()
    assert torch.allclose(padded.logits[finite], together.logits[finite], atol=1e-5)
    assert torch.allclose(alone.logits[0, :2], together.logits[1, :2], atol=1e-5)


def test_a_mask_says_what_padding_is():
    made, ids = model(), titles()
    assert torch.allclose(
        made(ids, HISTORY, CANDIDATES, attention_mask=(ids != 0).long()).users,
        made(ids, HISTORY, CANDIDATES).users,
    )


def test_distance_aware_does_not_know_which_click_is_the_latest():
    """|i − j| and the pooling are the same for a history read backwards: recency is out of its reach."""
    ids, backwards = titles(), HISTORY[:1].flip(1)
    with torch.no_grad():
        seen = {name: model(name) for name in ("distance-aware", "shaw")}
        users = {
            name: (made(ids, HISTORY[:1], CANDIDATES[:1]).users, made(ids, backwards, CANDIDATES[:1]).users)
            for name, made in seen.items()
        }
        swapped = HISTORY[:1, [1, 0, 2, 3]]
        other = seen["distance-aware"](ids, swapped, CANDIDATES[:1]).users
    assert torch.allclose(*users["distance-aware"], atol=1e-5)
    assert not torch.allclose(*users["shaw"], atol=1e-3)
    assert not torch.allclose(users["distance-aware"][0], other, atol=1e-4)


@pytest.mark.parametrize(("w", "ends_first"), [(0.2, True), (-0.2, False)])
def test_where_w_moves_the_weight_of_a_history(w, ends_first):
    """What all clicks attend to, for scores that are alike: the ends with w > 0, the middle with w < 0."""
    attend = mechanism("distance-aware", num_heads=1, head_dim=4)
    with torch.no_grad():
        attend.position.w.fill_(w)
    ones = torch.ones(1, 1, 20, 4)
    mass = attend(AttentionInputs.of(attend, ones, ones, ones))[1][0, 0].sum(dim=0)
    ends, middle = mass[[0, 1, -2, -1]].mean(), mass[8:12].mean()
    assert (ends > middle + 0.02) if ends_first else (ends < middle - 0.02)


def test_the_loss_is_that_of_the_clicked_one():
    made = model()
    labels = torch.tensor([2, 0, 1])
    output = made(titles(), HISTORY, CANDIDATES, labels=labels)
    by_hand = -torch.log_softmax(output.logits, dim=-1)[range(3), labels].mean()
    assert torch.allclose(output.loss, by_hand)
    output.loss.backward()
    assert all(each.grad is None or each.grad.isfinite().all() for each in made.parameters())
    assert made.embedding.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("attention", ["distance-aware", {"activation": "softmax", "position": "shaw"}])
def test_saves_and_loads_through_auto_model(tmp_path, attention):
    made = model(attention)
    made.save_pretrained(tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    assert type(loaded) is NewsRecommender
    assert AutoConfig.from_pretrained(tmp_path).model_type == "glasshead-news"
    with torch.no_grad():
        ours, theirs = (each(titles(), HISTORY, CANDIDATES).logits for each in (made, loaded))
    torch.testing.assert_close(ours, theirs, **ONE_MODEL)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"history_length": 0}, "`history_length` must be at least 1"),
        ({"hidden_size": 0}, "`hidden_size` must be at least 1"),
        ({"positions": "learned"}, "do not fit into 30 learned positions"),
    ],
)
def test_refused(options, says):
    with pytest.raises(InputError, match=says):
        NewsRecommenderConfig(**options).check()
