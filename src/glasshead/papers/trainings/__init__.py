"""The served page of recorded trainings: the ledger of a token, scrubbed over steps."""

from pathlib import Path
from typing import Literal

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from glasshead.papers.trainings.recorded_runs import LedgerAnswer, RecordedRun, RunFacts, is_recorded
from glasshead.serve import PAGES, Host, Page, as_page, find_served


def add_routes(host: Host) -> None:
    """The trainings among the models that are served."""
    served = {
        name: RecordedRun(name, Path(model.source))
        for name, model in host.catalogue.models.items()
        if is_recorded(model.source)
    }

    @host.app.get("/api/runs")
    async def runs(request: Request) -> list[RunFacts]:
        """The trainings whose attention was recorded."""
        return await host.answer(request, lambda: [run.facts for run in served.values()])

    @host.app.get("/api/runs/ledger")
    async def ledger(
        request: Request,
        run: str,
        of: str,
        quantity: Literal["score", "polarity"] = "score",
        group: bool = False,
    ) -> LedgerAnswer:
        """What every term of the gradient has added to a token's score or polarity, step by step."""
        recorded = find_served(run, served, "recorded training")
        return await host.answer(request, lambda: recorded.ledger(of, quantity, group=group))

    @host.app.get("/view/run", response_class=HTMLResponse)
    async def run_page(request: Request, run: str) -> Response:
        """The page of a recorded training."""
        recorded = find_served(run, served, "recorded training")
        return as_page(await host.answer(request, lambda: recorded.page))


PAGES.register("trainings")(Page("Trainings", Path(__file__).parent, add_routes))
