"""Pages of the report that are shown inside the page, and what was answered as a file."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel
from starlette.responses import HTMLResponse, Response

from glasshead.drawable import Drawable
from glasshead.report import heads_page, written_page
from glasshead.results import Attributions
from glasshead.serve.answers import (
    attribute,
    heads_rows,
    inspect_heads,
    what_is_left,
    write_answer,
    writes_the_same,
)
from glasshead.serve.asking import ask, ask_both
from glasshead.serve.catalogue import Catalogue
from glasshead.serve.opened_model import OpenedModel
from glasshead.serve.pages import as_page
from glasshead.serve.python_line import generate_line, heads_line
from glasshead.serve.questions import (
    CompareQuestion,
    ExplainQuestion,
    GenerateQuestion,
    HeadsQuestion,
    PythonLine,
)

MOST_PAGES = 4
"""Pages that are kept: one can take megabytes."""
Q = TypeVar("Q", bound=BaseModel)
Endpoint = Callable[[Request, Q], Awaitable[Response]]


def remembering(keeps: Callable[[Q], bool], most: int = MOST_PAGES) -> Callable[[Endpoint[Q]], Endpoint[Q]]:
    """Keep the last ``most`` pages of an address by their questions, if it ``keeps`` these."""

    def decorate(endpoint: Endpoint[Q]) -> Endpoint[Q]:
        pages: OrderedDict[str, Response] = OrderedDict()

        @wraps(endpoint)
        async def answer_from_memory(request: Request, question: Q) -> Response:
            if not keeps(question):
                return await endpoint(request, question)
            name = question.model_dump_json()
            page = pages.pop(name, None) or await endpoint(request, question)
            pages[name] = page
            while len(pages) > most:
                pages.popitem(last=False)
            return page

        return answer_from_memory

    return decorate


MEDIA = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
}


def add_views(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """Pages of the report about what was asked, about audits and trainings, and files to keep."""

    async def examples_of(request: Request, name: str) -> Sequence[str]:
        return await ask(request, catalogue.readers.submit(lambda: catalogue.examples(name)), seconds)

    @app.get("/view/heads", response_class=HTMLResponse)
    @remembering(lambda question: True)
    async def heads(request: Request, question: Annotated[HeadsQuestion, Query()]) -> Response:
        """All heads before a text."""
        examples = await examples_of(request, question.model)
        model = catalogue.model(question.model)
        job = model.submit(
            lambda it: heads_page(inspect_heads(it.subject, question, examples, model.report_progress))
        )
        return as_page(await ask(request, job, seconds))

    @app.get("/api/python/heads")
    async def heads_python(request: Request, question: Annotated[HeadsQuestion, Query()]) -> PythonLine:
        """The line of Python that looks at the heads."""
        source = catalogue.model(question.model).source
        examples = await examples_of(request, question.model)
        return PythonLine(
            python=heads_line(source, *heads_rows(question, examples), effects=question.effects)
        )

    @app.get("/api/python/written")
    async def written_python(question: Annotated[GenerateQuestion, Query()]) -> PythonLine:
        """The line of Python that lets a model write."""
        return PythonLine(python=generate_line(catalogue.model(question.model).source, question))

    @app.get("/view/written", response_class=HTMLResponse)
    @remembering(writes_the_same)
    async def written(request: Request, question: Annotated[GenerateQuestion, Query()]) -> Response:
        """A text that a language model writes."""
        job = catalogue.model(question.model).submit(
            lambda opened: written_page(write_answer(opened.subject, question))
        )
        return as_page(await ask(request, job, seconds))

    @app.post("/save/explanation.{kind}", response_class=Response)
    async def save(
        request: Request, kind: Literal["html", "json", "svg", "png", "csv"], question: ExplainQuestion
    ) -> Response:
        """An explanation as a file."""

        def work(opened: OpenedModel) -> Response:
            return as_file(attribute(opened.subject, question, *what_is_left(question)), kind)

        return await ask(request, catalogue.model(question.model).submit(work), seconds)

    @app.post("/save/comparison.{kind}", response_class=Response)
    async def save_comparison(
        request: Request, kind: Literal["html", "svg", "png", "csv"], question: CompareQuestion
    ) -> Response:
        """Two explanations, one below the other, as a file."""

        def both(first: Attributions, second: Attributions, *_: object) -> Response:
            return as_file(Attributions((*first, *second)), kind, "comparison")

        return await ask_both(request, catalogue, question, both, seconds)

    @app.get("/view/audit", response_class=HTMLResponse)
    async def audit_report(request: Request, audit: str) -> Response:
        """The report of an audit."""
        shelved = catalogue.audit(audit)
        return as_page(await ask(request, catalogue.readers.submit(lambda: shelved.page), seconds))


def as_file(value: Drawable, kind: str, name: str = "explanation") -> Response:
    """A value as the file that its ``save`` writes, to be kept and not opened."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.{kind}"
        value.save(file)
        kept = f'attachment; filename="{file.name}"'
        return Response(file.read_bytes(), media_type=MEDIA[kind], headers={"Content-Disposition": kept})
