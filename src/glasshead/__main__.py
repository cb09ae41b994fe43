"""``python -m glasshead`` is the command ``glasshead``."""

from glasshead.cli import main

main()
