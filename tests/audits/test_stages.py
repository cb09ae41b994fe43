"""What an audit says while it runs, and of how it ran the model."""

import pytest

import glasshead
from classifier_families import FAMILIES, labelled_data

LONG = ("agreement", "perturbation")


@pytest.fixture(scope="module", params=["Bert", "Albert"])
def audited(request):
    """The stages of an audit with their shares, and the card."""
    family = FAMILIES[request.param]
    stages = []
    card = glasshead.audit(
        family.build(labels=2, id2label={0: "bad", 1: "good"}),
        [{"text": row["text"], "label": ("bad", "good")[row["label"]]} for row in labelled_data(12)],
        tokenizer=family.tokenizer(),
        audits=LONG,
        draws=2,
        progress=lambda stage, share=None: stages.append((stage, share)),
    )
    return request.param, stages, card


def test_long_stages_count_their_texts_up_to_the_last(audited):
    """The share is that of all work, once something is known of it."""
    _, stages, _ = audited
    for name in LONG:
        counts = [stage for stage, _ in stages if stage.startswith(f"measuring {name}: ")]
        assert counts[0] == f"measuring {name}: 0 of 12 texts"
        assert f"measuring {name}: 12 of 12 texts" in counts
    shares = [share for stage, share in stages if stage.startswith("measuring ")]
    known = [share for share in shares if share is not None]
    assert shares[0] is None
    assert known == sorted(known)
    assert known[0] > 0
    assert known[-1] == 1


def test_the_card_says_from_where_the_model_was_run(audited):
    name, _, card = audited
    (note,) = (note for note in card.facts["notes"] if note.startswith("Under other weights"))
    assert ("layer 1, in the row that the prediction reads" in note) == (name == "Bert")
    assert ("the whole model was run" in note) == (name == "Albert")
