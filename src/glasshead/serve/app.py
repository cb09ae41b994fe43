"""The addresses of the server: the page, the API, and pages of the report to be shown in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

import glasshead
from glasshead.report import page_part
from glasshead.serve.answers import compare_answer, explain_answer, generate_answer
from glasshead.serve.asking import ask, ask_both
from glasshead.serve.cancellation import stoppable_models
from glasshead.serve.catalogue import Catalogue
from glasshead.serve.error_answers import add_refusals
from glasshead.serve.guard import Guard
from glasshead.serve.pages import PAGE, PAGES, Host, index_page
from glasshead.serve.questions import (
    AuditFacts,
    AuditTexts,
    CompareAnswer,
    CompareQuestion,
    ExplainAnswer,
    ExplainQuestion,
    GenerateAnswer,
    GenerateQuestion,
    ModelFacts,
    Problem,
    ProgressFacts,
)
from glasshead.serve.views import add_views

T = TypeVar("T")
ANSWER_SECONDS = 60.0
"""How long a question may take, waiting included."""
Refusals: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 413, 422, 503, 504)
}


def create_app(
    catalogue: Catalogue,
    *,
    hosts: frozenset[str] | None,
    token: str | None = None,
    seconds: float = ANSWER_SECONDS,
) -> Guard:
    """The server's application: an ASGI app behind its guard.

    ``hosts`` are its allowed names with ports (None: any), ``token`` what every request must carry (None:
    nothing), ``seconds`` how long an answer may take.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with stoppable_models():
            catalogue.start()
            yield
            catalogue.stop()

    app = FastAPI(
        title="Glasshead",
        summary="Attention you can see through.",
        version=glasshead.__version__,
        docs_url=None,  # these pages fetch their scripts from elsewhere; ours is /api
        redoc_url=None,
        lifespan=lifespan,
        responses=Refusals,
    )
    add_refusals(app)
    add_questions(app, catalogue, seconds)
    add_shelves(app, catalogue, seconds)
    add_views(app, catalogue, seconds)

    async def answer(request: Request, work: Callable[[], T]) -> T:
        return await ask(request, catalogue.readers.submit(work), seconds)

    for name, page in PAGES.items():
        app.mount(f"/page/{name}", StaticFiles(directory=page.folder))
        page.add_routes(Host(app, catalogue, answer, seconds))
    add_page(app)
    return Guard(app, hosts, token)


def add_questions(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """What models answer."""

    @app.get("/api/models")
    async def models(request: Request) -> list[ModelFacts]:
        """The models, and what may be chosen of each."""
        return await ask(request, catalogue.readers.submit(catalogue.facts), seconds)

    @app.get("/api/progress")
    async def progress(model: str) -> ProgressFacts:
        """How far the question is that a model answers now; nothing where it answers none."""
        return ProgressFacts(**asdict(catalogue.model(model).progress))

    @app.post("/api/explain")
    async def explain(request: Request, question: ExplainQuestion) -> ExplainAnswer:
        """Which words mattered for the prediction of a text."""
        job = catalogue.model(question.model).submit(lambda opened: explain_answer(opened, question))
        return await ask(request, job, seconds)

    @app.post("/api/compare")
    async def compare(request: Request, question: CompareQuestion) -> CompareAnswer:
        """Two explanations next to each other: of two models or methods, or of two versions of a text."""
        return await ask_both(request, catalogue, question, compare_answer, seconds)

    @app.post("/api/generate")
    async def generate(request: Request, question: GenerateQuestion) -> GenerateAnswer:
        """Let a language model go on with a prompt, and read what each token was written from."""
        job = catalogue.model(question.model).submit(lambda opened: generate_answer(opened, question))
        return await ask(request, job, seconds)


def add_shelves(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """Audits."""

    @app.get("/api/audits")
    async def audits(request: Request) -> list[AuditFacts]:
        """All audits, and what each comes to."""
        job = catalogue.readers.submit(lambda: [audit.facts for audit in catalogue.audits.values()])
        return await ask(request, job, seconds)

    @app.get("/api/audits/texts")
    async def texts(
        request: Request,
        audit: str,
        label: str = "",
        predicted: str = "",
        words: str = "",
        first: Annotated[int, Query(ge=0)] = 0,
    ) -> AuditTexts:
        """The texts of an audit, filtered."""
        shelved = catalogue.audit(audit)
        job = catalogue.readers.submit(lambda: shelved.texts(label, predicted, words, first))
        return await ask(request, job, seconds)


def add_page(app: FastAPI) -> None:
    """What the browser loads first."""

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return HTMLResponse(index_page())

    @app.get("/api", include_in_schema=False)
    async def api() -> Response:
        return FileResponse(PAGE / "api.html")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)

    @app.get("/page/report.css", include_in_schema=False)
    async def style() -> Response:
        return Response(page_part("style.css"), media_type="text/css")

    @app.get("/page/report-keys.js", include_in_schema=False)
    async def keys() -> Response:
        return Response(page_part("keys.js"), media_type="text/javascript")

    app.mount("/page", StaticFiles(directory=PAGE))
