"""glasshead audit-hub: the same audit of many models."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.audit import audit_into
from glasshead.cli.console import console, print_line, print_remark
from glasshead.cli.options import Overwrite
from glasshead.errors import InputError, one_line
from glasshead.requests import AuditRequest, fingerprint_fields

if TYPE_CHECKING:
    from glasshead.results import AuditCard

REQUESTS, PAGE = "requests.json", "index.html"


@app.command("audit-hub", rich_help_panel=YOUR_MODELS)
def audit_hub(
    models: Annotated[
        Path,
        typer.Argument(
            metavar="LIST.toml",
            help="A table for each model, \\[models.NAME], with model, data and other options of glasshead "
            "audit; options above the tables are for all models.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The folder of all audits, and of the page index.html.")
    ] = Path("audits/hub"),
    overwrite: Overwrite = False,
) -> None:
    """Audit every model of a list in the same way, and put the results on one page.

    Repeat the command to continue: finished audits stay. A model that cannot be audited is listed with the
    reason; the exit code is 1 then.

    Example: [bold]glasshead audit-hub models.toml --out audits/hub[/]
    """
    from glasshead.audits import read_model_list
    from glasshead.files import write_text
    from glasshead.report import model_list_document, model_list_page, terminal_view

    requests = read_model_list(models)
    done = {} if overwrite else read_requests(out / REQUESTS)
    for name, request in requests.items():
        if name in done and done[name] != written(request):
            raise InputError(
                f"{out / name} was audited with other options: use --overwrite, or another --out"
            )
    cards: dict[str, AuditCard] = {}
    failed: dict[str, str] = {}
    out.mkdir(parents=True, exist_ok=True)
    for place, (name, request) in enumerate(requests.items(), 1):
        print_remark(f"{place} of {len(requests)}: {name}")
        try:
            cards[name] = audit_once(out / name, request, finished=name in done, overwrite=overwrite)
        except (InputError, OSError, RuntimeError, MemoryError) as error:  # of one model, and not of the list
            failed[name] = one_line(error) or type(error).__name__
            print_remark(f"{name}: {failed[name]}")
        else:
            done[name] = written(request)
            write_text(out / REQUESTS, json.dumps(done, indent=1, ensure_ascii=False), overwrite=True)
        write_text(out / PAGE, model_list_page(cards, failed), overwrite=True)
    console.print(terminal_view(model_list_document(cards, failed)))
    print_line(f"Page: {out / PAGE}")
    if failed:
        raise typer.Exit(1)


def audit_once(out: Path, request: AuditRequest, *, finished: bool, overwrite: bool) -> "AuditCard":
    """The card of an audit that is finished, or of one that is done now, from where it was interrupted.

    Raises:
        InputError: as `glasshead audit`.
    """
    from glasshead.audits import check_audit
    from glasshead.results import AuditCard

    if finished and out.exists():
        return AuditCard.load(out)
    check_audit(request)
    begun = out.with_name(f"{out.name}.parts").exists() and not overwrite
    return audit_into(out, request, resume=begun, overwrite=overwrite)[0]


def read_requests(path: Path) -> dict[str, Any]:
    """The options of each finished audit of a folder, by its name.

    Raises:
        InputError: if the file is damaged.
    """
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
    except (ValueError, TypeError):
        raise InputError(f"{path} is damaged: use --overwrite to audit all models again") from None


def written(request: AuditRequest) -> Any:
    """The options that change an audit, as JSON has them."""
    return json.loads(json.dumps(fingerprint_fields(request), default=str))
