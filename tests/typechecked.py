"""What checks annotations while tests run: `make test-cpus` names it to jaxtyping's import hook."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float, as for mypy
