"""The ledger of a recorded training, as it is scrubbed: its terms and what they leave add up to what was
measured."""

from dataclasses import replace

import fake_histories
import numpy as np
import pytest

from fake_models import write_model
from glasshead.errors import InputError
from glasshead.papers.results import HISTORY_FOLDER, write_history
from glasshead.papers.trainings import LedgerAnswer, RecordedRun, is_recorded
from tolerances import ONE_FORMULA_SINGLE


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        folder = write_model(tmp_path / "run", "pooled")
        (folder / HISTORY_FOLDER).mkdir()
        history = fake_histories.history(**changes)
        tables = {name: [getattr(history, name)] for name in ("curves", "products", "tokens")}
        write_history(folder / HISTORY_FOLDER, history.facts, tables)
        return RecordedRun("run", folder)

    return write


def test_what_there_is_to_be_seen(write):
    facts = write().facts
    assert facts.problem == ""
    assert facts.steps == fake_histories.STEPS.tolist()
    assert facts.quantities == ["score", "polarity"]
    assert facts.groups == list(fake_histories.GROUPS)
    assert facts.tokens == [name for name, _ in fake_histories.token_names()]


@pytest.mark.parametrize(
    ("quantity", "ends"), [("score", fake_histories.SCORE), ("polarity", fake_histories.POLARITY)]
)
@pytest.mark.parametrize(
    ("of", "group", "sign"),
    [("positive", True, 1), ("neutral", True, 0), ("negative3", False, -1), (fake_histories.NASTY, False, 0)],
)
def test_a_ledger_has_the_planted_numbers_and_adds_up(write, quantity, ends, of, group, sign):
    ledger = write().ledger(of, quantity, group=group)
    share = fake_histories.STEPS / 40
    assert ledger.steps == fake_histories.STEPS.tolist()
    assert set(ledger.terms) == set(ledger.meanings) == set(ends)
    for name, end in ends.items():
        np.testing.assert_allclose(ledger.terms[name], sign * end * share, **ONE_FORMULA_SINGLE)
    np.testing.assert_allclose(ledger.rest, sign * fake_histories.REST * share, **ONE_FORMULA_SINGLE)
    total = np.sum([*ledger.terms.values(), ledger.rest], axis=0)
    np.testing.assert_allclose(total, ledger.measured, **ONE_FORMULA_SINGLE)


def test_only_what_was_followed_has_one(write):
    run = write()
    for of, group in (("nothing", False), ("nothing", True), ("positive", False), ("positive3", True)):
        with pytest.raises(InputError, match="followed no"):
            run.ledger(of, "score", group=group)


def test_without_a_ledger_the_reason_is_told(write):
    run = write(exact=False, why_not_exact="adagrad rescales every step")
    assert "adagrad rescales" in run.facts.problem
    assert (run.facts.quantities, run.facts.groups, run.facts.tokens) == ([], [], [])
    with pytest.raises(InputError, match="adagrad rescales"):
        run.ledger("positive", "score", group=True)


def test_a_damaged_one_says_so(write):
    run = write()
    assert is_recorded(str(run.folder))
    (run.folder / HISTORY_FOLDER / "tokens.parquet").write_bytes(b"PAR1")
    assert "is damaged" in run.facts.problem
    with pytest.raises(InputError, match="is damaged"):
        run.ledger("positive", "score", group=True)


def test_a_run_without_a_history_is_none(tmp_path):
    assert not is_recorded(str(write_model(tmp_path / "plain", "pooled")))
    assert not is_recorded("somebody/a-model-of-the-hub")


def test_where_a_training_had_no_numbers_any_more_there_is_none(write):
    """JSON has no NaN, and the schema says so."""
    run = write()
    last = run.history.tokens["step"] == run.history.tokens["step"].max()
    tokens = {
        name: np.where(last, np.nan, column) if column.dtype.kind == "f" else column
        for name, column in run.history.tokens.items()
    }
    run.history = replace(run.history, tokens=tokens)
    ledger = run.ledger("positive", "score", group=True)
    assert ledger.measured[-1] is None
    assert all(each is not None for each in ledger.measured[:-1])
    again = LedgerAnswer.model_validate_json(ledger.model_dump_json())
    assert again == ledger
    fields = LedgerAnswer.model_json_schema()["properties"]
    assert all({"type": "null"} in fields[name]["items"]["anyOf"] for name in ("rest", "measured"))
