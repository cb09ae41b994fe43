"""A model answers one question at a time, from a queue that ends; what nobody awaits ends too."""

import threading
import time
from concurrent.futures import wait

import pytest
import torch
from served_models import pieces
from transformers import T5ForConditionalGeneration

from classifier_families import FAMILIES
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.serve.answers import attribute
from glasshead.serve.cancellation import CancelledError, check_current, stoppable_models
from glasshead.serve.jobs import QueueFullError
from glasshead.serve.opened_model import open_served_model
from glasshead.serve.questions import Reading
from glasshead.serve.served_model import MOST_WAITING, NotReadyError, ServedModel

SECONDS = 30


def opened(open_model=lambda: "the model"):
    """A model whose opening has ended."""
    model = ServedModel("m", open_model)
    model.start()
    end = time.monotonic() + SECONDS
    while model.state == "loading":
        assert time.monotonic() < end
        time.sleep(0.001)
    return model


def ended(model):
    """Whether its thread ends."""
    model._thread.join(SECONDS)
    return not model._thread.is_alive()


@pytest.fixture
def model():
    model = opened()
    yield model
    model.stop()
    assert ended(model)


class Gate:
    """Work that says when it is begun, and goes on when it may."""

    def __init__(self):
        self.begun, self.opened = threading.Event(), threading.Event()

    def __call__(self, opened):
        self.begun.set()
        assert self.opened.wait(SECONDS)
        return opened


def test_one_question_at_a_time_in_their_order(model):
    running, most, order = [], [], []

    def work(number):
        def ask(opened):
            running.append(number)
            most.append(len(running))
            time.sleep(0.002)
            order.append(running.pop())
            return number, opened

        return ask

    jobs = [model.submit(work(number)) for number in range(MOST_WAITING)]
    assert [job.future.result(SECONDS) for job in jobs] == [(n, "the model") for n in range(MOST_WAITING)]
    assert max(most) == 1
    assert order == list(range(MOST_WAITING))


def test_beyond_the_queue_it_is_busy_and_later_free(model):
    gate = Gate()
    running = model.submit(gate)
    assert gate.begun.wait(SECONDS)
    waiting = [model.submit(str.upper) for _ in range(MOST_WAITING)]
    with pytest.raises(QueueFullError, match="try again in") as busy:
        model.submit(str.upper)
    assert busy.value.seconds > 0
    gate.opened.set()
    assert running.future.result(SECONDS) == "the model"
    assert {job.future.result(SECONDS) for job in waiting} == {"THE MODEL"}
    assert model.submit(str.upper).future.result(SECONDS) == "THE MODEL"


def test_what_nobody_waits_for_takes_no_place_in_the_queue(model):
    gate = Gate()
    model.submit(gate)
    assert gate.begun.wait(SECONDS)
    waiting = [model.submit(str.upper) for _ in range(MOST_WAITING)]
    waiting[3].cancel()
    last = model.submit(str.lower)
    with pytest.raises(QueueFullError):
        model.submit(str.upper)
    with pytest.raises(CancelledError):
        waiting[3].future.result(SECONDS)
    gate.opened.set()
    assert last.future.result(SECONDS) == "the model"
    assert waiting[-1].future.result(SECONDS) == "THE MODEL"


def test_a_model_says_how_far_its_question_is(model):
    told, going_on = threading.Event(), threading.Event()

    def work(opened):
        model.report_progress("predictions without each head: 25%", 0.25)
        told.set()
        assert going_on.wait(SECONDS)
        return "done"

    job = model.submit(work)
    assert told.wait(SECONDS)
    assert (model.progress.stage, model.progress.share) == ("predictions without each head: 25%", 0.25)
    going_on.set()
    assert job.future.result(SECONDS) == "done"
    assert model.submit(lambda opened: model.progress.stage).future.result(SECONDS) == ""


class Slow(torch.nn.Module):
    """Says when it is begun; whoever cancels in the meantime, it ends."""

    def __init__(self, count, on_call):
        super().__init__()
        self.calls = 0
        self.layers = torch.nn.ModuleList(torch.nn.Identity() for _ in range(count))
        self.on_call = on_call

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            self.calls += 1
            self.on_call(self.calls)
        return x


def test_what_nobody_waits_for_ends_between_two_modules():
    with stoppable_models():
        reached, going_on = threading.Event(), threading.Event()

        def pause(calls):
            if calls == 3:
                reached.set()
                assert going_on.wait(SECONDS)

        net = Slow(100, pause)
        model = opened(lambda: net)
        job = model.submit(lambda opened: opened(torch.zeros(1)))
        assert reached.wait(SECONDS)
        job.cancel()
        going_on.set()
        with pytest.raises(CancelledError):
            job.future.result(SECONDS)
        assert net.calls == 3
        net.on_call = lambda calls: None
        model.submit(lambda opened: opened(torch.zeros(1))).future.result(SECONDS)  # the model is free again
        assert net.calls == 103
        model.stop()
        assert ended(model)


def test_modules_of_other_threads_are_not_stopped(model):
    with stoppable_models():
        gate = Gate()
        job = model.submit(gate)
        assert gate.begun.wait(SECONDS)
        job.cancel()
        torch.nn.Identity()(torch.zeros(1))  # this thread waits for nothing
        check_current()
        gate.opened.set()
        assert job.future.result(SECONDS) == "the model"  # it asked no module


def test_after_the_block_no_module_asks():
    before = len(torch.nn.modules.module._global_forward_pre_hooks)
    with stoppable_models():
        assert len(torch.nn.modules.module._global_forward_pre_hooks) == before + 1
    assert len(torch.nn.modules.module._global_forward_pre_hooks) == before


def test_a_cancelled_question_that_waits_is_never_begun(model):
    gate, begun = Gate(), []
    model.submit(gate)
    assert gate.begun.wait(SECONDS)
    job = model.submit(begun.append)
    job.cancel()
    last = model.submit(str.upper)
    gate.opened.set()
    assert last.future.result(SECONDS) == "THE MODEL"
    with pytest.raises(CancelledError):
        job.future.result(SECONDS)
    assert begun == []


def test_what_is_raised_is_raised_where_the_answer_is_awaited(model):
    def fail(opened):
        raise InputError("no such class")

    with pytest.raises(InputError, match="no such class"):
        model.submit(fail).future.result(SECONDS)
    assert model.submit(str.upper).future.result(SECONDS) == "THE MODEL"


def test_stopped_it_ends_what_runs_and_refuses_what_waits():
    with stoppable_models():
        reached, going_on = threading.Event(), threading.Event()

        def pause(calls):
            reached.set()
            assert going_on.wait(SECONDS)

        model = opened(lambda: Slow(10, pause))
        running = model.submit(lambda opened: opened(torch.zeros(1)))
        assert reached.wait(SECONDS)
        waiting = [model.submit(lambda opened: opened(torch.zeros(1))) for _ in range(MOST_WAITING)]
        model.stop()
        for job in waiting:
            with pytest.raises(CancelledError):
                job.future.result(SECONDS)
        going_on.set()
        with pytest.raises(CancelledError):
            running.future.result(SECONDS)
        assert ended(model)
        with pytest.raises(NotReadyError):
            model.submit(str.upper)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("a has no weights"), "a has no weights"),
        (RuntimeError("x" * 1000), "RuntimeError: " + "x" * 300),
        (MemoryError(), "MemoryError: "),
    ],
)
def test_a_model_that_cannot_be_opened_says_why(error, message):
    def fail():
        raise error

    model = opened(fail)
    assert (model.state, model.message) == ("failed", message)
    assert ended(model)
    with pytest.raises(NotReadyError, match="m is not ready"):
        model.submit(str.upper)


@pytest.mark.parametrize(
    ("source", "reason", "says"),
    [
        ("a/b", "there is no folder a/b", "there is no folder a/b"),
        ("./a/b/", "a/b holds nothing", "a/b holds nothing"),
        ("a/b", "it is broken", "a/b: it is broken"),
    ],
)
def test_a_failure_is_told_once_with_the_name_that_was_typed(source, reason, says):
    told = []

    def fail():
        raise InputError(reason)

    model = ServedModel(
        "b", fail, source=source, on_failure=lambda words: told.append(words) or words.upper()
    )
    model.start()
    assert ended(model)
    assert told == [says]
    assert (model.state, model.message) == ("failed", says.upper())


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("I/O operation on closed file")])
def test_where_nobody_reads_the_terminal_it_has_failed_all_the_same(error):
    def fail():
        raise InputError("a/b is empty")

    def say(words):
        raise error

    model = ServedModel("b", fail, source="a/b", on_failure=say)
    model.start()
    assert ended(model)
    assert (model.state, model.message) == ("failed", "a/b is empty")


def test_until_it_is_open_it_says_that_it_loads_and_models_open_one_by_one():
    opening, may_open, second_begun = threading.Event(), threading.Event(), threading.Event()

    def slowly():
        opening.set()
        assert may_open.wait(SECONDS)
        return "the model"

    first = ServedModel("a", slowly, "it is trained")
    second = ServedModel("b", lambda: second_begun.set() or "another")
    first.start()
    assert opening.wait(SECONDS)
    second.start()
    with pytest.raises(NotReadyError, match="a is not ready: it is trained"):
        first.submit(str.upper)
    assert not second_begun.wait(0.05)
    may_open.set()
    assert second_begun.wait(SECONDS)
    first.stop()
    second.stop()
    assert ended(first)
    assert ended(second)


@pytest.mark.slow
def test_a_model_that_only_answers_is_not_explained(tmp_path):
    T5ForConditionalGeneration(FAMILIES["T5"].build().config).save_pretrained(tmp_path)
    FAMILIES["T5"].tokenizer().save_pretrained(tmp_path)
    answerer = open_served_model(str(tmp_path))
    assert answerer.kind == "answerer"
    with pytest.raises(InputError, match="writes one text for another and has no classes"):
        attribute(answerer.subject, Reading(model="t5"), "a warm film", None)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model to which a question about a long text takes seconds, by many methods."""
    folder = tmp_path_factory.mktemp("large")
    for part in pieces(layers=4, width=128):
        part.save_pretrained(folder)
    with stoppable_models():
        model = opened(lambda: open_served_model(str(folder)))
        yield model
        model.stop()
        assert ended(model)


QUESTIONS = [(method, False) for method in EXPLAINERS] + [("attention", True)]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "intervals"), QUESTIONS)
def test_by_every_method_a_cancelled_question_frees_the_model_soon(large, method, intervals):
    reading = Reading(model="large", method=method, intervals=intervals)
    text = "a long film about nothing at all , with music . " * (8 if intervals else 200)
    job = large.submit(lambda model: attribute(model.subject, reading, text, None))
    wait([job.future], timeout=0.7)
    job.cancel()
    started = time.monotonic()
    assert large.submit(lambda model: model.kind).future.result(SECONDS) == "classifier"
    assert time.monotonic() - started < SECONDS / 3  # two seconds on idle cores
    if job.future.exception() is not None:
        assert isinstance(job.future.exception(), CancelledError | InputError)  # or it has no meaning here
