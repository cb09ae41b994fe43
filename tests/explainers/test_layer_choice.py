"""The map that is chosen for each text: its measure, its candidates, and what it finds."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import make_context
from glasshead.explainers.erasure import value_changes
from glasshead.explainers.explainer import find_explainer
from glasshead.explainers.layer_choice import candidates, ranked_faithfulness, removal_of
from glasshead.explainers.removals import removable
from glasshead.trace import AttentionStack, StackLayer
from optimus import (
    CANDIDATES,
    CHOSEN,
    FAITHFULNESS,
    FAITHFULNESS_OF_CHOSEN,
    LOGITS,
    WITHOUT_EACH,
    maps_of_a_formula,
)
from planted_layers import KEYS, PlantedCase, layered_model, layered_texts
from readable import KINDS
from small import planted_texts, split
from tolerances import EXACT_MATHS, ONE_MODEL

CHANGES = torch.softmax(torch.tensor(LOGITS, dtype=torch.float64), -1) - torch.softmax(
    torch.tensor(WITHOUT_EACH, dtype=torch.float64), -1
)


@pytest.mark.parametrize("numbers", FAITHFULNESS)
def test_it_is_the_measure_of_the_authors(numbers):
    """Between two padded places, which do not count."""
    own = torch.tensor([[9.0, *numbers, 9.0]], dtype=torch.float64)
    among = torch.tensor([[False, True, True, True, True, False]])
    for target, expected in enumerate(FAITHFULNESS[numbers]):
        changes = torch.tensor([[5.0, *CHANGES[:, target], 5.0]], dtype=torch.float64)
        ours = ranked_faithfulness(own, changes, among, signed=True)
        np.testing.assert_allclose(ours, [expected], **EXACT_MATHS)


def test_numbers_without_signs_speak_for_the_prediction_where_they_are_zero_too():
    changes, among = torch.tensor([[0.5, -0.25]]), torch.ones(1, 2, dtype=torch.bool)
    unsigned = ranked_faithfulness(torch.tensor([[1.0, 0.0]]), changes, among, signed=False)
    signed = ranked_faithfulness(torch.tensor([[1.0, 0.0]]), changes, among, signed=True)
    np.testing.assert_allclose(unsigned, [0.5 - 0.125])
    np.testing.assert_allclose(signed, [0.5 - 0.125])
    opposed = ranked_faithfulness(torch.tensor([[1.0, 0.0]]), -changes, among, signed=True)
    np.testing.assert_allclose(opposed, [-0.5 - 0.125])


class StackOfMaps(AttentionStack):
    """The maps of a formula as the attention of one text; types of arguments are checked in some runs."""

    mask = torch.ones(1, 6, dtype=torch.bool)

    @classmethod
    def of_a_formula(cls):
        layers = [object.__new__(StackLayer) for _ in range(2)]
        for number, layer in enumerate(layers):
            vars(layer).update(target="text", record=SimpleNamespace(layer=number))
        stack = object.__new__(cls)
        vars(stack).update(
            layers=tuple(layers),
            row_shares=torch.eye(6, dtype=torch.float64)[:1],
            logits=torch.zeros(1, 2, dtype=torch.float64),
            site=SimpleNamespace(head=None, heads="mean"),
        )
        return stack

    def canonical_weights(self, layer):
        return maps_of_a_formula()[layer.record.layer][None]

    def combine(self, maps):
        return maps.mean(dim=1)


def test_candidates_are_those_of_the_authors_and_the_best_is_theirs():
    stack = StackOfMaps.of_a_formula()
    found = {name: numbers[:, 1:-1] for name, numbers in candidates(stack)}
    assert len(found) == 4 * 3 * 4
    for name, numbers in CANDIDATES.items():
        np.testing.assert_allclose(found[name][0], numbers, atol=1e-8)
    among = torch.ones(1, 4, dtype=torch.bool)
    measured = {
        name: float(ranked_faithfulness(numbers, CHANGES[None, :, 1], among, signed=False))
        for name, numbers in found.items()
    }
    assert max(measured, key=measured.get) == CHOSEN
    assert measured[CHOSEN] == pytest.approx(FAITHFULNESS_OF_CHOSEN, abs=1e-12)


@pytest.fixture(scope="module")
def planted():
    return PlantedCase(*layered_model("[SEP]"), layered_texts(20))


def test_it_finds_the_word_that_the_row_which_is_read_does_not_show(planted):
    assert planted.ranks("layer-chosen", KEYS) == [0] * 20
    for name in ("attention", "layer-mean", "random"):
        assert sum(rank == 0 for rank in planted.ranks(name, KEYS)) < 10, name


@pytest.mark.parametrize("kind", ["bert", "encoder first"])
def test_no_candidate_is_more_faithful(kind):
    kind = KINDS[kind]()
    context = make_context(
        kind.model.double(),
        encode(kind.tokenizer, kind.texts, kind.pairs),
        kind.tokenizer,
        reads_attention=True,
    ).towards_predicted()
    changes = value_changes(context, removal_of(context).logits_of_each(context))
    among, signed = removable(context), context.observation.signed

    def faithfulness(name):
        return ranked_faithfulness(find_explainer(name).importance(context), changes, among, signed=signed)

    chosen = faithfulness("layer-chosen")
    readings = ("from", "to", "mean-columns", "max-columns")
    others = torch.stack([faithfulness(f"layer-mean+reading={name}") for name in readings])
    assert (chosen >= others.amax(dim=0) - 1e-9).all()
    assert (chosen > others.amax(dim=0) + 1e-6).any()
    assert chosen.mean() > faithfulness("random").mean() + 0.01


def test_the_map_of_one_text_is_named_and_the_texts_beside_it_change_nothing():
    family = FAMILIES["Bert"]
    options = {"tokenizer": family.tokenizer(), "method": "layer-chosen"}
    model = family.build().double()
    together = glasshead.explain(model, TEXTS, dtype="float64", **options)
    assert together[0].settings == "chosen among 48 maps"
    assert "measures by deletion favour it" in together[0].caveat
    for own in together:
        (alone,) = glasshead.explain(model, own.text, dtype="float64", **options)
        np.testing.assert_allclose(own.scores, alone.scores, **ONE_MODEL)
        assert alone.settings.startswith("chosen among 48 maps: ")


def test_a_head_that_is_named_is_the_only_one(planted):
    (own,) = glasshead.explain(
        planted.model, planted.texts[0], tokenizer=planted.tokenizer, method="layer-chosen", head=3
    )
    assert "chosen among 16 maps" in own.settings
    assert ", head" not in own.settings


def test_rank_says_that_it_was_chosen_by_removals():
    """Its lead under that edit counts for nothing, and the remarks say so."""
    texts, labels = planted_texts(24)
    family = FAMILIES["Bert"]
    rows = split(texts, labels)
    ranking = glasshead.rank(
        family.build(labels=2),
        rows,
        ("layer-chosen", "random"),
        removals=["unknown-token", "delete"],
        tokenizer=family.tokenizer(),
        labels="LABEL_0=negative,LABEL_1=positive",
    )
    own = {method.name: method.own_removal for method in ranking.methods}
    assert own == {"layer-chosen": "unknown-token", "random": None}
    remarks = " ".join(ranking.remarks)
    assert "layer-chosen scores tokens by unknown-token itself" in remarks
    assert "measures by deletion favour it" in remarks


@pytest.mark.parametrize("family", ["Bart", "T5"])
def test_a_decoder_is_refused(family):
    family = FAMILIES[family]
    with pytest.raises(InputError, match="'layer-chosen' reads self-attention only: use 'attention'"):
        glasshead.explain(family.build(), TEXTS[0], tokenizer=family.tokenizer(), method="layer-chosen")
