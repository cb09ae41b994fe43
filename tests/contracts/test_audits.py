"""Every registered audit measures a row for each input, whatever is beside it, and judges from rows alone."""

from functools import cache

import numpy as np
import pytest
from datasets import Dataset

from classifier_families import FAMILIES
from glasshead.audits import AUDITS
from glasshead.audits.faithfulness import Faithfulness
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.judge import Wanted, judge_rows
from glasshead.audits.judging.base import Measured
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.judging.settings import INPUT_COLUMNS
from glasshead.audits.judging.table import LISTS, SCALARS, column_of, from_arrow, place_rows, to_arrow
from glasshead.audits.measuring.data_view import read_sample
from glasshead.audits.open_request import open_request
from glasshead.audits.operators import Operators
from glasshead.audits.perturbation import Perturbation
from glasshead.data.marks import marks_feature
from glasshead.requests import AuditRequest
from glasshead.results import WITHOUT_FIRST as PART
from glasshead.trace import AttentionSelector
from image_families import image_model, processor, rows
from readable import as_run, bert, data, family, gpt
from short_search import shorten_search
from tolerances import ALL_LAYERS, ONE_FORMULA

LABELS = (1, 0, 0, 1, 1, 0)
RATINGS = (1.0, 4.0, 2.0, 5.0, 3.0, 1.0)
MARKS = [[[4, 8]], [[0, 3], [12, 15]], [], [[0, 1]], [[0, 4]], None]
"""Of each text."""
PROMPTS = (
    "a warm funny film is not very good", "dull and bad and not funny", "bad film",
    "a film a film warm and dull", "the plot", "so dull a film of them was not good",
)  # fmt: skip
IN_FLOAT64 = ("performance", "agreement", "tokens", "plausibility", "heads", "operators")
"""Audits that compute in the precision of the view, and whose rows agree to it; others pass in float32, or
read the weights of the model as it was trained."""
PARTS = ([0], [5, 3, 1], [4, 2])
"""The inputs in batches: alone, and beside others in another order."""


def marked(kind, labels):
    """A split whose words people have marked."""
    return data(kind, labels).add_column("marks", MARKS, feature=marks_feature())


def trained(kind, labels=LABELS, **options):
    """What a run is audited on: its training data are counted."""
    return {"model": as_run(kind, labels), "data": data(kind, labels), **options}


def somebodys(kind, **options):
    """A model and a tokenizer."""
    return {"model": kind.model, "tokenizer": kind.tokenizer, "data": data(kind, LABELS), **options}


def language_model():
    family = FAMILIES["GPT2"]
    data = Dataset.from_dict({"text": list(PROMPTS)})
    return {"model": family.language_model(), "tokenizer": family.tokenizer(), "data": data}


CASES = {
    "pooled": lambda: trained(family("pooled")) | {"data": marked(family("pooled"), LABELS)},
    "pooled signed": lambda: trained(family("pooled", activation="tanhmax")),
    "pooled rating": lambda: trained(family("pooled", rating=True), RATINGS),
    "passes": lambda: somebodys(bert()) | {"data": marked(bert(), LABELS)},
    "passes signed": lambda: somebodys(bert("tanhmax")),
    "passes rating": lambda: trained(family("encoder", rating=True), RATINGS),
    "causal": lambda: somebodys(gpt()),
    "language model": language_model,
    "images": lambda: {"model": image_model(), "data": rows(6), "tokenizer": processor(), "blocks": 2},
    "sentences": lambda: trained(family("hierarchical", attention="distance-aware"), level="sentence"),
    "words in sentences": lambda: trained(family("hierarchical", attention="distance-aware")),
    "pairs": lambda: trained(family("pair-encoder", classes=3)),
    "gradient": lambda: somebodys(bert(), method="gradient"),
    "random": lambda: somebodys(bert(), method="random"),
}

BARE = {"plausibility", "tokens"}  # nobody has marked words, or counted them in training data
RATING = {"plausibility", "tokens"}
POOLED = {"heads"}  # nothing is left without the one query
OF_METHODS = {"perturbation", "tokens", "heads", "identifiability"}
UNSUPPORTED = {
    "pooled": POOLED,
    "pooled signed": POOLED | {"plausibility"},
    "pooled rating": POOLED | RATING,
    "passes": {"tokens"},
    "passes signed": BARE,
    "passes rating": POOLED | RATING,
    "causal": BARE,
    "language model": BARE,
    "images": BARE,
    "sentences": POOLED | BARE | {"faithfulness", "operators"},
    "words in sentences": {"plausibility"},
    "pairs": POOLED | {"plausibility"},
    "gradient": BARE | OF_METHODS | {"adversarial"},
    "random": BARE | OF_METHODS | {"adversarial"},
}
"""What has no meaning for a case, and nothing else; none of them has images in its texts."""
UNSUPPORTED = {case: audits | {"image-map", "image-sinks"} for case, audits in UNSUPPORTED.items()}


WITHOUT_FIRST = {
    "causal, first token spared": "causal",
    "language model, first token spared": "language model",
}
"""Cases of others whose first token is an attention sink, for audits that it sways."""
SHORT = {"perturbation": Perturbation(draws=7, passes=2)}
"""Audits as they are registered, but with fewer draws."""
OPTIONS = {
    "faithfulness with references": Faithfulness(references=True),
    "operators of three": Operators(3),
    "identifiability of three": Identifiability(max_texts=3),
    "identifiability of other rows": Identifiability(row_options={"heads": None, "rows": "all"}),
}
"""Audits with other options than those that are registered."""
QUICK = ("pooled", "pooled signed", "passes", "language model", "images", "sentences", "gradient")
SEARCHED = ("pooled signed",)
"""Cases that are tried every time, and those of them before which other maps are searched for."""
AUDITED = {**AUDITS, **SHORT, **OPTIONS}


class Case:
    """A sample before a model, and its views; all of them know the same of all inputs."""

    def __init__(self, name):
        self.rest = name in WITHOUT_FIRST
        request = AuditRequest(**CASES[WITHOUT_FIRST.get(name, name)]())
        subject, split, _ = open_request(request, ())
        self.sample = read_sample(
            subject,
            split,
            seed=3,
            attention_selector=AttentionSelector.of(request),
            by=("length",),
            method=request.method,
        )
        self.whole = self.sample.view()
        self.known = self.whole.known
        self.rest_known = self.whole.only(PART).known if self.rest else None
        self.inputs = self.view().inputs

    def view(self, places=None):
        """Some inputs, or all, before the model."""
        view = self.sample.view(None if places is None else np.array(places)).but(reference=self.known)
        return view.only(PART, self.rest_known) if self.rest else view

    def part(self, places):
        """Some of the inputs that are before the model already."""
        view = self.whole.some(np.array(places))
        return view.only(PART, self.rest_known) if self.rest else view

    def in_parts(self, measure, columns):
        """The rows of all inputs, from those of a few at a time."""
        kept = Measurements()
        for number, places in enumerate(PARTS):
            view = self.view(places) if number % 2 else self.part(places)
            kept.add("rows", self.sample.ids[places], measure(view), columns)
        rows = kept.read("rows", self.sample.ids, columns)
        assert rows.columns["asked"].all()
        return rows._replace(columns={name: own for name, own in rows.columns.items() if name != "asked"})


case_of = cache(Case)


@cache
def measured_at_once(case, audit):
    """The rows of all inputs of a case."""
    return AUDITED[audit].measure(case_of(case).view())


def asked():
    """Every audit of every case for which it has a meaning."""
    pairs = [(case, audit) for case in CASES for audit in AUDITS if audit not in UNSUPPORTED[case]]
    pairs += [(case, audit) for case in WITHOUT_FIRST for audit in AUDITS if AUDITS[audit].of_tokens]
    pairs += [("passes", audit) for audit in OPTIONS]
    for case, audit in pairs:
        often = case in QUICK and (audit != "adversarial" or case in SEARCHED)
        yield pytest.param(case, audit, marks=() if often else pytest.mark.slow, id=f"{case}-{audit}")


@pytest.fixture(autouse=True, scope="module")
def short_search():
    """Searches that are short are as independent of what is beside as long ones."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_search(patch)
        yield


every_audit = pytest.mark.parametrize(("case", "audit"), [*asked()])


def assert_same_rows(columns, others, tolerance):
    assert columns.keys() == others.keys()
    for name, values in columns.items():
        assert values.dtype == others[name].dtype, name
        if values.dtype != object:
            assert_same_values(values, others[name], tolerance, name)
            continue
        for one, other in zip(values, others[name], strict=True):
            assert_same_values(np.asarray(one), np.asarray(other), tolerance, name)


def assert_same_values(values, others, tolerance, name):
    if values.dtype.kind == "f":
        np.testing.assert_allclose(values, others, **tolerance, err_msg=name)
    else:
        np.testing.assert_array_equal(values, others, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_what_has_a_meaning(case):
    view = case_of(case).view()
    unsupported = {name for name in AUDITS if AUDITS[name].unsupported_reason(view) is not None}
    assert unsupported == UNSUPPORTED[case]


@every_audit
def test_a_row_is_the_same_in_any_batch_and_in_any_order(case, audit):
    whole = measured_at_once(case, audit)
    parts = case_of(case).in_parts(AUDITED[audit].measure, AUDITED[audit].columns)
    in_float64 = audit.split()[0] in IN_FLOAT64
    assert_same_rows(whole.columns, parts.columns, ONE_FORMULA if in_float64 else ALL_LAYERS)
    assert dict(whole.facts) == dict(parts.facts)


@every_audit
def test_every_column_is_declared_and_survives_parquet(case, audit):
    assert_declared(measured_at_once(case, audit).columns, AUDITED[audit].columns)


def assert_declared(columns, declared):
    """Every column has a declaration that fits, and is the same when it was written down."""
    for name, values in columns.items():
        column = column_of(name, declared)
        assert column is not None, name
        assert column.meaning
        assert len(values) == len(MARKS), name
        if column.dtype in LISTS:
            assert values.dtype == object
            dtypes = {np.asarray(own).dtype for own in values if len(own)}
            wanted = LISTS[column.dtype][0]
            assert all(dtype == wanted or wanted is object for dtype in dtypes), name
        else:
            wanted = (np.int64, np.float64) if column.dtype == "number" else SCALARS[column.dtype][:1]
            assert values.dtype in wanted, name
    assert_same_rows(dict(columns), from_arrow(to_arrow(columns, declared, {})), {"rtol": 0, "atol": 0})


@every_audit
def test_judging_rows_finds_what_the_audit_finds(case, audit):
    """Also of rows that were written down; and to measure again gives the same."""
    key = audit
    measured, case, audit = measured_at_once(case, audit), case_of(case), AUDITED[audit]
    found = audit(case.view(), seed=case.sample.seed)
    asked = case.view().asked(audit.most(case.whole.settings))
    if not asked.all():
        measured = audit.measure(case.view().some(np.flatnonzero(asked)))
    read = from_arrow(to_arrow(measured.columns, audit.columns, {}))
    written = Measured(place_rows(read, asked, audit.columns), measured.facts)
    settings, by = case.whole.settings, case.sample.by
    judged = judge_rows(Wanted(key, audit, PART * case.rest), written, case.inputs, settings, by)
    assert judged.findings == found.findings
    assert judged.examples.keys() == found.examples.keys()
    assert_same_rows(judged.examples, found.examples, {"rtol": 0, "atol": 0})
    assert judged.facts == found.facts


@pytest.mark.parametrize("case", [*CASES, *WITHOUT_FIRST])
def test_what_every_row_has_keeps_the_same_promises(case):
    """Also how certain the weights are, and a column of the data with values that are missing."""
    by, tolerance = ("source",), ONE_FORMULA
    if case == "passes":
        by, tolerance = ("source", "identifiability"), ALL_LAYERS  # of the model as it was trained
    case = case_of(case)

    def inputs_of(view):
        sources = {"source": [(None, "a", "b c")[rank % 3] for rank in view.ranks.tolist()]}
        view = view.but(columns=sources, by=by)
        inputs = {**view.inputs, **view.certainty}
        return Measured({name: values for name, values in inputs.items() if name != "id"})

    whole, parts = inputs_of(case.view()), case.in_parts(inputs_of, INPUT_COLUMNS)
    assert_same_rows(whole.columns, parts.columns, tolerance)
    assert_declared(whole.columns, INPUT_COLUMNS)


DRAWN = {
    "pooled": ("agreement", "perturbation", "operators", "tokens", "identifiability"),
    "passes": ("agreement", "perturbation", "operators", "identifiability"),
}
"""Audits whose rows have chance in them, by which a text is known from another with the same words."""


@pytest.mark.parametrize(("case", "audit"), [(case, audit) for case, own in DRAWN.items() for audit in own])
def test_chance_follows_from_the_seed_and_from_the_input(case, audit):
    """Of one text at two places of the data other numbers are drawn, and so they are by another seed; by the
    same seed at one place they are the same."""
    text, audit = case_of(case).whole.some(np.array([0])), AUDITED[audit]

    def row_of(number, seed=3):
        own = text.but(ids=np.array([number]), ranks=np.zeros(1, dtype=np.int64), seed=seed)
        return audit.measure(own).columns

    row = row_of(1)
    assert differing(row, row_of(1)) == set()
    for drawn in (differing(row, row_of(2)), differing(row, row_of(1, seed=4))):
        assert drawn
        if audit is not AUDITED["perturbation"]:  # whose every number is a median of draws
            assert {name for name in drawn if not is_chance(name)} == set()


def differing(columns, others):
    """The columns in which two rows differ."""
    pairs = {name: (np.asarray(values[0]), np.asarray(others[name][0])) for name, values in columns.items()}
    return {
        name
        for name, (one, other) in pairs.items()
        if not np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    }


def is_chance(name):
    """Whether a column is about what is drawn."""
    return any(part in name for part in (".null.random", "chance", "random_"))
