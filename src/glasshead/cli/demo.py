"""glasshead demo: the main job on a synthetic data set."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.audit import audit_with_progress, write_audit
from glasshead.cli.console import console, print_line
from glasshead.cli.options import SEEDS, Out
from glasshead.cli.run_training import TrainRequest, run_training
from glasshead.errors import InputError

DEMO_DATA = "synthetic"
DEMO_ACTIVATIONS = ("softmax", "tanhmax")
IMAGES, EPOCHS, SHOWN = "digits", 8, 4


@app.command(rich_help_panel=YOUR_MODELS)
def demo(
    out: Out = Path("glasshead-demo"),
    seed: Annotated[int, typer.Option(**SEEDS)] = 0,
) -> None:
    """Train, audit and compare a softmax and a TanhMax classifier of reviews, and explain images of digits.

    Example: [bold]glasshead demo --out my-demo[/]
    """
    from glasshead.audits import compare
    from glasshead.files import atomic_folder
    from glasshead.report import comparison_document, terminal_view
    from glasshead.requests import AuditRequest
    from glasshead.training import TRAINING_PRESETS

    if out.exists() and not (out / f"{DEMO_ACTIVATIONS[0]}-audit").is_dir():
        raise InputError(f"{out} exists and is not a demo: use another --out")
    with atomic_folder(out, overwrite=True) as work:
        cards = []
        for activation in DEMO_ACTIVATIONS:
            run = work / activation
            config = TRAINING_PRESETS["s0-paper"].with_changes(attention=activation)
            run_training(TrainRequest(DEMO_DATA, run, config, seed=seed), resumable=False)
            card = audit_with_progress(AuditRequest(run, DEMO_DATA, seed=seed))
            card.facts["run"] = str(out / activation)
            folder = work / f"{activation}-audit"
            folder.mkdir()
            write_audit(card, folder)
            cards.append(card)
        comparison = compare(*cards, seed=seed)
        comparison.save(work / "report.html")
        explain_digits(work, seed)
    console.print(terminal_view(comparison_document(comparison)))
    print_line(f"Report: {out / 'report.html'}")
    print_line(f"Images: {out / 'digits.html'}")


def explain_digits(folder: Path, seed: int) -> None:
    """Train a small ViT with TanhMax on the digits, and write a page of what a few of them depend on."""
    from glasshead import explain
    from glasshead.data import inputs_of, load
    from glasshead.training import preset_config

    config = preset_config(None, "vit").with_settings({"attention": DEMO_ACTIVATIONS[1], "epochs": EPOCHS})
    run = folder / IMAGES
    run_training(TrainRequest(IMAGES, run, config, seed=seed), resumable=False)
    images, _ = inputs_of(load(IMAGES)["test"].select(range(SHOWN)))
    explain(run, images, method="erasure-neutral-colour").save(folder / "digits.html")
