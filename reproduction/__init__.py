"""What was measured for the papers, and how: `python -m reproduction`.

A study is a folder: what it asks stands in ``__init__.py``, how it measures in ``measure.py``, what it writes
in ``tables.py``, and its numbers in a JSON file per table. Rows of `glasshead reproduce` are in ``rows``.
"""

import os

# Before torch is imported. Threads that spin while they wait slow whatever else runs on the machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
