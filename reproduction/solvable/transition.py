"""Where the lowest loss of the solvable model turns from attention to places to attention to meaning."""

from glasshead.files import write_text
from glasshead.papers.solvable import solve_transition
from glasshead.report import PLOTS
from reproduction.study import file_of, picture

ALPHAS = [round(0.2 * step, 1) for step in range(1, 11)]


def measure_transition(processes: int = 1) -> None:
    """Theory and trainings, as `glasshead plot transition` has them, and their picture."""
    path = file_of("solvable", "transition")
    if not path.exists():
        found = solve_transition(ALPHAS, d=1000, seeds=10)
        write_text(path, found.to_json())
        PLOTS["transition"].draw(found).save(picture("solvable-transition.png"), overwrite=True)
