"""python -m reproduction                    the studies
python -m reproduction STUDY [TABLE …]    measure what is missing, then write the pages
python -m reproduction --write [STUDY]    write the pages of what was measured

What an interrupted measurement has written down stays, and trained models stay in runs/STUDY, those of the
tables of papers in reproduction/runs. The data are read from the folder GLASSHEAD_DATA (default
../shared/data beside the checkout).
"""

import argparse
import sys

from glasshead.errors import InputError
from glasshead.registry import did_you_mean
from reproduction.study import load_study, studies


def main(words: list[str] | None = None) -> None:
    """List the studies, measure and write one of them, or write all pages."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", nargs="?", help="which one")
    parser.add_argument("tables", nargs="*", metavar="table", help="of it; else all that are usual")
    parser.add_argument("--all", action="store_true", help="every study: many hours")
    parser.add_argument("--write", action="store_true", help="measure nothing")
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N", help="trainings at a time, where a study has many"
    )
    asked = parser.parse_args(words)
    known = studies()
    if asked.all and (asked.study or asked.write):
        parser.error("--all measures every study: name none, and leave --write out")
    if asked.write and asked.tables:
        parser.error("--write writes all pages of a study: name no tables")
    if asked.study is None and not asked.all and not asked.write:
        width = max(map(len, known))
        print("\n".join(f"{name:{width}}  {question}" for name, question in known.items()))
        return
    if asked.study is not None and asked.study not in known:
        parser.error(f"no study is called {asked.study!r}: {did_you_mean(asked.study, known)}")
    failures = 0
    for name in known if asked.study is None else [asked.study]:
        study = load_study(name)
        for table in asked.tables:
            if table not in study.tables:
                parser.error(f"{name} has no table {table!r}: {did_you_mean(table, study.tables)}")
        if not asked.write:
            try:
                failures += study.measure(asked.tables, asked.processes)
            except InputError as error:
                parser.error(str(error))
        for path in study.write():
            print(f"Written to {path}")
    if failures:
        sys.exit(f"{failures} cells failed: their reasons are above, and the next run tries them again")


if __name__ == "__main__":
    main(sys.argv[1:])
